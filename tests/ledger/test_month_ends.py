"""The month-end balances that a line carries."""

from datetime import date
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retiro.ledger.month_ends import CARRIED_MAX, IncompleteError, MonthEnds, MonthEndsError, from_movements
from retiro.rules.calendar import Semester
from tests.ledger.makers import S1, S2, day

FY2026_S1 = Semester.parse("FY2026-S1")


def credited(*movements: tuple[str, int]) -> MonthEnds:
    month_ends = MonthEnds.opening(day(movements[0][0]))
    for on, cents in movements:
        month_ends = month_ends.with_movement(day(on), cents, may_open_earlier=True)
    return month_ends


def test_the_opening_and_six_month_ends_are_those_of_the_readings() -> None:
    month_ends = credited(("2025-01-01", 1_000_000), *((f"2025-{month:02d}-15", 20_000) for month in range(1, 7)))
    assert month_ends.since == "2024-12"
    assert month_ends.figures(S2) == (0, 1_020_000, 1_040_000, 1_060_000, 1_080_000, 1_100_000, 1_120_000)


@pytest.mark.parametrize(
    ("on", "january", "february"),
    [("2025-01-30", 1_120_000, 1_120_000), ("2025-01-31", 1_120_000, 1_120_000), ("2025-02-01", 1_000_000, 1_120_000)],
)
def test_a_month_end_counts_its_last_day(on: str, january: int, february: int) -> None:
    """SY-01, https://github.com/peti/hledger-interest/issues/21: a deposit day counts once."""
    figures = credited(("2025-01-01", 1_000_000), (on, 120_000)).figures(S2)
    assert figures[1:3] == (january, february)
    assert figures[6] == 1_120_000


def test_months_without_a_movement_have_the_balance_before_them() -> None:
    assert credited(("2025-02-03", 500)).figures(S2) == (0, 0, 500, 500, 500, 500, 500)


def test_an_earlier_first_semester_is_opened_with_zeros_while_nothing_is_posted() -> None:
    month_ends = credited(("2025-03-10", 500), ("2024-11-30", 70))
    assert month_ends.oldest_open == S1
    assert month_ends == MonthEnds("2024-06", (0, 0, 0, 0, 0, 70, 70, 70, 70, 570))


@pytest.mark.parametrize("on", ["2024-12-30", "2024-12-31", "1999-01-01"])
def test_what_belongs_before_the_open_months_raises_them_all_once_something_was_posted(on: str) -> None:
    month_ends = MonthEnds("2024-12", (100, 150)).with_movement(day(on), 7, may_open_earlier=False)
    assert month_ends == MonthEnds("2024-12", (107, 157))


def test_a_yield_is_in_the_next_opening_and_not_in_its_own_average() -> None:
    month_ends = credited(("2025-01-01", 1_000_000), ("2025-07-02", 300))
    assert month_ends.figures(S2)[-1] == 1_000_000
    after = month_ends.after_yield(S2, 20_033)
    assert after == MonthEnds("2025-06", (1_020_033, 1_020_333))
    assert after.figures(FY2026_S1) == (1_020_033, *[1_020_333] * 6)


@pytest.mark.parametrize("semester", [S1, FY2026_S1])
def test_only_the_oldest_open_semester_can_be_asked_for(semester: Semester) -> None:
    with pytest.raises(MonthEndsError):
        credited(("2025-01-01", 1)).figures(semester)
    with pytest.raises(MonthEndsError):
        credited(("2025-01-01", 1)).after_yield(semester, 1)


def test_the_eighteenth_month_is_carried_and_a_nineteenth_is_marked_missing() -> None:
    # Since 2024-12, index 17 is 2026-05, index 18 is 2026-06.
    carried = credited(("2025-01-15", 100), ("2026-05-31", 5))
    assert (len(carried.savings), carried.complete) == (CARRIED_MAX, True)
    cut = credited(("2025-01-15", 100), ("2026-06-01", 5))
    assert (cut.savings, cut.complete) == ((0, *[100] * 17), False)


def test_a_cut_list_gives_figures_while_it_reaches_and_then_says_so() -> None:
    cut = credited(*((f"{2025 + month // 12}-{month % 12 + 1:02d}-15", 1) for month in range(20)))
    assert (len(cut.savings), cut.complete) == (CARRIED_MAX, False)
    assert cut.figures(S2) == (0, 1, 2, 3, 4, 5, 6)
    later = cut.after_yield(S2, 0).after_yield(FY2026_S1, 0)
    assert later.savings == (12, 13, 14, 15, 16, 17)
    with pytest.raises(IncompleteError):
        later.figures(Semester.parse("FY2026-S2"))
    # A movement in a month that is carried still counts; one after it changes nothing that is known.
    assert later.with_movement(day("2026-05-01"), 5, may_open_earlier=False).savings == (12, 13, 14, 15, 16, 22)
    assert later.with_movement(day("2026-06-01"), 5, may_open_earlier=False) == later


def test_opening_earlier_keeps_the_oldest_eighteen() -> None:
    month_ends = credited(("2025-01-15", 100), ("2026-05-31", 5), ("2023-07-01", 1))
    # Since 2023-06 now; the eighteenth is 2024-11, and 100 and 5 fall after it.
    assert (month_ends.since, month_ends.savings, month_ends.complete) == ("2023-06", (0, *[1] * 17), False)


DAYS = st.dates(date(2024, 7, 1), date(2026, 6, 30))


@given(st.lists(st.tuples(DAYS, st.integers(-(10**13), 10**13)), min_size=1))
def test_carried_and_recomputed_month_ends_agree(movements: list[tuple[date, int]]) -> None:
    carried = MonthEnds.opening(movements[0][0])
    for on, cents in movements:
        carried = carried.with_movement(on, cents, may_open_earlier=True)
    oldest = Semester.containing(min(on for on, _ in movements))
    whole = from_movements(oldest, movements, cut=False)
    assert carried.since == whole.since
    longer = whole.savings + whole.savings[-1:] * CARRIED_MAX
    assert carried.savings == longer[: len(carried.savings)]
    assert carried.complete or len(whole.savings) > CARRIED_MAX or len(carried.savings) < len(whole.savings)
    assert whole.savings[-1] == list(accumulate(cents for _, cents in movements))[-1]
