"""The figures of a fund, folded from the resolutions that its Board has adopted: pure look-ups.

What is adopted again with a newer vintage, or from the same or a later day, replaces the earlier from then on, which
stays in the book. Nothing is carried forward and nothing is assumed: a figure or a setting that isn't in force on its
day is refused, with its name, the day and the nearest period in force.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Generic, TypeVar

from retiro.ledger.encoding import GENESIS
from retiro.ledger.resolutions import (
    STATUTORY_OPTIONS,
    AnnuityFactors,
    ClosureDays,
    HybridReturn,
    Option,
    OptionSemester,
    PortfolioReturn,
    Resolution,
    SettingAdopted,
    TreasuryYields,
    UnsoundError,
    month_period,
    names_option,
)
from retiro.rules import parameters
from retiro.rules.calendar import Semester, add_months
from retiro.rules.forms import Sentence
from retiro.rules.judiciary_hybrid import HYBRID_RETURN
from retiro.rules.judiciary_hybrid import SECTION as SECTION_242B
from retiro.rules.judiciary_hybrid.factors import CITATION as FACTOR_CLAUSE
from retiro.rules.receipts import Act
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import FIXED_INCOME, SECTION, SYSTEM_PORTFOLIO, OptionYield
from retiro.rules.savings_accounts.arithmetic import MONTHS_IN_SEMESTER
from retiro.rules.savings_accounts.options import clause_of, share_in_force
from retiro.rules.settings import HYBRID_RETURN_SETTINGS, SAVINGS_SETTINGS, SETTINGS

FACTOR_TABLE = "factor_table"

WARNED_MONTHS = 3
"""How many months before its end a factor table or an option is named."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """An adopted resolution in its place in the book."""

    sequence: int
    resolution_id: str
    resolution: Resolution
    proposed_by: str
    adopted_by: str
    adopted_at: datetime
    hash: bytes


@dataclass(frozen=True, slots=True)
class Figure(Generic[T]):
    """A value in force from a day until another, that one not included, and the entry that it comes from."""

    value: T
    in_force_from: date
    until: date | None
    entry: Entry


@dataclass(frozen=True, slots=True)
class Ending:
    """What ends on a day, that one not included, with nothing adopted to follow it."""

    name: str
    until: date


def act_of(figure: Figure[T]) -> Act:
    """The act that a figure rests on, as a receipt names it."""
    return Act(str(figure.entry.resolution.act), figure.in_force_from)


class Figures:
    """What a fund's book says, folded. Pure look-ups."""

    def __init__(self, fund: str, entries: Sequence[Entry]) -> None:
        self.fund = fund
        self.entries = tuple(entries)
        self._months: dict[str, Figure[Fraction]] = {}
        self._semesters: dict[tuple[str, Semester], Figure[OptionYield]] = {}
        self._options: dict[str, list[Figure[Option]]] = {}
        self._settings: dict[str, list[Figure[str]]] = {}
        self._factors: list[Figure[AnnuityFactors]] = []
        self._returns: dict[tuple[Semester, int], Figure[Fraction]] = {}
        self._closure_days: set[date] = set()
        for entry in entries:
            self._take(entry)

    @property
    def content_hash(self) -> str:
        """The hash of the book's last entry, which covers all of it, as hexadecimal digits."""
        return (self.entries[-1].hash if self.entries else GENESIS).hex()

    def treasury_percent(self, month: str) -> Fraction:
        """The Two-Year Treasury's average of a month (`2025-06`), percent a year. Raises `not_in_force`."""
        first, _ = month_period(month)
        return parameters.pick(
            f"{FIXED_INCOME} {month}", list(self._months.values()), first, citation=f"{SECTION}(b)(3)(A)"
        ).value

    def option_yields(self, semester: Semester, codes: Sequence[str]) -> dict[str, OptionYield]:
        """The figures of these options for a semester, as `semester_yield` takes them. Raises `not_in_force`."""
        return {code: self._option_yield(semester, code) for code in codes}

    def missing(self, semester: Semester, codes: Sequence[str]) -> list[str]:
        """What must still be adopted before the semester can be computed for these options, by name."""
        names = []
        for code in codes:
            if code == FIXED_INCOME:
                names += [f"{code} {month}" for month in semester.months if month not in self._months]
            elif (code, semester) not in self._semesters:
                names.append(f"{code} {semester}")
            elif code == SYSTEM_PORTFOLIO and not self._has_share(semester):
                names.append(f"{code} share_percent {semester}")
        return names + [
            f"setting {name}"
            for name in SAVINGS_SETTINGS
            if _in_force(self._settings.get(name, []), semester.ends_on) is None
        ]

    def factor_table(self, on: date) -> Figure[AnnuityFactors]:
        """The factor table that an annuity from this day on is issued on, § 242b(c)(2). Raises `not_in_force`."""
        return parameters.pick(FACTOR_TABLE, self._factors, on, citation=FACTOR_CLAUSE, field="retirement_date")

    def hybrid_return(self, semester: Semester, months: int = MONTHS_IN_SEMESTER) -> Figure[Fraction]:
        """The percent that the hybrid accounts earned in a semester's first complete months. Raises `not_in_force`."""
        periods = [figure for (_, covered), figure in self._returns.items() if covered == months]
        name = f"{HYBRID_RETURN} {semester}" + ("" if months == MONTHS_IN_SEMESTER else f", {months} months")
        return parameters.pick(name, periods, semester.starts_on, citation=SECTION_242B)

    def missing_return(self, semester: Semester) -> list[str]:
        """What must still be adopted before the hybrid accounts' return of a semester can be posted, by name."""
        lacking = [] if (semester, MONTHS_IN_SEMESTER) in self._returns else [f"{HYBRID_RETURN} {semester}"]
        return lacking + [
            f"setting {name}"
            for name in HYBRID_RETURN_SETTINGS
            if _in_force(self._settings.get(name, []), semester.ends_on) is None
        ]

    def endings(self, on: date, by: date) -> list[Ending]:
        """What is in force on a day and ends by another with nothing after it: factor tables and options, by name."""
        ends = {FACTOR_TABLE: _ends_on(self._factors, on)}
        ends |= {code: _ends_on(periods, on) for code, periods in sorted(self._options.items())}
        return [Ending(name, until) for name, until in ends.items() if until is not None and until <= by]

    def ending_soon(self, on: date) -> list[Ending]:
        """What of these ends within the next three months: the Board has that long to adopt what follows."""
        return self.endings(on, add_months(on, WARNED_MONTHS))

    def setting(self, name: str, on: date) -> str:
        """The value of a setting on a day. Raises `not_in_force` where no act in force has adopted one."""
        return self._setting(name, on).value

    def settings(self, on: date, names: Sequence[str] = SAVINGS_SETTINGS) -> dict[str, str]:
        """Settings by name, those that a semester's yield rests on if no others, on a day. Raises `not_in_force`."""
        return {name: self.setting(name, on) for name in names}

    def acts(self, on: date, names: Sequence[str] = SAVINGS_SETTINGS) -> dict[str, Act]:
        """The acts that these settings rest on, as a receipt names them. Raises `not_in_force`."""
        return {name: act_of(self._setting(name, on)) for name in names}

    def options_in_force(self, on: date) -> list[str]:
        """The codes that a participant may select on a day: the statute's two, then the Board's own by code."""
        return [*STATUTORY_OPTIONS, *(code for code in sorted(self._options) if _in_force(self._options[code], on))]

    def closure_days(self) -> tuple[date, ...]:
        """The days closed by executive order, in order."""
        return tuple(sorted(self._closure_days))

    def entry_of(self, resolution_id: str) -> Entry | None:
        """The entry of a resolution, if it was adopted."""
        return next((entry for entry in self.entries if entry.resolution_id == resolution_id), None)

    def check(self, resolution: Resolution) -> None:
        """Check a resolution against what stands in the book. Raises `UnsoundError`."""
        match resolution:
            case TreasuryYields():
                for month, percent in resolution.months.items():
                    _check_vintage(self._months.get(month), percent, resolution.vintage, f"months.{month}")
            case PortfolioReturn() | OptionSemester():
                code, value = _semester_figure(resolution)
                standing = self._semesters.get((code, resolution.semester))
                _check_vintage(standing, value, resolution.vintage, "semester")
                if isinstance(resolution, OptionSemester):
                    self._check_option(code, resolution.semester.ends_on, "option")
            case HybridReturn():
                standing_return = self._returns.get((resolution.semester, resolution.months_covered))
                _check_vintage(standing_return, resolution.percent, resolution.vintage, "semester", SECTION_242B)
            case SettingAdopted() if names_option(resolution):
                self._check_option(resolution.value, resolution.in_force_from, "value")

    def _take(self, entry: Entry) -> None:
        match entry.resolution:
            case TreasuryYields() as treasury:
                for month, percent in treasury.months.items():
                    first, last = month_period(month)
                    self._months[month] = Figure(percent, first, last + timedelta(days=1), entry)
            case (PortfolioReturn() | OptionSemester()) as figure:
                code, value = _semester_figure(figure)
                semester = figure.semester
                self._semesters[code, semester] = Figure(value, semester.starts_on, semester.next().starts_on, entry)
            case Option() as option:
                standing = self._options.setdefault(option.code, [])
                _replace_from(standing, Figure(option, option.in_force_from, option.until, entry))
            case SettingAdopted() as setting:
                standing_values = self._settings.setdefault(setting.name, [])
                _replace_from(standing_values, Figure(setting.value, setting.in_force_from, None, entry))
            case ClosureDays() as closed:
                self._closure_days |= set(closed.dates)
            case AnnuityFactors() as factors:
                _replace_from(self._factors, Figure(factors, factors.in_force_from, factors.until, entry))
            case HybridReturn() as earned:
                first, until = earned.semester.starts_on, earned.semester.next().starts_on
                self._returns[earned.semester, earned.months_covered] = Figure(earned.percent, first, until, entry)

    def _option_yield(self, semester: Semester, code: str) -> OptionYield:
        if code == FIXED_INCOME:
            return OptionYield(monthly_percent=[self.treasury_percent(month) for month in semester.months])
        if code == HYBRID_RETURN:
            return OptionYield(semester_percent=self.hybrid_return(semester).value)
        periods = [figure for (option, _), figure in self._semesters.items() if option == code]
        return parameters.pick(
            f"{code} {semester}", periods, semester.ends_on, citation=f"{SECTION}{clause_of(code)}"
        ).value

    def _has_share(self, semester: Semester) -> bool:
        if self._semesters[SYSTEM_PORTFOLIO, semester].value.share_percent is not None:
            return True
        try:
            share_in_force(semester)
        except Refusal:
            return False
        return True

    def _setting(self, name: str, on: date) -> Figure[str]:
        periods = self._settings.get(name, [])
        return parameters.pick(f"setting {name}", periods, on, citation=SETTINGS[name].citation)

    def _check_option(self, code: str, on: date, field: str) -> None:
        if code not in self.options_in_force(on):
            raise UnsoundError(
                "unknown_option",
                Sentence(f"No option {code} is in force on {on}.", f"No hay una opción {code} vigente el {on}."),
                field=field,
                citation=f"{SECTION}(b)(3)(C)",
            )


