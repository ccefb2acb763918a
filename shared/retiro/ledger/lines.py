"""A line of a passbook, and the one function that makes the next one. Pure: no clock, no table.

A line carries all that the next decision needs: the balances of every account (the contra accounts too, so they always
sum to zero; an account at zero isn't carried), the state, the runs' marks and the month-ends. Amounts are signed cents:
a credit is positive, a debit negative. Lines are only ever inserted, and each one's hash covers the one before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from retiro.ledger import encoding
from retiro.ledger.encoding import Document, Item, UnreadableError, Value
from retiro.ledger.month_ends import MonthEnds
from retiro.rules.calendar import Semester

SAVINGS = "savings"
"""The account whose month-ends are carried."""

YIELD_RUN = "yield"
"""The run kind whose mark says which semester was posted last."""

REBUILD_RUN = "rebuild"
"""The run kind whose mark says from which history a passbook was rebuilt, and which of its rows was reached.

The mark's period is the history's hash, its attempt the row.
"""

_PASSBOOK_PREFIX = "passbook#"
_SEQUENCE_DIGITS = 8


class LineError(ValueError):
    """A line that can't be: the caller has skipped a check. Never a person's fault."""


class FundMismatchError(LineError):
    """The postings of one transaction, or of one passbook, in two funds."""


class LineKind(StrEnum):
    """Every kind of line there is."""

    ENROLMENT = "enrolment"
    INITIAL_TRANSFER = "initial_transfer"
    SELECTION = "selection"
    CONTRIBUTION = "contribution"
    SEMESTER_YIELD = "semester_yield"
    LATE_CREDIT = "late_credit"
    CORRECTION = "correction"
    REVERSAL = "reversal"
    FILED = "filed"
    DESIGNATION = "designation"
    SYSTEM_CHANGE = "system_change"
    SERVICE_CREDIT = "service_credit"
    DEBT = "debt"
    DEATH_REPORT = "death_report"
    DEATH_CONFIRMED = "death_confirmed"
    DEATH_WITHDRAWN = "death_withdrawn"
    REFUND_ENTERED = "refund_entered"
    SETTLEMENT = "settlement"
    ALLOCATION = "allocation"
    SETTLEMENT_REVERSED = "settlement_reversed"
    SEPARATION = "separation"
    SEPARATION_REFUND = "separation_refund"
    RETIREMENT = "retirement"
    ANNUITY_CORRECTION = "annuity_correction"
    ANNUITY_PAYMENT = "annuity_payment"
    PAYMENT_RETURNED = "payment_returned"
    PAYMENT_REISSUED = "payment_reissued"
    PAYMENT_REVERSED = "payment_reversed"
    CLOSING = "closing"
    EMPLOYER_OPENING = "employer_opening"
    DEPOSIT = "deposit"
    PASSING_ON = "passing_on"
    DEPOSIT_RETURNED = "deposit_returned"
    PENSION = "pension"
    SERVICE_END = "service_end"
    PLAN_APPLIED = "plan_applied"
    PLAN_APPROVED = "plan_approved"
    PRINCIPAL_PAYMENT = "principal_payment"
    PLAN_SCHEDULED = "plan_scheduled"
    PLAN_WARNED = "plan_warned"
    PLAN_LAPSED = "plan_lapsed"
    INSTALLMENT = "installment"
    INSTALLMENT_RETURNED = "installment_returned"
    PLAN_PAYOFF = "plan_payoff"
    PLAN_DEATH = "plan_death"
    PLAN_DISCOUNTS = "plan_discounts"
    PLAN_ENDED = "plan_ended"
    HELD_PLACED = "held_placed"
    DEDUCTION_ORDER = "deduction_order"
    ORDER_REVERSED = "order_reversed"


@dataclass(frozen=True, slots=True)
class Posting:
    """Cents to an account's credit (positive) or debit (negative). Cents are whole: nothing else can be built."""

    account: str
    amount_cents: int

    def __post_init__(self) -> None:
        if type(self.amount_cents) is not int:
            msg = f"a posting of {self.amount_cents!r}, which isn't whole cents"
            raise LineError(msg)
        if not self.account:
            raise LineError("a posting without an account")


