"""3 L.P.R.A. § 830q beyond its cases: the order of refusals, the receipt, the dated data."""

from datetime import date, timedelta

import pytest

from retiro.rules import parameters
from retiro.rules.determinations import determine
from retiro.rules.payment_plans import JOINING_LIMIT, WINDOWS, month_ends
from retiro.rules.refusals import Refusal, RefusalCode

STANDARD = {
    "applied_on": "2008-10-01",
    "status": "active_service",
    "first_joined_on": "1986-01-01",
    "time_to_merit_pension": {"years": 9},
    "debts": [{"kind": "unaccounted_service", "principal": "4000.00", "owed_from": "1986-06-30"}],
    "cost_notified_on": "2008-09-01",
    "approved_on": "2008-10-10",
    "principal_payments": [{"date": "2008-10-15", "amount": "4000.00"}],
}
WITHDRAWN = [{"kind": "withdrawn_contributions", "principal": "4000.00", "owed_from": "1986-06-30"}]

# Everything is wrong with this application. Each row mends what the refusal before it was about.
ALL_WRONG = STANDARD | {
    "approved_on": 20081010,
    "status": "inactive",
    "first_joined_on": "1990-04-02",
    "applied_on": "2002-07-01",
    "time_to_merit_pension": {"years": 10, "days": 1},
    "act_305": True,
    "debts": WITHDRAWN,
    "principal_payments": [{"date": "2009-10-11", "amount": "4000.01"}],
}
LADDER = [
    ({}, RefusalCode.INVALID_INPUT),
    ({"approved_on": "2008-10-10"}, RefusalCode.NEEDS_DECISION),
    ({"status": "active_service"}, RefusalCode.JOINED_AFTER_APRIL_1_1990),
    ({"first_joined_on": "1990-04-01"}, RefusalCode.APPLICATION_WINDOW_CLOSED),
    ({"applied_on": "2002-07-02"}, RefusalCode.MORE_THAN_TEN_YEARS_TO_MERIT_PENSION),
    ({"time_to_merit_pension": {"years": 10}}, RefusalCode.BOARD_RATE_REQUIRED),
    ({"act_305": False}, RefusalCode.NOT_IN_FORCE),
    ({"applied_on": "2008-10-01"}, RefusalCode.PRINCIPAL_OVERPAID),
    ({"principal_payments": [{"date": "2009-10-11", "amount": "4000.00"}]}, RefusalCode.PRINCIPAL_LATE),
]


def refusal_of(given) -> Refusal:
    with pytest.raises(Refusal) as caught:
        determine("payment_plan", given)
    return caught.value


@pytest.mark.parametrize("mended", range(len(LADDER)), ids=[code for _, code in LADDER])
def test_refusals_come_in_the_order_listed(mended):
    given = dict(ALL_WRONG)
    for change, _ in LADDER[: mended + 1]:
        given |= change
    assert refusal_of(given).code == LADDER[mended][1]


def test_a_payment_from_before_the_application_is_named_by_its_place():
    """Applied for on 2008-10-01: the second payment's day is the day before."""
    payments = [{"date": "2008-10-15", "amount": "1.00"}, {"date": "2008-09-30", "amount": "1.00"}]
    refusal = refusal_of(STANDARD | {"principal_payments": payments})
    assert (refusal.code, refusal.field) == (RefusalCode.INVALID_INPUT, "principal_payments.1.date")
    assert "must not be before the application" in refusal.sentence.en


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"first_joined_on": "1991-01-01", "principal_payments": [{"date": "2008-09-30", "amount": "1.00"}]},
         "principal_payments.0.date"),
        ({"status": "inactive", "approved_on": "2199-01-01"}, "approved_on"),
    ],
)  # fmt: skip
def test_what_breaks_the_form_is_said_before_any_clause(change, field):
    """determinations.md: invalid_input before all. The first joined too late, the second isn't in active service."""
    refusal = refusal_of(STANDARD | change)
    assert (refusal.code, refusal.field) == (RefusalCode.INVALID_INPUT, field)


