"""Which designation counts as of a day, § 242b(e), and which fell with a change of system, 3 L.P.R.A. § 803. Pure.

Days decide, and within one day the order of filing: not the order in which the office came to enter or recognize
things. An older paper that is found later replaces nothing, and a change of system that is entered late takes down what
was filed before it, no more and no less.
"""

from collections.abc import Sequence
from datetime import date

from retiro.ledger.lines import Line, LineKind


def counting(history: Sequence[Line], day: date) -> Line | None:
    """The line that recognized the last written order filed by a day; `None` where none counts.

    Orders filed after that day don't count, nor do those that fell with a change of system.
    """
    change = change_by(history, day)
    orders = _until(history, LineKind.DESIGNATION, day)
    return max((order for order in orders if not fell(order, change)), key=_place, default=None)


def change_by(history: Sequence[Line], day: date) -> Line | None:
    """The last change of system on a day or before it, of those approved."""
    return max(_until(history, LineKind.SYSTEM_CHANGE, day), key=_place, default=None)


def fell(order: Line, change: Line | None) -> bool:
    """Whether an order, as it was filed or recognized, was filed before that change of system."""
    return change is not None and _place(order) < _place(change)


def _until(history: Sequence[Line], kind: LineKind, day: date) -> list[Line]:
    return [line for line in history if line.kind is kind and line.effective_on <= day]


def _place(line: Line) -> tuple[date, int]:
    """Its day, and the line that filed it: of what was filed, or of the line that approved it."""
    return line.effective_on, line.sequence if line.kind is LineKind.FILED else int(line.facts["filed"])