@dataclass(frozen=True, slots=True)
class RunMark:
    """What a run kind posted last in this passbook: the period, the attempt, and the sequence of its line."""

    period: str
    attempt: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What a decision wants written. The rest of the line follows from the one before it.

    `state` replaces the keys it names; a key with `None` goes. `run` (run kind, period, attempt) sets the run's mark to
    this line, and `rebuild` (the history's hash, the row) that of a rebuild beside it; `restores` (run kind, mark) puts
    an earlier mark back, or takes it away (`None`). `belongs_on` is the legal date, where the month-ends count from
    another day than `effective_on`. `differences` are the parts of a savings posting that are yield of a semester (of a
    late credit). `month_ends` replaces what would be carried: it is given by who has recomputed it from the whole
    passbook.
    """

    kind: LineKind
    effective_on: date
    principal: str
    postings: tuple[Posting, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    run: tuple[str, str, int] | None = None
    rebuild: tuple[str, int] | None = None
    restores: tuple[str, RunMark | None] | None = None
    determination: str | None = None
    reverses: int | None = None
    belongs_on: date | None = None
    differences: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    month_ends: MonthEnds | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One event of a passbook, as it stands in the table for ever. `passbook` is the bare id (`P-000001`)."""

    passbook: str
    sequence: int
    kind: LineKind
    fund: str
    effective_on: date
    recorded_at: datetime
    principal: str
    postings: tuple[Posting, ...]
    balances: Mapping[str, int]
    state: Mapping[str, Any]
    runs: Mapping[str, RunMark]
    month_ends: MonthEnds | None = None
    determination: str | None = None
    reverses: int | None = None
    belongs_on: date | None = None
    differences: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    hash: bytes = b""

    @property
    def legal_date(self) -> date:
        """The day it belongs to: the effective one, unless another is named."""
        return self.belongs_on or self.effective_on

    @property
    def savings_cents(self) -> int:
        """What the line moves on the savings account."""
        return _total(self.postings, SAVINGS)

    def balance_cents(self, account: str) -> int:
        """The carried balance of an account; zero where none is carried."""
        return self.balances.get(account, 0)


def next_line(previous: Line | None, draft: Draft, *, passbook: str, fund: str, recorded_at: datetime) -> Line:
    """The line that the draft makes after `previous` (`None`: the passbook's first).

    `recorded_at` is now; the line's is the later of it and the previous line's. Raises `LineError` for a draft that
    can't be a line: out of balance, in another fund, or a yield out of order.
    """
    if previous is not None and (previous.passbook != passbook):
        msg = f"a line of {passbook} after one of {previous.passbook}"
        raise LineError(msg)
    if previous is not None and previous.fund != fund:
        msg = f"{passbook} is a passbook of {previous.fund}, not of {fund}"
        raise FundMismatchError(msg)
    if total := sum(posting.amount_cents for posting in draft.postings):
        msg = f"the postings of a {draft.kind} line are out of balance by {total} cents"
        raise LineError(msg)
    sequence = previous.sequence + 1 if previous else 1
    line = Line(
        passbook=passbook,
        sequence=sequence,
        kind=draft.kind,
        fund=fund,
        effective_on=draft.effective_on,
        recorded_at=_recorded(previous, recorded_at),
        principal=draft.principal,
        postings=draft.postings,
        balances=carried_balances(previous, draft.postings),
        state=_carried_state(previous, draft.state),
        runs=_carried_runs(previous, draft, sequence),
        month_ends=_carried_month_ends(previous, draft),
        determination=draft.determination,
        reverses=draft.reverses,
        belongs_on=draft.belongs_on,
        differences=draft.differences,
        facts=draft.facts,
    )
    return sealed(line, previous.hash if previous else encoding.GENESIS)


def restamped(line: Line, *, previous: Line | None, recorded_at: datetime) -> Line:
    """A prepared line at the moment of its posting: the same in all but `recorded_at` and the hash.

    `previous` is the line that it was prepared after; where another has come in between, make the line again instead.
    """
    if line.sequence != (previous.sequence + 1 if previous else 1):
        msg = f"line {line.sequence} of {line.passbook} isn't the next one"
        raise LineError(msg)
    return sealed(
        _replaced(line, recorded_at=_recorded(previous, recorded_at)), previous.hash if previous else encoding.GENESIS
    )


def sealed(line: Line, previous_hash: bytes) -> Line:
    """The line with its hash, which covers the previous line's and everything that this one says."""
    return _replaced(line, hash=encoding.chain_hash(previous_hash, document_of(line)))


def carried_balances(previous: Line | None, postings: Sequence[Posting]) -> dict[str, int]:
    """The balances after these postings; an account at zero is not carried."""
    balances = dict(previous.balances) if previous else {}
    for posting in postings:
        balances[posting.account] = balances.get(posting.account, 0) + posting.amount_cents
    return {account: cents for account, cents in balances.items() if cents}


def partition(passbook: str) -> str:
    """The partition key of a passbook."""
    return _PASSBOOK_PREFIX + passbook


def passbook_of(partition_key: str) -> str | None:
    """The passbook whose partition this is; `None` where it is another item's."""
    is_line = partition_key.startswith(_PASSBOOK_PREFIX)
    return partition_key.removeprefix(_PASSBOOK_PREFIX) if is_line else None


def sort_key(sequence: int) -> str:
    """The sort key of a line: eight digits, so that the table's order is the passbook's."""
    return f"{sequence:0{_SEQUENCE_DIGITS}d}"


def to_item(line: Line) -> Item:
    """The line as it is put."""
    return encoding.to_item(document_of(line)) | {"hash": {"B": line.hash}}


def canonical_bytes(line: Line) -> bytes:
    """What the hash covers of this line: everything but the hash."""
    return encoding.canonical_unchecked(document_of(line))


def from_item(item: Item) -> Line:
    """A line as it was put. Raises `UnreadableError` for an item that no line makes."""
    document = encoding.from_item(item)
    digest = document.pop("hash", None)
    if not isinstance(digest, bytes):
        raise UnreadableError("a line without a hash")
    return from_document(document, digest)


def document_of(line: Line) -> Document:
    """The line in plain values, without its hash. What is absent or empty by choice is left out."""
    document: Document = {
        "pk": _PASSBOOK_PREFIX + line.passbook,
        "sk": sort_key(line.sequence),
        "kind": line.kind.value,
        "fund": line.fund,
        "effective_on": line.effective_on.isoformat(),
        "recorded_at": _timestamp(line.recorded_at),
        "principal": line.principal,
        "postings": [{"account": posting.account, "cents": posting.amount_cents} for posting in line.postings],
        "balances": dict(line.balances),
        "state": line.state,
    }
    if line.runs:
        # A list, not a map: every line carries the marks, and a run's line is to stay in one write unit.
        document["runs"] = {kind: [mark.period, mark.attempt, mark.sequence] for kind, mark in line.runs.items()}
    if line.month_ends is not None:
        document["month_ends"] = _month_ends_document(line.month_ends)
    if line.determination is not None:
        document["determination"] = line.determination
    if line.reverses is not None:
        document["reverses"] = line.reverses
    if line.belongs_on is not None:
        document["belongs_on"] = line.belongs_on.isoformat()
    if line.differences:
        document["differences"] = line.differences
    if line.facts:
        document["facts"] = line.facts
    return document


def from_document(document: Mapping[str, Value], digest: bytes = b"") -> Line:
    """The line of a document. Raises `UnreadableError` for a document that no line makes."""
    try:
        return _line(document, digest)
    except (KeyError, TypeError, ValueError, AttributeError) as broken:
        msg = f"{document.get('pk')} {document.get('sk')}: {broken!r}"
        raise UnreadableError(msg) from broken


def _line(document: Mapping[str, Any], digest: bytes) -> Line:
    passbook = passbook_of(document["pk"])
    belongs_on = document.get("belongs_on")
    month_ends = document.get("month_ends")
    if passbook is None:
        raise ValueError("not the key of a passbook")
    return Line(
        passbook=passbook,
        sequence=int(document["sk"]),
        kind=LineKind(document["kind"]),
        fund=document["fund"],
        effective_on=date.fromisoformat(document["effective_on"]),
        recorded_at=datetime.fromisoformat(document["recorded_at"]),
        principal=document["principal"],
        postings=tuple(Posting(one["account"], one["cents"]) for one in document["postings"]),
        balances=document["balances"],
        state=document["state"],
        runs={kind: RunMark(*mark) for kind, mark in document.get("runs", {}).items()},
        month_ends=None
        if month_ends is None
        else MonthEnds(month_ends["since"], tuple(month_ends["savings"]), complete="incomplete" not in month_ends),
        determination=document.get("determination"),
        reverses=document.get("reverses"),
        belongs_on=None if belongs_on is None else date.fromisoformat(belongs_on),
        differences=document.get("differences", {}),
        facts=document.get("facts", {}),
        hash=digest,
    )


def _month_ends_document(month_ends: MonthEnds) -> Document:
    document: Document = {"since": month_ends.since, "savings": list(month_ends.savings)}
    return document if month_ends.complete else document | {"incomplete": 1}


def _carried_state(previous: Line | None, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    before = previous.state if previous else {}
    if not changes:
        return before
    return {key: value for key, value in {**before, **changes}.items() if value is not None}


def _carried_runs(previous: Line | None, draft: Draft, sequence: int) -> Mapping[str, RunMark]:
    before = previous.runs if previous else {}
    if draft.run is None and draft.rebuild is None and draft.restores is None:
        return before
    runs = dict(before)
    if draft.restores is not None:
        kind, mark = draft.restores
        runs.pop(kind, None)
        if mark is not None:
            runs[kind] = mark
    if draft.run is not None:
        kind, period, attempt = draft.run
        runs[kind] = RunMark(period, attempt, sequence)
    if draft.rebuild is not None:
        history, row = draft.rebuild
        runs[REBUILD_RUN] = RunMark(history, row, sequence)
    return runs


def _carried_month_ends(previous: Line | None, draft: Draft) -> MonthEnds | None:
    if draft.month_ends is not None:
        return draft.month_ends
    before = previous.month_ends if previous else None
    cents = _total(draft.postings, SAVINGS)
    if draft.kind is LineKind.SEMESTER_YIELD:
        if draft.run is None or before is None:
            raise LineError("a semester's yield outside a run, or before any credit")
        return before.after_yield(Semester.parse(draft.run[1]), cents)
    if not cents:
        return before
    posted = previous is not None and YIELD_RUN in previous.runs
    day = draft.belongs_on or draft.effective_on
    before = before or MonthEnds.opening(day)
    if posted and draft.belongs_on is None and day < before.oldest_open.starts_on:
        msg = f"{day} lies in a posted semester: what belongs there is a late credit, which names its legal date"
        raise LineError(msg)
    return before.with_movement(day, cents, may_open_earlier=not posted)


def _recorded(previous: Line | None, now: datetime) -> datetime:
    if now.tzinfo is None:
        raise LineError("a moment without its time zone")
    return max(now.astimezone(UTC), previous.recorded_at) if previous else now.astimezone(UTC)


def _timestamp(moment: datetime) -> str:
    """`2025-07-01T12:00:00.000000Z`: of one length, so that text order is time's."""
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _total(postings: Sequence[Posting], account: str) -> int:
    return sum(posting.amount_cents for posting in postings if posting.account == account)


def _replaced(line: Line, **changes: Any) -> Line:
    """`dataclasses.replace`, which takes longer than the rest of the sealing; this one sets on a fresh copy."""
    copy = object.__new__(Line)
    for name in Line.__slots__:
        object.__setattr__(copy, name, changes[name] if name in changes else getattr(line, name))
    return copy
