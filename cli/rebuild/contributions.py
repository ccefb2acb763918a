"""contributions.csv: ten million rows, a block of bytes at a time, every column as text.

Polars splits a block into columns of text and holds each against the same patterns and parsers as the exact reading in
`tables`. A block that isn't plain in every field is read again there, which names the line and column at fault.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cli.files import FileError
from cli.rebuild.credits import Integers, MonthlyCredits, month_number
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.history import Participants
from cli.rebuild.movements import Movements
from cli.rebuild.tables import (
    BYTE_ORDER_MARK,
    IDENTIFIER_PATTERN,
    LABEL_PATTERN,
    Parser,
    check_header,
    identifier,
    label,
    plain_date,
    read_header,
    read_rows,
)
from retiro.rules.calendar import parse_date
from retiro.rules.money import MONEY_PATTERN, parse_cents

CONTRIBUTIONS = "contributions.csv"
COLUMNS = ("participant_id", "remitted_on", "amount", "employer_id", "pay_period")
BLOCK_BYTES = 1 << 24
_TEXTS_KEPT = ("employer_id", "pay_period")
_TEXTS = pl.Schema(dict.fromkeys(COLUMNS, pl.String()))


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of the file, and the number of the first."""

    first_line: int
    data: bytes


def add_contributions(  # noqa: PLR0913  # each is named where it is called
    folder: Path,
    participants: Participants,
    credited: MonthlyCredits,
    exceptions: Exceptions,
    *,
    advance: Callable[[int], None],
    movements: Movements | None = None,
) -> int:
    """Credit every contribution on the day it was remitted, each row once, and say how many were taken.

    `advance` is told the bytes done. `movements`, where they are wanted, keeps each of them.

    Raises:
        FileError: the file is malformed, or names an unknown participant.
    """
    place = folder / CONTRIBUTIONS
    reader = _Reader(participants)
    hashes = []
    for block in _blocks(place):
        texts = reader.texts(block)
        rows = reader.checked(block, texts)
        early = rows["day"].to_numpy() < reader.enrolled_on[rows["participant"].to_numpy()]
        for number in np.flatnonzero(early).tolist():
            participant = participants[rows["participant"][number]]
            line = block.first_line + number
            exceptions.out_of_form(CONTRIBUTIONS, line, participant.participant_id, "remitted_on", "before_enrolment")
        _add(rows.filter(~pl.Series(early)), credited, 1)
        if movements is not None:
            kept = rows.hstack(texts.select(_TEXTS_KEPT)).with_row_index("line", block.first_line)
            movements.add(kept.filter(~pl.Series(early)))
        hashes.append(texts.hash_rows().to_numpy()[~early])
        advance(len(block.data))
    again = _take_back_duplicates(place, reader, _repeated(hashes), credited, exceptions)
    if movements is not None:
        movements.index(without_lines=again)
    return sum(map(len, hashes)) - len(again)


def _add(rows: pl.DataFrame, credited: MonthlyCredits, sign: int) -> None:
    credited.add(rows["participant"].to_numpy(), rows["month"].to_numpy(), sign * rows["cents"].to_numpy())


# Reading a block


def _blocks(place: Path) -> Iterator[Block]:
    """The file after its header, in blocks that end with a line."""
    try:
        file = place.open("rb")
    except OSError as error:
        raise FileError(f"{place.name}: can't be read: {error.strerror}") from error
    with file:
        check_header(place.name, read_header(place.name, file.readline()), COLUMNS)
        line = 2
        rest = b""
        while chunk := file.read(BLOCK_BYTES):
            end = chunk.rfind(b"\n") + 1
            if not end:
                rest += chunk
                continue
            block = Block(line, rest + chunk[:end])
            rest = chunk[end:]
            line += block.data.count(b"\n")
            yield block
        if rest:
            yield Block(line, rest + b"\n")


