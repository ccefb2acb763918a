"""The months' deduction orders, each a run that people see through, and take back now and then."""

from datetime import date

from retiro.ledger.plans import ORDER_REVERSAL_RUN, ORDER_RUN
from retiro.registry.deduction_orders import ordered_months, orders_of
from retiro.registry.runs import Run
from tests.simulation import offices
from tests.simulation.plan_lives import PAYERS
from tests.simulation.plan_model import PENSIONS, Debtor, month_end
from tests.simulation.world import World

MONTHS = ("2008-11", "2008-12", "2009-01")


def orders(world: World) -> None:
    """Month after month; now and then a next attempt for who had nothing due, or all of it taken back and made anew."""
    rng = world.scheduler.rng
    world.scheduler.sleep(100 + rng.random() * 200)
    for month in MONTHS:
        world.scheduler.sleep(rng.random() * 300)
        done = drive_orders(world, month)
        again = rng.choice(["", "", "next attempt", "reversal"])
        if again:
            world.scheduler.sleep(rng.random() * 200)
        if again == "reversal":
            reverse_orders(world, month)
        if again:
            drive_orders(world, month, done.id.attempt)


def drive_orders(world: World, month: str, after_attempt: int = 0) -> Run:
    """A month's orders, until they are issued."""
    hand = offices.Hand(world, ORDER_RUN, month, lambda host, by: host.deductions.orders.prepare(month, by))
    return hand.see_through(after_attempt)


def reverse_orders(world: World, month: str) -> None:
    """What is ordered for a month, until it is taken back."""
    reason = "An employer's list was wrong."
    hand = offices.Hand(
        world, ORDER_REVERSAL_RUN, month, lambda host, by: host.deductions.orders.reverse(month, reason, by)
    )
    hand.see_through()


def check_orders(world: World) -> None:
    """Payers read what was ordered, and nothing else; what is due and on nobody's order is named."""
    debtors = world.model.plans.debtors
    registry = world.hosts[0].registry
    for payer_id in (*PAYERS, PENSIONS):
        known = set(ordered_months(registry, payer_id))
        for month in MONTHS:
            read = {
                order.participant_id: (order.installment_cents, order.arrears_cents)
                for order in orders_of(registry, payer_id, month)
            }
            ordered = {
                participant_id: debtor.orders[month][1:]
                for participant_id, debtor in debtors.items()
                if month in debtor.orders and debtor.orders[month].payer_id == payer_id
            }
            if read != ordered or bool(ordered) != (month in known):
                what = f"{payer_id} reads {read} for {month} of {sorted(known)}"
                world.fail("plan_index", f"{what}, and {ordered} was ordered")
    for month in MONTHS:
        _check_named(world, month)


def _check_named(world: World, month: str) -> None:
    """After one more attempt, who has something due is on an order of the month or of a later one.

    Where nobody pays, that is named.
    """
    found, _ = world.hosts[0].deductions.orders.exceptions(month, None, 100)
    named = {one.passbook: one.code for one in found}
    last = month_end(date.fromisoformat(f"{month}-01"))
    for participant_id, debtor in world.model.plans.debtors.items():
        if not _is_due(debtor, last) or max(debtor.orders, default="") >= month:
            continue
        if (expected := debtor.order(month)) is not None:
            world.fail("plan_ordered", f"{participant_id} isn't on {month}'s order: {expected}; named are {named}")
        elif participant_id not in named:
            world.fail("plan_due_named", f"{participant_id} has something due in {month}, of nobody: {named}")


def _is_due(debtor: Debtor, last: date) -> bool:
    plan = debtor.plan
    if plan is None:
        return False
    return bool(plan.due_cents(last)) or plan.status == "undecided"
