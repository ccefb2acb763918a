"""The month-end balances of savings that a line carries, since the oldest open semester: all that a yield needs.

The list begins at the end of the month before that semester (its opening) and runs to the last month in which anything
was credited; later months have the last balance. At most eighteen are carried: where a movement falls after them, the
list is marked incomplete, and who needs the later months takes them from the whole passbook (`from_movements`).

A movement counts by its legal date. A yield counts at its own semester's last month-end, so in the next semester's
opening, and never in its own average.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from retiro.rules.calendar import Semester

CARRIED_MAX = 18
_SEMESTER_MONTHS = 6


class MonthEndsError(Exception):
    """A movement or a yield that the open months can't take: the caller has skipped a check."""


class IncompleteError(MonthEndsError):
    """A month is asked for that lies after the carried ones: it has to come from the whole passbook."""


def month_of(day: date) -> str:
    """`2025-06`."""
    return f"{day:%Y-%m}"


@dataclass(frozen=True, slots=True)
class MonthEnds:
    """Savings in cents at the end of `since` and of each month after it, without the open semesters' own yields."""

    since: str
    savings: tuple[int, ...]
    complete: bool = True

    @classmethod
    def opening(cls, day: date) -> "MonthEnds":
        """Before any movement: the semester of `day` is open, and nothing is in it."""
        return cls(_opening_month(Semester.containing(day)), (0,))

    @property
    def oldest_open(self) -> Semester:
        """The semester that is to be posted next."""
        return Semester.containing(_first_day(_index(self.since) + 1))

    def with_movement(self, day: date, cents: int, *, may_open_earlier: bool) -> "MonthEnds":
        """After a movement with the legal date `day`: it raises each month-end from that day on.

        A movement before the open months raises them all. Where nothing was ever posted (`may_open_earlier`), the
        semester it belongs to becomes the oldest open one instead.
        """
        month = _index(month_of(day)) - _index(self.since)
        if month <= 0 and may_open_earlier:
            earlier = _opening_month(Semester.containing(day))
            zeros = (0,) * (_index(self.since) - _index(earlier))
            return (
                MonthEnds(earlier, zeros + self.savings, self.complete)
                .cut()
                .with_movement(day, cents, may_open_earlier=False)
            )
        savings = list(self.savings)
        if self.complete:
            # Up to the movement nothing has moved since the last month-end, so these months are known too.
            savings += [savings[-1]] * (min(month + 1, CARRIED_MAX) - len(savings))
        for index in range(max(month, 0), len(savings)):
            savings[index] += cents
        return MonthEnds(self.since, tuple(savings), self.complete and month < len(savings))

    def after_yield(self, semester: Semester, cents: int) -> "MonthEnds":
        """After the yield of the oldest open semester: the next one is open, and the yield is in its opening."""
        if semester != self.oldest_open:
            msg = f"the yield of {semester} where {self.oldest_open} is open"
            raise MonthEndsError(msg)
        self.figures(semester)
        left = self.savings[_SEMESTER_MONTHS:] or self.savings[-1:]
        return MonthEnds(month_of(semester.ends_on), tuple(balance + cents for balance in left), self.complete)

    def figures(self, semester: Semester) -> tuple[int, ...]:
        """The oldest open semester's opening balance and its six month-ends, in cents, without its own yield.

        Raises `IncompleteError` where one of them isn't carried.
        """
        if semester != self.oldest_open:
            msg = f"the month-ends of {semester} where {self.oldest_open} is open"
            raise MonthEndsError(msg)
        wanted = _SEMESTER_MONTHS + 1
        if len(self.savings) < wanted and not self.complete:
            msg = f"{semester} reaches past the month-ends that are carried"
            raise IncompleteError(msg)
        held = self.savings[:wanted]
        return held + held[-1:] * (wanted - len(held))

    def cut(self) -> "MonthEnds":
        """At most eighteen, the oldest; complete only while nothing moves after them."""
        kept, dropped = self.savings[:CARRIED_MAX], self.savings[CARRIED_MAX:]
        return MonthEnds(self.since, kept, self.complete and all(balance == kept[-1] for balance in dropped))


def from_movements(oldest_open: Semester, movements: Iterable[tuple[date, int]], *, cut: bool = True) -> MonthEnds:
    """The month-ends recomputed from all movements of savings: legal date and cents, yields at their semester's end.

    With `cut=False` all months are given, however many.
    """
    since = _index(_opening_month(oldest_open))
    by_month: dict[int, int] = {0: 0}
    for day, cents in movements:
        month = max(_index(month_of(day)) - since, 0)
        by_month[month] = by_month.get(month, 0) + cents
    months = range(max(by_month) + 1)
    whole = MonthEnds(_month(since), tuple(accumulate(by_month.get(month, 0) for month in months)))
    return whole.cut() if cut else whole


def _opening_month(semester: Semester) -> str:
    return _month(_index(semester.months[0]) - 1)


def _index(month: str) -> int:
    """Months since the year zero."""
    return int(month[:4]) * 12 + int(month[5:]) - 1


def _month(index: int) -> str:
    return f"{index // 12:04d}-{index % 12 + 1:02d}"


def _first_day(index: int) -> date:
    return date(index // 12, index % 12 + 1, 1)
