"""The fiscal calendar, Puerto Rico's business days, and dates counted in months.

The fiscal year runs from July 1 to June 30 and bears the year in which it ends; S1 is July to December, S2 January to
June. Intervals of dates are half-open inside. The holidays are computed here, by the law's own rule: one that falls on
a Sunday moves to the Monday, one that falls on a Saturday doesn't move.
"""

import calendar as _calendar
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Annotated, ClassVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from retiro.rules.forms import FORMS, TextField

_DATE_PATTERN = r"^(19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}$"
_DATE = re.compile(_DATE_PATTERN)

# Atlantic Standard Time all year since 1945: a constant, so that no time zone database is needed.
PUERTO_RICO = timezone(timedelta(hours=-4), "AST")


def parse_date(text: str) -> date:
    """The date of a text `YYYY-MM-DD`, of 1900 through 2199.

    Raises:
        ValueError: the text has another form, a time among them, or isn't a day of the calendar.
    """
    if not _DATE.fullmatch(text):
        raise ValueError(FORMS["date"].en)
    return date.fromisoformat(text)


Date = Annotated[
    date, TextField("date", parse_date, date.isoformat, {"format": "date", "examples": ["2025-01-31"]}, date)
]
"""A pydantic field that takes `"2025-01-31"` or a date, and no number, no time and no other text."""


_MONTH_PATTERN = r"^(19|20|21)[0-9]{2}-(0[1-9]|1[0-2])$"
_MONTH = re.compile(_MONTH_PATTERN)


def parse_month(text: str) -> date:
    """The first day of a month `YYYY-MM`, of 1900 through 2199.

    Raises:
        ValueError: the text has another form.
    """
    if not _MONTH.fullmatch(text):
        raise ValueError(FORMS["month"].en)
    return date(int(text[:4]), int(text[5:]), 1)


def format_month(day: date) -> str:
    """The month that a day lies in: `"2026-09"`."""
    return f"{day.year:04d}-{day.month:02d}"


Month = Annotated[
    date, TextField("month", parse_month, format_month, {"pattern": _MONTH_PATTERN, "examples": ["2026-09"]}, date)
]
"""A pydantic field that takes `"2026-09"` or a date in the month, and serialises to the text."""


def puerto_rico_date(now: datetime) -> date:
    """The day that it is in Puerto Rico at an aware moment.

    Raises:
        ValueError: the moment has no time zone, so that nobody can tell.
    """
    if now.tzinfo is None:
        raise ValueError("a moment without a time zone has no date")
    return now.astimezone(PUERTO_RICO).date()


# Dates counted in months


def add_months(start: date, months: int) -> date:
    """The same day number so many months on (or back), or the month's last day where there is none."""
    month_number = start.year * 12 + start.month - 1 + months
    year, month = month_number // 12, month_number % 12 + 1
    return date(year, month, min(start.day, last_day_of_month(year, month)))


def add_years(start: date, years: int) -> date:
    """The anniversary: that of a February 29 falls on February 28 in a common year."""
    return add_months(start, 12 * years)


def last_day_of_month(year: int, month: int) -> int:
    """28 to 31."""
    return _calendar.monthrange(year, month)[1]


def completed_months(start: date, end: date) -> int:
    """How many whole months lie between, by the clamped days of `add_months`: 01-31 to 02-28 is one.

    Raises:
        ValueError: the end comes before the start.
    """
    if end < start:
        raise ValueError("the end comes before the start")
    months = (end.year - start.year) * 12 + end.month - start.month
    return months if add_months(start, months) <= end else months - 1


def completed_years(start: date, end: date) -> int:
    """How many whole years lie between: an age in years.

    Raises:
        ValueError: the end comes before the start.
    """
    return completed_months(start, end) // 12


# The fiscal calendar


def fiscal_year(day: date) -> int:
    """The fiscal year of a day: 2025-06-30 is in 2025, 2025-07-01 in 2026."""
    return day.year + (1 if day.month >= _JULY else 0)


