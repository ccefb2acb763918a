"""A history made up, for trying and measuring: of nobody, and always the same for a seed.

The Treasury yields are the real ones; all else is drawn: enrolments from January 2000, monthly contributions of 8.275
percent of a salary remitted the month after, some initial transfers, some changes of selection. The settings are the
defaults, each adopted by its name.
"""

import csv
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cli.files import FileError
from cli.rebuild.contributions import COLUMNS, CONTRIBUTIONS
from cli.rebuild.figures import SETTINGS, YIELDS
from cli.rebuild.history import PARTICIPANTS, SELECTIONS, TRANSFERS
from retiro.rules import settings as board_settings
from retiro.rules.calendar import Semester
from retiro.rules.money import format_cents

FIRST, LAST = Semester(2000, 2), Semester(2013, 2)
OPTIONS = ("fixed_income", "system_portfolio", "growth")
_TREASURY = files("cli").joinpath("data/two_year_cmt_monthly.csv")
_ENROLMENT_DAYS = 420
_EMPLOYERS = 300
_SHARE_OF_ITS_DAY_UNTIL = Semester(2005, 1)  # from then on the statute's 90 percent is in force
_CONTRIBUTION_PER_100_000 = 8275
_RAISE_PER_1000 = 1025

Integers = NDArray[np.int64]


def write_sample(folder: Path, participants: int, seed: int) -> None:
    """Write a history of so many participants into a folder.

    Raises:
        FileError: a history stands there already.
    """
    for name in (PARTICIPANTS, TRANSFERS, SELECTIONS, YIELDS, SETTINGS, CONTRIBUTIONS):
        if (folder / name).exists():
            raise FileError(f"{folder / name}: is there already")
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(seed)
    enrolled = chance.integers(0, _ENROLMENT_DAYS, participants)
    employers = chance.integers(1, _EMPLOYERS + 1, participants)
    ids = [f"P-{number:06d}" for number in range(1, participants + 1)]
    enrolled_on = [FIRST.starts_on + timedelta(days=int(day)) for day in enrolled]
    _write_participants(folder, ids, enrolled_on, employers, chance)
    _write_transfers(folder, ids, enrolled_on, chance)
    _write_selections(folder, ids, enrolled_on, chance)
    _write_yields(folder, chance)
    _write_settings(folder)
    _write_contributions(folder, ids, enrolled_on, employers, chance)


def _write(place: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_participants(
    folder: Path, ids: Sequence[str], enrolled_on: Sequence[date], employers: Integers, chance: np.random.Generator
) -> None:
    born = [date(1940, 1, 1) + timedelta(days=int(day)) for day in chance.integers(0, 40 * 365, len(ids))]
    rows = zip(ids, born, [f"E-{employer:03d}" for employer in employers], enrolled_on, strict=True)
    _write(folder / PARTICIPANTS, ("participant_id", "birth_date", "employer_id", "enrolled_on"), rows)


def _write_transfers(
    folder: Path, ids: Sequence[str], enrolled_on: Sequence[date], chance: np.random.Generator
) -> None:
    amounts_cents = chance.integers(10_000, 3_000_000, len(ids))
    brought = chance.integers(0, 5, len(ids)) == 0
    rows = (
        (ids[number], enrolled_on[number], format_cents(int(amounts_cents[number])))
        for number in np.flatnonzero(brought).tolist()
    )
    _write(folder / TRANSFERS, ("participant_id", "credited_on", "amount"), rows)


def _write_selections(
    folder: Path, ids: Sequence[str], enrolled_on: Sequence[date], chance: np.random.Generator
) -> None:
    rows = [(day, one, *_tenths(chance)) for one, day in zip(ids, enrolled_on, strict=True)]
    for number in np.flatnonzero(chance.integers(0, 4, len(ids)) == 0).tolist():
        asked_on = date(int(chance.integers(2002, 2012)), int(chance.integers(1, 13)), int(chance.integers(1, 29)))
        rows.append((asked_on, ids[number], *_tenths(chance)))
    _write(
        folder / SELECTIONS,
        ("participant_id", "requested_on", *OPTIONS),
        ((one, day, *percents) for day, one, *percents in sorted(rows)),
    )


def _tenths(chance: np.random.Generator) -> tuple[int, int, int]:
    """Three multiples of ten that total a hundred."""
    first, second = sorted(chance.integers(0, 11, 2).tolist())
    return 10 * first, 10 * (second - first), 10 * (10 - second)


def _write_yields(folder: Path, chance: np.random.Generator) -> None:
    treasury = dict(csv.reader(_TREASURY.read_text("utf-8").splitlines()[1:]))
    rows: list[tuple[str, object, str, str]] = []
    semester = FIRST
    while semester <= LAST:
        rows += [("fixed_income", month, "percent", treasury[month]) for month in semester.months]
        rows += [
            ("system_portfolio", semester, "return_percent", format_cents(int(chance.integers(-600, 900)))),
            ("system_portfolio", semester, "management_fees_percent", "0.20"),
            ("growth", semester, "semester_percent", format_cents(int(chance.integers(-300, 500)))),
        ]
        if semester < _SHARE_OF_ITS_DAY_UNTIL:
            rows.append(("system_portfolio", semester, "share_percent", "75"))
        semester = semester.next()
    _write(folder / YIELDS, ("option", "period", "figure", "value"), rows)


def _write_settings(folder: Path) -> None:
    """Each choice that § 786-7 leaves, by its name at the value that the readings give: a ledger takes no default."""
    rows = [(name, board_settings.SETTINGS[name].default, FIRST.starts_on) for name in board_settings.SAVINGS_SETTINGS]
    _write(folder / SETTINGS, ("setting", "value", "in_force_from"), rows)


def _write_contributions(
    folder: Path, ids: Sequence[str], enrolled_on: Sequence[date], employers: Integers, chance: np.random.Generator
) -> None:
    """Month by month, as remittances come in: each pay period of those enrolled by then, remitted the month after."""
    id_texts = pl.Series(ids)
    enrolled_in = np.array([day.year * 12 + day.month - 1 for day in enrolled_on])
    salaries_cents = chance.integers(90_000, 450_000, len(ids))
    with (folder / CONTRIBUTIONS).open("wb") as file:
        file.write(f"{','.join(COLUMNS)}\n".encode())
        for month in range(FIRST.starts_on.year * 12, LAST.ends_on.year * 12 + LAST.ends_on.month - 1):
            if month % 12 == 0:
                salaries_cents = salaries_cents * _RAISE_PER_1000 // 1000
            who = np.flatnonzero(enrolled_in <= month)
            amounts_cents = salaries_cents[who] * _CONTRIBUTION_PER_100_000 // 100_000 + chance.integers(
                0, 50, len(who)
            )
            pay_period = f"{month // 12}-{month % 12 + 1:02d}"
            remitted_in = f"{(month + 1) // 12}-{(month + 1) % 12 + 1:02d}"
            pl.DataFrame({"id": id_texts[who], "employer": employers[who], "cents": amounts_cents}).select(
                pl.col("id"),
                # each employer has its own day of the month, from the 5th to the 24th
                remitted_on=pl.lit(f"{remitted_in}-") + (pl.col("employer") % 20 + 5).cast(pl.String).str.zfill(2),
                amount=(pl.col("cents") // 100).cast(pl.String)
                + "."
                + (pl.col("cents") % 100).cast(pl.String).str.zfill(2),
                employer_id=pl.lit("E-") + pl.col("employer").cast(pl.String).str.zfill(3),
                pay_period=pl.lit(pay_period),
            ).write_csv(file, include_header=False)
