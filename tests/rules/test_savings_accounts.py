"""§ 786-7 as arithmetic: properties that hold for any account, and the two ways of coming to a figure."""

import csv
import math
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retiro.rules.calendar import Semester
from retiro.rules.determinations import determine
from retiro.rules.money import format_cents, parse_cents
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import (
    average_monthly_balance_cents,
    check_on_calendar,
    fixed_income_percent,
    month_balances_cents,
    option_percents,
    semester_percent,
    system_portfolio_percent,
    yield_cents,
)

S2 = Semester(2025, 2)
TREASURY = [Fraction(text) for text in ("4.27", "4.21", "3.97", "3.78", "3.92", "3.89")]
FIGURES = {
    "fixed_income": {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]},
    "system_portfolio": {"return_percent": "3.50", "management_fees_percent": "0.40"},
}

amounts = st.integers(min_value=-(10**9), max_value=10**9)
percents = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
movements_of_s2 = st.lists(st.tuples(st.dates(min_value=S2.starts_on, max_value=S2.ends_on), amounts), max_size=20)


def month_ends_day_by_day(opening_cents, movements):
    """Walk through every day of FY2025-S2, and note the balance when a month ends."""
    balance, found, day = opening_cents, [], S2.starts_on
    while day <= S2.ends_on:
        balance += sum(amount for on, amount in movements if on == day)
        if (day + timedelta(days=1)).day == 1:
            found.append(balance)
        day += timedelta(days=1)
    return found


@given(amounts, movements_of_s2)
def test_the_month_ends_are_those_of_a_walk_through_every_day(opening, movements):
    assert month_balances_cents(S2, opening, movements) == [opening, *month_ends_day_by_day(opening, movements)]


@given(amounts, movements_of_s2, st.randoms(use_true_random=False))
def test_the_order_of_movements_does_not_matter(opening, movements, shuffler):
    shuffled = list(movements)
    shuffler.shuffle(shuffled)
    assert month_balances_cents(S2, opening, shuffled) == month_balances_cents(S2, opening, movements)


@given(st.lists(amounts, min_size=7, max_size=7))
def test_the_middle_average_is_the_mean_of_starts_and_ends(balances):
    starts = average_monthly_balance_cents(balances, "month_start")
    ends = average_monthly_balance_cents(balances, "month_end")
    assert starts == Fraction(sum(balances[:-1]), 6)
    assert ends == Fraction(sum(balances[1:]), 6)
    assert average_monthly_balance_cents(balances, "month_mid") == (starts + ends) / 2


@pytest.mark.parametrize("number", [6, 8])
def test_an_average_takes_seven_balances(number):
    with pytest.raises(ValueError, match="month-ends are needed"):
        average_monthly_balance_cents([0] * number, "month_end")


@given(st.integers(min_value=0, max_value=10**12), st.integers(min_value=0, max_value=10**12), percents)
def test_a_larger_balance_never_yields_less_of_a_gain_nor_more_of_a_loss(one, other, percent):
    small, large = sorted([Fraction(one, 6), Fraction(other, 6)])
    gains = [yield_cents(average, abs(percent), "post") for average in (small, large)]
    losses = [yield_cents(average, -abs(percent), "post") for average in (small, large)]
    assert gains == sorted(gains)
    assert losses == sorted(losses, reverse=True)
    assert losses == [-gain for gain in gains]


@given(st.fractions(), percents)
def test_a_yield_is_within_half_a_cent_of_the_exact_one(average, percent):
    assert abs(yield_cents(average, percent, "post") - average * percent / 100) <= Fraction(1, 2)
    assert yield_cents(average, percent, "floor_at_zero") == max(0, yield_cents(average, percent, "post"))


@given(st.integers(min_value=0, max_value=10), percents, percents)
def test_a_combination_lies_between_its_options(tens, one, other):
    selection = {"one": 10 * tens, "other": 100 - 10 * tens}
    assert min(one, other) <= semester_percent(selection, {"one": one, "other": other}) <= max(one, other)


def test_the_options_percents_are_exact():
    # 24.04/12, and 0.9 × (3.50 - 0.40)
    assert option_percents(S2, FIGURES, {}) == {
        "fixed_income": Fraction(2404, 1200),
        "system_portfolio": Fraction("2.79"),
    }


