"""CSV as spreadsheets open it: no text comes alive as a formula, no amount is changed, and all of it can be read back.

A text that a spreadsheet might take for a formula gets an apostrophe before it; so does one that begins with an
apostrophe, so that taking one away always gives the text that was there. Figures (amounts, counts, dates) are never
touched: an apostrophe before -89.24 makes a text of it, and a sum leaves it out.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from retiro.rules.money import format_cents

_APOSTROPHE = "'"
# What starts a formula, after anything that a spreadsheet skips; the full-width signs too, which some take alike.
_FORMULA = re.compile(r"^[\s\x00-\x1f]*[=+\-@＝＋－＠|%]|^[\t\r\n']")


class Figure(str):
    """A cell that is a number, a date or an id of ours: written as it is."""

    __slots__ = ()


def amount(amount_cents: int) -> Figure:
    """The cell of an amount: two places, a minus sign where it is negative, no grouping."""
    return Figure(format_cents(amount_cents))


def count(number: int) -> Figure:
    """The cell of a count."""
    return Figure(number)


def safe(text: str) -> str:
    """The cell of a text: with an apostrophe before it where a spreadsheet might take it for a formula."""
    return _APOSTROPHE + text if _FORMULA.match(text) else text


def original(cell: str) -> str:
    """The text of a cell that `safe` made."""
    return cell.removeprefix(_APOSTROPHE)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A header and rows as CSV. A cell is a `Figure`, written as it is, or a text, made safe."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([cell if isinstance(cell, Figure) else safe(cell) for cell in row] for row in rows)
    return written.getvalue()


def read_back(text: str) -> list[list[str]]:
    """The rows of what `csv_text` wrote, the header first, with the texts that were given."""
    return [[original(cell) for cell in row] for row in csv.reader(io.StringIO(text, newline=""), strict=True)]
