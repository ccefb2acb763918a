"""The lines of a plan that is paid by installments: credited, returned, paid off, and each month's order."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from retiro.ledger.employers import CASH, INSTALLMENTS
from retiro.ledger.lines import Draft, Line, LineError, LineKind, Posting
from retiro.ledger.plans.drafting import draft_of, open_plan, paid_postings, paid_state
from retiro.ledger.plans.figures import PlanStatus, month_end, plan_of
from retiro.ledger.savings import Origin
from retiro.rules.money import format_cents
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

ORDER_RUN = "deduction_order"
"""The run kind whose mark says which month was ordered last."""

ORDER_REVERSAL_RUN = "deduction_order_reversal"
"""The run kind that takes a month's orders back."""


def installment_credit(
    last: Line, amount_cents: int, credited_on: date, origin: Origin, *, through: date | None = None
) -> Draft:
    """An installment that a payroll remitted, credited on its deposit's value date, to the debts in the order listed.

    At most what is due by the end of `through` (the last day of the month that was remitted; else `credited_on`), and
    arrears before all else: the line's facts say how much of it cleared arrears. What is less leaves an arrear, since
    an arrear is what was due and isn't paid. The other half goes from the payer's clearing to its `installments`.

    Raises `Refusal`: `plan_not_open` (none, paid, or still without a schedule), `plan_lapsed`, `over_due` (more than
    is due: credit `plan_of(last).due_cents(through)` and leave the rest in clearing); `LineError` for no cents.
    """
    through = through or credited_on
    plan = open_plan(last, PlanStatus.PAYING)
    if amount_cents <= 0:
        msg = f"an installment of {amount_cents} cents"
        raise LineError(msg)
    if amount_cents > (due_cents := plan.due_cents(through)):
        raise Refusal(
            RefusalCode.OVER_DUE, f"{SECTION}(e)", field="amount",
            due=format_cents(due_cents), amount=format_cents(amount_cents), on=through,
        )  # fmt: skip
    _, arrears_cents = plan.order_cents(through)
    facts: dict[str, str | int] = {"through": through.isoformat(), "arrears": min(amount_cents, arrears_cents)}
    postings = paid_postings(plan, amount_cents, INSTALLMENTS)
    return draft_of(
        LineKind.INSTALLMENT, credited_on, origin, postings, state=paid_state(last, plan, amount_cents), facts=facts
    )


def installment_returned(last: Line, installment: Line, returned_on: date, origin: Origin) -> Draft:
    """An installment whose deposit the bank took back: each debt bears it again, and what is due is due again.

    Raises `Refusal` `needs_decision` where the plan isn't the one that it paid, or has ended otherwise since.
    """
    plan = plan_of(last)
    paid = plan is not None and plan.status in (PlanStatus.PAYING, PlanStatus.PAID)
    if plan is None or not paid or plan.line != installment.state["plan"]["line"]:
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            SECTION,
            reason_en=f"the plan of installment line {installment.sequence} has ended otherwise since",
            reason_es=f"el plan del plazo de la línea {installment.sequence} terminó de otro modo después",
        )
    draft = draft_of(
        LineKind.INSTALLMENT_RETURNED,
        returned_on,
        origin,
        tuple(Posting(one.account, -one.amount_cents) for one in installment.postings),
        state={"plan": {**last.state["plan"], "status": PlanStatus.PAYING.value}},
    )
    return replace(draft, reverses=installment.sequence)


def payoff(last: Line, amount_cents: int, paid_on: date, origin: Origin) -> Draft:
    """All that is open, paid at once.

    Raises `Refusal` `payoff_differs` for another sum, `plan_lapsed`, `plan_not_open`.
    """
    plan = open_plan(last, PlanStatus.PAYING)
    if amount_cents != plan.balance_cents:
        raise payoff_differs(plan.balance_cents, amount_cents, paid_on)
    postings = paid_postings(plan, amount_cents, CASH)
    return draft_of(LineKind.PLAN_PAYOFF, paid_on, origin, postings, state=paid_state(last, plan, amount_cents))


def payoff_differs(figure_cents: int, amount_cents: int, on: date) -> Refusal:
    """The refusal of a payoff that isn't the figure of the day."""
    return Refusal(
        RefusalCode.PAYOFF_DIFFERS, f"{SECTION}(e)", field="amount",
        figure=format_cents(figure_cents), amount=format_cents(amount_cents), on=on,
    )  # fmt: skip


def ordered(last: Line, month: date, payer_id: str, attempt: int, origin: Origin) -> Draft:
    """The month's order: what this payer is to withhold, installment and arrears apart. It moves no money."""
    plan = open_plan(last, PlanStatus.PAYING)
    installment_cents, arrears_cents = plan.order_cents(month)
    facts: dict[str, str | int] = {"payer": payer_id, "installment": installment_cents, "arrears": arrears_cents}
    draft = draft_of(LineKind.DEDUCTION_ORDER, month_end(month), origin, facts=facts)
    return replace(draft, run=(ORDER_RUN, f"{month:%Y-%m}", attempt))


def order_reversed(history: Sequence[Line], period: str, mark: tuple[str, str, int], origin: Origin) -> Draft:
    """A month's order taken back, on its own day: the next attempt orders what is due then.

    Raises `Refusal`: `not_ordered`; `later_order_stands`, the latest goes first; `order_remitted` where an installment
    of that month was credited since.
    """
    last = history[-1]
    stands = last.runs.get(ORDER_RUN)
    if stands is None or stands.period < period:
        raise Refusal(RefusalCode.NOT_ORDERED, f"{SECTION}(e)", month=period)
    if stands.period > period:
        raise Refusal(RefusalCode.LATER_ORDER_STANDS, f"{SECTION}(e)", month=period, later=stands.period)
    order = history[stands.sequence - 1]
    if any(_is_credited_for(line, order.effective_on) for line in history[stands.sequence :]):
        raise Refusal(RefusalCode.ORDER_REMITTED, f"{SECTION}(e)", month=period)
    draft = draft_of(LineKind.ORDER_REVERSED, order.effective_on, origin, facts={"payer": order.facts["payer"]})
    before = history[stands.sequence - 2].runs.get(ORDER_RUN)
    return replace(draft, run=mark, restores=(ORDER_RUN, before), reverses=order.sequence)


def _is_credited_for(line: Line, month_end_on: date) -> bool:
    return line.kind is LineKind.INSTALLMENT and str(line.facts["through"]) >= month_end_on.isoformat()