def test_the_settings_decide_how_the_percents_are_made():
    settings = {"cmt_semester_conversion": "unhalved", "portfolio_fee_treatment": "fees_after_share"}
    # 24.04/6, and 0.9 × 3.50 - 0.40
    assert option_percents(S2, FIGURES, settings) == {
        "fixed_income": Fraction(2404, 600),
        "system_portfolio": Fraction("2.75"),
    }


def test_the_geometric_conversion_has_forty_significant_digits():
    # sqrt(1 + 24.04/600) - 1, in percent, by whole numbers alone
    scale = 10**100
    root = math.isqrt((60000 + 2404) * scale**2 // 60000)
    exact = (Fraction(root, scale) - 1) * 100
    found = fixed_income_percent(TREASURY, "geometric")
    assert abs(found - exact) / exact < Fraction(1, 10**39)
    assert len(str(found.numerator * 10**60 // found.denominator)) >= 40


@given(st.lists(st.fractions(min_value=0, max_value=30, max_denominator=100), min_size=6, max_size=6))
def test_two_geometric_semesters_make_the_year(months):
    annual = sum(months) / 6
    half = fixed_income_percent(months, "geometric")
    assert abs((1 + half / 100) ** 2 - (1 + annual / 100)) < Fraction(1, 10**37)


@pytest.mark.parametrize(
    "call",
    [
        lambda: average_monthly_balance_cents([0] * 7, "daily"),
        lambda: fixed_income_percent(TREASURY, "doubled"),
        lambda: system_portfolio_percent(Fraction(1), Fraction(0), Fraction(90), "no_fees"),
        lambda: yield_cents(Fraction(1), Fraction(1), "ignore"),
    ],
)
def test_a_setting_without_such_a_value_is_a_fault_of_the_program(call):
    with pytest.raises(ValueError, match="no "):
        call()


def test_figures_that_break_the_form_are_refused_by_their_field():
    with pytest.raises(Refusal) as refused:
        option_percents(S2, {"fixed_income": {"monthly_percent": [4.27]}}, {})
    assert (refused.value.code, refused.value.field) == ("invalid_input", "fixed_income.monthly_percent.0")


def test_an_option_without_all_its_figures_has_no_percent():
    with pytest.raises(Refusal, match="monthly_percent") as refused:
        option_percents(S2, FIGURES | {"fixed_income": {"monthly_percent": ["4.27"] * 5}}, {})
    assert refused.value.code == "yield_not_in_force"


# Late credits


def semester_given(semester, opening_cents, movements):
    return {
        "semester": str(semester),
        "opening_balance": format_cents(opening_cents),
        "movements": [{"date": on.isoformat(), "amount": format_cents(cents)} for on, cents in movements],
        "selection": {"fixed_income": 30, "system_portfolio": 70},
        "option_yields": FIGURES,
    }


def posted(semesters, opening_cents, movements):
    """The semesters as posted one after another, and the balance at their end."""
    givens = []
    for semester in semesters:
        inside = [(on, cents) for on, cents in movements if semester.starts_on <= on <= semester.ends_on]
        givens.append(semester_given(semester, opening_cents, inside))
        opening_cents = determine("semester_yield", givens[-1]).closing_balance
    return givens, opening_cents


S1_TO_S4 = [Semester(2024, 1), Semester(2024, 2), Semester(2025, 1), Semester(2025, 2)]
small_amounts = st.integers(min_value=-(10**6), max_value=10**7)
days_of_all = st.dates(min_value=S1_TO_S4[0].starts_on, max_value=S1_TO_S4[-1].ends_on)


@given(
    st.integers(min_value=0, max_value=10**8),
    st.lists(st.tuples(days_of_all, small_amounts), max_size=6),
    st.tuples(st.dates(min_value=S1_TO_S4[0].starts_on, max_value=S1_TO_S4[0].ends_on), small_amounts),
)
def test_a_late_credit_leaves_the_account_as_if_it_had_been_in_time(opening, movements, late):
    as_posted, closing_without = posted(S1_TO_S4, opening, movements)
    _, closing_in_time = posted(S1_TO_S4, opening, [*movements, late])
    on, cents = late
    found = determine(
        "late_credit",
        {"movement": {"date": on.isoformat(), "amount": format_cents(cents)}, "semesters": as_posted},
    )
    assert closing_without + cents + found.total_difference == closing_in_time
    assert sum(difference.amount for difference in found.differences) == found.total_difference


def test_a_refusal_in_a_late_credit_names_the_semester():
    givens, _ = posted(S1_TO_S4[:2], 1_000_000, [])
    broken = givens[1] | {"option_yields": {"fixed_income": FIGURES["fixed_income"]}}
    with pytest.raises(Refusal) as refused:
        determine(
            "late_credit", {"movement": {"date": "2023-07-01", "amount": "1.00"}, "semesters": [givens[0], broken]}
        )
    assert refused.value.code == "yield_not_in_force"
    assert refused.value.field == "semesters.1.option_yields.system_portfolio"


# Every semester


EVERY_SEMESTER = [Semester(year, half) for year in range(2000, 2032) for half in (1, 2)]


@pytest.mark.parametrize("semester", EVERY_SEMESTER, ids=str)
def test_every_semester_has_a_calendar_and_a_yield(semester):
    found = determine("semester_yield", semester_given(semester, 1_000_000, []) | {"selection": {"fixed_income": 100}})
    assert found.yield_amount == parse_cents("200.33")  # 10000 × 24.04/1200
    days = determine("semester_calendar", {"semester": str(semester)})
    assert days.starts_on < days.yield_date == found.yield_date <= days.ends_on


@pytest.mark.parametrize("semester", EVERY_SEMESTER, ids=str)
def test_the_ninety_percent_has_no_gap_from_fy2005_on_and_nothing_before(semester):
    facts = semester_given(semester, 1_000_000, []) | {"selection": {"system_portfolio": 100}}
    if semester < Semester(2005, 1):
        with pytest.raises(Refusal, match="2004-07-01"):
            determine("semester_yield", facts)
    else:
        assert determine("semester_yield", facts).yield_amount == parse_cents("279.00")  # 10000 × 0.9 × 3.10 %


# The program's calendar


@pytest.mark.parametrize("on", [date(2000, 1, 1), date(2025, 7, 9), date(2025, 7, 10)])
def test_a_credit_is_dated_from_the_programs_first_day_through_today(on):
    check_on_calendar(on, today=date(2025, 7, 10), field="credited_on")


@pytest.mark.parametrize("on", [date(1999, 12, 31), date(2025, 7, 11)])
def test_a_credit_dated_before_the_program_or_after_today_is_refused(on):
    with pytest.raises(Refusal) as refused:
        check_on_calendar(on, today=date(2025, 7, 10), field="credited_on")
    assert (refused.value.code, refused.value.field) == ("invalid_input", "credited_on")


SERIES = Path(__file__).parents[2] / "cli" / "data" / "two_year_cmt_monthly.csv"


def of_the_series(semester):
    """The semester's months of the Treasury series that ships, as `semester_yield` takes them."""
    with SERIES.open(newline="") as rows:
        percents = {row["month"]: row["percent"] for row in csv.DictReader(rows)}
    months = [percents[month] for month in semester.months if month in percents]
    return {"fixed_income": {"monthly_percent": months}} if months else {}


@pytest.mark.parametrize(
    ("semester", "credited"),
    [
        ("FY2013-S1", "13.25"),  # 2012-07 to 12: 1.59 ÷ 12 = 0.1325 percent of 10,000.00
        ("FY2013-S2", "13.42"),  # 2013-01 to 06: 1.61 ÷ 12 = 0.134166…
        ("FY2025-S1", "204.58"),  # 2024-07 to 12: 24.55 ÷ 12 = 2.045833…
        ("FY2025-S2", "200.33"),  # 2025-01 to 06: 24.04 ÷ 12 = 2.003333…
    ],
)
def test_sy_11_a_semester_takes_its_own_months_of_the_real_series(semester, credited):
    """https://github.com/tidyverse/lubridate/issues/682: halves of a fiscal year were off by one."""
    given_ = {"semester": semester, "opening_balance": "10000.00", "selection": {"fixed_income": 100}}
    result = determine("semester_yield", given_ | {"option_yields": of_the_series(Semester.parse(semester))})
    assert result.model_dump(mode="json")["yield"] == credited


def test_sy_11_before_the_series_begins_there_is_no_yield():
    first = Semester.parse("FY2000-S1")
    assert of_the_series(first) == {}
    given_ = {"semester": "FY2000-S1", "opening_balance": "10000.00", "selection": {"fixed_income": 100}}
    with pytest.raises(Refusal) as refused:
        determine("semester_yield", given_ | {"option_yields": of_the_series(first)})
    assert refused.value.code == "yield_not_in_force"
