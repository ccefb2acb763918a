"""§ 830q(c): the time that simple interest runs, in years, by the Board's setting `day_count`."""

from datetime import date
from fractions import Fraction

from retiro.rules.calendar import completed_months
from retiro.rules.forms import Sentence

_DAYS_IN_YEAR = 365
_MONTHS_IN_YEAR = 12
_DAYS_IN_30_360_MONTH = 30
_DAYS_IN_30_360_YEAR = 360


def years_between(start: date, end: date, day_count: str) -> Fraction:
    """The exact years from a day to another by a day count; none where the end isn't after the start.

    `actual_365` counts the days over 365, `thirty_360` US 30/360 without the February rule, `whole_months` the
    completed months over 12.

    Raises:
        ValueError: there is no such day count.
    """
    count, in_year = _counted(start, max(start, end), day_count)
    return Fraction(count, in_year)


def time_in_words(start: date, end: date, day_count: str) -> Sentence:
    """The same for a receipt: `8143 days ÷ 365`.

    Raises:
        ValueError: there is no such day count.
    """
    count, in_year = _counted(start, max(start, end), day_count)
    if day_count == "whole_months":
        return Sentence(f"{count} completed months ÷ {in_year}", f"{count} meses completos ÷ {in_year}")
    return Sentence(f"{count} days ÷ {in_year}", f"{count} días ÷ {in_year}")


def _counted(start: date, end: date, day_count: str) -> tuple[int, int]:
    if day_count == "actual_365":
        return (end - start).days, _DAYS_IN_YEAR
    if day_count == "thirty_360":
        return _thirty_360_days(start, end), _DAYS_IN_30_360_YEAR
    if day_count == "whole_months":
        return completed_months(start, end), _MONTHS_IN_YEAR
    raise ValueError(f"no day count {day_count!r}")


def _thirty_360_days(start: date, end: date) -> int:
    """A start on the 31st counts as the 30th; so does an end on the 31st where the start is, or counts as, the 30th."""
    start_day = min(start.day, _DAYS_IN_30_360_MONTH)
    end_day = min(end.day, _DAYS_IN_30_360_MONTH) if start_day == _DAYS_IN_30_360_MONTH else end.day
    months = (end.year - start.year) * _MONTHS_IN_YEAR + end.month - start.month
    return months * _DAYS_IN_30_360_MONTH + end_day - start_day
