"""The audit of passbooks: every line recomputed from the first, from the items as they stand in the table.

Nothing of `next_line` is trusted: hashes are taken of the stored attributes, month-ends of all movements. A finding
names the passbook, the line and what is wrong with it. A line whose hash is wrong is named for that alone, and nothing
is inferred from it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TypeAlias

from retiro.ledger import annuities, encoding, hybrid, plans
from retiro.ledger import lines as line_items
from retiro.ledger.annuities import ANNUITY_RUN
from retiro.ledger.encoding import Document, Item, UnreadableError
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import YIELD_RUN, Line, LineKind, RunMark, carried_balances
from retiro.ledger.month_ends import CARRIED_MAX, MonthEnds, from_movements
from retiro.ledger.savings import STATUS_LINES, movements_of
from retiro.ledger.seal import head
from retiro.ledger.trial_balance import TrialBalance
from retiro.ledger.witness import Witness
from retiro.rules.calendar import Semester


class FindingCode(StrEnum):
    """What can be wrong with a line."""

    MISSING_LINE = "missing_line"
    MISSING_LAST_LINE = "missing_last_line"
    UNREADABLE = "unreadable"
    CHANGED = "changed"
    FUND = "fund"
    RECORDED_ORDER = "recorded_order"
    DOUBLE_ENTRY = "double_entry"
    BALANCES = "balances"
    RUNS = "runs"
    STATE = "state"
    MONTH_ENDS = "month_ends"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and where."""

    passbook: str
    sequence: int
    code: FindingCode
    detail: str


ReadEvidence: TypeAlias = Callable[[str, str], Evidence | None]
"""Reads evidence by type and id, as `LedgerStore.get_evidence` does."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in one passbook, its last line that can be read, and how many lines there are.

    `rests_on` is each determination that its lines name, and the first line that does. `settled` is the last line that
    was recorded by the moment that was asked for.
    """

    findings: tuple[Finding, ...]
    last: Line | None
    lines: int
    rests_on: Mapping[str, int]
    settled: Line | None


@dataclass(slots=True)
class Audit:
    """The audit of many passbooks, one after the other or chunk by chunk. `heads` is what a seal of them covers.

    `as_of`, where credits go on meanwhile: what employers passed on is held against what was credited by then.
    """

    passbooks: int = 0
    lines: int = 0
    findings: list[Finding] = field(default_factory=list)
    trial_balance: TrialBalance = field(default_factory=TrialBalance)
    heads: list[str] = field(default_factory=list)
    as_of: datetime | None = None

    def add(
        self, passbook: str, items: Iterable[Item], witness: Witness | None = None, read: ReadEvidence | None = None
    ) -> None:
        """Verify a passbook and add it; with `read`, what it rests on too."""
        verified = verify_passbook(passbook, items, witness, read, as_of=self.as_of)
        self.passbooks += 1
        self.lines += verified.lines
        self.findings += verified.findings
        if verified.last is not None:
            self.trial_balance.add_totals(verified.last)
            self.heads.append(head(verified.last))
        if verified.settled is not None:
            self.trial_balance.add_passed_on(verified.settled)

    @property
    def is_clean(self) -> bool:
        """Nothing was found, every fund is in balance, and what employers passed on was credited."""
        return not (self.findings or self.trial_balance.differences_cents() or self.trial_balance.contributions_cents())


def verify_passbook(
    passbook: str,
    items: Iterable[Item],
    witness: Witness | None = None,
    read: ReadEvidence | None = None,
    *,
    as_of: datetime | None = None,
) -> Verified:
    """Verify a passbook: all items of its partition, in order, and what the stream has seen of its end.

    A witness that lags behind is fine; one that is ahead means that lines at the end are missing. With `read`, the
    evidence that the lines rest on must be there, and be what it was. `as_of` is the moment of `Verified.settled`;
    without one it is the last line.
    """
    verifier = _Verifier(passbook, as_of)
    for item in items:
        verifier.take(item)
    if witness is not None:
        verifier.compare(witness)
    if read is not None:
        verifier.look_up(read)
    return Verified(tuple(verifier.findings), verifier.last, verifier.lines, verifier.rests_on, verifier.settled)


