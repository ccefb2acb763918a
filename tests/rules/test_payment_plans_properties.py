"""3 L.P.R.A. § 830q: what holds of every plan, whatever its figures."""

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from retiro.rules.determinations import determine
from retiro.rules.money import format_cents
from retiro.rules.payment_plans import month_ends, schedule, years_between

DAY_COUNTS = ("actual_365", "thirty_360", "whole_months")

owed_days = st.dates(date(1960, 1, 1), date(2008, 10, 1))
paid_days = st.dates(date(2008, 10, 10), date(2009, 10, 10))
cents = st.integers(1, 10_000_000)
day_counts = st.sampled_from(DAY_COUNTS)


def plan_given(debts, payments, **more):
    return {
        "applied_on": "2008-10-01",
        "status": "active_service",
        "first_joined_on": "1986-01-01",
        "time_to_merit_pension": {"years": 9},
        "debts": [
            {"kind": kind, "principal": format_cents(principal), "owed_from": str(owed_from)}
            for kind, principal, owed_from in debts
        ],
        "cost_notified_on": "2008-09-01",
        "approved_on": "2008-10-10",
        "principal_payments": [{"date": str(paid_on), "amount": format_cents(amount)} for paid_on, amount in payments],
    } | more


# Installments


@given(total=st.integers(1, 10_000_000), first=paid_days, months=st.integers(0, 61))
def test_installments_are_of_a_cent_or_more_the_last_is_the_largest_and_they_sum_to_the_total(total, first, months):
    ends_on = date(2013, 10, 10)
    left = month_ends(first + timedelta(days=1), ends_on)[:months]
    planned = schedule(total, left, ends_on)
    assert planned is not None
    assert planned.amount_cents >= 1
    assert planned.last_amount_cents >= planned.amount_cents
    assert sum(planned.amounts_cents) == total
    assert len(planned.due_on) == (min(len(left), total) or 1)
    assert list(planned.due_on) == (left[:total] or [ends_on])


@given(first=st.dates(date(2000, 1, 1), date(2030, 1, 1)), days=st.integers(0, 2000))
def test_month_ends_are_every_day_whose_morrow_is_a_first(first, days):
    last = first + timedelta(days=days)
    every_day = [first + timedelta(days=number) for number in range(days + 1)]
    assert month_ends(first, last) == [day for day in every_day if (day + timedelta(days=1)).day == 1]


# The time


@given(start=owed_days, end=st.dates(date(2000, 1, 1), date(2030, 1, 1)), day_count=day_counts)
def test_a_day_later_is_never_less_time(start, end, day_count):
    assert years_between(start, end + timedelta(days=1), day_count) >= years_between(start, end, day_count) >= 0


@given(start=owed_days, day_count=day_counts, years=st.integers(0, 60))
def test_an_anniversary_is_whole_years_but_for_the_leap_days(start, day_count, years):
    assume((start.month, start.day) != (2, 29))
    time = years_between(start, start.replace(year=start.year + years), day_count)
    leap_days = Fraction(years // 4 + 1, 365) if day_count == "actual_365" else 0
    assert years <= time <= years + leap_days


@pytest.mark.parametrize("day_count", DAY_COUNTS)
def test_no_time_runs_backwards(day_count):
    assert years_between(date(2008, 10, 15), date(2008, 10, 14), day_count) == 0


def test_a_day_count_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="no day count 'actual_360'"):
        years_between(date(2008, 10, 14), date(2008, 10, 15), "actual_360")


# The plan


@given(principal=cents, owed_from=owed_days, paid_on=paid_days, day_count=day_counts)
def test_interest_grows_with_the_days_that_principal_is_owed(principal, owed_from, paid_on, day_count):
    assume(paid_on < date(2009, 10, 10))
    totals = [
        determine(
            "payment_plan",
            plan_given(
                [("unaccounted_service", principal, owed_from)],
                [(day, principal)],
                settings={"day_count": day_count},
            ),
        ).total_interest
        for day in (paid_on, paid_on + timedelta(days=1))
    ]
    assert totals[0] <= totals[1]


@given(principal=cents, owed_from=owed_days, paid_on=paid_days)
def test_interest_until_liquidated_is_never_less(principal, owed_from, paid_on):
    def total(base):
        debts = [("unaccounted_service", principal, owed_from)]
        given = plan_given(debts, [(paid_on, principal)], settings={"plan_interest_base": base})
        return determine("payment_plan", given).total_interest

    assert total("balance_until_liquidated") >= total("principal_until_paid")


@given(
    first=cents,
    second=cents,
    owed_from=owed_days,
    split=st.integers(1, 99),
    days=st.tuples(paid_days, paid_days),
)
def test_the_sum_of_debts_pieces_and_installments_is_the_total(first, second, owed_from, split, days):
    part = (first + second) * split // 100
    assume(0 < part < first + second)
    plan = determine(
        "payment_plan",
        plan_given(
            [("unaccounted_service", first, owed_from), ("withdrawn_contributions", second, owed_from)],
            [(days[0], part), (days[1], first + second - part)],
        ),
    )
    assert plan.principal_paid_on == max(days)
    assert sum(of_debt.amount for of_debt in plan.interest) == plan.total_interest
    if plan.total_interest:
        paid = plan.installments.amount * (plan.installments.count - 1) + plan.installments.last_amount
        assert paid == plan.total_interest
        assert plan.installments.first_due_on > max(days)
        assert plan.installments.last_due_on <= plan.plan_ends_on


@given(principal=st.integers(2, 10_000_000), paid_on=paid_days, data=st.data())
def test_before_the_last_cent_of_principal_there_is_no_interest_yet(principal, paid_on, data):
    part = data.draw(st.integers(1, principal - 1))
    given = plan_given([("unaccounted_service", principal, date(1990, 1, 1))], [(paid_on, part)])
    plan = determine("payment_plan", given)
    assert plan.principal_outstanding == principal - part
    assert (plan.principal_paid_on, plan.interest, plan.total_interest, plan.installments, plan.deducted_from) == (
        (None,) * 5
    )


# A death


@given(
    balance=st.integers(0, 1_000_000),
    installment=st.integers(1, 100_000),
    benefit=st.integers(0, 1_000_000),
    pension=st.integers(0, 100_000),
)
def test_what_is_charged_discounted_and_uncollected_is_the_balance(balance, installment, benefit, pension):
    charge = determine(
        "plan_death_charge",
        {
            "plan_balance": format_cents(balance),
            "installment": format_cents(installment),
            "death_benefit": format_cents(benefit),
            "survivor_monthly_pension": format_cents(pension),
        },
    )
    discounted = 0
    if charge.discounts is not None:
        discounted = charge.discounts.amount * (charge.discounts.count - 1) + charge.discounts.last_amount
        assert 0 < charge.discounts.last_amount <= charge.discounts.amount == min(installment, pension)
    assert charge.charged_to_death_benefit + discounted + charge.uncollected == balance
    assert charge.charged_to_death_benefit <= benefit
