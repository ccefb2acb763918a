"""yields.csv and settings.csv: what each semester yields, and by which of the Board's settings."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from pydantic_core import PydanticCustomError

from cli.files import FileError
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.tables import Row, plain_date, read_table
from retiro.rules import settings as board_settings
from retiro.rules.calendar import Semester, parse_date
from retiro.rules.money import format_percent, parse_percent
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import (
    FIXED_INCOME,
    SECTION,
    SYSTEM_PORTFOLIO,
    OptionYield,
    check_figures,
    option_percents,
    semester_percent,
)

Selection = tuple[tuple[str, int], ...]
"""Options and their percents, in the order of the file, without zeros."""

YIELDS = "yields.csv"
SETTINGS = "settings.csv"
WHOLE_PERCENT = 100
STATUTORY_OPTIONS = (FIXED_INCOME, SYSTEM_PORTFOLIO)
_OPTION = re.compile(r"^[A-Za-z][A-Za-z0-9_]{0,39}$")
_MONTH = re.compile(r"^(19|20|21)[0-9]{2}-(0[1-9]|1[0-2])$")
_FIGURES_OF = {
    FIXED_INCOME: ("percent",),
    SYSTEM_PORTFOLIO: ("return_percent", "management_fees_percent", "share_percent"),
}
_FIGURES_OF_OTHERS = ("semester_percent",)


def option_code(text: str) -> str:
    """An investment option's code.

    Raises:
        ValueError: it is none.
    """
    if not _OPTION.fullmatch(text):
        raise ValueError("must be an option's code: a letter, then letters, digits or underscores")
    return text


class SemesterPercent(NamedTuple):
    """The exact percent of a selection for a semester, and as it is shown."""

    exact: Fraction
    shown: str


@dataclass
class SemesterFigures:
    """A semester's settings and its options' figures. A percent is worked out once for all who selected alike."""

    semester: Semester
    settings: Mapping[str, str]
    option_yields: Mapping[str, OptionYield]
    _percents: dict[Selection, SemesterPercent | Refusal] = field(default_factory=dict)

    def setting(self, name: str) -> str:
        """The value of a setting for the semester, its default where nothing was adopted."""
        return board_settings.value_of(name, self.settings)

    def selection(self, selected: Selection | None) -> Selection | Refusal:
        """What a participant selected, or what the setting `no_selection` puts in its place, or a refusal."""
        if selected is not None:
            return selected
        in_its_place = self.setting("no_selection")
        if in_its_place == "hold":
            return Refusal(RefusalCode.NO_SELECTION, f"{SECTION}(b)(1)", field="selection", semester=self.semester)
        return ((in_its_place, WHOLE_PERCENT),)

    def percent(self, selection: Selection) -> SemesterPercent | Refusal:
        """The semester's percent for a selection, or why there is none, as `semester_yield` has it."""
        found = self._percents.get(selection)
        if found is None:
            try:
                found = self._percent(selection)
            except Refusal as refusal:
                found = refusal
            self._percents[selection] = found
        return found

    def _percent(self, selection: Selection) -> SemesterPercent:
        for option, _ in selection:
            check_figures(self.semester, option, self.option_yields.get(option))
        selected = {option: self.option_yields[option] for option, _ in selection}
        percent = semester_percent(dict(selection), option_percents(self.semester, selected, self.settings))
        return SemesterPercent(percent, format_percent(percent))


class Figures:
    """All semesters' figures: those of the file, and nothing for any other."""

    def __init__(
        self,
        option_yields: Mapping[Semester, Mapping[str, OptionYield]],
        settings: Mapping[str, list[tuple[date, str]]],
    ) -> None:
        self._option_yields = option_yields
        self._settings = settings
        self._of: dict[Semester, SemesterFigures] = {}
        self.options = {option for of_semester in option_yields.values() for option in of_semester}
        self.first = min(option_yields, default=None)
        self.last = max(filter(self._is_covered_in_full, option_yields), default=None)

    def semesters(self) -> list[Semester]:
        """The semesters that are posted: from the first with a figure through the last that is covered in full."""
        semesters = []
        if self.first is not None and self.last is not None:
            semester = self.first
            while semester <= self.last:
                semesters.append(semester)
                semester = semester.next()
        return semesters

    def of(self, semester: Semester) -> SemesterFigures:
        """The figures of a semester."""
        if semester not in self._of:
            settings = {name: value for name, (_, value) in self.settings_on(semester.ends_on).items()}
            self._of[semester] = SemesterFigures(semester, settings, self._option_yields.get(semester, {}))
        return self._of[semester]

    def settings_on(self, day: date) -> dict[str, tuple[date, str]]:
        """The settings in force on a day, each with its first day. Before that it is at its default: this is a desk."""
        in_force = {}
        for name, periods in self._settings.items():
            number = bisect_right(periods, day, key=lambda period: period[0])
            if number:
                in_force[name] = periods[number - 1]
        return in_force

    def _is_covered_in_full(self, semester: Semester) -> bool:
        """Whether each option of the statute that the file has, and each other with a figure in it, has all its own."""
        figures = self.of(semester)
        statutory = [option for option in STATUTORY_OPTIONS if option in self.options]
        return all(
            isinstance(figures.percent(((option, WHOLE_PERCENT),)), SemesterPercent)
            for option in {*statutory, *figures.option_yields}
        )