class _Verifier:
    def __init__(self, passbook: str, as_of: datetime | None = None) -> None:
        self.passbook = passbook
        self.as_of = as_of
        self.settled: Line | None = None
        self.findings: list[Finding] = []
        self.lines = 0
        self.last: Line | None = None
        self.rests_on: dict[str, int] = {}
        self._sequence = 0
        # The hashes that the next line may rest on: the stored one, and the one that the line should have. A stored
        # hash that was changed thus breaks its own line only. None: the line before is missing or can't be read.
        self._before: tuple[bytes, ...] = (encoding.GENESIS,)
        self._hashes: dict[int, bytes] = {}
        # The lines so far, as long as every one of them is sound. What depends on all of them is checked while it is.
        self._history: list[Line] | None = []
        self._by_month: dict[date, int] = {}

    def take(self, item: Item) -> None:
        """The next item of the partition."""
        self.lines += 1
        try:
            sequence = _sequence(item)
        except ValueError as broken:
            self._unreadable(self._sequence + 1, str(broken))
            return
        for missing in range(self._sequence + 1, sequence):
            self._find(missing, FindingCode.MISSING_LINE, f"line {missing} isn't there")
            self._lose()
        self._sequence = sequence
        try:
            line, document = self._read(item)
        except (UnreadableError, TypeError) as broken:
            self._unreadable(sequence, str(broken))
            return
        self._hashes[sequence] = line.hash
        self._check(line, document)
        self.last = line
        if self.as_of is None or line.recorded_at <= self.as_of:
            self.settled = line
        if line.determination is not None:
            self.rests_on.setdefault(line.determination, sequence)

    def compare(self, witness: Witness) -> None:
        """Hold the end against what the stream saw."""
        for missing in range(self._sequence + 1, witness.head + 1):
            self._find(missing, FindingCode.MISSING_LAST_LINE, f"the stream saw line {witness.head}")
        seen = self._hashes.get(witness.head)
        if seen is not None and seen != witness.head_hash:
            self._find(witness.head, FindingCode.CHANGED, "the stream saw another hash")

    def look_up(self, read: ReadEvidence) -> None:
        """Look for the evidence that the lines rest on."""
        for determination, sequence in self.rests_on.items():
            kind, _, identifier = determination.partition("/")
            try:
                if read(kind, identifier) is None:
                    self._find(sequence, FindingCode.EVIDENCE, f"{determination} isn't there")
            except UnreadableError as broken:
                self._find(sequence, FindingCode.EVIDENCE, str(broken))

    def _read(self, item: Item) -> tuple[Line, Document]:
        """The line, and what its hash covers. `TypeError` is of bytes where none belong."""
        line = line_items.from_item(item)
        document = encoding.from_item({name: attribute for name, attribute in item.items() if name != "hash"})
        encoding.canonical(document)
        if line_items.document_of(line) != document or line.passbook != self.passbook:
            raise UnreadableError("its attributes are not those of a line of this passbook")
        return line, document

    def _check(self, line: Line, document: Document) -> None:
        if self._before:
            should_be = [encoding.chain_hash(before, document) for before in self._before]
            if line.hash not in should_be:
                self._find(line.sequence, FindingCode.CHANGED, "the hash isn't that of the line before and this one")
                self._before = (line.hash, *should_be)
                self._history = None
                return
        self._before = (line.hash,)
        if self._history is None:
            return
        try:
            found = self._findings_of(line, self._history)
        except (KeyError, ValueError) as broken:
            self._unreadable(line.sequence, repr(broken))
            return
        self._history.append(line)
        for code, detail in found:
            self._find(line.sequence, code, detail)

    def _findings_of(self, line: Line, history: list[Line]) -> list[tuple[FindingCode, str]]:
        previous = history[-1] if history else None
        found = [*_own_findings(line), *_following_findings(previous, line, history)]
        # What a line moves can't be told where its runs' marks are wrong.
        return found or self._month_ends_findings(line)

    def _month_ends_findings(self, line: Line) -> list[tuple[FindingCode, str]]:
        for day, cents in movements_of(line):
            month = day.replace(day=1)
            self._by_month[month] = self._by_month.get(month, 0) + cents
        if not self._by_month:
            expected = None
        else:
            mark = line.runs.get(YIELD_RUN)
            first_open = Semester.parse(mark.period).next() if mark else Semester.containing(min(self._by_month))
            expected = from_movements(first_open, self._by_month.items(), cut=False)
        if _carries(line.month_ends, expected):
            return []
        return [(FindingCode.MONTH_ENDS, f"carried {line.month_ends}, recomputed {expected}")]

    def _unreadable(self, sequence: int, detail: str) -> None:
        self._sequence = sequence
        self._find(sequence, FindingCode.UNREADABLE, detail)
        self._lose()

    def _lose(self) -> None:
        self._before = ()
        self._history = None

    def _find(self, sequence: int, code: FindingCode, detail: str) -> None:
        self.findings.append(Finding(self.passbook, sequence, code, detail))


def _sequence(item: Item) -> int:
    sort_key = item["sk"].get("S", "")
    if not sort_key.isdecimal() or sort_key != line_items.sort_key(int(sort_key)):
        msg = f"the sort key {sort_key!r}"
        raise ValueError(msg)
    return int(sort_key)


