"""What the lines of plans are made of: the plan that takes them, the postings of what is owed and paid, the draft."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from retiro.ledger.lines import Draft, Line, LineKind, Posting, next_line
from retiro.ledger.plans.figures import Plan, PlanStatus, Terms, debt_account, plan_id, plan_of
from retiro.ledger.savings import Origin, Status
from retiro.rules.money import format_cents
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

PLAN_STATED = "plan_stated"
"""The other side of principal and interest, as determined."""

STATE_KEYS: Mapping[LineKind, frozenset[str]] = {
    LineKind.PENSION: frozenset({"pension"}),
    LineKind.SERVICE_END: frozenset({"left"}),
    LineKind.PLAN_APPLIED: frozenset({"plan"}),
    LineKind.PLAN_APPROVED: frozenset({"plan"}),
    LineKind.PRINCIPAL_PAYMENT: frozenset({"plan"}),
    LineKind.PLAN_SCHEDULED: frozenset({"plan"}),
    LineKind.INSTALLMENT: frozenset({"plan"}),
    LineKind.INSTALLMENT_RETURNED: frozenset({"plan"}),
    LineKind.PLAN_PAYOFF: frozenset({"plan"}),
    LineKind.PLAN_WARNED: frozenset({"plan"}),
    LineKind.PLAN_LAPSED: frozenset({"plan"}),
    LineKind.PLAN_DEATH: frozenset({"plan"}),
    LineKind.PLAN_DISCOUNTS: frozenset({"plan"}),
    LineKind.PLAN_ENDED: frozenset({"plan"}),
}
"""Which keys of the state a kind of line may change, for who checks a passbook."""


def after(last: Line, drafts: Sequence[Draft]) -> Line:
    """The line as it would be after these drafts, for what is decided on it in the same transaction."""
    for draft in drafts:
        last = next_line(last, draft, passbook=last.passbook, fund=last.fund, recorded_at=last.recorded_at)
    return last


def open_plan(last: Line, *statuses: PlanStatus) -> Plan:
    """The plan, in one of these statuses. Raises `Refusal` `plan_lapsed`, `plan_not_open`."""
    plan = plan_of(last)
    if plan is not None and plan.status is PlanStatus.LAPSED:
        raise Refusal(RefusalCode.PLAN_LAPSED, f"{SECTION}(d)", plan_id=plan_id(last.passbook, plan.line))
    if plan is None or plan.status not in statuses:
        status = "none" if plan is None else plan.status.value
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, SECTION, status=status)
    return plan


def check_not_closed(last: Line) -> None:
    """Raise `Refusal` `status_forbids` where the account is closed."""
    if (status := Status(last.state["status"])) is Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=status)


def owed_postings(amounts_cents: Sequence[int]) -> tuple[Posting, ...]:
    """Each debt grows by its amount; nothing for nothing."""
    postings = [Posting(debt_account(number), -cents) for number, cents in enumerate(amounts_cents, 1) if cents]
    total_cents = sum(amounts_cents)
    return (*postings, Posting(PLAN_STATED, total_cents)) if total_cents else tuple(postings)


def paid_postings(plan: Plan, amount_cents: int, contra: str) -> tuple[Posting, ...]:
    """A payment to the debts in the order listed, none of them below zero. Raises `Refusal` `over_plan_balance`."""
    if amount_cents > plan.balance_cents:
        raise Refusal(
            RefusalCode.OVER_PLAN_BALANCE, SECTION, field="amount",
            balance=format_cents(plan.balance_cents), amount=format_cents(amount_cents),
        )  # fmt: skip
    postings = []
    left_cents = amount_cents
    for number, open_cents in enumerate(plan.debts_cents, 1):
        if piece_cents := min(left_cents, open_cents):
            postings.append(Posting(debt_account(number), piece_cents))
            left_cents -= piece_cents
    return (*postings, Posting(contra, -amount_cents)) if amount_cents else ()


def paid_state(last: Line, plan: Plan, amount_cents: int) -> dict[str, Any]:
    """What a payment does to the state: nothing, unless it is the last one."""
    if amount_cents < plan.balance_cents:
        return {}
    return {"plan": {**last.state["plan"], "status": PlanStatus.PAID.value}}


def terms_state(terms: Terms) -> list[int | str]:
    """A list, not a map: every line of the passbook carries it."""
    return [terms.total_cents, terms.amount_cents, terms.count, terms.first_on.isoformat()]


def draft_of(  # noqa: PLR0913  # the parts of a draft, in their order
    kind: LineKind,
    on: date,
    origin: Origin,
    postings: tuple[Posting, ...] = (),
    *,
    state: Mapping[str, Any] | None = None,
    facts: Mapping[str, str | int] | None = None,
) -> Draft:
    """A draft by its origin: whose it is, what it rests on, and its facts beside those given."""
    return Draft(
        kind,
        on,
        origin.principal,
        postings=postings,
        state=state or {},
        determination=origin.determination,
        facts={**origin.facts, **(facts or {})},
    )