@pytest.mark.parametrize("field", ["approved_on", "cost_notified_on"])
def test_a_term_beyond_the_calendar_is_refused_by_the_day_that_it_runs_from(field):
    """Sixty months from 2199-12-31 would end on 2204-12-31, and the last day of the calendar is 2199-12-31."""
    refusal = refusal_of(STANDARD | {field: "2199-12-31"})
    assert (refusal.code, refusal.field) == (RefusalCode.INVALID_INPUT, field)
    assert "2199" in refusal.sentence.en
    assert "2199" in refusal.sentence.es


def test_an_inactive_participant_with_nothing_withdrawn_is_refused_in_the_place_of_needs_decision():
    given = ALL_WRONG | {"approved_on": "2008-10-10", "debts": STANDARD["debts"]}
    assert refusal_of(given).code == RefusalCode.NOT_IN_ACTIVE_SERVICE


def test_a_missing_accrued_interest_names_the_debt_that_lacks_it():
    with_it = {**STANDARD["debts"][0], "accrued_interest": "1.00"}
    given = STANDARD | {
        "debts": [with_it, STANDARD["debts"][0]],
        "settings": {"plan_interest_base": "from_application"},
    }
    refusal = refusal_of(given)
    assert (refusal.code, refusal.field) == (RefusalCode.INVALID_INPUT, "debts.1.accrued_interest")


def test_a_kind_of_debt_outside_its_windows_is_told_the_nearest_one():
    refusal = refusal_of(STANDARD | {"applied_on": "2003-07-02", "debts": WITHDRAWN})
    assert "2003-07-02" in refusal.sentence.en
    assert "2005-12-30 through 2006-06-30" in refusal.sentence.en
    assert "del 2005-12-30 al 2006-06-30" in refusal.sentence.es
    assert refusal.citation == "3 L.P.R.A. § 830q(c)"


def test_outside_the_windows_all_of_them_are_told():
    sentence = refusal_of(STANDARD | {"applied_on": "2010-01-04"}).sentence
    for window in ("2002-07-02 through 2003-07-02", "2005-12-30 through 2006-06-30", "2008-08-09 through 2009-02-09"):
        assert window in sentence.en


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"principal_payments": [{"date": "2009-10-11", "amount": "1.00"}]}, "after the deadline of 2009-10-10"),
        ({"separated_on": "2008-10-14"}, "after the separation of 2008-10-14"),
        ({"pension_starts_on": "2008-10-15"}, "not before the pension of 2008-10-15"),
        ({"principal_payments": [], "as_of": "2009-10-11"}, "4000.00 of principal was open after 2009-10-10"),
    ],
)
def test_a_lapse_says_what_lapsed_it(change, reason):
    assert reason in refusal_of(STANDARD | change).sentence.en


# The receipt


def test_the_receipt_shows_the_rate_the_time_and_the_exact_interest():
    receipt = determine("payment_plan", STANDARD).receipt
    step = next(step for step in receipt.steps if step.label.en.startswith("Interest on 4000.00"))
    assert step.citation == "3 L.P.R.A. § 830q(c)"
    assert step.formula.en == "4000.00 × 6 % × 8143 days ÷ 365"
    assert step.value == "5354.30"
    # 240 × 8143 ÷ 365 = 1954320 ÷ 365, by 5: 390864 ÷ 73
    assert step.exact == "390864/73"


