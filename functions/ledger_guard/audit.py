"""The audit: every passbook recomputed from its first line, the totals by fund and account, and the Board's books.

Its own items are in the registry: one for the audit, one for each chunk of the roster's shards with a cursor and what
was found so far, and one for each page of passbooks with what it came to. The first worker of a page writes that down;
another takes it over. A page counts when the cursor is moved, on the condition that nobody else has moved it.

Where nothing is found, the heads of all passbooks are sealed: the list lies in the bucket, the seal in the ledger.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from retiro.ledger import board, seal
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import partition
from retiro.ledger.store import LedgerStore
from retiro.ledger.trial_balance import TrialBalance
from retiro.ledger.verify import Audit
from retiro.ledger.verify_board import verify_book
from retiro.ledger.witness import Witness
from retiro.registry import roster
from retiro.registry.clock import Clock
from retiro.registry.roster import RosterEntry
from retiro.registry.runs import RunId
from retiro.registry.table import AlreadyThereError, ChangedError, Item, Table
from retiro.rules.money import format_cents

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

AUDIT = "audit"
PHASE = "verify"
FUNDS = ("ERS", "JRS")
SEALS = "seals"
"""The registry's partition that lists the seals, by their audits' periods."""
PAGE_PASSBOOKS = 25
FINDINGS_NAMED_MAX = 200
"""How many findings a chunk, and the answer, name; all are counted."""

RESERVE_MS = 30_000
"""How much of an invocation's time must be left to take another page."""

SETTLED = timedelta(minutes=2)
"""How long before an audit began a transaction must have been recorded to be seen whole: none is under way so long."""

PAGES_KEPT = timedelta(days=30)
"""How long what a page came to is of use."""


class AuditStatus(StrEnum):
    """Where an audit stands; at its end, its answer."""

    RUNNING = "running"
    CLEAN = "clean"
    FINDINGS = "findings"
    FAILED = "failed"


