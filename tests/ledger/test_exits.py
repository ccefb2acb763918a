"""What an account comes to on the day of an exit: periods, posted return, and the semester under way."""

from collections.abc import Callable

import pytest

from retiro.ledger import annuities, exits, savings
from retiro.ledger.annuities import Balance, Corrected, Exit
from retiro.ledger.figures import Figures
from retiro.ledger.late_credits import Late, late_credit, reversal_of
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.savings import Origin, status_change
from retiro.rules.calendar import Semester
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal, RefusalCode
from tests.ledger.makers import (
    ANA,
    FIGURES,
    S1,
    S2,
    account_of_readings,
    contributed,
    day,
    enrolled,
    grown,
    posted,
    two_semesters_posted,
)

NO_FIGURES = Figures("JRS", [])
POSTED_ONLY = {"return_at_exit": "posted_only"}


def with_a_late_credit() -> list[Line]:
    """100.00 of 2024-08-15, which brings yield of both semesters."""
    history = two_semesters_posted()
    draft, _ = late_credit(history, Late(10_000, day("2024-08-15"), day("2025-07-10")), FIGURES, ANA)
    return grown([draft], history)


def reversed_again() -> list[Line]:
    history = with_a_late_credit()
    return grown([reversal_of(history, S2, ANA)], history)


# Posted: 200.49 for FY2025-S1, 214.37 for FY2025-S2. The late 100.00 stood five of six month-ends:
# 83.3333 × 24.55 / 12 % = 1.7049: 1.70 or 1.71 with the rest; then 101.70 × 24.04 / 12 % = 2.0374.
@pytest.mark.parametrize(
    ("account", "on", "cents"),
    [
        (two_semesters_posted, "2024-12-30", 20_049 + 21_437),
        (two_semesters_posted, "2024-12-31", 21_437),
        (two_semesters_posted, "2025-01-01", 21_437),
        (two_semesters_posted, "2025-06-29", 21_437),
        (two_semesters_posted, "2025-06-30", 0),
        (reversed_again, "2024-12-31", 0),
        (reversed_again, "2025-06-30", 0),
    ],
)
def test_the_return_posted_for_semesters_that_were_not_complete(
    account: Callable[[], list[Line]], on: str, cents: int
) -> None:
    assert exits.return_posted_after_cents(account(), day(on)) == cents


def test_late_differences_count_by_their_semester() -> None:
    history = with_a_late_credit()
    later_cents = history[-1].differences["FY2025-S2"]
    assert 200 <= later_cents <= 205
    assert exits.return_posted_after_cents(history, day("2025-01-15")) == 21_437 + later_cents


@pytest.mark.parametrize(("on", "is_open"), [("2025-06-29", False), ("2025-06-30", True), ("2025-07-01", True)])
def test_a_semester_has_to_be_posted_from_its_last_day_on(on: str, *, is_open: bool) -> None:
    last = account_of_readings()[-1]
    if not is_open:
        exits.check_periods(last, day(on))
        return
    with pytest.raises(Refusal) as refused:
        exits.check_periods(last, day(on))
    assert refused.value.code is RefusalCode.PERIOD_OPEN
    assert "FY2025-S2" in refused.value.sentence.es


def test_nothing_credited_leaves_nothing_open() -> None:
    exits.check_periods(enrolled()[-1], day("2030-01-01"))


@pytest.mark.parametrize(
    ("on", "semester"), [("2025-06-29", "FY2025-S2"), ("2025-06-30", "FY2026-S1"), ("2025-07-01", "FY2026-S1")]
)
def test_the_semester_under_way_is_not_complete_at_the_day_s_end(on: str, semester: str) -> None:
    assert exits.semester_under_way(day(on)) == Semester.parse(semester)


