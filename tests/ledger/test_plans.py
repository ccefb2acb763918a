"""The lines of a payment plan, 3 L.P.R.A. § 830q: debts, schedule, arrears, payers, a lapse, a death."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from retiro.ledger import plans, savings
from retiro.ledger.lines import Draft, Line, LineError, LineKind, next_line, to_item
from retiro.ledger.plans import PlanStatus, Terms, plan_of
from retiro.ledger.savings import Origin
from retiro.ledger.verify import verify_passbook
from retiro.rules.refusals import Refusal
from tests.ledger.makers import day

ORIGIN = Origin("u-ana via office", "payment_plan/P-000001/00000003")
NOW = datetime(2013, 12, 31, 12, tzinfo=UTC)
# The standard plan: 4,000.00 owed from 1986-06-30 at 6 %, paid on 2008-10-15: 5,354.30 = 59 × 89.23 + 89.73.
STANDARD = Terms(535_430, 8_923, 60, day("2008-10-31"))


def then(last: Line | None, draft: Draft) -> Line:
    return next_line(last, draft, passbook="P-000001", fund="ERS", recorded_at=NOW)


def enrolled() -> Line:
    return then(None, savings.enrolment(None, day("1986-06-30"), None, ORIGIN))


def granted(*principals_cents: int) -> Line:
    """Applied for and approved on 2008-10-10, the principal due within the year."""
    last = then(enrolled(), plans.applied(enrolled(), day("2008-09-01"), ORIGIN))
    principals = principals_cents or (400_000,)
    return then(last, plans.approved(last, principals, day("2008-10-10"), day("2009-10-10"), ORIGIN))


def paying(terms: Terms = STANDARD) -> Line:
    """The principal paid on 2008-10-15."""
    last = granted()
    last = then(last, plans.principal_payment(last, 400_000, day("2008-10-15"), ORIGIN))
    return then(last, plans.scheduled(last, [terms.total_cents], terms, day("2008-10-15"), ORIGIN))


def credited(last: Line, cents: int, on: str, through: str | None = None) -> Line:
    return then(
        last, plans.installment_credit(last, cents, day(on), ORIGIN, through=None if through is None else day(through))
    )


def refused(act: Callable[..., Any], *given: Any, **named: Any) -> str:
    with pytest.raises(Refusal) as refusal:
        act(*given, **named)
    return refusal.value.code.value


def plan(last: Line) -> plans.Plan:
    found = plan_of(last)
    assert found is not None
    return found


# Debts


def test_each_debt_has_an_account_of_its_own_and_payments_go_to_them_in_the_order_listed() -> None:
    last = granted(100_000, 50_000)
    assert last.balances == {"plan_debt:1": -100_000, "plan_debt:2": -50_000, "plan_stated": 150_000}
    last = then(last, plans.principal_payment(last, 120_000, day("2008-11-03"), ORIGIN))
    assert plan(last).debts_cents == (0, 30_000)
    assert last.balance_cents("cash") == -120_000


def test_interest_is_added_to_each_debt_once_the_principal_is_paid() -> None:
    last = granted(100_000, 50_000)
    last = then(last, plans.principal_payment(last, 150_000, day("2008-11-03"), ORIGIN))
    last = then(
        last,
        plans.scheduled(last, [7_000, 5_000], Terms(12_000, 3_000, 4, day("2008-11-30")), day("2008-11-03"), ORIGIN),
    )
    assert plan(last).debts_cents == (7_000, 5_000)
    last = credited(last, 3_000, "2008-12-05")
    last = credited(last, 6_000, "2009-02-05")
    assert plan(last).debts_cents == (0, 3_000)


def test_a_participant_has_one_open_plan() -> None:
    last = paying()
    assert refused(plans.applied, last, day("2009-01-05"), ORIGIN) == "plan_open"


def test_a_paid_plan_makes_room_for_another() -> None:
    last = paying()
    last = then(last, plans.payoff(last, 535_430, day("2008-12-01"), ORIGIN))
    assert plan(last).status is PlanStatus.PAID
    last = then(last, plans.applied(last, day("2009-01-05"), ORIGIN))
    assert plan(last).status is PlanStatus.APPLIED
    assert plan(last).line == last.sequence


# What is due


@pytest.mark.parametrize(
    ("on", "due_cents"),
    [
        ("2008-10-30", 0),
        ("2008-10-31", 8_923),
        ("2008-11-29", 8_923),
        ("2008-11-30", 17_846),
        ("2009-02-27", 4 * 8_923),
        ("2009-02-28", 5 * 8_923),
        ("2013-08-31", 59 * 8_923),
        ("2013-09-30", 535_430),
        ("2014-01-01", 535_430),
    ],
)
def test_installments_fall_due_on_month_ends(on: str, due_cents: int) -> None:
    assert STANDARD.due_cents(day(on)) == due_cents


@pytest.mark.parametrize(
    ("on", "count"),
    [
        ("2008-11-29", 0),
        ("2008-11-30", 1),
        ("2009-02-28", 4),
        ("2009-03-28", 4),
        ("2009-03-30", 4),
        ("2009-03-31", 5),
        ("2012-02-28", 39),
        ("2012-02-29", 40),
        ("2013-08-31", 58),
    ],
)
def test_pd_01_due_dates_are_month_ends_that_february_does_not_shorten(on: str, count: int) -> None:
    """https://github.com/frappe/erpnext/pull/28034: 58 × 90.92 from 2008-11-30, and 91.46 on 2013-09-30."""
    terms = Terms(536_482, 9_092, 59, day("2008-11-30"))
    assert terms.due_cents(day(on)) == count * 9_092
    assert terms.due_cents(day("2013-09-30")) - terms.due_cents(day("2013-09-29")) == 9_146


