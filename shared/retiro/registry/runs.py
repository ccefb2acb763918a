"""Where runs stand: one item a run, one a chunk, one a lease. Each is changed on condition only.

All of it can be rebuilt: what was posted is in the ledger, what was prepared is in the bucket.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from retiro.registry.table import AlreadyThereError, Below, ChangedError, Item, OneOf, Table


class RunStatus(StrEnum):
    """Where a run stands."""

    PREPARING = "preparing"
    PREPARED = "prepared"
    APPROVED = "approved"
    POSTING = "posting"
    POSTED = "posted"
    PAUSING = "pausing"
    PAUSED = "paused"
    FAILED = "failed"
    REVERSING = "reversing"
    REVERSED = "reversed"
    SUPERSEDED = "superseded"


class Phase(StrEnum):
    """The passes over the chunks that an execution makes."""

    PREPARE = "prepare"
    POST = "post"
    CLOSE = "close"


@dataclass(frozen=True, order=True)
class RunId:
    """A run: kind, period, and which attempt at that period."""

    kind: str
    period: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.kind}/{self.period}/{self.attempt}"

    @property
    def key(self) -> tuple[str, str]:
        """The key of the run's item."""
        return runs_partition(self.kind, self.period), f"attempt#{self.attempt:04d}"

    @property
    def partition(self) -> str:
        """The partition of the run's chunks and leases."""
        return f"{runs_partition(self.kind, self.period)}#{self.attempt:04d}"

    @property
    def prefix(self) -> str:
        """Where the run's objects lie in the bucket."""
        return f"runs/{self.kind}/{self.period}/{self.attempt:04d}"

    def execution_name(self, number: int) -> str:
        """The name of the run's execution of this number."""
        return f"{self.kind}-{self.period}-{self.attempt:04d}-{number:04d}"


def runs_partition(kind: str, period: str) -> str:
    """The partition of all attempts at a period."""
    return f"run#{kind}#{period}"


@dataclass(frozen=True)
class Run:
    """A run as its item has it.

    `number` is that of the execution that may work on it: it fences older ones. `started_at` is when that number was
    taken. `context_text` is canonical JSON: what the kind computes from (figures, settings, rules version), fixed when
    the run is requested. `details` is what came since: `bounds`, `hash`, `totals`, `exceptions`, `approved_by`,
    `approved_at`, `result`, `failure`.
    """

    id: RunId
    status: RunStatus
    number: int
    phase: Phase
    requested_by: str
    requested_at: datetime
    started_at: datetime
    context_text: str
    details: Mapping[str, Any]

    @cached_property
    def context(self) -> Mapping[str, Any]:
        """The facts that the kind computes from."""
        facts: Mapping[str, Any] = json.loads(self.context_text)
        return facts

    @classmethod
    def from_item(cls, item: Item) -> Self:
        """The run of an item."""
        kept = {"pk", "sk", "kind", "period", "attempt", "status", "number", "phase", "requested_by", "requested_at"}
        return cls(
            RunId(item["kind"], item["period"], item["attempt"]),
            RunStatus(item["status"]),
            item["number"],
            Phase(item["phase"]),
            item["requested_by"],
            datetime.fromisoformat(item["requested_at"]),
            datetime.fromisoformat(item["started_at"]),
            item["context"],
            {name: value for name, value in item.items() if name not in kept | {"started_at", "context"}},
        )


class RunChangedError(Exception):
    """A run is not where the caller took it to be. `run` is how it stands, or `None` where there is none."""

    def __init__(self, run: Run | None) -> None:
        super().__init__("the run has moved on")
        self.run = run


@dataclass(frozen=True)
class PartReference:
    """An object of the bucket: its key, the SHA-256 of its bytes (hex), and what its rows amount to, by name."""

    key: str
    sha256: str
    counts: Mapping[str, int]

    def to_item(self) -> Item:
        """The reference as a map of the chunk's item."""
        return {"key": self.key, "sha256": self.sha256, "counts": dict(self.counts)}


@dataclass(frozen=True)
class Chunk:
    """A range of the roster's shards, and how far the work on it is.

    `step` counts the moves of its cursors: each is made on condition of the step before it. `shard` and `after` are the
    cursor of the prepare pass, `parts` what it stored, in order; `results` are those of the post pass, a result a part.
    `seen` is how many of the next part's lines were posted when last told: a courtesy to who watches, no cursor.
    `stuck` lists whom the last worker couldn't do for want of capacity. `check` is what the close pass has found.
    """

    index: int
    first_shard: int
    until_shard: int
    population: int
    step: int = 0
    shard: int = 0
    after: str = ""
    prepared: bool = False
    parts: tuple[PartReference, ...] = ()
    results: tuple[PartReference, ...] = ()
    seen: int = 0
    stuck: PartReference | None = None
    check: Mapping[str, Any] | None = None

    def to_item(self, run: RunId) -> Item:
        """The chunk as an item of the run's partition."""
        return {
            "pk": run.partition,
            "sk": chunk_key(self.index),
            "index": self.index,
            "first_shard": self.first_shard,
            "until_shard": self.until_shard,
            "population": self.population,
            "step": self.step,
            "shard": self.shard,
            "after": self.after,
            "prepared": self.prepared,
            "parts": [part.to_item() for part in self.parts],
            "results": [part.to_item() for part in self.results],
            "seen": self.seen,
        }

    @classmethod
    def from_item(cls, item: Item) -> Self:
        """The chunk of an item."""
        fields = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        fields["parts"] = tuple(PartReference(**part) for part in item["parts"])
        fields["results"] = tuple(PartReference(**part) for part in item["results"])
        fields["stuck"] = PartReference(**item["stuck"]) if "stuck" in item else None
        return cls(**fields)


