"""The Board's book: a chain of adopted resolutions for each fund, only ever added to, and the figures folded from it.

A resolution is proposed by one person and adopted by another. What is adopted again with a newer vintage, or as a setting from a
later day, replaces the earlier from then on, which stays in the book. Nothing is carried forward and nothing is assumed: a
figure or a setting that isn't in force on its day is refused, with its name, the day and the nearest period in force.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Generic, TypeVar

from retiro.ledger import encoding
from retiro.ledger.encoding import GENESIS, Document, Item, UnreadableError
from retiro.ledger.lines import sort_key
from retiro.ledger.resolutions import (
    RESOLUTION,
    STATUTORY_OPTIONS,
    ClosureDays,
    Option,
    OptionSemester,
    PortfolioReturn,
    Resolution,
    SettingAdopted,
    TreasuryYields,
    UnsoundError,
    hash_of,
    month_period,
    names_option,
)
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore
from retiro.rules import parameters
from retiro.rules.calendar import Semester
from retiro.rules.forms import Sentence
from retiro.rules.receipts import Act
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import FIXED_INCOME, SECTION, SHARE_PARAMETER, SYSTEM_PORTFOLIO, OptionYield
from retiro.rules.settings import SETTINGS

SAVINGS_SETTINGS = tuple(name for name, setting in SETTINGS.items() if setting.citation.startswith(SECTION))
"""The settings that a semester's yield rests on: each must be adopted, in force on the semester's last day."""

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


class Figures:
    """What a fund's book says, folded. Pure look-ups."""

    def __init__(self, fund: str, entries: Sequence[Entry]) -> None:
        self.fund = fund
        self.entries = tuple(entries)
        self._months: dict[str, Figure[Fraction]] = {}
        self._semesters: dict[tuple[str, Semester], Figure[OptionYield]] = {}
        self._options: dict[str, list[Figure[Option]]] = {}
        self._settings: dict[str, list[Figure[str]]] = {}
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

    def setting(self, name: str, on: date) -> str:
        """The value of a setting on a day. Raises `not_in_force` where no act in force has adopted one."""
        return self._setting(name, on).value

    def settings(self, on: date) -> dict[str, str]:
        """All settings that a semester's yield rests on, on a day. Raises `not_in_force`."""
        return {name: self.setting(name, on) for name in SAVINGS_SETTINGS}

    def acts(self, on: date) -> dict[str, Act]:
        """The acts that these settings rest on, as a receipt names them. Raises `not_in_force`."""
        found = {name: self._setting(name, on) for name in SAVINGS_SETTINGS}
        return {name: Act(str(one.entry.resolution.act), one.in_force_from) for name, one in found.items()}

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

    def _option_yield(self, semester: Semester, code: str) -> OptionYield:
        if code == FIXED_INCOME:
            return OptionYield(monthly_percent=[self.treasury_percent(month) for month in semester.months])
        periods = [figure for (option, _), figure in self._semesters.items() if option == code]
        clause = "(b)(3)(B)" if code == SYSTEM_PORTFOLIO else "(b)(3)(C)"
        return parameters.pick(f"{code} {semester}", periods, semester.ends_on, citation=f"{SECTION}{clause}").value

    def _has_share(self, semester: Semester) -> bool:
        if self._semesters[SYSTEM_PORTFOLIO, semester].value.share_percent is not None:
            return True
        try:
            parameters.in_force(SHARE_PARAMETER, semester.ends_on)
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


class BoardBook:
    """The books of all funds, on the ledger's store."""

    def __init__(self, store: LedgerStore) -> None:
        self.store = store

    def adopted(self, fund: str) -> Figures:
        """What the fund's book says now, read consistently."""
        return Figures(fund, list(self.entries(fund)))

    def entries(self, fund: str) -> Iterator[Entry]:
        """The book's entries, in order."""
        for item in self.store.items(partition(fund)):
            yield from_item(item)

    def adopt(
        self, resolution_id: str, resolution: Resolution, *, proposed_by: str, adopted_by: str, now: datetime
    ) -> Entry:
        """Write a resolution into its fund's book, once: one that stands there already is returned as it stands.

        Raises `UnsoundError` where it doesn't go with what stands, `BusyError` after too many lost races.
        """
        for attempt in range(self.store.retries.attempts_max):
            figures = self.adopted(resolution.fund)
            standing = figures.entry_of(resolution_id)
            if standing is not None:
                return standing
            figures.check(resolution)
            last = figures.entries[-1] if figures.entries else None
            entry = _sealed(
                Entry(
                    sequence=last.sequence + 1 if last else 1,
                    resolution_id=resolution_id,
                    resolution=resolution,
                    proposed_by=proposed_by,
                    adopted_by=adopted_by,
                    adopted_at=max(now, last.adopted_at) if last else now,
                    hash=b"",
                ),
                last.hash if last else GENESIS,
            )
            item = to_item(entry)
            existing = self.store.insert(item)
            if existing is None or existing == item:
                return entry
            self.store.retries.pause(attempt)
        raise BusyError(f"{resolution_id} wasn't taken in {self.store.retries.attempts_max} attempts")


def partition(fund: str) -> str:
    """The partition key of a fund's book."""
    return f"board#{fund}"


def to_item(entry: Entry) -> Item:
    """The entry's item: its document and its hash."""
    return encoding.to_item(_document(entry) | {"hash": entry.hash})


def from_item(item: Item) -> Entry:
    """The entry of an item. Raises `UnreadableError` for what isn't one."""
    match encoding.from_item(item):
        case {
            "sk": str(sequence),
            "resolution_id": str(resolution_id),
            "content": str(content),
            "proposed_by": str(proposed_by),
            "adopted_by": str(adopted_by),
            "adopted_at": str(adopted_at),
            "hash": bytes(digest),
        }:
            moment = datetime.fromisoformat(adopted_at).astimezone(UTC)
            resolution = RESOLUTION.validate_json(content)
            return Entry(int(sequence), resolution_id, resolution, proposed_by, adopted_by, moment, digest)
        case _:
            raise UnreadableError("an item that isn't an adopted resolution")


def broken_entries(items: Sequence[Item]) -> list[tuple[int, str]]:
    """What is wrong in a book's items, in their order: the sequence and why. Empty where it verifies.

    A changed byte and a missing or exchanged entry show here; a missing last one by whoever keeps its number.
    """
    findings = []
    previous_hash = GENESIS
    for wanted, item in enumerate(items, start=1):
        document = encoding.from_item(item)
        digest = document.pop("hash", b"")
        sequence = int(str(document.get("sk", 0)))
        if sequence != wanted:
            findings.append((wanted, "entry_missing"))
        if digest != encoding.chain_hash(previous_hash, document):
            findings.append((sequence, "hash_differs"))
        previous_hash = digest if isinstance(digest, bytes) else b""
    return findings


def _document(entry: Entry) -> Document:
    return {
        "pk": partition(entry.resolution.fund),
        "sk": sort_key(entry.sequence),
        "kind": entry.resolution.kind,
        "resolution_id": entry.resolution_id,
        "content": encoding.canonical(RESOLUTION.dump_python(entry.resolution, mode="json")).decode(),
        "content_hash": hash_of(entry.resolution),
        "proposed_by": entry.proposed_by,
        "adopted_by": entry.adopted_by,
        "adopted_at": entry.adopted_at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