@pytest.mark.parametrize(
    ("on", "due_cents"), [("2013-10-09", 0), ("2013-10-10", 500), ("2013-10-31", 500), ("2013-11-30", 500)]
)
def test_a_single_installment_falls_due_on_the_plans_last_day(on: str, due_cents: int) -> None:
    assert Terms(500, 500, 1, day("2013-10-10")).due_cents(day(on)) == due_cents


def test_pd_07_what_comes_late_is_asked_once_and_never_credited_twice() -> None:
    """https://github.com/frappe/lending/issues/1303, with November as the first month."""
    last = paying(Terms(535_430, 8_923, 60, day("2008-11-30")))
    assert plan(last).order_cents(day("2008-11-01")) == (8_923, 0)
    assert plan(last).order_cents(day("2008-12-01")) == (8_923, 8_923)
    last = credited(last, 8_923, "2008-12-20", "2008-11-30")
    assert last.facts["arrears"] == 0
    assert plan(last).order_cents(day("2008-12-01")) == (8_923, 0)
    # December's file brings 178.46: 89.23 is December's, the rest is over.
    assert plan(last).due_cents(day("2008-12-31")) == 8_923
    assert (
        refused(plans.installment_credit, last, 17_846, day("2009-01-10"), ORIGIN, through=day("2008-12-31"))
        == "over_due"
    )
    last = credited(last, 8_923, "2009-01-10", "2008-12-31")
    assert plan(last).balance_cents == 535_430 - 2 * 8_923


def test_a_short_payment_leaves_an_arrear_that_the_next_payment_clears_first() -> None:
    last = credited(paying(), 8_000, "2008-11-05", "2008-10-31")
    assert plan(last).order_cents(day("2008-11-30")) == (8_923, 923)
    last = credited(last, 9_000, "2008-12-05", "2008-11-30")
    assert last.facts["arrears"] == 923
    # 9,000 = 923 + 8,077 of 8,923: 846 are left.
    assert plan(last).order_cents(day("2008-12-31")) == (8_923, 846)


def test_the_last_installment_takes_the_rest_and_pays_the_plan() -> None:
    last = credited(paying(), 59 * 8_923, "2013-09-05", "2013-08-31")
    assert plan(last).order_cents(day("2013-09-30")) == (8_973, 0)
    last = credited(last, 8_973, "2013-10-05", "2013-09-30")
    assert plan(last).status is PlanStatus.PAID
    assert plan(last).balance_cents == 0
    assert refused(plans.installment_credit, last, 1, day("2013-11-05"), ORIGIN) == "plan_not_open"


def test_no_installment_is_credited_before_the_principal_is_paid() -> None:
    assert refused(plans.installment_credit, granted(), 8_923, day("2008-11-05"), ORIGIN) == "plan_not_open"
    assert refused(plans.installment_credit, enrolled(), 8_923, day("2008-11-05"), ORIGIN) == "plan_not_open"