def _own_findings(line: Line) -> list[tuple[FindingCode, str]]:
    found = []
    if total := sum(posting.amount_cents for posting in line.postings):
        found.append((FindingCode.DOUBLE_ENTRY, f"its postings are out of balance by {total} cents"))
    if total := sum(line.balances.values()):
        found.append((FindingCode.BALANCES, f"its balances are out of balance by {total} cents"))
    return found


def _following_findings(previous: Line | None, line: Line, history: list[Line]) -> list[tuple[FindingCode, str]]:
    """What of a line doesn't follow from the one before it."""
    found = []
    expected = carried_balances(previous, line.postings)
    if dict(line.balances) != expected:
        found.append((FindingCode.BALANCES, f"carried {dict(line.balances)}, recomputed {expected}"))
    if previous is not None and previous.fund != line.fund:
        found.append((FindingCode.FUND, f"{line.fund} in a passbook of {previous.fund}"))
    if previous is not None and line.recorded_at < previous.recorded_at:
        found.append((FindingCode.RECORDED_ORDER, "recorded before the line before it"))
    if not _runs_follow(previous, line, history):
        found.append((FindingCode.RUNS, f"{dict(line.runs)}"))
    if not _state_follows(previous, line):
        found.append((FindingCode.STATE, f"{dict(line.state)}"))
    return found


def _runs_follow(previous: Line | None, line: Line, history: list[Line]) -> bool:
    """Marks stand as they stood, but for those of this very line, and for that of what a reversal takes back."""
    before = dict(previous.runs) if previous else {}
    after = {kind: mark for kind, mark in line.runs.items() if mark.sequence != line.sequence}
    own = line.runs.keys() - after.keys()
    if line.kind in _REVERSES:
        reverses, run_kind = _REVERSES[line.kind]
        if line.reverses is None or not 1 < line.reverses < line.sequence:
            return False
        reversed_line = history[line.reverses - 1]
        if reversed_line.kind is not reverses or before.get(run_kind) != _own_mark(reversed_line, run_kind):
            return False
        restored = history[line.reverses - 2].runs.get(run_kind)
        before = {kind: mark for kind, mark in before.items() if kind != run_kind}
        before |= {run_kind: restored} if restored else {}
    if line.kind is LineKind.SEMESTER_YIELD:
        mark = _own_mark(line, YIELD_RUN)
        month_ends = previous.month_ends if previous else None
        if mark is None or month_ends is None or mark.period != str(month_ends.oldest_open):
            return False
    elif YIELD_RUN in own:
        return False
    return after == {kind: mark for kind, mark in before.items() if kind not in own}


def _own_mark(line: Line, kind: str) -> RunMark | None:
    mark = line.runs.get(kind)
    return mark if mark and mark.sequence == line.sequence else None


_REVERSES = {
    LineKind.REVERSAL: (LineKind.SEMESTER_YIELD, YIELD_RUN),
    LineKind.PAYMENT_REVERSED: (LineKind.ANNUITY_PAYMENT, ANNUITY_RUN),
    LineKind.ORDER_REVERSED: (LineKind.DEDUCTION_ORDER, plans.ORDER_RUN),
}
"""What a reversal takes back, and whose mark it puts back."""

_STATE_KEYS_CHANGED = {
    LineKind.SELECTION: frozenset({"selections"}),
    LineKind.REVERSAL: frozenset({"selections"}),
    **hybrid.STATE_KEYS,
    **annuities.STATE_KEYS,
    **plans.STATE_KEYS,
}


def _state_follows(previous: Line | None, line: Line) -> bool:
    """The state is the one before, but for what this kind of line may change."""
    if previous is None:
        return True
    before, after = dict(previous.state), dict(line.state)
    if line.kind in STATUS_LINES:
        if after.get("status") != STATUS_LINES[line.kind]:
            return False
        before["status"] = after["status"]
    for key in _STATE_KEYS_CHANGED.get(line.kind, frozenset()):
        before.pop(key, None)
        after.pop(key, None)
    return after == before


def _carries(carried: MonthEnds | None, whole: MonthEnds | None) -> bool:
    """Whether the carried month-ends are the whole ones, or where they are marked incomplete, their beginning."""
    if carried is None or whole is None:
        return carried is None and whole is None
    if carried.since != whole.since or not 0 < len(carried.savings) <= CARRIED_MAX:
        return False
    length = max(len(carried.savings), len(whole.savings))
    expected = whole.savings + whole.savings[-1:] * (length - len(whole.savings))
    beginning, rest = expected[: len(carried.savings)], expected[len(carried.savings) :]
    return carried.savings == beginning and (not carried.complete or all(one == beginning[-1] for one in rest))
