"""A plan as its door shows it, on a day."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from payroll_deductions.plan_models import DebtView, PlanView, ScheduleView
from payroll_deductions.plan_records import Record, cents_on
from retiro.ledger import plans
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.plans import Plan

_STATES = (LineKind.PLAN_APPROVED, LineKind.PLAN_LAPSED, LineKind.PLAN_SCHEDULED, LineKind.PLAN_ENDED)
"""The kinds of line that say what is owed, or isn't any more: principal, and interest. Every other one pays of it."""


def view_of(record: Record, as_of: date, payoff_cents: int | None, *, is_past: bool = False) -> PlanView:
    """The plan by its lines effective on or before a day. `is_past`: its status and schedule are that day's."""
    lines = [line for line in record.lines if line.effective_on <= as_of]
    plan = record.plan_on(as_of) if is_past else record.plan
    approval = {} if record.approval is None else record.approval.body
    debts = [_debt(lines, number, debt) for number, debt in enumerate(record.application.body["debts"], 1)]
    balance_cents = sum(debt.balance for debt in debts)
    return PlanView(
        plan_id=record.plan_id,
        participant_id=record.last.passbook,
        status=plan.status.value,
        as_of=as_of,
        applied_on=date.fromisoformat(record.application.body["applied_on"]),
        content_hash=record.application.content_hash.hex(),
        entered_by=record.application.body["entered_by"],
        approved_by=approval.get("approved_by"),
        approved_on=record.approved_on,
        principal_deadline=_deadline(record),
        plan_ends_on=date.fromisoformat(approval["plan_ends_on"]) if approval else None,
        debts=debts,
        balance=balance_cents,
        arrears=plan.due_of_cents(balance_cents, as_of),
        held=sum(cents_on(line, plans.PLAN_HELD) for line in lines),
        schedule=_schedule(plan),
        payoff=payoff_cents,
    )


def _debt(lines: Sequence[Line], number: int, debt: Any) -> DebtView:
    account = plans.debt_account(number)
    owed = {kind: -sum(cents_on(line, account) for line in lines if line.kind is kind) for kind in _STATES}
    balance_cents = -sum(cents_on(line, account) for line in lines)
    principal_cents = owed[LineKind.PLAN_APPROVED] + owed[LineKind.PLAN_LAPSED]
    interest_cents = owed[LineKind.PLAN_SCHEDULED] + owed[LineKind.PLAN_ENDED]
    return DebtView(
        kind=debt["kind"],
        principal=principal_cents,
        interest=interest_cents,
        paid=principal_cents + interest_cents - balance_cents,
        balance=balance_cents,
    )


def _deadline(record: Record) -> date | None:
    """The principal's deadline, as the approval stated it."""
    for line in record.lines:
        if "deadline" in line.state["plan"]:
            return date.fromisoformat(line.state["plan"]["deadline"])
    return None


def _schedule(plan: Plan) -> ScheduleView | None:
    terms = plan.terms
    if terms is None:
        return None
    return ScheduleView(
        total=terms.total_cents,
        count=terms.count,
        amount=terms.amount_cents,
        last_amount=terms.total_cents - (terms.count - 1) * terms.amount_cents,
        first_due_on=terms.first_on,
    )
