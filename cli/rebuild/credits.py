"""Each participant's credits by calendar month, in exact cents: ten million rows in eighty megabytes."""

from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from cli.files import FileError
from retiro.rules.calendar import Semester

Integers = NDArray[np.int64]

MONTHS_IN_YEAR = 12
MONTHS_IN_SEMESTER = 6
_EXACT_BELOW = 2**63


class MonthlyCredits:
    """The cents credited to each participant in each month of some semesters in a row, which may be none.

    What falls in another month is left out: no semester that is posted looks at it.
    """

    def __init__(self, participants: int, semesters: Sequence[Semester]) -> None:
        self._first_month = month_number(semesters[0].starts_on) if semesters else 0
        self._months = len(semesters) * MONTHS_IN_SEMESTER
        self._cents = np.zeros(participants * self._months, dtype=np.int64)
        self._largest_cents = 0
        self._rows = 0

    def add(self, participants: Integers, months: Integers, cents: Integers) -> None:
        """Add amounts to participants by their numbers, in months by theirs.

        Raises:
            FileError: the amounts are so large that their sum could be inexact.
        """
        if not len(cents):
            return
        self._rows += len(cents)
        self._largest_cents = max(self._largest_cents, -int(cents.min()), int(cents.max()))
        if self._largest_cents * self._rows >= _EXACT_BELOW:
            raise FileError("contributions.csv, transfers.csv: the amounts are too large to be added up exactly")
        columns = months - self._first_month
        inside = (columns >= 0) & (columns < self._months)
        np.add.at(self._cents, participants[inside] * self._months + columns[inside], cents[inside])

    def credit(self, participant: int, day: date, amount_cents: int) -> None:
        """Add one amount."""
        self.add(np.array([participant]), np.array([month_number(day)]), np.array([amount_cents]))

    def of(self, participant: int) -> list[int]:
        """A participant's credits, a number a month."""
        start = participant * self._months
        months: list[int] = self._cents[start : start + self._months].tolist()
        return months


def month_number(day: date) -> int:
    """Months counted from year 0, so that a semester's are six in a row."""
    return day.year * MONTHS_IN_YEAR + day.month - 1
