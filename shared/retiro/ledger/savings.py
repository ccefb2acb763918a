"""The lines of a savings passbook, 3 L.P.R.A. § 786-7, as drafts. Pure: from the last line to what is to be written.

Accounts: `savings` is what the participant owns; `transfers`, `contributions`, `history` and `yields` are its contra
accounts, so that the carried balances tell contributions from yield. What belongs to a posted semester is in
`late_credits`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from retiro.ledger.lines import SAVINGS, YIELD_RUN, Draft, Line, LineError, LineKind, Posting
from retiro.ledger.month_ends import IncompleteError, MonthEnds, from_movements
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal, RefusalCode

TRANSFERS = "transfers"
CONTRIBUTIONS = "contributions"
HISTORY = "history"
"""The other side of contributions that were remitted before this ledger began, and are credited from their history."""
YIELDS = "yields"

SECTION = "3 L.P.R.A. § 786-7"


class Status(StrEnum):
    """What a participant's state says of the account."""

    ACTIVE = "active"
    DEATH_REPORTED = "death_reported"
    SEPARATED = "separated"
    RETIRED = "retired"
    CLOSED = "closed"


_TAKES_CREDITS = frozenset({Status.ACTIVE, Status.DEATH_REPORTED, Status.SEPARATED, Status.RETIRED})
_TAKES_YIELDS = frozenset({Status.ACTIVE, Status.SEPARATED})

STATUS_LINES = {
    LineKind.DEATH_REPORT: Status.DEATH_REPORTED,
    LineKind.SEPARATION: Status.SEPARATED,
    LineKind.RETIREMENT: Status.RETIRED,
    LineKind.CLOSING: Status.CLOSED,
}
"""The kinds of line that change the status, and to what."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wants a line, and on what it rests. `facts` are few and short (a remittance's id); the rest is evidence."""

    principal: str
    determination: str | None = None
    facts: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class YieldPosting:
    """A semester's yield as it is posted. `through` is the sequence of the last line that its figures rest on."""

    semester: Semester
    attempt: int
    amount_cents: int
    yield_date: date
    through: int


def enrolment(last: Line | None, enrolled_on: date, selection: Mapping[str, int] | None, origin: Origin) -> Draft:
    """The passbook's first line. A selection made at once is in force from that day.

    Raises `Refusal` `already_enrolled`.
    """
    if last is not None:
        raise Refusal(RefusalCode.ALREADY_ENROLLED, SECTION, participant_id=last.passbook)
    selections = {"selections": {enrolled_on.isoformat(): dict(selection)}} if selection else {}
    return Draft(
        LineKind.ENROLMENT,
        enrolled_on,
        origin.principal,
        state={"status": Status.ACTIVE.value, **selections},
        determination=origin.determination,
        facts=origin.facts,
    )


def initial_transfer(last: Line | None, amount_cents: int, credited_on: date, origin: Origin) -> Draft:
    """(a)(1): the balance that a participant brings, credited once. `last` may be `None`, right after the enrolment.

    Raises `Refusal` `initial_transfer_already_credited`, `status_forbids`.
    """
    if last is not None and last.balance_cents(TRANSFERS):
        raise Refusal(RefusalCode.INITIAL_TRANSFER_ALREADY_CREDITED, f"{SECTION}(a)(1)")
    return _credit(last, LineKind.INITIAL_TRANSFER, TRANSFERS, (amount_cents, credited_on), origin)


def contribution(last: Line, amount_cents: int, credited_on: date, origin: Origin) -> Draft:
    """(a)(2): a contribution, credited on the day on which its deposit was remitted. An open semester only (`is_late`).

    Raises `Refusal` `status_forbids`.
    """
    return _credit(last, LineKind.CONTRIBUTION, CONTRIBUTIONS, (amount_cents, credited_on), origin)