_JULY = 7
_SEMESTER_PATTERN = r"^FY(19[5-9][0-9]|20[0-9]{2}|21[0-8][0-9])-S[12]$"
_SEMESTER = re.compile(_SEMESTER_PATTERN)


@dataclass(frozen=True, order=True, slots=True)
class Semester:
    """A half of a fiscal year, of FY1950 through FY2189: `Semester.parse("FY2025-S2")` is January to June 2025.

    As a pydantic field it takes that text (or a Semester) and serialises to it.
    """

    fiscal_year: int
    half: int

    FIRST: ClassVar["Semester"]
    LAST: ClassVar["Semester"]

    @classmethod
    def parse(cls, text: str) -> "Semester":
        """The semester of its text.

        Raises:
            ValueError: the text has another form or lies outside the calendar.
        """
        if not _SEMESTER.fullmatch(text):
            raise ValueError(FORMS["semester"].en)
        return cls(int(text[2:6]), int(text[-1]))

    @classmethod
    def containing(cls, day: date) -> "Semester":
        """The semester that a day lies in.

        Raises:
            ValueError: the day lies outside the calendar.
        """
        semester = cls(fiscal_year(day), 1 if day.month >= _JULY else 2)
        if not cls.FIRST <= semester <= cls.LAST:
            raise ValueError(FORMS["semester"].en)
        return semester

    def __str__(self) -> str:
        """`FY2025-S2`."""
        return f"FY{self.fiscal_year}-S{self.half}"

    @property
    def starts_on(self) -> date:
        """Its first day."""
        return date(self.fiscal_year - 1, 7, 1) if self.half == 1 else date(self.fiscal_year, 1, 1)

    @property
    def ends_on(self) -> date:
        """Its last day."""
        return date(self.fiscal_year - 1, 12, 31) if self.half == 1 else date(self.fiscal_year, 6, 30)

    @property
    def months(self) -> tuple[str, ...]:
        """Its six calendar months, as `2025-01`."""
        start = self.starts_on
        return tuple(f"{start.year}-{month:02d}" for month in range(start.month, start.month + 6))

    def next(self) -> "Semester":
        """The one after."""
        return Semester(self.fiscal_year, 2) if self.half == 1 else Semester(self.fiscal_year + 1, 1)

    def previous(self) -> "Semester":
        """The one before."""
        return Semester(self.fiscal_year - 1, 2) if self.half == 1 else Semester(self.fiscal_year, 1)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Pydantic's hook: the text of `parse`."""
        return _semester_field().__get_pydantic_core_schema__(source, handler)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Pydantic's hook: a string with its pattern and an example."""
        return _semester_field().__get_pydantic_json_schema__(schema, handler)


Semester.FIRST = Semester(1950, 1)
Semester.LAST = Semester(2189, 2)


@lru_cache
def _semester_field() -> TextField:
    return TextField(
        "semester", Semester.parse, str, {"pattern": _SEMESTER_PATTERN, "examples": ["FY2025-S2"]}, Semester
    )


# Business days


@dataclass(frozen=True, slots=True)
class _FixedHoliday:
    month: int
    day: int
    since_year: int = 0
    through_year: int = 9999


@dataclass(frozen=True, slots=True)
class _MovableHoliday:
    month: int
    weekday: int
    nth: int
    since_year: int = 0
    through_year: int = 9999


_MONDAY, _THURSDAY, _SATURDAY, _SUNDAY = 0, 3, 5, 6
_LAST = -1

