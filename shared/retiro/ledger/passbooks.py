"""Passbooks: read the last line, decide, append; and read back.

An append is one transaction: the lines, the business key, the evidence they rest on, and what the registry has to know
of them. It is decided on the last line, read consistently, and the condition on the sequence guards that decision: who
has lost a race reads again and decides again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from retiro.ledger import encoding
from retiro.ledger import evidence as evidence_items
from retiro.ledger import keys as key_items
from retiro.ledger import lines as line_items
from retiro.ledger.evidence import Evidence, EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyConflictError
from retiro.ledger.lines import Draft, FundMismatchError, Line, LineError, next_line
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore, Outcome, Reason, UnansweredError
from retiro.rules.refusals import Refusal

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef as TransactItem

LINE_BYTES_MAX = 4096
"""What a line may take, by DynamoDB's rules of sizes. Long texts, payees and receipts are evidence."""

RUN_LINE_BYTES_MAX = 1024
"""What a line that a run writes may take: one write unit."""


class LineTooLargeError(LineError):
    """A line longer than a line may be: something in it belongs into the evidence. Nothing was written."""

    def __init__(self, line: Line, size: int, size_max: int) -> None:
        super().__init__(f"a {line.kind} line of {line.passbook} takes {size} bytes, {size_max} at most")
        self.size_bytes = size
        self.size_bytes_max = size_max


class AlsoRefusedError(Exception):
    """The condition of the `also` item of this index failed, so nothing was written. `existing` is what is there."""

    def __init__(self, index: int, existing: encoding.Item | None) -> None:
        super().__init__(f"the condition of accompanying item {index} failed")
        self.index = index
        self.existing = existing


class InvalidTransactionError(Exception):
    """DynamoDB finds the transaction malformed: a fault of ours."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Drafts in order, with the evidence and the registry's items that follow from the same look at the passbook."""

    drafts: Sequence[Draft]
    evidence: Sequence[Evidence] = ()
    also: Sequence["TransactItem"] = ()


Decide: TypeAlias = Callable[[Line | None], Draft | Sequence[Draft] | Decision]
"""From the last line to what is to be written. May be called again; it raises `Refusal` to write nothing."""


@dataclass(frozen=True, slots=True)
class Part:
    """One passbook of a transaction. `fund` may be left out where the passbook has a line already."""

    passbook: str
    decide: Decide
    fund: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """The lines, in the order of the parts. `replayed`: they were there before, the first answer to the same key."""

    lines: tuple[Line, ...]
    replayed: bool


class Passbooks:
    """The passbooks of a ledger. `clock` gives the present moment, with its zone."""

    def __init__(self, store: LedgerStore, clock: Callable[[], datetime]) -> None:
        self.store = store
        self.clock = clock

    def last(self, passbook: str) -> Line | None:
        """The last line, read consistently; `None` for a passbook that isn't there."""
        return self.store.last_line(passbook)

    def history(self, passbook: str) -> list[Line]:
        """All lines, in order, read consistently."""
        return list(self.store.lines(passbook))

    def append(  # noqa: PLR0913  # each is named where it is called
        self,
        passbook: str,
        decide: Decide,
        *,
        key: BusinessKey,
        content: Any,
        fund: str | None = None,
        evidence: Sequence[Evidence] = (),
        also: Sequence["TransactItem"] = (),
    ) -> Appended:
        """Append what is decided on the last line, once for the key. `content`, plain JSON, is what the key stands for.

        Raises `KeyConflictError`, `EvidenceConflictError`, `AlsoRefusedError`, `LineError`, what `decide` raises, and
        `BusyError`. After any of them but the last, nothing of it was written, and the key is free.
        """
        return self.append_together(
            [Part(passbook, decide, fund)], key=key, content=content, evidence=evidence, also=also
        )

    def append_together(
        self,
        parts: Sequence[Part],
        *,
        key: BusinessKey,
        content: Any,
        evidence: Sequence[Evidence] = (),
        also: Sequence["TransactItem"] = (),
    ) -> Appended:
        """The same for several passbooks of one fund in one transaction: all of it, or nothing. Each is named once."""
        if len({part.passbook for part in parts}) < len(parts):
            raise LineError("a passbook is named twice in one transaction")
        content_hash = encoding.content_hash(content)
        there: set[str] = set()
        for attempt in range(self.store.retries.attempts_max):
            if (replayed := self._first_answer(key, content_hash)) is not None:
                return replayed
            try:
                decided = self._decide(parts)
            except (Refusal, LineError):
                # The same request, sent twice at once, may have been posted since we looked: then that is its answer.
                if (replayed := self._first_answer(key, content_hash)) is not None:
                    return replayed
                raise
            evidence_left = [one for one in (*evidence, *decided.evidence) if one.partition not in there]
            transaction = _Transaction(decided.lines, evidence_left, (*also, *decided.also))
            try:
                reasons = self.store.transact(transaction.items(self.store, key, content_hash))
            except UnansweredError:
                self.store.retries.pause(attempt)
                continue
            if not reasons:
                return Appended(decided.lines, replayed=False)
            there |= transaction.judge(reasons)
            self.store.retries.pause(attempt)
        msg = f"{key} wasn't taken in {self.store.retries.attempts_max} attempts"
        raise BusyError(msg)

    def balances_as_of(
        self, passbook: str, *, effective: date | None = None, recorded: datetime | None = None
    ) -> dict[str, int]:
        """Cents by account, of the lines effective on or before a day, and recorded at or before a moment."""
        return balances_as_of(self.store.lines(passbook), effective=effective, recorded=recorded)

    def _first_answer(self, key: BusinessKey, content_hash: bytes) -> Appended | None:
        record = self.store.get_key(key)
        if record is None:
            return None
        if record.content_hash != content_hash:
            raise KeyConflictError(record, content_hash)
        found = self.store.get_lines(record.lines)
        return Appended(tuple(found[place] for place in record.lines), replayed=True)

    def _decide(self, parts: Sequence[Part]) -> "_Decided":
        lasts = [self.store.last_line(part.passbook) for part in parts]
        # One moment for all its lines, whatever the clocks of those before said: an audit sees all of it or nothing.
        now = max([self.clock(), *(last.recorded_at for last in lasts if last is not None)])
        decided = [_decided(part, last, now) for part, last in zip(parts, lasts, strict=True)]
        lines = tuple(line for one in decided for line in one.lines)
        if len(funds := {line.fund for line in lines}) > 1:
            msg = f"one transaction in the funds {', '.join(sorted(funds))}"
            raise FundMismatchError(msg)
        return _Decided(
            lines,
            tuple(item for one in decided for item in one.evidence),
            tuple(item for one in decided for item in one.also),
        )


