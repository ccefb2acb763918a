"""The lines of a plan whose participant has died owing, § 830q(f)."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from retiro.ledger.lines import Draft, Line, LineError, LineKind
from retiro.ledger.plans.drafting import draft_of, open_plan, paid_postings, terms_state
from retiro.ledger.plans.figures import PlanStatus, Terms, month_end, plan_of
from retiro.ledger.plans.granting import PLAN_HELD
from retiro.ledger.savings import Origin
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

DEATH_BENEFIT = "death_benefit"
"""What (f) charged to a death benefit, which the System pays elsewhere."""

ESTATE = "receivable:estate"
"""What a person has decided to claim from the estate of who died owing: a debit."""

RELEASED = "plan_released"
"""What a person has decided not to collect of who died owing: a debit."""


def death_charged(
    last: Line, death_date: date, charged_cents: int, origin: Origin, *, installment_cents: int | None = None
) -> Draft:
    """(f): a pensioner has died owing: the death benefit bears what it can. What remains waits for the survivors'.

    `installment_cents` is given where a person decides it of somebody not yet pensioned, whose principal was paid.
    Raises `Refusal` `plan_not_open`, `plan_lapsed`, `over_plan_balance`.
    """
    plan = open_plan(last, PlanStatus.PAYING if installment_cents is None else PlanStatus.UNDECIDED)
    if installment_cents is None:
        installment_cents = plan.terms.amount_cents if plan.terms is not None and plan.death is None else None
    if installment_cents is None or plan.principal_cents:
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status="charged, or without a schedule")
    postings = paid_postings(plan, charged_cents, DEATH_BENEFIT)
    paid = charged_cents == plan.balance_cents
    state = {
        "line": plan.line,
        "status": (PlanStatus.PAID if paid else PlanStatus.PAYING).value,
        "debts": len(plan.debts_cents),
        "death": death_date.isoformat(),
    }
    facts: dict[str, str | int] = {"installment": installment_cents}
    return draft_of(LineKind.PLAN_DEATH, death_date, origin, postings, state={"plan": state}, facts=facts)


def installment_at_death_cents(history: Sequence[Line]) -> int:
    """The plan's installment when its pensioner died; zero where nobody did."""
    facts = [line.facts for line in history if line.kind is LineKind.PLAN_DEATH and "installment" in line.facts]
    return int(facts[-1]["installment"]) if facts else 0


def undecided(last: Line, death_date: date, origin: Origin) -> Draft:
    """A death before any pension, with a plan open: the text says nothing, and a person decides.

    `principal` stays in the state where it wasn't paid; the installment, where there was a schedule, is a fact.
    Raises `Refusal` `plan_not_open`, also where the death is known and charged, `plan_lapsed`.
    """
    plan = open_plan(last, PlanStatus.PRINCIPAL, PlanStatus.PAYING)
    if plan.death is not None:
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status="charged to a death benefit")
    state: dict[str, Any] = {
        "line": plan.line,
        "status": PlanStatus.UNDECIDED.value,
        "debts": len(plan.debts_cents),
        "death": death_date.isoformat(),
    }
    if plan.principal_cents:
        state["principal"] = plan.principal_cents
    facts: dict[str, str | int] = {} if plan.terms is None else {"installment": plan.terms.amount_cents}
    return draft_of(LineKind.PLAN_DEATH, death_date, origin, state={"plan": state}, facts=facts)


def noted(last: Line, death_date: date, origin: Origin) -> Draft:
    """A death where no plan is open and a lapsed one's money is held: it charges nothing, and says who is dead.

    The plan stays as it is. Raises `Refusal` `plan_not_open` where nothing is held.
    """
    plan = plan_of(last)
    if plan is None or plan.is_open or not last.balance_cents(PLAN_HELD):
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status="none" if plan is None else plan.status.value)
    return draft_of(LineKind.PLAN_DEATH, death_date, origin)


def ended(last: Line, contra: str, on: date, origin: Origin) -> Draft:
    """What a dead participant's plan still owes is put to `contra`, `ESTATE` or `RELEASED`, as a person has decided.

    Raises `Refusal` `plan_not_open` where nobody has died, or the principal was still open, and `plan_lapsed`.
    """
    plan = open_plan(last, PlanStatus.UNDECIDED, PlanStatus.PAYING)
    if plan.death is None or plan.principal_cents:
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status=plan.status.value)
    state = {
        "line": plan.line,
        "status": PlanStatus.ENDED.value,
        "debts": len(plan.debts_cents),
        "death": plan.death.isoformat(),
    }
    postings = paid_postings(plan, plan.balance_cents, contra)
    return draft_of(LineKind.PLAN_ENDED, on, origin, postings, state={"plan": state})


def discounts(last: Line, amount_cents: int, starts_on: date, origin: Origin) -> Draft:
    """(f): what remains, in monthly discounts on the survivors' pension from its first day, until paid."""
    plan = open_plan(last, PlanStatus.PAYING)
    if plan.death is None or amount_cents <= 0:
        msg = f"discounts of {amount_cents} cents, where the death is {plan.death}"
        raise LineError(msg)
    terms = Terms(plan.balance_cents, amount_cents, -(-plan.balance_cents // amount_cents), month_end(starts_on))
    state = {**last.state["plan"], "terms": terms_state(terms)}
    return draft_of(LineKind.PLAN_DISCOUNTS, starts_on, origin, state={"plan": state})