# Political Code, art. 387 (1 L.P.R.A. § 71 and following), as amended, and the federal holidays kept beside it. From
# FY2000 on; Act 111-2014 ended four of them. Half days (December 24) are business days.
_FIXED_HOLIDAYS = (
    _FixedHoliday(1, 1),  # New Year
    _FixedHoliday(1, 6),  # Epiphany
    _FixedHoliday(3, 2, since_year=2001),  # American citizenship, Act 53-2000
    _FixedHoliday(3, 22),  # abolition of slavery
    _FixedHoliday(6, 19, since_year=2021),  # Juneteenth, federal since 2021
    _FixedHoliday(7, 4),  # independence of the United States
    _FixedHoliday(7, 25),  # Constitution of Puerto Rico
    _FixedHoliday(7, 27, since_year=1994, through_year=2014),  # José Celso Barbosa
    _FixedHoliday(10, 12, through_year=2013),  # Columbus; a Monday since Act 111-2014
    _FixedHoliday(11, 11),  # veterans
    _FixedHoliday(11, 19),  # discovery of Puerto Rico, today Puerto Rican identity
    _FixedHoliday(12, 25),  # Christmas
)
_MOVABLE_HOLIDAYS = (
    _MovableHoliday(1, _MONDAY, 2, through_year=2014),  # Eugenio María de Hostos
    _MovableHoliday(1, _MONDAY, 3),  # Martin Luther King
    _MovableHoliday(2, _MONDAY, 3),  # presidents, and the illustrious of Puerto Rico
    _MovableHoliday(4, _MONDAY, 3, through_year=2014),  # José de Diego
    _MovableHoliday(5, _MONDAY, _LAST),  # memorial day
    _MovableHoliday(7, _MONDAY, 3, through_year=2014),  # Luis Muñoz Rivera
    _MovableHoliday(9, _MONDAY, 1),  # labor day
    _MovableHoliday(10, _MONDAY, 2, since_year=2014),  # Columbus
    _MovableHoliday(11, _THURSDAY, 4),  # thanksgiving
)


@lru_cache(maxsize=256)
def holidays(year: int) -> frozenset[date]:
    """The days of a year that Puerto Rico's government keeps as holidays, those moved from a Sunday included."""
    days = {_good_friday(year)}
    for fixed in _FIXED_HOLIDAYS:
        if fixed.since_year <= year <= fixed.through_year:
            day = date(year, fixed.month, fixed.day)
            days.add(day + timedelta(days=1) if day.weekday() == _SUNDAY else day)
    for movable in _MOVABLE_HOLIDAYS:
        if movable.since_year <= year <= movable.through_year:
            weeks = _calendar.Calendar().monthdatescalendar(year, movable.month)
            of_month = [week[movable.weekday] for week in weeks if week[movable.weekday].month == movable.month]
            days.add(of_month[movable.nth - 1 if movable.nth > 0 else movable.nth])
    return frozenset(days)


def _good_friday(year: int) -> date:
    """Two days before Easter, which is found by the Gregorian computus (Butcher, 1876)."""
    golden = year % 19
    century, of_century = divmod(year, 100)
    leap_centuries, century_rest = divmod(century, 4)
    moon_correction = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leap_centuries - moon_correction + 15) % 30
    leaps, year_rest = divmod(of_century, 4)
    weekday = (32 + 2 * century_rest + 2 * leaps - epact - year_rest) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1) - timedelta(days=2)


def is_business_day(day: date, closure_days: Collection[date] = ()) -> bool:
    """Whether the government works: no Saturday, Sunday or holiday, and no closure day that the Board has entered."""
    return day.weekday() < _SATURDAY and day not in holidays(day.year) and day not in closure_days


def last_business_day(month: date, closure_days: Collection[date] = ()) -> date:
    """The last business day of the month that a day lies in, on which annuities are paid.

    Raises:
        ValueError: the closure days leave the month without any.
    """
    day = month.replace(day=last_day_of_month(month.year, month.month))
    while not is_business_day(day, closure_days):
        if day.day == 1:
            raise ValueError(FORMS["no_business_day"].en)
        day -= timedelta(days=1)
    return day


def yield_date(semester: Semester, closure_days: Collection[date] = ()) -> date:
    """The last business day of a semester, on which its yield is computed. 3 L.P.R.A. § 786-7(a)(3).

    Raises:
        ValueError: the closure days leave the semester without any.
    """
    day = semester.ends_on
    while not is_business_day(day, closure_days):
        day -= timedelta(days=1)
        if day < semester.starts_on:
            raise ValueError(FORMS["no_business_day"].en)
    return day
