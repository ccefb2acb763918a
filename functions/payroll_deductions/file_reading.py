"""Reading a remittance file, CSV or JSON, as docs/remittance-file.md publishes it: all its faults, line and column.

Nothing is guessed. A byte-order mark before the first character is dropped, and a carriage return before a line feed;
any other encoding than UTF-8 is a fault of the line and column where it shows. Each line of a CSV file stands alone: a
line that is broken breaks no other.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from payroll_deductions.edits import ENGLISH, SPANISH, Edit, Fault
from retiro.registry.remittances import CONTRIBUTION, INSTALLMENT
from retiro.rules.money import format_cents, parse_cents

LINES_MAX = 200_000
NAME_CHARACTERS_MAX = 100

KINDS = {CONTRIBUTION: CONTRIBUTION, INSTALLMENT: INSTALLMENT, "aportacion": CONTRIBUTION, "plazo": INSTALLMENT}
CONTROL_MARK = "total"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PARTICIPANT_ID = re.compile(r"P-[0-9]{6,9}")
_COUNT = re.compile(r"0|[1-9][0-9]{0,8}")


class Row(NamedTuple):
    """A line of a file: what could be read of it. Money in cents; `salary_cents` `None` where none is given."""

    participant_id: str | None
    kind: str | None
    amount_cents: int | None
    salary_cents: int | None
    name: str


class Control(NamedTuple):
    """What the employer counted."""

    lines: int
    total_cents: int


@dataclass
class Parsed:
    """A file as it was read: its rows, those at fault too, and all faults of form. `first_line`: that of the rows."""

    first_line: int
    columns: Sequence[str] = ENGLISH
    rows: list[Row] = field(default_factory=list)
    control: Control | None = None
    control_line: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def total_cents(self) -> int:
        """The sum of the amounts that could be read."""
        return sum(row.amount_cents or 0 for row in self.rows)

    def fault(self, line: int, column: int | str, edit: Edit, stated: str = "", found: str = "") -> None:
        """Note a fault. A column is its number, from 0, or what else it is called."""
        name = column if isinstance(column, str) else self.columns[column]
        self.faults.append(Fault(line, name, edit, stated, found))


def read(data: bytes, form: str, lines_max: int = LINES_MAX) -> Parsed:
    """The file, `csv` or `json`, held against its own form: control, duplicates and every field."""
    parsed = read_csv(data) if form == "csv" else read_json(data)
    check_whole(parsed, lines_max)
    return parsed


def check_whole(parsed: Parsed, lines_max: int = LINES_MAX) -> None:
    """What the lines of a file must be together: not too many, none twice, and as its control says, to the cent."""
    if len(parsed.rows) > lines_max:
        parsed.fault(parsed.first_line + lines_max, 0, Edit.TOO_MANY_LINES)
    _check_twice(parsed)
    if parsed.control is None:
        return
    if parsed.control.lines != len(parsed.rows):
        parsed.fault(
            parsed.control_line, "count", Edit.CONTROL_MISMATCH, str(parsed.control.lines), str(len(parsed.rows))
        )
    unread = any(row.amount_cents is None for row in parsed.rows)
    if parsed.control.total_cents != parsed.total_cents and not unread:
        stated, found = format_cents(parsed.control.total_cents), format_cents(parsed.total_cents)
        parsed.fault(parsed.control_line, "total", Edit.CONTROL_MISMATCH, stated, found)


def _check_twice(parsed: Parsed) -> None:
    """A participant has one line of a kind. Each of two equal ones is named."""
    first: dict[tuple[str, str | None], int] = {}
    named: set[int] = set()
    for line, row in enumerate(parsed.rows, start=parsed.first_line):
        if row.participant_id is None:
            continue
        there = first.setdefault((row.participant_id, row.kind), line)
        if there != line:
            named |= {there, line}
    for line in sorted(named):
        parsed.fault(line, 0, Edit.PARTICIPANT_TWICE)


# CSV


def read_csv(data: bytes) -> Parsed:
    """The rows of a CSV file, its control line, and the faults of each line."""
    parsed = Parsed(first_line=2)
    lines = iter(enumerate(_lines(data), start=1))
    _, header = next(lines, (1, b""))
    _read_header(header, parsed)
    last = 1
    for line, text in lines:
        last = line
        if parsed.control_line:
            parsed.fault(line, 0, Edit.AFTER_CONTROL)
        else:
            _read_line(line, text, parsed)
    if not parsed.control_line:
        parsed.fault(last + 1, 0, Edit.CONTROL_MISSING)
    if not parsed.rows:
        parsed.fault(1, 0, Edit.FILE_EMPTY)
    return parsed


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines without their ends; the last one's end may be missing."""
    lines = data.removeprefix(_BYTE_ORDER_MARK).split(b"\n")
    if not lines[-1]:
        lines.pop()
    return (line.removesuffix(b"\r") for line in lines)


def _read_header(header: bytes, parsed: Parsed) -> None:
    names = tuple(header.decode("utf-8", "replace").split(","))
    if names == SPANISH:
        parsed.columns = SPANISH
    elif names != ENGLISH:
        wrong = next((at for at, name in enumerate(ENGLISH) if names[at : at + 1] != (name,)), 0)
        parsed.fault(1, wrong, Edit.HEADER)


def _read_line(line: int, data: bytes, parsed: Parsed) -> None:
    fields = _fields(line, data, parsed)
    if fields is None:
        parsed.rows.append(Row(None, None, None, None, ""))
    elif fields[0] == CONTROL_MARK:
        _read_control(line, fields[1:], parsed)
    else:
        parsed.rows.append(read_row(line, fields, parsed))


