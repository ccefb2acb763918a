"""What a judge's account comes to on the day of an exit, 4 L.P.R.A. § 242b: from its passbook and the Board's book.

A death, a retirement and a separation all ask the same: are the completed semesters posted, what return has been
posted up to that day, and what has the semester under way earned.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from retiro.ledger.lines import YIELD_RUN, Line, LineKind
from retiro.ledger.savings import YIELDS, movements_of, posted_semester
from retiro.rules import judiciary_hybrid
from retiro.rules.calendar import Semester
from retiro.rules.judiciary_hybrid import HYBRID_RETURN, SECTION
from retiro.rules.money import format_cents, format_decimal
from retiro.rules.receipts import Act, Receipt
from retiro.rules.refusals import Refusal, RefusalCode

if TYPE_CHECKING:
    from retiro.ledger.figures import Figures

RETURN_SETTINGS = ("return_at_exit", "average_balance_method", "negative_yield")
"""The settings that a provisional return rests on."""

_EXITS = frozenset(
    {
        LineKind.RETIREMENT,
        LineKind.ANNUITY_CORRECTION,  # it takes what has come into savings since the retirement, and settles its return
        LineKind.SEPARATION_REFUND,
        LineKind.SETTLEMENT,
        LineKind.SETTLEMENT_REVERSED,
    }
)


@dataclass(frozen=True, slots=True)
class Adopted:
    """Settings that the Board has adopted, and the acts that did: what a determination and its receipt take."""

    settings: Mapping[str, str]
    acts: Mapping[str, Act]


def adopted(figures: "Figures", names: Sequence[str], on: date) -> Adopted:
    """Those of the settings that are in force on a day. What isn't is left to its default, for a quote alone."""
    found = [name for name in names if _is_adopted(figures, name, on)]
    return Adopted(figures.settings(on, found), figures.acts(on, found))


def check_adopted(receipt: Receipt, figures: "Figures") -> None:
    """No live stack posts on a default: raises `Refusal` `not_in_force` for a setting that no act has adopted."""
    for used in receipt.settings:
        if used.in_force_from is None:
            figures.setting(used.name, used.on)


def check_periods(last: Line, on: date) -> None:
    """Raises `Refusal` `period_open` unless every semester that was complete by that day is posted."""
    oldest_open = last.month_ends.oldest_open if last.month_ends else None
    if oldest_open is not None and oldest_open.ends_on <= on:
        raise Refusal(RefusalCode.PERIOD_OPEN, SECTION, semester=oldest_open, on=on)


def savings_cents(history: Sequence[Line]) -> int:
    """What stands in savings, or would if nothing had left it by an exit."""
    return sum(line.savings_cents for line in history if line.kind not in _EXITS)


def semester_under_way(on: date) -> Semester:
    """The semester that has begun and isn't complete at the end of a day."""
    return Semester.containing(on + timedelta(days=1))


def return_posted_after_cents(history: Sequence[Line], on: date) -> int:
    """The yield posted for semesters that weren't complete by that day, late differences and reversals included."""
    return sum(
        cents
        for line in history
        if line.kind not in _EXITS
        for semester, cents in _yields_of(history, line).items()
        if semester.ends_on > on
    )


def provisional_given(
    history: Sequence[Line], semester: Semester, as_of: date, figures: "Figures", settings: Mapping[str, str]
) -> dict[str, Any]:
    """What `provisional_yield` takes for a semester under way: opening balance, movements, the Board's percent.

    The exit itself is in none of it, nor any return posted for this semester or a later one. Raises `Refusal`
    `not_in_force` where the Board hasn't adopted the percent of the complete months.
    """
    months = judiciary_hybrid.complete_months(semester, as_of)
    earns = months > 0 and settings.get("return_at_exit") != "posted_only"
    opening_cents = 0
    within: list[dict[str, str]] = []
    for line in history:
        for day, cents in _movements(history, line, semester):
            if day < semester.starts_on:
                opening_cents += cents
            elif day <= semester.ends_on:
                within.append({"date": day.isoformat(), "amount": format_cents(cents)})
    percent = figures.hybrid_return(semester, months).value if earns else None
    return {
        "semester": str(semester),
        "as_of": as_of.isoformat(),
        "opening_balance": format_cents(opening_cents),
        "movements": within,
        "selection": {HYBRID_RETURN: 100},
        "option_yields": {} if percent is None else {HYBRID_RETURN: {"semester_percent": format_decimal(percent)}},
        "settings": {name: settings[name] for name in RETURN_SETTINGS if name in settings},
    }


def _movements(history: Sequence[Line], line: Line, semester: Semester) -> list[tuple[date, int]]:
    """What a line moves on savings by the days that count, without the exits and the later semesters' own yields."""
    if line.kind in _EXITS:
        return []
    by_day = Counter[date]()
    for day, cents in movements_of(line):
        by_day[day] += cents
    for one, cents in _yields_of(history, line).items():
        if one >= semester:
            by_day[one.ends_on] -= cents
    return [(day, cents) for day, cents in by_day.items() if cents]


def _yields_of(history: Sequence[Line], line: Line) -> dict[Semester, int]:
    """The yield in a line, by the semester that it is of."""
    total_cents = -sum(posting.amount_cents for posting in line.postings if posting.account == YIELDS)
    by_semester = {Semester.parse(name): cents for name, cents in line.differences.items()}
    rest_cents = total_cents - sum(by_semester.values())
    if not rest_cents:
        return by_semester
    of = posted_semester(line if line.kind is LineKind.SEMESTER_YIELD else _reversed(history, line))
    return {**by_semester, of: by_semester.get(of, 0) + rest_cents}


def _reversed(history: Sequence[Line], line: Line) -> Line:
    """The yield line that a reversal takes back."""
    return history[(line.reverses or line.runs[YIELD_RUN].sequence) - 1]


def _is_adopted(figures: "Figures", name: str, on: date) -> bool:
    try:
        figures.setting(name, on)
    except Refusal:
        return False
    return True
