"""The fiscal calendar, business days, and dates counted in months."""

import csv
import itertools
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import holidays as holidays_package
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from retiro.rules.calendar import (
    PUERTO_RICO,
    Date,
    Semester,
    add_months,
    add_years,
    completed_months,
    completed_years,
    fiscal_year,
    holidays,
    is_business_day,
    last_day_of_month,
    puerto_rico_date,
    yield_date,
)

DATE = TypeAdapter(Date)
SEMESTER = TypeAdapter(Semester)
PUBLISHED = Path(__file__).parent / "data" / "semester_dates.csv"
ROWS = list(csv.DictReader(PUBLISHED.read_text("utf-8").splitlines()))
FIRST, LAST = Semester(2000, 1), Semester(2031, 2)
SUNDAY, SATURDAY, FRIDAY = 6, 5, 4

days = st.dates(min_value=date(1950, 1, 1), max_value=date(2150, 12, 31))


def semesters():
    semester = FIRST
    while semester <= LAST:
        yield semester
        semester = semester.next()


# Dates


@pytest.mark.parametrize("value", ["2025-04-10", date(2025, 4, 10)])
def test_a_date_is_a_text_or_a_date(value):
    assert DATE.validate_python(value) == date(2025, 4, 10)
    assert DATE.dump_json(date(2025, 4, 10)) == b'"2025-04-10"'


@pytest.mark.parametrize(
    "value",
    [
        # https://github.com/pydantic/pydantic/issues/1185, /7940, /5914: numbers and odd texts became days around 1970
        *(1744243200, "1744243200", 0, "0", "2025-04-10T00:00:00", "2025-04-10T00:00:00Z", "2025-4-10", True),
        *(None, 20250410, "20250410", "2025-04-10 ", "2025-02-29", "2025-13-01", "2025-W15-4", "２025-04-10"),
        *(datetime(2025, 4, 10, tzinfo=UTC), 1744243200.0, "1899-12-31", "2200-01-01", "0001-01-01"),
    ],
)
def test_nothing_else_is_a_date(value):
    with pytest.raises(ValidationError):
        DATE.validate_python(value)


def test_a_late_evening_in_puerto_rico_is_that_day_and_not_the_next():
    moment = datetime(2026, 7, 1, 3, 59, 59, tzinfo=UTC)
    assert puerto_rico_date(moment) == date(2026, 6, 30)
    assert puerto_rico_date(moment + timedelta(seconds=1)) == date(2026, 7, 1)
    assert puerto_rico_date(datetime(2026, 6, 30, 22, 0, tzinfo=timezone(timedelta(hours=-4)))) == date(2026, 6, 30)


def test_a_moment_without_a_time_zone_has_no_date():
    with pytest.raises(ValueError, match="time zone"):
        puerto_rico_date(datetime(2026, 6, 30, 22, 0))  # noqa: DTZ001


@given(st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2037, 12, 31)))  # noqa: DTZ001
def test_puerto_rico_keeps_one_time_all_year(moment):
    aware = moment.replace(tzinfo=UTC)
    assert aware.astimezone(ZoneInfo("America/Puerto_Rico")).utcoffset() == aware.astimezone(PUERTO_RICO).utcoffset()


# Months and years


@pytest.mark.parametrize(
    ("start", "months", "end"),
    [
        ("2025-01-31", 1, "2025-02-28"),
        ("2024-01-31", 1, "2024-02-29"),
        ("2008-10-31", 4, "2009-02-28"),
        ("2008-10-31", 5, "2009-03-31"),  # counted from the start, and not from the February before
        ("2025-03-31", -1, "2025-02-28"),
        ("2025-12-15", 1, "2026-01-15"),
        ("2025-01-15", -1, "2024-12-15"),
        ("2025-06-30", 0, "2025-06-30"),
        ("2025-06-30", 12, "2026-06-30"),
    ],
)
def test_a_month_on_ends_on_the_same_day_or_on_the_months_last(start, months, end):
    assert add_months(date.fromisoformat(start), months) == date.fromisoformat(end)