@pytest.mark.parametrize("off_cents", [-1, 1])
def test_a_payoff_off_by_a_cent_is_refused(off_cents: int) -> None:
    last = credited(paying(), 8_923, "2008-11-05", "2008-10-31")
    assert refused(plans.payoff, last, 535_430 - 8_923 + off_cents, day("2008-11-20"), ORIGIN) == "payoff_differs"
    assert plan(then(last, plans.payoff(last, 535_430 - 8_923, day("2008-11-20"), ORIGIN))).status is PlanStatus.PAID


# A lapse


def test_a_lapse_takes_the_debts_back_and_holds_what_was_paid() -> None:
    last = granted(100_000, 50_000)
    last = then(last, plans.principal_payment(last, 120_000, day("2008-11-03"), ORIGIN))
    last = then(last, plans.lapsed(last, day("2009-10-11"), ORIGIN))
    assert last.balances == {"cash": -120_000, "plan_held": 120_000}
    assert refused(plans.principal_payment, last, 30_000, day("2009-10-12"), ORIGIN) == "plan_lapsed"
    assert refused(plans.installment_credit, last, 1, day("2009-10-12"), ORIGIN) == "plan_lapsed"
    assert refused(plans.payoff, last, 30_000, day("2009-10-12"), ORIGIN) == "plan_lapsed"


def test_a_lapse_with_nothing_paid_leaves_nothing() -> None:
    assert then(granted(), plans.lapsed(granted(), day("2009-10-11"), ORIGIN)).balances == {}


def test_a_second_lapsed_plan_takes_back_its_own_debts_alone() -> None:
    last = granted(100_000)
    last = then(last, plans.principal_payment(last, 40_000, day("2008-11-03"), ORIGIN))
    last = then(last, plans.lapsed(last, day("2009-10-11"), ORIGIN))
    last = then(last, plans.applied(last, day("2009-11-01"), ORIGIN))
    last = then(last, plans.approved(last, [70_000], day("2009-12-01"), day("2010-12-01"), ORIGIN))
    last = then(last, plans.principal_payment(last, 20_000, day("2010-01-04"), ORIGIN))
    last = then(last, plans.lapsed(last, day("2010-12-02"), ORIGIN))
    assert last.balances == {"cash": -60_000, "plan_held": 60_000}


def test_a_lapse_leaves_an_earlier_plan_as_it_was_paid() -> None:
    last = then(paying(), plans.payoff(paying(), 535_430, day("2008-12-01"), ORIGIN))
    paid = dict(last.balances)
    last = then(last, plans.applied(last, day("2009-01-05"), ORIGIN))
    last = then(last, plans.approved(last, [70_000], day("2009-02-01"), day("2010-02-01"), ORIGIN))
    assert then(last, plans.lapsed(last, day("2010-02-02"), ORIGIN)).balances == paid


# Who withholds


def test_the_pension_payroll_withholds_from_the_pensions_first_day() -> None:
    last = paying()
    last = then(last, plans.pension(last, plans.Pension(day("2009-06-15"), 120_000), ORIGIN))
    payers = [plans.payer_on(last, "E-001", day(on)) for on in ("2009-06-14", "2009-06-15", "2009-06-30")]
    assert payers == ["E-001", "E-000", "E-000"]


def test_nobody_withholds_between_service_and_pension() -> None:
    last = paying()
    last = then(last, plans.service_end(last, day("2009-06-15"), ORIGIN))
    payers = [plans.payer_on(last, "E-001", day(on)) for on in ("2009-06-14", "2009-06-15")]
    assert payers == ["E-001", None]


def test_an_account_that_is_no_longer_active_has_no_employer_to_withhold() -> None:
    last = paying()
    last = then(last, savings.status_change(LineKind.SEPARATION, day("2009-06-15"), ORIGIN))
    assert plans.payer_on(last, "E-001", day("2009-06-30")) is None


# A death


def pensioner() -> Line:
    last = paying()
    return then(last, plans.pension(last, plans.Pension(day("2009-06-15"), 120_000), ORIGIN))


