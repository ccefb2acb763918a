"""The exact reading of a CSV file: UTF-8, a header line, commas; every field by a parser of our own.

Nothing is guessed: a field is the text that stands there until its parser takes it. A fault names its file, line and
column, and never repeats the value, since it may be a person's.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from cli.files import FileError
from retiro.rules.calendar import parse_date
from retiro.rules.forms import FORMS

FAULTS_SHOWN = 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

IDENTIFIER_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"
LABEL_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 ._/:-]{0,39}$"
_IDENTIFIER = re.compile(IDENTIFIER_PATTERN)
_LABEL = re.compile(LABEL_PATTERN)

Parser = Callable[[str], Any]
"""Takes a field's text, and raises a ValueError whose message reads on from "column NAME: "."""


class Row(NamedTuple):
    """A line of a file: where it stands, its fields as they are written, and what they mean."""

    line: int
    texts: tuple[str, ...]
    values: tuple[Any, ...]


def identifier(text: str) -> str:
    """An id: ASCII letters and digits, dots, dashes and underscores, 40 at most.

    Raises:
        ValueError: it is anything else. So no id is a formula to a spreadsheet that reads what is written.
    """
    if not _IDENTIFIER.fullmatch(text):
        raise ValueError("must be an id of letters, digits, dots, dashes or underscores")
    return text


def plain_date(text: str) -> date:
    """A date, `YYYY-MM-DD`.

    Raises:
        ValueError: it is none.
    """
    try:
        return parse_date(text)
    except ValueError:
        raise ValueError(FORMS["date"].en) from None  # and not what Python says of a February 30


def label(text: str) -> str:
    """A short plain text, like a pay period.

    Raises:
        ValueError: it is empty, too long, or holds other characters.
    """
    if not _LABEL.fullmatch(text):
        raise ValueError("must be a short text of letters, digits, spaces and . _ / : -")
    return text


def split_header(place: Path) -> tuple[list[str], bytes]:
    """The names in a file's header, and all that comes after it. A byte-order mark before the header is dropped.

    Raises:
        FileError: the file isn't there or is empty, or its header can't be read.
    """
    try:
        data = place.read_bytes()
    except OSError as error:
        raise FileError(f"{place.name}: can't be read: {error.strerror}") from error
    line, _, rest = data.partition(b"\n")
    return read_header(place.name, line), rest


def read_header(name: str, line: bytes) -> list[str]:
    """The names in a header line.

    Raises:
        FileError: it is empty or can't be read.
    """
    line = line.removeprefix(BYTE_ORDER_MARK)
    if not line.strip():
        raise FileError(f"{name}, line 1: the header is missing")
    rows = list(_texts(name, line, first_line=1))
    return list(rows[0][1])


def check_header(name: str, header: Sequence[str], wanted: Sequence[str]) -> None:
    """Check that a header has the columns wanted, in their order.

    Raises:
        FileError: naming the first column that isn't.
    """
    for number, column in enumerate(wanted, start=1):
        if len(header) < number or header[number - 1] != column:
            raise FileError(f"{name}, line 1, column {number}: must be {column}")
    if len(header) > len(wanted):
        raise FileError(f"{name}, line 1, column {len(wanted) + 1}: there is no such column")


def read_table(place: Path, columns: Mapping[str, Parser]) -> list[Row]:
    """Every row of a file whose columns are these, in this order.

    Raises:
        FileError: the file is malformed; the message has a line a fault.
    """
    header, data = split_header(place)
    check_header(place.name, header, list(columns))
    return read_rows(place.name, data, 2, columns)


def read_rows(name: str, data: bytes, first_line: int, columns: Mapping[str, Parser]) -> list[Row]:
    """The rows of a part of a file, without its header, that begins on a line.

    Raises:
        FileError: the part is malformed; the message has a line a fault.
    """
    rows: list[Row] = []
    faults: list[str] = []
    for line, texts in _texts(name, data, first_line):
        values, of_row = _values(f"{name}, line {line}", texts, columns)
        rows.append(Row(line, texts, values))
        faults += of_row
        if len(faults) > FAULTS_SHOWN:
            break
    if faults:
        more = ["… and more"] if len(faults) > FAULTS_SHOWN else []
        raise FileError("\n".join(faults[:FAULTS_SHOWN] + more))
    return rows


def _texts(name: str, data: bytes, first_line: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each row's first line and fields."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise FileError(f"{name}, line {line}: isn't UTF-8 text") from None
    reader = csv.reader(io.StringIO(text, newline="\n"), strict=True)
    line = first_line
    try:
        for fields in reader:
            yield line, tuple(fields)
            line = first_line + reader.line_num
    except csv.Error as error:
        raise FileError(f"{name}, line {line}: {error}") from None


def _values(place: str, texts: Sequence[str], columns: Mapping[str, Parser]) -> tuple[tuple[Any, ...], list[str]]:
    """What the fields mean, and their faults."""
    if len(texts) > len(columns):
        return (), [f"{place}, column {len(columns) + 1}: there is no such column"]
    if len(texts) < len(columns):
        return (), [f"{place}, column {list(columns)[len(texts)]}: is missing"]
    values: list[Any] = []
    faults: list[str] = []
    for (column, parse), text in zip(columns.items(), texts, strict=True):
        try:
            values.append(parse(text))
        except ValueError as error:
            faults.append(f"{place}, column {column}: {error}")
    return tuple(values), faults
