"""The lines of a plan until its principal is paid: applied for, granted, paid, scheduled, warned of, lapsed."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from retiro.ledger.employers import CASH
from retiro.ledger.lines import Draft, Line, LineError, LineKind, Posting
from retiro.ledger.plans.drafting import (
    PLAN_STATED,
    check_not_closed,
    draft_of,
    open_plan,
    owed_postings,
    paid_postings,
    terms_state,
)
from retiro.ledger.plans.figures import PlanStatus, Terms, debt_account, plan_id, plan_of
from retiro.ledger.savings import Origin
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

DEBTS_MAX = 4
"""Debts of a plan. Their accounts are carried in every line, which has a limit."""

PLAN_HELD = "plan_held"
"""What was paid to a plan that lapsed. It is held until a person decides."""

PLAN_PAYABLE = "plan_payable"
"""What was held, and is to be paid to those whom a person's decision names."""


def applied(last: Line, applied_on: date, origin: Origin) -> Draft:
    """A plan applied for, in place of an application not granted. Raises `Refusal` `plan_open` where one is open."""
    check_not_closed(last)
    plan = plan_of(last)
    if plan is not None and plan.is_open:
        raise Refusal(RefusalCode.PLAN_OPEN, SECTION, plan_id=plan_id(last.passbook, plan.line))
    state = {"plan": {"line": last.sequence + 1, "status": PlanStatus.APPLIED.value}}
    return draft_of(LineKind.PLAN_APPLIED, applied_on, origin, state=state)


def approved(last: Line, principals_cents: Sequence[int], approved_on: date, deadline: date, origin: Origin) -> Draft:
    """The plan granted: each debt's principal is owed on its own account. Raises `Refusal` `plan_not_open`."""
    plan = open_plan(last, PlanStatus.APPLIED)
    if len(principals_cents) > DEBTS_MAX:
        msg = f"a plan of {len(principals_cents)} debts"
        raise LineError(msg)
    state = {
        "line": plan.line,
        "status": PlanStatus.PRINCIPAL.value,
        "debts": len(principals_cents),
        "principal": sum(principals_cents),
        "deadline": deadline.isoformat(),
    }
    return draft_of(LineKind.PLAN_APPROVED, approved_on, origin, owed_postings(principals_cents), state={"plan": state})


def principal_payment(last: Line, amount_cents: int, paid_on: date, origin: Origin) -> Draft:
    """A payment to the principal, to the debts in the order listed.

    The day and the sum are checked by the determination beforehand. Raises `Refusal` `plan_lapsed`, `plan_not_open`,
    `over_plan_balance`.
    """
    plan = open_plan(last, PlanStatus.PRINCIPAL)
    postings = paid_postings(plan, amount_cents, CASH)
    return draft_of(LineKind.PRINCIPAL_PAYMENT, paid_on, origin, postings)


def scheduled(last: Line, interest_cents: Sequence[int], terms: Terms | None, from_on: date, origin: Origin) -> Draft:
    """The principal is paid: each debt bears its interest, and the schedule stands.

    `interest_cents` is what each debt bears beyond what was stated before. `terms` is `None` where installments wait
    for the pension. Nothing to pay: the plan is paid. Raises `Refusal` `plan_not_open`, `plan_lapsed`.
    """
    plan = open_plan(last, PlanStatus.PRINCIPAL, PlanStatus.PAYING)
    open_cents = plan.balance_cents + sum(interest_cents)
    status = PlanStatus.PAYING if open_cents else PlanStatus.PAID
    state: dict[str, Any] = {"line": plan.line, "status": status.value, "debts": len(plan.debts_cents)}
    if terms is not None:
        state["terms"] = terms_state(terms)
    return draft_of(LineKind.PLAN_SCHEDULED, from_on, origin, owed_postings(interest_cents), state={"plan": state})


def warned(last: Line, days_left: int, on: date, origin: Origin) -> Draft:
    """A warning on the record, so many days before the principal's deadline."""
    open_plan(last, PlanStatus.PRINCIPAL)
    state = {"plan": {**last.state["plan"], "warned": days_left}}
    return draft_of(LineKind.PLAN_WARNED, on, origin, state=state, facts={"days_left": days_left})


def lapsed(last: Line, on: date, origin: Origin) -> Draft:
    """(d): the plan lapses with principal open. What was paid is held for a person; nothing is owed any more.

    After a death before any pension it lapses because a person decides so. Raises `Refusal` `plan_not_open`.
    """
    plan = open_plan(last, PlanStatus.PRINCIPAL, PlanStatus.UNDECIDED)
    if not plan.principal_cents:
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(d)", status="principal paid")
    held_cents = plan.principal_cents - plan.balance_cents
    postings = [Posting(debt_account(number), cents) for number, cents in enumerate(plan.debts_cents, 1) if cents]
    postings += [Posting(PLAN_STATED, -plan.principal_cents), Posting(PLAN_HELD, held_cents)]
    state: dict[str, Any] = {"line": plan.line, "status": PlanStatus.LAPSED.value, "debts": len(plan.debts_cents)}
    if plan.death is not None:
        state["death"] = plan.death.isoformat()
    moved = tuple(posting for posting in postings if posting.amount_cents)
    return draft_of(LineKind.PLAN_LAPSED, on, origin, moved, state={"plan": state})


def held_placed(  # noqa: PLR0913  # each is named where it is called
    last: Line, line: int, payable_cents: int, on: date, origin: Origin, *, paid_in_cents: int = 0
) -> Draft:
    """What a lapsed plan held, placed: payable to whom the decision names, and paid in again to the plan that is open.

    `line` is the lapsed plan's, which needn't be the latest. Raises `LineError` where less is held.
    """
    total_cents = payable_cents + paid_in_cents
    if total_cents > last.balance_cents(PLAN_HELD):
        msg = f"{total_cents} cents of {last.balance_cents(PLAN_HELD)} that are held"
        raise LineError(msg)
    postings = (Posting(PLAN_HELD, -total_cents), Posting(PLAN_PAYABLE, payable_cents), Posting(CASH, paid_in_cents))
    moved = tuple(posting for posting in postings if posting.amount_cents)
    return draft_of(LineKind.HELD_PLACED, on, origin, moved, facts={"plan": line})