@dataclass(frozen=True, slots=True)
class _Decided:
    lines: tuple[Line, ...]
    evidence: Sequence[Evidence]
    also: Sequence["TransactItem"]


@dataclass(frozen=True, slots=True)
class _Transaction:
    """The items in the order of the request: the key, the lines, the evidence, and what goes along."""

    lines: tuple[Line, ...]
    evidence: Sequence[Evidence]
    also: Sequence["TransactItem"]

    def items(self, store: LedgerStore, key: BusinessKey, content_hash: bytes) -> list["TransactItem"]:
        places = [(line.passbook, line.sequence) for line in self.lines]
        return [
            store.insertion(key_items.to_item(key, content_hash, places)),
            *(store.insertion(line_items.to_item(line)) for line in self.lines),
            *(store.insertion(evidence_items.to_item(one)) for one in self.evidence),
            *self.also,
        ]

    def judge(self, reasons: Sequence[Reason]) -> set[str]:
        """What to do about a cancelled transaction: return to try again, or raise what no trying again mends.

        Returns the partitions of the evidence that is there already with the same body, which need not be put again.
        A key that is there comes before all else (it may be our own), a passbook that has moved before what goes along:
        looking again decides both.
        """
        if any(reason.outcome is Outcome.INVALID for reason in reasons):
            raise InvalidTransactionError("; ".join(reason.message for reason in reasons))
        failed = [reason.outcome is Outcome.CONDITION_FAILED for reason in reasons]
        evidence_from = 1 + len(self.lines)
        also_from = evidence_from + len(self.evidence)
        if any(failed[:evidence_from]):
            return set()
        there = set()
        for one, reason in zip(self.evidence, reasons[evidence_from:also_from], strict=True):
            if reason.outcome is Outcome.CONDITION_FAILED:
                there.add(_same_evidence(one, reason).partition)
        for index, reason in enumerate(reasons[also_from:]):
            if reason.outcome is Outcome.CONDITION_FAILED:
                raise AlsoRefusedError(index, reason.existing)
        return there


def _decided(part: Part, last: Line | None, now: datetime) -> _Decided:
    """The part's lines, one after the other on the last one."""
    fund = part.fund or (last.fund if last else None)
    if fund is None:
        msg = f"{part.passbook} has no line yet, so its fund has to be given"
        raise LineError(msg)
    match part.decide(last):
        case Decision() as decision:
            pass
        case Draft() as draft:
            decision = Decision([draft])
        case drafts:
            decision = Decision(drafts)
    lines: list[Line] = []
    for draft in decision.drafts:
        last = next_line(last, draft, passbook=part.passbook, fund=fund, recorded_at=now)
        check_size(last, LINE_BYTES_MAX)
        lines.append(last)
    return _Decided(tuple(lines), decision.evidence, decision.also)


def check_size(line: Line, size_max: int) -> None:
    """Raise `LineTooLargeError` for a line of more bytes."""
    size = encoding.size_bytes(line_items.to_item(line))
    if size > size_max:
        raise LineTooLargeError(line, size, size_max)


def balances_as_of(
    lines: Iterable[Line], *, effective: date | None = None, recorded: datetime | None = None
) -> dict[str, int]:
    """Cents by account, of the lines effective on or before a day, and recorded at or before a moment.

    Where no day is asked for, all that was recorded counts, whatever its date. An account at zero is left out.
    """
    balances: dict[str, int] = {}
    for line in lines:
        if (effective is None or line.effective_on <= effective) and (recorded is None or line.recorded_at <= recorded):
            for posting in line.postings:
                balances[posting.account] = balances.get(posting.account, 0) + posting.amount_cents
    return {account: cents for account, cents in balances.items() if cents}


def _same_evidence(one: Evidence, reason: Reason) -> Evidence:
    if reason.existing is None:
        msg = f"evidence {one.type} {one.id} is there, and DynamoDB doesn't say what it is"
        raise InvalidTransactionError(msg)
    existing = evidence_items.from_item(reason.existing)
    if existing.content_hash != one.content_hash:
        raise EvidenceConflictError(existing)
    return one