def test_what_the_death_benefit_leaves_is_discounted_from_the_survivors_pension() -> None:
    """5,354.30 − 2,354.30 = 3,000.00; at 63.83 a month 47 × 63.83 = 3,000.01, so the last one is 63.82."""
    last = then(pensioner(), plans.death_charged(pensioner(), day("2010-03-04"), 235_430, ORIGIN))
    assert last.balance_cents("death_benefit") == -235_430
    assert plan(last).due_cents(day("2015-12-31")) == 0
    assert plans.payer_on(last, "E-001", day("2010-04-30")) is None
    last = then(last, plans.discounts(last, 6_383, day("2010-04-01"), ORIGIN))
    assert plan(last).terms == Terms(300_000, 6_383, 47, day("2010-04-30"))
    assert plan(last).order_cents(day("2010-04-01")) == (6_383, 0)
    assert plans.payer_on(last, "E-001", day("2010-04-30")) == "E-000"
    for number in range(46):  # April 2010 through January 2014
        end = f"{2010 + (number + 3) // 12}-{(number + 3) % 12 + 1:02d}"
        last = credited(last, 6_383, f"{end}-28", str(plans.month_end(day(f"{end}-01"))))
    assert plan(last).order_cents(day("2014-02-01")) == (6_382, 0)
    assert plan(credited(last, 6_382, "2014-03-05", "2014-02-28")).status is PlanStatus.PAID


def test_what_survivors_missed_lengthens_the_plan_and_is_never_asked_at_once() -> None:
    """5,354.30 at 40.00 from 2010-04: thirteen discounts fell due by 2011-04, and 40.00 is asked, not 520.00.

    134 months from 2010-04-30 end on 2021-05-31; in 2030, with 5,314.30 open after one discount, it is still 40.00.
    """
    last = then(pensioner(), plans.death_charged(pensioner(), day("2010-03-04"), 0, ORIGIN))
    last = then(last, plans.discounts(last, 4_000, day("2010-04-01"), ORIGIN))
    assert plan(last).order_cents(day("2010-03-01")) == (0, 0)
    assert plan(last).order_cents(day("2011-04-01")) == (4_000, 0)
    assert refused(plans.installment_credit, last, 4_001, day("2011-05-05"), ORIGIN) == "over_due"
    last = credited(last, 4_000, "2011-05-05", "2011-04-30")
    assert last.facts["arrears"] == 0
    assert plan(last).order_cents(day("2030-01-01")) == (4_000, 0)


def test_a_month_of_survivors_that_is_paid_is_not_asked_again() -> None:
    """April's 40.00 is paid: in April nothing is due any more, in May 40.00."""
    last = then(pensioner(), plans.death_charged(pensioner(), day("2010-03-04"), 0, ORIGIN))
    last = then(last, plans.discounts(last, 4_000, day("2010-04-01"), ORIGIN))
    last = credited(last, 4_000, "2010-05-05", "2010-04-30")
    assert plan(last).order_cents(day("2010-04-01")) == (0, 0)
    assert (
        refused(plans.installment_credit, last, 1, day("2010-05-06"), ORIGIN, through=day("2010-04-30")) == "over_due"
    )
    assert plan(last).order_cents(day("2010-05-01")) == (4_000, 0)


def test_a_death_benefit_that_bears_it_all_pays_the_plan() -> None:
    last = then(pensioner(), plans.death_charged(pensioner(), day("2010-03-04"), 535_430, ORIGIN))
    assert plan(last).status is PlanStatus.PAID


def test_a_death_before_any_pension_stops_the_plan_for_a_person() -> None:
    last = then(paying(), plans.undecided(paying(), day("2009-03-04"), ORIGIN))
    assert plan(last).status is PlanStatus.UNDECIDED
    assert refused(plans.installment_credit, last, 1, day("2009-04-05"), ORIGIN) == "plan_not_open"


# An order


def test_an_order_says_installment_and_arrears_apart_and_marks_the_month() -> None:
    last = then(paying(), plans.ordered(paying(), day("2008-11-01"), "E-001", 1, ORIGIN))
    assert last.facts == {"payer": "E-001", "installment": 8_923, "arrears": 8_923}
    assert last.runs["deduction_order"].period == "2008-11"
    assert last.effective_on == date(2008, 11, 30)
    assert last.postings == ()


# An order taken back, what a person decides


def history_of(*makes: Callable[[Line], Draft]) -> list[Line]:
    """The lines of a plan that is paid by installments, and one more for each of these."""
    lines: list[Line] = []

    def add(draft: Draft) -> None:
        lines.append(then(lines[-1] if lines else None, draft))

    add(savings.enrolment(None, day("1986-06-30"), None, ORIGIN))
    add(plans.applied(lines[-1], day("2008-09-01"), ORIGIN))
    add(plans.approved(lines[-1], [400_000], day("2008-10-10"), day("2009-10-10"), ORIGIN))
    add(plans.principal_payment(lines[-1], 400_000, day("2008-10-15"), ORIGIN))
    add(plans.scheduled(lines[-1], [535_430], STANDARD, day("2008-10-15"), ORIGIN))
    for make in makes:
        add(make(lines[-1]))
    return lines


