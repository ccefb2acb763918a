"""What must hold after every write, whoever made it. Each invariant has a name, which the report gives.

inserted_only         nothing in the ledger is overwritten or removed
key_with_line         a line that no run wrote comes in one transaction with its business key, which names it
one_passbook          a rebuild's lines come by many of one passbook
row_once              a history's rows come in their order, once
evidence_with_line    what a line rests on is there when the line is
one_fund              no transaction has two funds
passed_on             what a transaction takes from an employer's clearing is what participants are credited in it
<of payment plans>    tests/simulation/plan_watch.py says them
sequence              a line's number is the next one
double_entry          postings, and carried balances, sum to zero
hash_chain            a line's hash covers the one before and itself
<a finding's code>    what the audit's verifier says of the line: balances, month_ends, runs, state, recorded_order …
period_once           a run kind posts a period once in a passbook, unless it was reversed
approved_only         a run's line is written while the run is posting, or until its pause is done
after_paused          nothing of a paused run is written
fenced                a worker that another has taken the place of writes no more than the page under way
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from retiro.ledger.encoding import GENESIS, from_item
from retiro.ledger.lines import REBUILD_RUN
from retiro.ledger.verify import _Verifier
from tests.simulation.dynamodb import Commit
from tests.simulation.scheduler import Scheduler, ViolationError

LEDGER, REGISTRY = "ledger", "registry"
PAGE_ACCOUNTS = 2
_REVERSED = {"reversal": "yield", "order_reversed": "deduction_order"}
"""The kinds of line that take back what a run of another kind posted last."""


@dataclass
class Operation:
    """What somebody asks for: how many items of the ledger its attempts wrote, and what of the registry this one."""

    name: str
    ledger_writes: int = 0
    registry_keys: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class _Book:
    """A passbook so far."""

    verifier: _Verifier
    sequence: int = 0
    hash: bytes = GENESIS
    row: int = 0
    periods: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class Invariants:
    """Looks at every write as it takes effect."""

    scheduler: Scheduler
    clocks_agree: bool
    books: dict[str, _Book] = field(default_factory=dict)
    evidence: set[str] = field(default_factory=set)
    runs: dict[tuple[str, str, int], dict[str, Any]] = field(default_factory=dict)
    stale_writes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    heads: Callable[[str, int, bytes], None] = lambda *_: None
    watch: Callable[[list[Any]], None] = lambda _: None
    written: dict[tuple[str, str, int], dict[str, list[dict[str, Any]]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    lines: int = 0

    def committed(self, commits: Sequence[Commit]) -> None:
        """Writes that took effect together."""
        ledger = [commit for commit in commits if commit.table == LEDGER]
        registry = [commit for commit in commits if commit.table == REGISTRY]
        operation: Operation | None = self.scheduler.current.operation
        if operation is not None:
            operation.ledger_writes += len(ledger)
            operation.registry_keys += [commit.key for commit in registry if commit.before != commit.after]
        for commit in registry:
            if commit.key[1].startswith("attempt#") and "kind" in commit.item:
                self._run_changed(commit)
        if not ledger:
            return
        documents = []
        for commit in ledger:
            if commit.before is not None or commit.after is None:
                self._fail("inserted_only", f"{commit.key} was there already")
            documents.append(from_item(commit.item))
        self.evidence |= {pk for pk, _ in (commit.key for commit in ledger) if pk.startswith("evidence#")}
        lines = [document for document in documents if str(document["pk"]).startswith("passbook#")]
        self._together(documents, lines)
        for document in lines:
            self._line(document)
        self.watch(documents)
        for commit in ledger:
            if commit.key[0].startswith("passbook#"):
                self._verified(commit)

    def _together(self, documents: list[Any], lines: list[Any]) -> None:
        """What holds of the items of one transaction."""
        if not lines:
            return
        if len({line["fund"] for line in lines}) > 1:
            self._fail("one_fund", f"{[line['pk'] for line in lines]}")
        for account in ("contributions", "installments"):
            passed_on = sum(
                posting["cents"] for line in lines for posting in line["postings"] if posting["account"] == account
            )
            if passed_on:
                self._fail("passed_on", f"{account} out by {passed_on} cents")
        if len(lines) == len(documents) == 1 and own_marks(lines[0]):
            return
        if all(REBUILD_RUN in own_marks(line) for line in lines):
            self._rebuilt_together(documents, lines)
            return
        keys = [document for document in documents if str(document["pk"]).startswith("key#")]
        places = [(str(line["pk"]).removeprefix("passbook#"), int(line["sk"])) for line in lines]
        named = [(line["passbook"], line["sequence"]) for key in keys for line in key["lines"]]
        if len(keys) != 1 or named != places:
            self._fail("key_with_line", f"{places} and {len(keys)} keys, which name {named}")

    def _line(self, document: Any) -> None:
        """What holds of a line, computed here from what stands in the table."""
        passbook, sequence = document["pk"].removeprefix("passbook#"), int(document["sk"])
        where = f"{passbook} line {sequence} ({document['kind']})"
        book = self.books.setdefault(passbook, _Book(_Verifier(passbook)))
        if sequence != book.sequence + 1:
            self._fail("sequence", f"{where} after line {book.sequence}")
        if sum(posting["cents"] for posting in document["postings"]) or sum(document["balances"].values()):
            self._fail("double_entry", f"{where}: {document['postings']}, {document['balances']}")
        covered = {name: value for name, value in document.items() if name != "hash"}
        text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if hashlib.sha256(book.hash + text.encode()).digest() != document["hash"]:
            self._fail("hash_chain", where)
        determination = document.get("determination")
        if determination is not None and f"evidence#{determination.replace('/', '#', 1)}" not in self.evidence:
            self._fail("evidence_with_line", f"{where} rests on {determination}")
        book.sequence, book.hash = sequence, document["hash"]
        self.lines += 1
        self._periods(book, document, where)
        self.heads(passbook, sequence, document["hash"])

    def _rebuilt_together(self, documents: list[Any], lines: list[Any]) -> None:
        """A rebuild's lines come by many of one passbook, which the first transaction opens with its evidence."""
        others = [str(document["pk"]) for document in documents if document not in lines]
        if len({line["pk"] for line in lines}) > 1 or any(not pk.startswith("evidence#enrolment#") for pk in others):
            self._fail("one_passbook", f"{[line['pk'] for line in lines]} with {others}")

    def _periods(self, book: _Book, document: Any, where: str) -> None:
        if document["kind"] in _REVERSED:
            book.periods[_REVERSED[document["kind"]]].pop()
        marks = own_marks(document)
        for kind, (period, _) in marks.items():
            if kind != REBUILD_RUN and period in book.periods[kind] and not kind.endswith("_reversal"):
                self._fail("period_once", f"{where}: {kind} {period}")
            book.periods[kind].append(period)
        if REBUILD_RUN in marks:
            self._of_history(book, *marks[REBUILD_RUN], where)
            return
        for kind, (period, attempt) in marks.items():
            self._of_run((kind, period, attempt), document, where)

    def _of_history(self, book: _Book, history: str, row: int, where: str) -> None:
        """A history's rows come in their order, once, and when two persons have said so."""
        if row <= book.row or {*book.periods[REBUILD_RUN]} != {history}:
            self._fail("row_once", f"{where}: row {row} of {history} after {book.row} of {book.periods[REBUILD_RUN]}")
        book.row = row
        status = self.runs.get((REBUILD_RUN, history, 1), {"status": "unknown"})["status"]
        if status not in {"posting", "posted"}:
            self._fail("approved_only", f"{where} of the history {history}, which is {status}")

    def _of_run(self, mark: tuple[str, str, int], document: Any, where: str) -> None:
        kind, period, attempt = mark
        self.written[mark][document["pk"].removeprefix("passbook#")] = document["postings"]
        run = self.runs.get(mark, {"status": "unknown"})
        if run["status"] == "paused" and self.clocks_agree:
            self._fail("after_paused", f"{where} of {kind}/{period}/{attempt}")
        if run["status"] in {"unknown", "preparing", "prepared", "superseded"}:
            self._fail("approved_only", f"{where} of {kind}/{period}/{attempt}, which is {run['status']}")
        self._fenced(run, where)

    def _fenced(self, run: Any, where: str) -> None:
        invocation = self.scheduler.current.invocation
        number = getattr(invocation, "number", None)
        if number is None or number >= run["number"]:
            return
        self.stale_writes[invocation.name] += 1
        if self.stale_writes[invocation.name] > PAGE_ACCOUNTS:
            self._fail("fenced", f"{where} by execution {number}, where {run['number']} works")

    def _verified(self, commit: Commit) -> None:
        verifier = self.books[commit.key[0].removeprefix("passbook#")].verifier
        verifier.take(commit.item)
        for finding in verifier.findings:
            self._fail(str(finding.code), f"{finding.passbook} line {finding.sequence}: {finding.detail}")

    def _run_changed(self, commit: Commit) -> None:
        item = commit.item
        run = item["kind"]["S"], item["period"]["S"], int(item["attempt"]["N"])
        self.runs[run] = {"status": item["status"]["S"], "number": int(item["number"]["N"])}

    def _fail(self, invariant: str, detail: str) -> None:
        self.scheduler.fail(ViolationError(invariant, detail))


def own_marks(document: Any) -> dict[str, tuple[str, int]]:
    """The runs that wrote a line, by kind: period and attempt; of a rebuild, the history and its row."""
    marks = document.get("runs", {}).items()
    return {kind: (period, attempt) for kind, (period, attempt, at) in marks if at == int(document["sk"])}