def read_figures(folder: Path, exceptions: Exceptions) -> Figures:
    """The figures of a folder. Without settings.csv all settings are at their defaults.

    Raises:
        FileError: a file is malformed.
    """
    settings = _read_settings(folder / SETTINGS, exceptions) if (folder / SETTINGS).exists() else {}
    return Figures(_read_yields(folder / YIELDS, exceptions), settings)


# yields.csv


def _read_yields(place: Path, exceptions: Exceptions) -> dict[Semester, dict[str, OptionYield]]:
    rows = read_table(place, {"option": option_code, "period": str, "figure": str, "value": parse_percent})
    months: dict[Semester, dict[str, Fraction]] = defaultdict(dict)
    others: dict[Semester, dict[str, dict[str, Fraction]]] = defaultdict(lambda: defaultdict(dict))
    for row in _without_duplicates(YIELDS, rows, exceptions, keys=3):
        option, period, figure, value = row.values
        if figure not in _FIGURES_OF.get(option, _FIGURES_OF_OTHERS):
            raise _fault(YIELDS, row, "figure", f"{option} takes no such figure")
        if option != FIXED_INCOME:
            others[_semester(row, period)][option][figure] = value
        elif value < -WHOLE_PERCENT:
            raise _fault(YIELDS, row, "value", "can't lose more than 100 percent")
        else:
            months[_semester_of_month(row, period)][period] = value
    option_yields: dict[Semester, dict[str, OptionYield]] = defaultdict(dict)
    for semester, percents in months.items():
        in_order = [percents[month] for month in semester.months if month in percents]
        option_yields[semester][FIXED_INCOME] = OptionYield(monthly_percent=in_order)
    for semester, of_options in others.items():
        for option, figures in of_options.items():
            option_yields[semester][option] = OptionYield.model_validate(figures)
    return dict(option_yields)


def _semester(row: Row, period: str) -> Semester:
    try:
        return Semester.parse(period)
    except ValueError as error:
        raise _fault(YIELDS, row, "period", str(error)) from None


def _semester_of_month(row: Row, period: str) -> Semester:
    if not _MONTH.fullmatch(period):
        raise _fault(YIELDS, row, "period", 'must be a month, like "2025-01"')
    try:
        return Semester.containing(parse_date(f"{period}-01"))
    except ValueError as error:
        raise _fault(YIELDS, row, "period", str(error)) from None


# settings.csv


def _read_settings(place: Path, exceptions: Exceptions) -> dict[str, list[tuple[date, str]]]:
    rows = read_table(place, {"setting": str, "value": str, "in_force_from": plain_date})
    periods: dict[str, list[tuple[date, str]]] = defaultdict(list)
    in_force_from: dict[tuple[str, date], Row] = {}
    for row in _without_duplicates(SETTINGS, rows, exceptions, keys=3):
        name, value, day = row.values
        try:
            board_settings.check(name, value)
        except PydanticCustomError as error:
            column = "setting" if name not in board_settings.SETTINGS else "value"
            raise _fault(SETTINGS, row, column, error.message()) from None
        if (name, day) in in_force_from:
            raise _fault(SETTINGS, row, "in_force_from", "has another value of the setting already")
        in_force_from[name, day] = row
        periods[name].append((day, value))
    return {name: sorted(of_name) for name, of_name in periods.items()}


def _without_duplicates(file: str, rows: Iterable[Row], exceptions: Exceptions, keys: int) -> Iterable[Row]:
    """The rows, each once. Two that differ after the first so many columns contradict one another."""
    taken: dict[tuple[str, ...], Row] = {}
    for row in rows:
        earlier = taken.setdefault(row.texts[:keys], row)
        if earlier is row:
            yield row
        elif earlier.texts == row.texts:
            exceptions.duplicate(file, row.line)
        else:
            raise _fault(file, row, "value", f"differs from line {earlier.line}")


def _fault(file: str, row: Row, column: str, rule: str) -> FileError:
    return FileError(f"{file}, line {row.line}, column {column}: {rule}")
