"""Payment plans as they stand in passbooks, and orders of them, without the doors that make them."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from retiro.ledger import plans
from retiro.ledger.lines import next_line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.plans import Terms
from retiro.ledger.savings import Origin
from retiro.registry.deduction_orders import Order, order_item, ordered_month_item

BY = Origin("u-ana via office")
# 4,000.00 of unaccounted service from 1986-06-30, its principal paid on 2008-10-15: interest 5,354.30 in 60
# installments of 89.23, the last one 89.73, from 2008-10-31 on.
TOTAL_CENTS = 5354_30
STANDARD = Terms(TOTAL_CENTS, 89_23, 60, date(2008, 10, 31))


def open_plan(passbooks: Passbooks, participant_id: str, terms: Terms = STANDARD) -> None:
    """A plan whose principal of 4,000.00 is paid, and none of its installments."""
    paid_on = date(2008, 10, 15)
    steps = (
        lambda last: plans.applied(last, date(2008, 9, 1), BY),
        lambda last: plans.approved(last, [4000_00], date(2008, 10, 10), date(2009, 10, 10), BY),
        lambda last: plans.principal_payment(last, 4000_00, paid_on, BY),
        lambda last: plans.scheduled(last, [terms.total_cents], terms, paid_on, BY),
    )
    for step in steps:
        last = passbooks.last(participant_id)
        assert last is not None
        line = next_line(last, step(last), passbook=participant_id, fund="ERS", recorded_at=passbooks.clock())
        passbooks.store.put_line(line)


def order(stack: Any, payer_id: str, month: str, *orders: tuple[str, int, int]) -> None:
    """An order of a month: participant, installment and arrears in cents."""
    for participant_id, installment_cents, arrears_cents in orders:
        item = order_item(payer_id, month, Order(participant_id, installment_cents, arrears_cents, 1))
        stack.registry.put(item)
    stack.registry.put(ordered_month_item(payer_id, month))


def owed_cents(passbooks: Passbooks, participant_id: str) -> int:
    """What is open of the participant's plan."""
    last = passbooks.last(participant_id)
    assert last is not None
    plan = plans.plan_of(last)
    assert plan is not None
    return plan.balance_cents


def arrears_cents(passbooks: Passbooks, participant_id: str, through: date) -> int:
    """What is due by a day and isn't paid."""
    last = passbooks.last(participant_id)
    assert last is not None
    plan = plans.plan_of(last)
    assert plan is not None
    return plan.due_cents(through)


def csv_file(lines: Sequence[str], total: str, *, count: int | None = None) -> str:
    """A file of the published format."""
    control = f"total,{len(lines) if count is None else count},{total},,"
    return "\n".join(["participant_id,kind,amount,salary,name", *lines, control, ""])