class _Reader:
    """Reads blocks: what each field means, or where it is at fault."""

    def __init__(self, participants: Participants) -> None:
        self.enrolled_on: Integers = np.array([each.enrolled_on.toordinal() for each in participants], dtype=np.int64)
        self._ids = pl.Enum([each.participant_id for each in participants])
        self._exact: dict[str, Parser] = {
            "participant_id": participants.number,
            "remitted_on": plain_date,
            "amount": parse_cents,
            "employer_id": identifier,
            "pay_period": label,
        }

    def texts(self, block: Block) -> pl.DataFrame:
        """The fields of a block as they are written.

        Raises:
            FileError: the block isn't rows of five fields.
        """
        try:
            texts = pl.read_csv(block.data, has_header=False, schema=_TEXTS, infer_schema=False)
        except pl.exceptions.PolarsError:
            self._name_fault(block)
        lines = block.data.count(b"\n")
        commas = block.data.count(b",")
        if (texts.height, commas) != (lines, lines * (len(COLUMNS) - 1)) or block.data.startswith(BYTE_ORDER_MARK):
            self._name_fault(block)
        return texts

    def checked(self, block: Block, texts: pl.DataFrame) -> pl.DataFrame:
        """What the fields of a block mean: participant, day, month and cents as numbers.

        Raises:
            FileError: a field is malformed, or its participant unknown.
        """
        days = {text: _day(text) for text in texts["remitted_on"].unique() if text is not None}
        amount = pl.col("amount")
        rows = texts.select(
            participant=pl.col("participant_id").cast(self._ids, strict=False).to_physical().cast(pl.Int64),
            day=_looked_up("remitted_on", {text: day.toordinal() for text, day in days.items() if day}),
            month=_looked_up("remitted_on", {text: month_number(day) for text, day in days.items() if day}),
            cents=amount.str.replace(".", "", literal=True).cast(pl.Int64, strict=False),
            plain=amount.str.contains(MONEY_PATTERN) & (amount != "-0.00"),
        )
        if not (
            rows["plain"].all(ignore_nulls=False)
            and not rows.null_count().sum_horizontal().item()
            and _all_match(texts["employer_id"], IDENTIFIER_PATTERN)
            and _all_match(texts["pay_period"], LABEL_PATTERN)
        ):
            self._name_fault(block)
        return rows

    def _name_fault(self, block: Block) -> NoReturn:
        """Read a block exactly, for the line and column at fault.

        Raises:
            FileError: always.
        """
        read_rows(CONTRIBUTIONS, block.data, block.first_line, self._exact)
        raise FileError(f"{CONTRIBUTIONS}, line {block.first_line} and what follows: can't be read")


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None


def _looked_up(column: str, numbers: Mapping[str, int]) -> pl.Expr:
    return pl.col(column).replace_strict(list(numbers), list(numbers.values()), default=None, return_dtype=pl.Int64)


def _all_match(texts: pl.Series, pattern: str) -> bool:
    return texts.unique().str.contains(pattern).all(ignore_nulls=False) is True


# Rows that stand in the file twice


def _repeated(hashes: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """The hashes that more than one row has."""
    if not hashes:
        return np.array([], dtype=np.uint64)
    everything = np.concatenate(hashes)
    everything.sort()
    return np.unique(everything[1:][everything[1:] == everything[:-1]])


def _take_back_duplicates(
    place: Path,
    reader: _Reader,
    repeated: NDArray[np.uint64],
    credited: MonthlyCredits,
    exceptions: Exceptions,
) -> list[int]:
    """Take back what rows equal to earlier ones have credited, and say on which lines they stand.

    The rows are found by their hashes in a second reading, and compared whole: rows that share a hash and differ stay.
    """
    if not len(repeated):
        return []
    found = []
    for block in _blocks(place):
        texts = reader.texts(block)
        suspect = np.isin(texts.hash_rows().to_numpy(), repeated)
        rows = reader.checked(block, texts).with_row_index("line", block.first_line)
        found.append(pl.concat([texts, rows], how="horizontal").filter(pl.Series(suspect)))
    suspects = pl.concat(found)
    again = suspects.filter(~pl.struct(COLUMNS).is_first_distinct())
    _add(again, credited, -1)
    for participant_id, line in again.select("participant_id", "line").iter_rows():
        exceptions.duplicate(CONTRIBUTIONS, line, participant_id)
    lines: list[int] = again["line"].to_list()
    return lines