def rebuilt_contribution(last: Line, amount_cents: int, credited_on: date, origin: Origin) -> Draft:
    """(a)(2): the same of an account's history. No employer's passbook has passed it on: it is against `history`.

    Raises `Refusal` `status_forbids`.
    """
    return _credit(last, LineKind.CONTRIBUTION, HISTORY, (amount_cents, credited_on), origin)


def selection(
    last: Line, options: Mapping[str, int], *, requested_on: date, effective_on: date, origin: Origin
) -> Draft:
    """(b)(1), (2): a selection, in force from `effective_on`. Whether it is allowed is the rules' to say beforehand.

    The state keeps the selections that the open semesters need; the request's date is a fact of the line.
    """
    held = last.state.get("selections", {})
    since = last.month_ends.oldest_open.starts_on if last.month_ends else None
    kept = selections_since({**held, effective_on.isoformat(): dict(options)}, since)
    return Draft(
        LineKind.SELECTION,
        effective_on,
        origin.principal,
        state={"selections": kept},
        determination=origin.determination,
        facts={**origin.facts, "requested_on": requested_on.isoformat()},
    )


def selection_in_force(state: Mapping[str, Mapping[str, Mapping[str, int]]], on: date) -> dict[str, int]:
    """The selection in force on a day; `{}` where none is."""
    selections = state.get("selections", {})
    begun = [day for day in selections if day <= on.isoformat()]
    return dict(selections[max(begun)]) if begun else {}


def all_selections(history: Iterable[Line]) -> dict[str, dict[str, dict[str, int]]]:
    """Every selection that a passbook's lines ever carried, as a state has them: the last line has what it needs."""
    found: dict[str, dict[str, int]] = {}
    for line in history:
        found |= line.state.get("selections", {})
    return {"selections": found}


def status_change(kind: LineKind, effective_on: date, origin: Origin) -> Draft:
    """A line that moves no money and changes what may be posted: a death report, a separation, a retirement, a closing.

    Raises `LineError` for another kind.
    """
    if kind not in STATUS_LINES:
        msg = f"a {kind} line doesn't change the status"
        raise LineError(msg)
    return Draft(
        kind,
        effective_on,
        origin.principal,
        state={"status": STATUS_LINES[kind].value},
        determination=origin.determination,
        facts=origin.facts,
    )


def is_late(last: Line | None, legal_date: date) -> bool:
    """Whether a day lies in a semester that was posted for this participant."""
    mark = last.runs.get(YIELD_RUN) if last else None
    return mark is not None and legal_date <= Semester.parse(mark.period).ends_on


def check_yield(last: Line, semester: Semester) -> None:
    """Whether the yield of a semester may be posted next.

    Raises `Refusal`, in this order: `already_posted`, `no_credit_yet` (the participant's first semester is that of the
    first credit), `semester_out_of_order` (names the open one), `status_forbids`.
    """
    citation = f"{SECTION}(a)(3)"
    mark = last.runs.get(YIELD_RUN)
    if mark is not None and semester <= Semester.parse(mark.period):
        raise Refusal(RefusalCode.ALREADY_POSTED, citation, semester=semester)
    oldest_open = last.month_ends.oldest_open if last.month_ends else None
    if oldest_open is None or semester < oldest_open:
        raise Refusal(RefusalCode.NO_CREDIT_YET, citation, semester=semester)
    if semester > oldest_open:
        raise Refusal(RefusalCode.SEMESTER_OUT_OF_ORDER, citation, semester=semester, open_semester=oldest_open)
    if not _ended_before_death(last, semester):
        _check_status(last, _TAKES_YIELDS, citation)


def _ended_before_death(last: Line, semester: Semester) -> bool:
    """Whether a death is reported and the semester was over by then: its return is owed, and a settlement waits for it.

    Later semesters are withheld. Who had retired before has had the return of that day with the annuity.
    """
    death = last.state.get("death")
    return (
        death is not None
        and "annuity" not in last.state
        and last.state["status"] == Status.DEATH_REPORTED
        and semester.ends_on <= date.fromisoformat(death)
    )