def test_the_receipt_names_what_was_in_force_on_the_application():
    receipt = determine("payment_plan", STANDARD).receipt
    assert {(used.name, used.value) for used in receipt.parameters} == {
        ("plan_first_joined_limit", "1990-04-01"),
        ("plan_filing_window", "2008-08-09 through 2009-02-09"),
        ("plan_years_left_to_merit_pension", "10"),
        ("plan_rate_unaccounted_service_percent", "6"),
        ("plan_principal_years", "1"),
        ("plan_term_months", "60"),
    }
    assert {used.on for used in receipt.parameters} == {date(2008, 10, 1)}
    assert {used.name: used.value for used in receipt.settings} == {
        "plan_interest_base": "principal_until_paid",
        "day_count": "actual_365",
        "installments_start": "when_principal_paid",
    }


def test_a_refusal_keeps_the_receipt_so_far():
    receipt = refusal_of(STANDARD | {"time_to_merit_pension": {"years": 11}}).receipt
    assert [used.name for used in receipt.parameters][-1] == "plan_years_left_to_merit_pension"


@pytest.mark.parametrize(
    ("change", "question"),
    [
        ({"separated_on": "2008-10-31"}, "with no pension"),
        ({"board_rate_percent": "4.25"}, "rate of the Board is given, and wasn't used"),
        (
            {"debts": [{**STANDARD["debts"][0], "accrued_interest": "1.00"}]},
            "Accrued interest is given",
        ),
        ({"debts": [], "principal_payments": []}, "No principal is owed"),
        ({"principal_payments": [], "separated_on": "2008-11-30"}, "Principal is open"),
        (
            {"pension_starts_on": "2013-10-01", "settings": {"installments_start": "with_pension"}},
            "No month-end",
        ),
        (
            {"settings": {"installments_start": "with_pension", "plan_interest_base": "balance_until_liquidated"}},
            "There is no schedule yet",
        ),
    ],
)
def test_what_stays_open_is_asked(change, question):
    asked = determine("payment_plan", STANDARD | change).receipt.open_questions
    assert len(asked) == 1
    assert question in asked[0].en


def test_the_standard_plan_asks_nothing():
    assert determine("payment_plan", STANDARD).receipt.open_questions == []


def test_what_no_pension_can_bear_is_asked():
    charge = determine("plan_death_charge", {"plan_balance": "10.00", "installment": "1.00", "death_benefit": "4.00"})
    assert "No survivors' pension can bear 6.00" in charge.receipt.open_questions[0].en


def test_the_register_counts_the_newspapers_that_are_complete():
    publications = [{"newspaper": "A", "date": f"2008-09-0{day}"} for day in (1, 2, 3)]
    receipt = determine("disclosure_compliance", {"publications": publications}).receipt
    assert [step.value for step in receipt.steps] == ["1", "newspapers, coordinator_notice, circular_letter"]


# The dated data


def test_windows_follow_one_another_and_each_has_a_source():
    assert [window.opens_on for window in WINDOWS] == sorted(window.opens_on for window in WINDOWS)
    for window in WINDOWS:
        assert window.opens_on < window.closes_on < window.until
        assert window.citation
        assert "Act" in window.source
    assert date(1990, 4, 1) == JOINING_LIMIT.on_or_before


@pytest.mark.parametrize("window", WINDOWS, ids=[str(window.opens_on) for window in WINDOWS])
def test_each_kind_of_debt_has_a_rate_on_every_day_of_its_windows(window):
    day = window.opens_on
    while day <= window.closes_on:
        for kind in window.debt_kinds:
            assert parameters.in_force(f"plan_rate_{kind}_percent", day).value > 0
        day += timedelta(days=1)


def test_month_ends_are_counted_from_the_first_and_not_from_one_another():
    assert month_ends(date(2008, 12, 31), date(2009, 3, 31)) == [
        date(2008, 12, 31),
        date(2009, 1, 31),
        date(2009, 2, 28),
        date(2009, 3, 31),
    ]
    assert month_ends(date(2012, 2, 1), date(2012, 2, 29)) == [date(2012, 2, 29)]
    assert month_ends(date(2013, 10, 1), date(2013, 10, 10)) == []
    assert month_ends(date(2014, 1, 1), date(2013, 10, 10)) == []