def _fields(line: int, data: bytes, parsed: Parsed) -> list[str] | None:
    """The line's five fields; `None`, with a fault, where it has no such form."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        parsed.fault(line, min(data.count(b",", 0, error.start), len(ENGLISH) - 1), Edit.NOT_UTF8)
        return None
    if not text.strip():
        parsed.fault(line, 0, Edit.BLANK_LINE)
        return None
    fields = text.split(",")
    if '"' in text:
        try:
            (fields,) = csv.reader([text], strict=True)
        except (csv.Error, ValueError):
            column = min(text.count(",", 0, text.index('"')), len(ENGLISH) - 1)
            parsed.fault(line, column, Edit.QUOTES)
            return None
    if len(fields) != len(ENGLISH):
        parsed.fault(line, min(len(fields), len(ENGLISH) - 1), Edit.COLUMN_COUNT)
        return None
    return fields


def _read_control(line: int, fields: Sequence[str], parsed: Parsed) -> None:
    parsed.control_line = line
    count, total, *rest = fields
    if not _COUNT.fullmatch(count) or (total_cents := _cents(total)) is None or any(rest):
        parsed.fault(line, 1, Edit.CONTROL_FORM)
        return
    parsed.control = Control(int(count), total_cents)


def read_row(line: int, fields: Sequence[Any], parsed: Parsed) -> Row:
    """A row of five fields, each a text; what can't be read is a fault and `None`."""
    participant_id, kind, amount, salary, name = fields
    if not _PARTICIPANT_ID.fullmatch(participant_id):
        parsed.fault(line, 0, Edit.PARTICIPANT_ID_FORM)
        participant_id = None
    read_kind = KINDS.get(kind)
    if read_kind is None:
        parsed.fault(line, 1, Edit.KIND)
    amount_cents = _cents(amount)
    if amount_cents is None:
        parsed.fault(line, 2, Edit.AMOUNT_FORM)
    elif amount_cents <= 0:
        parsed.fault(line, 2, Edit.AMOUNT_NOT_ABOVE_ZERO)
    salary_cents = _cents(salary) if salary else None
    if salary and (salary_cents is None or salary_cents <= 0):
        parsed.fault(line, 3, Edit.SALARY_FORM)
    if len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        parsed.fault(line, 4, Edit.NAME_FORM)
        name = ""
    return Row(participant_id, read_kind, amount_cents, salary_cents, name)


def _cents(text: str) -> int | None:
    try:
        return parse_cents(text)
    except ValueError:
        return None


# JSON


class _NotJsonError(ValueError):
    """What JSON, or our reading of it, doesn't take."""


def read_json(data: bytes) -> Parsed:
    """The rows of a JSON file, `{"control": {…}, "lines": […]}`; a line is the place of its element, from 1."""
    parsed = Parsed(first_line=1)
    document = _document(data, parsed)
    if document is None:
        return parsed
    for name in document.keys() - {"control", "lines"}:
        parsed.fault(1, _shown(name), Edit.MEMBER)
    lines = document.get("lines")
    if not isinstance(lines, list) or not lines:
        parsed.fault(1, "lines", Edit.FILE_EMPTY)
    else:
        for line, element in enumerate(lines, start=1):
            parsed.rows.append(_json_row(line, element, parsed))
    _read_json_control(document.get("control"), parsed)
    return parsed


def _document(data: bytes, parsed: Parsed) -> dict[str, Any] | None:
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        parsed.fault(data.count(b"\n", 0, error.start) + 1, f"character {error.start - start + 1}", Edit.NOT_UTF8)
        return None
    try:
        document = json.loads(
            text, parse_float=_Number, parse_int=_Number, parse_constant=_refuse, object_pairs_hook=_each_once
        )
    except json.JSONDecodeError as error:
        parsed.fault(error.lineno, f"character {error.colno}", Edit.NOT_JSON)
        return None
    except (_NotJsonError, RecursionError):
        parsed.fault(1, "character 1", Edit.NOT_JSON)
        return None
    if not isinstance(document, dict):
        parsed.fault(1, "character 1", Edit.NOT_JSON)
        return None
    return document


class _Number(str):
    """A JSON number as it was written: never money."""

    __slots__ = ()


def _refuse(name: str) -> NoReturn:
    raise _NotJsonError(name)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _NotJsonError("a member stands twice")
    return members


def _json_row(line: int, element: Any, parsed: Parsed) -> Row:
    if not isinstance(element, dict):
        parsed.fault(line, 0, Edit.COLUMN_COUNT)
        return Row(None, None, None, None, "")
    for name in element.keys() - set(ENGLISH):
        parsed.fault(line, _shown(name), Edit.MEMBER)
    # What isn't a text is read as one that no field takes.
    return read_row(line, [_text(element, name) for name in ENGLISH], parsed)


def _text(element: Mapping[str, Any], name: str) -> str:
    value = element.get(name, "")
    return value if type(value) is str else "\0"


def _read_json_control(control: Any, parsed: Parsed) -> None:
    parsed.control_line = len(parsed.rows) + 1
    match control:
        case None:
            parsed.fault(parsed.control_line, "control", Edit.CONTROL_MISSING)
        case {"count": _Number() as count, "total": str(total), **rest} if (
            not rest and type(total) is str and _COUNT.fullmatch(count) and (total_cents := _cents(total)) is not None
        ):
            parsed.control = Control(int(count), total_cents)
        case _:
            parsed.fault(parsed.control_line, "control", Edit.CONTROL_FORM)


def _shown(name: str) -> str:
    """A member's name, short enough to be shown."""
    return "".join(character for character in name if character.isprintable())[:40]