@pytest.mark.parametrize(
    ("start", "years", "end"),
    [("2012-02-29", 1, "2013-02-28"), ("2012-02-29", 4, "2016-02-29"), ("2012-02-28", 1, "2013-02-28")],
)
def test_the_anniversary_of_february_29_is_february_28(start, years, end):
    assert add_years(date.fromisoformat(start), years) == date.fromisoformat(end)


@pytest.mark.parametrize(
    ("start", "end", "months"),
    [
        ("1961-01-31", "2026-02-27", 780),  # 65 years
        ("1961-01-31", "2026-02-28", 781),  # the month is complete on the clamped day
        ("1961-01-31", "2026-03-01", 781),
        ("1961-01-31", "2026-03-30", 781),
        ("1961-01-31", "2026-03-31", 782),
        ("2025-01-15", "2025-01-15", 0),
        ("2025-01-15", "2025-02-14", 0),
        ("2025-01-15", "2025-02-15", 1),
        ("2025-01-15", "2025-02-16", 1),
    ],
)
def test_a_month_is_complete_on_its_clamped_day(start, end, months):
    assert completed_months(date.fromisoformat(start), date.fromisoformat(end)) == months


@pytest.mark.parametrize(
    ("birth", "on", "years"),
    [
        ("1960-02-29", "2025-02-27", 64),
        ("1960-02-29", "2025-02-28", 65),
        ("1960-02-29", "2025-03-01", 65),
        ("1961-04-01", "2026-03-31", 64),
        ("1961-04-01", "2026-04-01", 65),
        ("1961-03-17", "2026-03-31", 65),
    ],
)
def test_an_age_is_of_completed_years(birth, on, years):
    assert completed_years(date.fromisoformat(birth), date.fromisoformat(on)) == years


def test_nothing_is_completed_backwards():
    with pytest.raises(ValueError, match="before the start"):
        completed_months(date(2025, 1, 2), date(2025, 1, 1))


@given(days, st.integers(min_value=0, max_value=600))
def test_so_many_months_on_so_many_months_are_complete(start, months):
    end = add_months(start, months)
    assert completed_months(start, end) == months
    if months:
        assert completed_months(start, end - timedelta(days=1)) == months - 1


# Semesters


@pytest.mark.parametrize(
    ("day", "year", "semester"),
    [
        ("2024-12-31", 2025, "FY2025-S1"),
        ("2025-01-01", 2025, "FY2025-S2"),
        ("2025-06-30", 2025, "FY2025-S2"),
        ("2025-07-01", 2026, "FY2026-S1"),
    ],
)
def test_the_fiscal_year_bears_the_year_in_which_it_ends(day, year, semester):
    assert fiscal_year(date.fromisoformat(day)) == year
    assert str(Semester.containing(date.fromisoformat(day))) == semester


def test_a_semester_knows_its_days_and_months():
    first, second = Semester.parse("FY2025-S1"), Semester.parse("FY2025-S2")
    assert (first.starts_on, first.ends_on) == (date(2024, 7, 1), date(2024, 12, 31))
    assert (second.starts_on, second.ends_on) == (date(2025, 1, 1), date(2025, 6, 30))
    assert first.months == ("2024-07", "2024-08", "2024-09", "2024-10", "2024-11", "2024-12")
    assert second.months == ("2025-01", "2025-02", "2025-03", "2025-04", "2025-05", "2025-06")


def test_semesters_follow_one_another_from_2000_through_2031_without_gap_or_overlap():
    swept = list(semesters())
    assert len(swept) == 64
    for one, other in itertools.pairwise(swept):
        assert one < other
        assert other.previous() == one
        assert other.starts_on == one.ends_on + timedelta(days=1)
        assert not set(one.months) & set(other.months)


def test_every_day_from_2000_through_2031_lies_in_one_semester():
    day = FIRST.starts_on
    while day <= LAST.ends_on:
        semester = Semester.containing(day)
        assert semester.starts_on <= day <= semester.ends_on
        assert day.isoformat()[:7] in semester.months
        assert semester.fiscal_year == fiscal_year(day)
        day += timedelta(days=1)