def chunk_key(index: int) -> str:
    """The sort key of a chunk."""
    return f"chunk#{index:04d}"


class RunBook:
    """The runs of the registry."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def insert(self, run: Run) -> None:
        """Write a new run. Raises `AlreadyThereError` where this attempt is there."""
        self.table.insert(
            {
                "pk": run.id.key[0],
                "sk": run.id.key[1],
                "kind": run.id.kind,
                "period": run.id.period,
                "attempt": run.id.attempt,
                "status": str(run.status),
                "number": run.number,
                "phase": str(run.phase),
                "requested_by": run.requested_by,
                "requested_at": run.requested_at.isoformat(),
                "started_at": run.started_at.isoformat(),
                "context": run.context_text,
                **run.details,
            }
        )

    def find(self, run_id: RunId) -> Run | None:
        """The run, read consistently."""
        item = self.table.get(*run_id.key)
        return Run.from_item(item) if item else None

    def get(self, run_id: RunId) -> Run:
        """The run, read consistently. Raises `LookupError` where there is none."""
        run = self.find(run_id)
        if run is None:
            raise LookupError(f"there is no run {run_id}")
        return run

    def attempts(self, kind: str, period: str) -> list[Run]:
        """All attempts at a period, in order."""
        return [Run.from_item(item) for item in self.table.items(runs_partition(kind, period), prefix="attempt#")]

    def change(self, run: Run, *statuses: RunStatus, **changes: Any) -> Run:
        """Change the run where it has this number and one of these statuses still; where it is so already, it is done.

        Raises `RunChangedError` with the run as it stands where it is neither.
        """
        assign = {name: _plain(value) for name, value in changes.items() if value is not None}
        removed = [name for name, value in changes.items() if value is None]
        where = {"number": run.number, "status": OneOf(*(str(status) for status in statuses))}
        return self.note(run, {"number": run.number} | assign, where, remove=removed)

    def fix(self, run: Run, **details: Any) -> Run:
        """Give the run details that it has not; where another was first, its details stand."""
        try:
            return Run.from_item(self.table.update(run.id.key, details, where=dict.fromkeys(details)))
        except ChangedError:
            return self.get(run.id)

    def note(self, run: Run, details: Mapping[str, Any], where: Mapping[str, Any], remove: Sequence[str] = ()) -> Run:
        """Give the run details where its item is as `where` says, in the table's words; given so already, it is done.

        Raises `RunChangedError` with the run as it stands where it is neither.
        """
        try:
            return Run.from_item(self.table.update(run.id.key, details, remove=remove, where=where))
        except ChangedError as changed:
            there = Run.from_item(changed.existing) if changed.existing else None
            if there is None or not changed.stands(details, remove):
                raise RunChangedError(there) from changed
            return there

    # -- chunks

    def plan(self, run_id: RunId, chunks: list[Chunk]) -> None:
        """Write the chunks of a run, the first time; those that are there stay."""
        planned = {item["sk"] for item in self.table.items(run_id.partition, prefix="chunk#")}
        for chunk in chunks:
            if chunk_key(chunk.index) not in planned:
                with suppress(AlreadyThereError):  # by another beginning at the same time, from the same bounds
                    self.table.insert(chunk.to_item(run_id))

    def chunk(self, run_id: RunId, index: int) -> Chunk:
        """A chunk, read consistently. Raises `LookupError` where there is none."""
        item = self.table.get(run_id.partition, chunk_key(index))
        if item is None:
            raise LookupError(f"run {run_id} has no chunk {index}")
        return Chunk.from_item(item)

    def chunks(self, run_id: RunId) -> list[Chunk]:
        """All chunks of a run, in order."""
        return [Chunk.from_item(item) for item in self.table.items(run_id.partition, prefix="chunk#")]

    def move(self, run_id: RunId, chunk: Chunk, **changes: Any) -> Chunk | None:
        """Move a chunk on by a step. `None` where another worker has moved it: then its work stands, not ours."""
        assign = {name: _plain(value) for name, value in changes.items() if value is not None}
        removed = [name for name, value in changes.items() if value is None]
        key = (run_id.partition, chunk_key(chunk.index))
        try:
            item = self.table.update(key, assign | {"step": chunk.step + 1}, remove=removed, where={"step": chunk.step})
        except ChangedError:
            return None
        return Chunk.from_item(item)

    def saw(self, run_id: RunId, chunk: Chunk, lines: int) -> None:
        """Tell how many lines of the part under way are posted. It never goes back."""
        try:
            self.table.update(
                (run_id.partition, chunk_key(chunk.index)),
                {"seen": lines},
                where={"step": chunk.step, "seen": Below(lines)},
            )
        except ChangedError:
            return

    # -- leases

    def lease(self, run_id: RunId, name: str, until: datetime) -> None:
        """Tell that a worker may write until then. It says so before it looks whether it may."""
        self.table.put({"pk": run_id.partition, "sk": f"lease#{name}", "until": until.isoformat()})

    def release(self, run_id: RunId, name: str) -> None:
        """Tell that the worker has returned."""
        key = {"pk": {"S": run_id.partition}, "sk": {"S": f"lease#{name}"}}
        self.table.client.delete_item(TableName=self.table.name, Key=key)

    def leases(self, run_id: RunId) -> Iterator[datetime]:
        """Until when each worker that has not returned may write."""
        for item in self.table.items(run_id.partition, prefix="lease#"):
            yield datetime.fromisoformat(item["until"])


def _plain(value: Any) -> Any:
    """A value as an item holds it."""
    match value:
        case datetime():
            return value.isoformat()
        case StrEnum():
            return str(value)
        case PartReference():
            return value.to_item()
        case tuple():
            return [_plain(one) for one in value]
        case _:
            return value
