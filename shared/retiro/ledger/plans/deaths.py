"""The lines of a plan whose participant has died owing, § 830q(f)."""

from collections.abc import Sequence
from datetime import date

from retiro.ledger.lines import Draft, Line, LineError, LineKind
from retiro.ledger.plans.drafting import draft_of, open_plan, paid_postings, terms_state
from retiro.ledger.plans.figures import PlanStatus, Terms, month_end
from retiro.ledger.savings import Origin
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

DEATH_BENEFIT = "death_benefit"
"""What (f) charged to a death benefit, which the System pays elsewhere."""


def death_charged(last: Line, death_date: date, charged_cents: int, origin: Origin) -> Draft:
    """(f): a pensioner has died owing: the death benefit bears what it can. What remains waits for the survivors'.

    Raises `Refusal` `plan_not_open`, `plan_lapsed`, `over_plan_balance`.
    """
    plan = open_plan(last, PlanStatus.PAYING)
    if plan.death is not None or plan.terms is None:
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, SECTION, status="charged to a death benefit")
    postings = paid_postings(plan, charged_cents, DEATH_BENEFIT)
    paid = charged_cents == plan.balance_cents
    state = {
        "line": plan.line,
        "status": (PlanStatus.PAID if paid else PlanStatus.PAYING).value,
        "debts": len(plan.debts_cents),
        "death": death_date.isoformat(),
    }
    facts: dict[str, str | int] = {"installment": plan.terms.amount_cents}
    return draft_of(LineKind.PLAN_DEATH, death_date, origin, postings, state={"plan": state}, facts=facts)


def installment_at_death_cents(history: Sequence[Line]) -> int:
    """The plan's installment when its pensioner died; zero where nobody did."""
    facts = [line.facts for line in history if line.kind is LineKind.PLAN_DEATH and "installment" in line.facts]
    return int(facts[-1]["installment"]) if facts else 0


def undecided(last: Line, death_date: date, origin: Origin) -> Draft:
    """A death before any pension, with a plan open: the text says nothing, and a person decides."""
    plan = open_plan(last, PlanStatus.PRINCIPAL, PlanStatus.PAYING)
    state = {
        "line": plan.line,
        "status": PlanStatus.UNDECIDED.value,
        "debts": len(plan.debts_cents),
        "death": death_date.isoformat(),
    }
    return draft_of(LineKind.PLAN_DEATH, death_date, origin, state={"plan": state})


def discounts(last: Line, amount_cents: int, starts_on: date, origin: Origin) -> Draft:
    """(f): what remains, in monthly discounts on the survivors' pension from its first day, until paid."""
    plan = open_plan(last, PlanStatus.PAYING)
    if plan.death is None or amount_cents <= 0:
        msg = f"discounts of {amount_cents} cents, where the death is {plan.death}"
        raise LineError(msg)
    terms = Terms(plan.balance_cents, amount_cents, -(-plan.balance_cents // amount_cents), month_end(starts_on))
    state = {**last.state["plan"], "terms": terms_state(terms)}
    return draft_of(LineKind.PLAN_DISCOUNTS, starts_on, origin, state={"plan": state})