def ordered(month: str) -> Callable[[Line], Draft]:
    return lambda last: plans.ordered(last, day(f"{month}-01"), "E-001", 1, ORIGIN)


REVERSAL = ("deduction_order_reversal", "2008-11", 1)


def test_an_order_is_taken_back_on_its_own_day_and_the_mark_before_it_is_put_back() -> None:
    history = history_of(ordered("2008-10"), ordered("2008-11"))
    history.append(then(history[-1], plans.order_reversed(history, "2008-11", REVERSAL, ORIGIN)))
    last = history[-1]
    assert (last.kind, last.effective_on) == (LineKind.ORDER_REVERSED, day("2008-11-30"))
    assert (last.sequence, last.reverses, last.facts["payer"]) == (8, 7, "E-001")
    assert (last.runs["deduction_order"].period, last.runs["deduction_order"].sequence) == ("2008-10", 6)
    assert last.runs["deduction_order_reversal"].sequence == 8
    assert verify_passbook("P-000001", [to_item(line) for line in history]).findings == ()
    assert refused(plans.order_reversed, history, "2008-11", REVERSAL, ORIGIN) == "not_ordered"


def test_an_earlier_order_stands_under_a_later_one() -> None:
    history = history_of(ordered("2008-11"), ordered("2008-12"))
    assert refused(plans.order_reversed, history, "2008-11", REVERSAL, ORIGIN) == "later_order_stands"
    assert refused(plans.order_reversed, history_of(), "2008-11", REVERSAL, ORIGIN) == "not_ordered"


@pytest.mark.parametrize(
    ("through", "stands"), [("2008-10-31", False), ("2008-11-29", False), ("2008-11-30", True), ("2008-12-31", True)]
)
def test_an_order_that_was_remitted_since_stands(through: str, stands: bool) -> None:  # noqa: FBT001  # a table
    """October's installment, which comes after November's order, doesn't make that one stand."""
    credit = plans.installment_credit
    history = history_of(
        ordered("2008-11"), lambda last: credit(last, 100, day("2009-01-05"), ORIGIN, through=day(through))
    )
    if stands:
        assert refused(plans.order_reversed, history, "2008-11", REVERSAL, ORIGIN) == "order_remitted"
    else:
        assert plans.order_reversed(history, "2008-11", REVERSAL, ORIGIN).reverses == 6


def test_what_a_lapsed_plan_held_is_placed_and_no_cent_more() -> None:
    last = then(granted(), plans.principal_payment(granted(), 150_000, day("2008-11-03"), ORIGIN))
    last = then(last, plans.lapsed(last, day("2009-10-11"), ORIGIN))
    with pytest.raises(LineError, match="150001 cents of 150000 that are held"):
        plans.held_placed(last, 2, 100_001, day("2009-11-02"), ORIGIN, paid_in_cents=50_000)
    last = then(last, plans.held_placed(last, 2, 100_000, day("2009-11-02"), ORIGIN, paid_in_cents=50_000))
    # What is paid in again is cash that comes back at once, by the line of the payment.
    assert last.balances == {"cash": -100_000, "plan_payable": 100_000}


def test_a_plan_whose_participant_lives_does_not_end_by_a_decision() -> None:
    assert refused(plans.ended, paying(), plans.RELEASED, day("2009-11-02"), ORIGIN) == "plan_not_open"
    dead = then(granted(), plans.undecided(granted(), day("2009-03-04"), ORIGIN))
    assert refused(plans.ended, dead, plans.RELEASED, day("2009-11-02"), ORIGIN) == "plan_not_open"
    assert plan(then(dead, plans.lapsed(dead, day("2009-03-04"), ORIGIN))).status is PlanStatus.LAPSED


def test_an_ended_plan_takes_nothing_and_makes_room_for_another() -> None:
    last = then(paying(), plans.undecided(paying(), day("2009-03-04"), ORIGIN))
    last = then(last, plans.ended(last, plans.ESTATE, day("2009-11-02"), ORIGIN))
    assert last.balance_cents("receivable:estate") == -535_430
    assert (plan(last).balance_cents, plan(last).is_open) == (0, False)
    assert refused(plans.installment_credit, last, 1, day("2009-11-05"), ORIGIN) == "plan_not_open"