def test_the_account_under_way_has_neither_its_own_return_nor_later_ones_nor_the_exit() -> None:
    history = two_semesters_posted()
    history = grown([status_change(LineKind.RETIREMENT, day("2025-07-10"), ANA)], history)
    given = exits.provisional_given(history, S2, day("2025-04-10"), NO_FIGURES, POSTED_ONLY)
    # 9,800.00 + 200.49, and 200.00 a month
    assert given["opening_balance"] == "10000.49"
    assert given["movements"] == [{"date": f"2025-{month:02d}-15", "amount": "200.00"} for month in range(1, 7)]
    assert (given["option_yields"], given["settings"]) == ({}, POSTED_ONLY)
    before = exits.provisional_given(history, S1, day("2024-09-01"), NO_FIGURES, POSTED_ONLY)
    assert (before["opening_balance"], before["movements"]) == ("0.00", [{"date": "2024-07-01", "amount": "9800.00"}])


def test_what_a_correction_takes_out_of_savings_is_in_the_return_as_if_it_had_stayed() -> None:
    """50,000.00 retired on 2024-01-10, 10,000.00 of 01-15 that a correction of 01-20 takes: 60,000.00 at January's end.

    The correction settles 7.00 of return as well, which is no semester's: it is in neither figure.
    """
    origin = Origin("u-eva via office")
    history = grown([savings.enrolment(None, day("2023-07-01"), {"hybrid_return": 100}, origin)])
    history = grown([savings.initial_transfer(history[-1], 5_000_000, day("2023-07-31"), origin)], history)
    history = posted(history, Semester.parse("FY2024-S1"), 0)
    leaving = Exit(day("2024-01-09"), day("2024-01-10"), day("2024-01-10"), Balance(5_000_000))
    history = grown(annuities.issue(history[-1], leaving, 50_000, "actual", origin), history)
    history = contributed(history, ("2024-01-15", 1_000_000))
    corrected = Corrected(day("2024-01-10"), 60_000, "actual", 6_000_700, 0, 700)
    history = grown([annuities.correction(history[-1], corrected, day("2024-01-20"), origin)], history)

    given = exits.provisional_given(history, Semester.parse("FY2024-S2"), day("2024-01-20"), NO_FIGURES, POSTED_ONLY)

    # The retirement and the correction left out: 50,000.00 before the semester, and 10,000.00 in it.
    assert (given["opening_balance"], given["movements"]) == (
        "50000.00",
        [{"date": "2024-01-15", "amount": "10000.00"}],
    )
    assert (exits.savings_cents(history), history[-1].balance_cents("savings")) == (6_000_000, 0)
    assert exits.return_posted_after_cents(history, day("2023-12-01")) == 0


def test_a_return_taken_back_is_as_if_it_had_never_been_posted() -> None:
    taken_back, late = reversed_again(), with_a_late_credit()
    for history in (taken_back, late):
        given = exits.provisional_given(history, S2, day("2025-04-10"), NO_FIGURES, POSTED_ONLY)
        first_cents = late[-1].differences["FY2025-S1"]
        # 10,000.49 + 100.00 of August and its return of FY2025-S1
        assert given["opening_balance"] == format_cents(1_000_049 + 10_000 + first_cents)
        assert len(given["movements"]) == 6


@pytest.mark.parametrize("on", ["2025-01-30", "2025-01-31"])
def test_the_figure_is_asked_for_once_a_month_is_complete(on: str) -> None:
    history = account_of_readings()
    if on == "2025-01-30":
        assert exits.provisional_given(history, S2, day(on), NO_FIGURES, {})["option_yields"] == {}
        return
    with pytest.raises(Refusal) as refused:
        exits.provisional_given(history, S2, day(on), NO_FIGURES, {})
    assert refused.value.code is RefusalCode.NOT_IN_FORCE


def test_settings_that_nobody_has_adopted_are_left_out() -> None:
    assert exits.adopted(NO_FIGURES, exits.RETURN_SETTINGS, day("2025-04-10")) == exits.Adopted({}, {})
