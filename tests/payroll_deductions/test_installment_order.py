"""Whatever order remittances come in, a debt is what was owed less what was credited, and every cent has a place."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from payroll_deductions.crediting import _Page
from retiro.ledger import plans
from retiro.ledger.lines import Line, next_line
from retiro.ledger.plans import Terms, month_end
from retiro.ledger.savings import Origin, enrolment
from retiro.registry.remittances import INSTALLMENT, Deposit, Remittance, RemittedLine
from retiro.rules.calendar import add_months
from tests.ledger.makers import day
from tests.payroll_deductions.plans_at_work import BY

RECORDED_AT = datetime(2025, 7, 10, tzinfo=UTC)
MONTHS = st.integers(0, 6)
REMITTED = st.lists(st.tuples(MONTHS, st.integers(0, 60), st.integers(1, 250_00)), max_size=12)
# 535.40 in six installments of 89.23, the last one 89.25, from October 2008 on.
TERMS = Terms(535_40, 89_23, 6, date(2008, 10, 31))


def planned() -> Line:
    """A passbook with a plan whose principal is paid."""
    last = None
    for step in (
        lambda before: enrolment(before, day("2005-01-01"), None, Origin("u-ana")),
        lambda before: plans.applied(before, date(2008, 9, 1), BY),
        lambda before: plans.approved(before, [300_00, 100_00], date(2008, 10, 10), date(2009, 10, 10), BY),
        lambda before: plans.principal_payment(before, 400_00, date(2008, 10, 15), BY),
        lambda before: plans.scheduled(before, [400_00, 135_40], TERMS, date(2008, 10, 15), BY),
    ):
        last = appended(last, step(last))
    assert last is not None
    return last


def appended(last, draft):
    return next_line(last, draft, passbook="P-000001", fund="ERS", recorded_at=RECORDED_AT)


PLANNED = planned()


@given(REMITTED)
def test_any_order_of_remittances_keeps_the_debt_at_total_less_paid(remitted):
    last, credited_cents, held_cents = PLANNED, 0, 0
    for number, (months, days, cents) in enumerate(remitted):
        month = add_months(date(2008, 10, 1), months)
        value_date = month_end(month) + timedelta(days=days)
        remittance = Remittance("E-001", f"R-{number}", "ERS", f"{month:%Y-%m}", [])
        row = RemittedLine("P-000001", cents, INSTALLMENT)
        page = _Page(remittance, Deposit("D", cents, value_date, "u-ana"), 0, [row], None)
        for draft in page._credit([(1, row)], last).drafts:
            last = appended(last, draft)
        held_cents += page.held[1].amount_cents if 1 in page.held else 0
        credited_cents += cents - (page.held[1].amount_cents if 1 in page.held else 0)
        plan = plans.plan_of(last)
        # Never more than is due by the month's end or the deposit's day; never a debt below zero.
        assert plan.balance_cents == TERMS.total_cents - credited_cents
        assert credited_cents <= TERMS.total_cents
        assert min(plan.debts_cents) >= 0
    assert credited_cents + held_cents == sum(cents for _, _, cents in remitted)