@pytest.mark.parametrize(
    "text", ["FY2025-S3", "FY2025-S0", "FY25-S1", "2025-S1", "FY2025S1", "fy2025-s1", "FY2025-S2 ", ""]
)
def test_any_other_text_is_no_semester(text):
    with pytest.raises(ValueError, match="semester"):
        Semester.parse(text)
    with pytest.raises(ValidationError):
        SEMESTER.validate_python(text)


@pytest.mark.parametrize("day", [date(1949, 6, 30), date(2189, 7, 1)])
def test_a_day_outside_the_calendar_is_in_no_semester(day):
    with pytest.raises(ValueError, match="semester"):
        Semester.containing(day)


def test_a_semester_is_a_text_outside():
    assert SEMESTER.validate_python("FY2025-S2") == Semester(2025, 2)
    assert SEMESTER.dump_json(Semester(2025, 2)) == b'"FY2025-S2"'
    assert SEMESTER.json_schema()["type"] == "string"


# Business days


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["semester"])
def test_a_yield_is_computed_on_the_semesters_last_business_day(row):
    semester = Semester.parse(row["semester"])
    assert semester.ends_on.isoformat() == row["ends_on"]
    assert yield_date(semester).isoformat() == row["last_business_day"]


def test_the_published_dates_cover_every_semester():
    assert [row["semester"] for row in ROWS] == [str(semester) for semester in semesters()]


@pytest.mark.parametrize("day", ["2004-12-31", "2010-12-31", "2021-12-31", "2027-12-31"])
def test_new_year_on_a_saturday_leaves_the_friday_open(day):
    assert is_business_day(date.fromisoformat(day))


@pytest.mark.parametrize("day", ["2006-01-02", "2021-07-05", "2022-12-26", "2021-07-26"])
def test_a_holiday_on_a_sunday_closes_the_monday(day):
    assert date.fromisoformat(day) in holidays(date.fromisoformat(day).year)
    assert not is_business_day(date.fromisoformat(day))


@pytest.mark.parametrize("year", range(1999, 2032))
def test_the_holidays_are_those_of_the_package_but_for_its_saturday_rule(year):
    package = holidays_package.country_holidays("PR", years=year)
    of_package = {
        day
        for day, name in package.items()
        # its federal rule: what falls on a Saturday is observed on the Friday before
        if not (day.weekday() == FRIDAY and "observed" in name)
    }
    # Our reading moves every holiday from a Sunday; the package leaves Epiphany where it falls.
    moved = {date(year, 1, 7)} if date(year, 1, 6).weekday() == SUNDAY else set()
    sundays = {day for day in of_package if day.weekday() == SUNDAY}
    # American citizenship is of the government alone; the package's category for that has federal mournings too.
    citizenship = {date(year, 3, 3 if date(year, 3, 2).weekday() == SUNDAY else 2)} if year > 2000 else set()
    assert holidays(year) == (of_package - sundays) | moved | citizenship


@pytest.mark.parametrize(
    ("closed", "expected"),
    [
        ([], "2025-06-30"),
        (["2025-06-30"], "2025-06-27"),
        (["2025-06-27"], "2025-06-30"),
        (["2025-06-27", "2025-06-30"], "2025-06-26"),
    ],
)
def test_closure_days_move_the_yield_date_back(closed, expected):
    assert yield_date(Semester(2025, 2), [date.fromisoformat(day) for day in closed]) == date.fromisoformat(expected)


def test_a_semester_that_is_closed_throughout_has_no_yield_date():
    semester = Semester(2025, 2)
    throughout = {semester.starts_on + timedelta(days=number) for number in range(181)}
    with pytest.raises(ValueError, match="business day"):
        yield_date(semester, throughout)


@given(days)
def test_a_saturday_or_sunday_is_never_a_business_day(day):
    assert not (day.weekday() >= SATURDAY and is_business_day(day))


@pytest.mark.parametrize(("year", "month", "last"), [(2024, 2, 29), (2025, 2, 28), (2100, 2, 28), (2025, 12, 31)])
def test_a_month_has_its_last_day(year, month, last):
    assert last_day_of_month(year, month) == last
