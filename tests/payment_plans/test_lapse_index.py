"""Whom the daily look goes to: one plan's end never takes another plan's entry away."""

from payroll_deductions import schedule
from payroll_deductions.schedule import Lapses
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Passbooks
from retiro.registry import open_plans
from tests.payment_plans.office import PlansOffice


def test_a_plan_that_is_approved_while_the_look_forgets_the_one_before_stays_looked_at(office: PlansOffice) -> None:
    """The look has read that the plan has lapsed; before it takes the entry away, another plan is granted."""
    registry = office.stack.registry
    assert office.approve(office.apply()).status == 200
    assert office.look("2009-10-11")["lapsed"] == 1
    assert list(open_plans.plans(registry)) == [("P-000001", 2)]

    class Between(Passbooks):
        def last(self, passbook: str) -> Line | None:
            last = super().last(passbook)
            if last is not None and last.sequence == 4:
                assert office.approve(office.apply("A-2")).status == 200
            return last

    looking = schedule.world().lapses.passbooks
    assert Lapses(Between(looking.store, looking.clock), registry).look(looking.clock().date())["open"] == 0
    assert list(open_plans.plans(registry)) == [("P-000001", 5)]
    assert office.look("2009-10-12")["lapsed"] == 1
    office.look("2009-10-13")
    assert list(open_plans.plans(registry)) == []