def _semester_figure(resolution: PortfolioReturn | OptionSemester) -> tuple[str, OptionYield]:
    """The option that the figures are of, and the figures as `semester_yield` takes them."""
    if isinstance(resolution, OptionSemester):
        return resolution.option, OptionYield(semester_percent=resolution.semester_percent)
    return SYSTEM_PORTFOLIO, OptionYield(
        return_percent=resolution.return_percent,
        management_fees_percent=resolution.management_fees_percent,
        share_percent=resolution.share_percent,
    )


def _in_force(periods: Sequence[Figure[T]], on: date) -> Figure[T] | None:
    for period in periods:
        if period.in_force_from <= on and (period.until is None or on < period.until):
            return period
    return None


def _ends_on(periods: Sequence[Figure[T]], on: date) -> date | None:
    """The day on which what is in force on `on` ends with nothing after it; `None` where it doesn't, or nothing is."""
    until = None
    while (standing := _in_force(periods, until or on)) is not None:
        if standing.until is None:
            return None
        until = standing.until
    return until


def _replace_from(standing: list[Figure[T]], new: Figure[T]) -> None:
    """Put a period among those of its name: in place of one from the same day, each ending where the next begins."""
    periods = [one for one in standing if one.in_force_from != new.in_force_from] + [new]
    periods.sort(key=lambda one: one.in_force_from)
    for index, following in enumerate(periods[1:]):
        until = periods[index].until
        if until is None or until > following.in_force_from:
            periods[index] = replace(periods[index], until=following.in_force_from)
    standing[:] = periods


def _check_vintage(
    standing: Figure[T] | None, value: T, vintage: date, field: str, citation: str = f"{SECTION}(b)(3)"
) -> None:
    if standing is None:
        return
    of_standing = standing.entry.resolution.vintage
    if vintage > of_standing or (vintage == of_standing and value == standing.value):
        return
    raise UnsoundError(
        "vintage_not_newer",
        Sentence(
            f"A figure of {of_standing} stands, by {standing.entry.resolution_id}; only a newer one replaces it.",
            f"Consta una cifra del {of_standing}, por {standing.entry.resolution_id}; solo una más nueva la sustituye.",
        ),
        field=field,
        citation=citation,
    )