def semester_figures(last: Line, semester: Semester, history: Sequence[Line] | None = None) -> tuple[int, ...]:
    """The opening balance and the six month-ends of a semester, in cents, without its own yield; no other read.

    Raises what `check_yield` does, and `IncompleteError` where the last line doesn't carry them all: give the history.
    """
    check_yield(last, semester)
    return _month_ends(last, history).figures(semester)


def semester_yield(last: Line, posting: YieldPosting, origin: Origin, history: Sequence[Line] | None = None) -> Draft:
    """(a)(3): a semester's yield, dated its last business day; a loss is a debit. Nothing earned is a line too.

    Raises what `check_yield` does, and `IncompleteError` as `semester_figures`.
    """
    check_yield(last, posting.semester)
    month_ends = None
    if history is not None:
        month_ends = _month_ends(last, history).after_yield(posting.semester, posting.amount_cents).cut()
    return Draft(
        LineKind.SEMESTER_YIELD,
        posting.yield_date,
        origin.principal,
        postings=against(YIELDS, posting.amount_cents),
        run=(YIELD_RUN, str(posting.semester), posting.attempt),
        determination=origin.determination,
        facts={**origin.facts, "through": posting.through},
        month_ends=month_ends,
    )


def against(contra: str, amount_cents: int) -> tuple[Posting, ...]:
    """Cents to savings, against a contra account; nothing for nothing."""
    return (Posting(SAVINGS, amount_cents), Posting(contra, -amount_cents)) if amount_cents else ()


def movements_of(line: Line) -> list[tuple[date, int]]:
    """What a line moves on savings, by the days that count for month-ends: yields at the end of their semester."""
    differences = [(Semester.parse(semester).ends_on, cents) for semester, cents in line.differences.items()]
    rest = line.savings_cents - sum(line.differences.values())
    day = posted_semester(line).ends_on if line.kind is LineKind.SEMESTER_YIELD else line.legal_date
    return [(day, cents) for day, cents in [(day, rest), *differences] if cents]


def movements(lines: Sequence[Line]) -> list[tuple[date, int]]:
    """`movements_of` all lines."""
    return [movement for line in lines for movement in movements_of(line)]


def posted_semester(line: Line) -> Semester:
    """The semester that a yield line posts."""
    return Semester.parse(line.runs[YIELD_RUN].period)


def selections_since(selections: Mapping[str, Mapping[str, int]], since: date | None) -> dict[str, Mapping[str, int]]:
    """The selections in force on a day or later; all of them where nothing has been credited yet."""
    begun = [day for day in selections if since and day <= since.isoformat()]
    return {day: options for day, options in selections.items() if not begun or day >= max(begun)}


def _credit(last: Line | None, kind: LineKind, contra: str, movement: tuple[int, date], origin: Origin) -> Draft:
    amount_cents, credited_on = movement
    if last is not None:
        check_takes_credits(last)
    return Draft(
        kind,
        credited_on,
        origin.principal,
        postings=against(contra, amount_cents),
        determination=origin.determination,
        facts=origin.facts,
    )


def check_takes_credits(last: Line) -> None:
    """Raise `Refusal` `status_forbids` where the account takes no credits any more."""
    _check_status(last, _TAKES_CREDITS, f"{SECTION}(a)")


def _check_status(last: Line, allowed: frozenset[Status], citation: str) -> None:
    status = Status(last.state["status"])
    if status not in allowed:
        raise Refusal(RefusalCode.STATUS_FORBIDS, citation, status=status)


def _month_ends(last: Line, history: Sequence[Line] | None) -> MonthEnds:
    """The carried month-ends; the whole ones where the history is given."""
    carried = last.month_ends
    if carried is None:
        raise IncompleteError("nothing has been credited")
    return carried if history is None else from_movements(carried.oldest_open, movements(history), cut=False)