@dataclass(frozen=True)
class Auditor:
    """Works an audit off in so many chunks. `invocation_passbooks` 0: as many as there is time for."""

    registry: Table
    ledger: LedgerStore
    files: "S3Client"
    bucket: str
    clock: Clock
    chunks: int = 16
    invocation_passbooks: int = 0

    def begin(self, run: RunId) -> list[int]:
        """Make the audit's items, where they aren't there yet, and name its chunks."""
        begun = self._insert(run.key, {"status": AuditStatus.RUNNING, "started_at": self.clock().isoformat()})
        as_of = (datetime.fromisoformat(begun["started_at"]) - SETTLED).isoformat()
        bounds = [chunk * roster.SHARDS // self.chunks for chunk in range(self.chunks + 1)]
        for chunk, (first, until) in enumerate(pairwise(bounds)):
            start = {"step": 0, "shard": first, "until": until, "after": "", "as_of": as_of}
            self._insert(_chunk_key(run, chunk), start | _found(Audit()))
        return list(range(self.chunks))

    def work(self, run: RunId, chunk: int, remaining_ms: Callable[[], int]) -> bool:
        """Verify the chunk's passbooks from its cursor on. True: all done; false: there are more."""
        taken = 0
        while (item := self._item(_chunk_key(run, chunk)))["shard"] < item["until"]:
            enough = self.invocation_passbooks and taken >= self.invocation_passbooks
            if enough or remaining_ms() < RESERVE_MS:
                return False
            taken += self._work_page(item)
        return True

    def end(self, run: RunId) -> Item:
        """Add the chunks up, seal a clean ledger, and write the answer down. What is answered already stays."""
        total = _found(Audit())
        for item in self.registry.items(run.partition, prefix="chunk#"):
            total = _sum(total, item)
        totals = [*_out_of_balance(TrialBalance.from_document(total["trial_balance"])), *self._books()]
        answer = total | {
            "findings": total["findings"] + len(totals),
            "named": [*total["named"], *totals],
            "ended_at": self.clock().isoformat(),
        }
        answer["status"] = AuditStatus.FINDINGS if answer["findings"] else AuditStatus.CLEAN
        if answer["status"] is AuditStatus.CLEAN:
            answer["seal"] = self._seal(run)
        try:
            return self.registry.update(run.key, answer, where={"status": AuditStatus.RUNNING})
        except ChangedError:
            return self._item(run.key)

    def fail(self, run: RunId) -> None:
        """The execution gave up, perhaps before it began: the audit has no answer, unless it had one already."""
        self._insert(run.key, {"status": AuditStatus.FAILED, "started_at": self.clock().isoformat()})
        try:
            self.registry.update(run.key, {"status": AuditStatus.FAILED}, where={"status": AuditStatus.RUNNING})
        except ChangedError:
            return  # it has its answer

    def _work_page(self, item: Item) -> int:
        """Verify the next passbooks and move the cursor over them. How many were taken."""
        key = (item["pk"], f"page#{item['sk']}#{item['step']:08d}")
        page = self._insert(key, self._verify_page(item))
        moved = {"step": item["step"] + 1, "shard": page["shard"], "after": page["after"], **_sum(item, page)}
        try:
            self.registry.update((item["pk"], item["sk"]), moved, where={"step": item["step"]})
        except ChangedError:
            return 0  # another worker was quicker
        taken: int = page["passbooks"]
        return taken

    def _verify_page(self, item: Item) -> Item:
        """What the next passbooks come to, and where the cursor stands after them."""
        audit = Audit(as_of=datetime.fromisoformat(item["as_of"]))
        page_max = min(PAGE_PASSBOOKS, self.invocation_passbooks or PAGE_PASSBOOKS)
        shard, after = item["shard"], item["after"]
        read = cache(self.ledger.get_evidence)  # what a run rests on is the same for all its lines
        while shard < item["until"] and audit.passbooks < page_max:
            page = self.registry.page(roster.partition(shard), after=after or None, limit=page_max - audit.passbooks)
            for entry in map(roster.entry, page.items):
                items = self.ledger.items(partition(entry.passbook_id))
                audit.add(entry.passbook_id, items, _witness(entry), read)
            shard, after = (shard + 1, "") if page.after is None else (shard, page.after)
        expires_at = int((self.clock() + PAGES_KEPT).timestamp())
        return {"shard": shard, "after": after, "heads": audit.heads, "expires_at": expires_at, **_found(audit)}

    def _seal(self, run: RunId) -> str:
        """Seal the heads that the pages verified, once; the seal in hexadecimal."""
        heads = [head for page in self.registry.items(run.partition, prefix="page#") for head in page["heads"]]
        sealed = seal.seal(heads)
        key = f"seals/{run.period}.{sealed.hash.hex()[:16]}.txt"
        text = "".join(f"{head}\n" for head in heads)
        self.files.put_object(Bucket=self.bucket, Key=key, Body=text.encode(), ContentType="text/plain")
        body = {"count": sealed.count, "root": sealed.root.hex(), "seal": sealed.hash.hex(), "heads": key}
        self.ledger.put_evidence(Evidence(seal.EVIDENCE, run.period, body))
        self._insert((SEALS, run.period), {"seal": sealed.hash.hex()})
        return sealed.hash.hex()

    def _books(self) -> Iterator[Item]:
        """The findings of the Board's books."""
        for fund in FUNDS:
            for finding in verify_book(fund, self.ledger.items(board.partition(fund))):
                yield asdict(finding)

    def _insert(self, key: tuple[str, str], attributes: Item) -> Item:
        """Write an item where there is none. What stands there then."""
        item = {"pk": key[0], "sk": key[1], **attributes}
        try:
            self.registry.insert(item)
        except AlreadyThereError as there:
            return there.existing
        return item

    def _item(self, key: tuple[str, str]) -> Item:
        item = self.registry.get(*key)
        if item is None:
            raise LookupError(f"no audit item {key}")
        return item


def _found(audit: Audit) -> Item:
    """What an audit found, as attributes of an item."""
    return {
        "passbooks": audit.passbooks,
        "lines": audit.lines,
        "findings": len(audit.findings),
        "named": [asdict(finding) for finding in audit.findings[:FINDINGS_NAMED_MAX]],
        "trial_balance": audit.trial_balance.to_document(),
    }


def _sum(one: Item, other: Item) -> Item:
    """Both together; of the findings' names, a number of them."""
    balance = TrialBalance()
    balance.merge(TrialBalance.from_document(one["trial_balance"]))
    balance.merge(TrialBalance.from_document(other["trial_balance"]))
    counts = {name: one[name] + other[name] for name in ("passbooks", "lines", "findings")}
    named = [*one["named"], *other["named"]][:FINDINGS_NAMED_MAX]
    return {**counts, "named": named, "trial_balance": balance.to_document()}


def _out_of_balance(balance: TrialBalance) -> Iterator[Item]:
    """The findings of the totals: a fund out of balance, and contributions that only one side has."""
    for fund, cents in balance.differences_cents().items():
        yield {"passbook": fund, "sequence": 0, "code": "trial_balance", "detail": f"out by {format_cents(cents)}"}
    for fund, cents in balance.contributions_cents().items():
        yield {"passbook": fund, "sequence": 0, "code": "contributions", "detail": f"out by {format_cents(cents)}"}


def _witness(entry: RosterEntry) -> Witness | None:
    if entry.head is None or entry.head_hash is None:
        return None
    return Witness(entry.head, entry.head_hash)


def _chunk_key(run: RunId, chunk: int) -> tuple[str, str]:
    return run.partition, f"chunk#{chunk:04d}"
