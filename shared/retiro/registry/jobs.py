"""Long work on the rows of one thing (a file, a remittance): where it stands, and a durable cursor for each chunk.

A job is smaller than a run: nothing is prepared or approved, its rows are given, and each row's own business key makes
it happen once. `number` is that of the execution that may work on it; a newer one fences the older. All of it can be
lost: the rows' keys in the ledger say what was done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from retiro.registry.table import AlreadyThereError, Below, ChangedError, Item, OneOf, Table


class JobStatus(StrEnum):
    """Where a job stands."""

    RECEIVED = "received"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


_OPEN = OneOf(JobStatus.RECEIVED, JobStatus.WORKING, JobStatus.FAILED)


@dataclass(frozen=True)
class Job:
    """A job. `rows`: how many there are to do; `facts`: what its kind keeps beside them."""

    job_id: str
    status: JobStatus
    number: int
    rows: int
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Cursor:
    """How far a chunk has come: `done` rows of it, and what is to be said of some of them."""

    done: int
    notes: Sequence[Mapping[str, Any]]


class FencedError(Exception):
    """A newer execution works on the job, or the job is done: whoever gets this stops."""


class UnfinishedError(Exception):
    """An execution would end a job some of whose rows aren't done."""


class Jobs:
    """The jobs of a kind, `file` or `remittance`, in the registry."""

    def __init__(self, table: Table, kind: str) -> None:
        self._table = table
        self._kind = kind

    def open(self, job_id: str, *, rows: int, facts: Mapping[str, Any]) -> Job:
        """Make the job known, or find the one that is. Whether that is the same one is for the caller to see."""
        item: Item = {
            "pk": self._pk(job_id), "sk": "status", "status": JobStatus.RECEIVED, "number": 0, "rows": rows,
            "facts": dict(facts),
        }  # fmt: skip
        try:
            self._table.insert(item)
        except AlreadyThereError as there:
            return _job(job_id, there.existing)
        return _job(job_id, item)

    def get(self, job_id: str) -> Job | None:
        """The job, read consistently."""
        item = self._table.get(self._pk(job_id), "status")
        return None if item is None else _job(job_id, item)

    def next_number(self, job_id: str) -> int | None:
        """The number of the execution to start now, which fences those before it; `None` where the job is done."""
        try:
            item = self._table.update((self._pk(job_id), "status"), {}, add={"number": 1}, where={"status": _OPEN})
        except ChangedError:
            return None
        number: int = item["number"]
        return number

    def begin(self, job_id: str, number: int, chunks: int) -> None:
        """Let this execution work, on so many chunks. Raises `FencedError`."""
        self._set_status(job_id, number, JobStatus.WORKING)
        for chunk in range(chunks):
            try:
                self._table.insert(
                    {"pk": self._pk(job_id), "sk": _chunk(chunk), "number": number, "done": 0, "notes": []}
                )
            except AlreadyThereError as there:
                self._take_over(job_id, chunk, number, there.existing["number"])

    def _take_over(self, job_id: str, chunk: int, number: int, held_by: int) -> None:
        """Make the chunk this execution's, unless it is a newer one's."""
        if held_by == number:
            return
        try:
            self._table.update((self._pk(job_id), _chunk(chunk)), {"number": number}, where={"number": Below(number)})
        except ChangedError as changed:
            if changed.existing is None or changed.existing["number"] != number:  # else it was us: a lost answer
                raise FencedError(job_id) from changed

    def cursor(self, job_id: str, chunk: int) -> Cursor:
        """How far the chunk has come; not begun is nothing done."""
        item = self._table.get(self._pk(job_id), _chunk(chunk))
        return Cursor(0, ()) if item is None else Cursor(item["done"], item["notes"])

    def advance(self, job_id: str, chunk: int, number: int, before: Cursor, after: Cursor) -> bool:
        """Move the chunk's cursor, after the work. False: it isn't where it was, but our own execution moved it.

        That is another invocation of it, or this one, whose answer was lost: look again. Raises `FencedError` for an
        execution that isn't the newest.
        """
        try:
            self._table.update(
                (self._pk(job_id), _chunk(chunk)),
                {"done": after.done, "notes": list(after.notes)},
                where={"number": number, "done": before.done},
            )
        except ChangedError as changed:
            if changed.existing is not None and changed.existing["number"] == number:
                return False
            raise FencedError(job_id) from changed
        return True

    def cursors(self, job_id: str) -> list[Cursor]:
        """All chunks' cursors, in order."""
        return [Cursor(item["done"], item["notes"]) for item in self._table.items(self._pk(job_id), prefix="chunk#")]

    def check_newest(self, job_id: str, number: int) -> Job:
        """The job, where this is its newest execution's number. Raises `FencedError`."""
        job = self.get(job_id)
        if job is None or job.number != number:
            raise FencedError(job_id)
        return job

    def end(self, job_id: str, number: int) -> None:
        """All rows are done. Raises `FencedError`, and `UnfinishedError` where they aren't."""
        job = self.check_newest(job_id, number)
        if sum(cursor.done for cursor in self.cursors(job_id)) < job.rows:
            raise UnfinishedError(job_id)
        self._set_status(job_id, number, JobStatus.DONE)

    def fail(self, job_id: str, number: int) -> None:
        """The execution failed; sending the job again starts the next one. Raises `FencedError`."""
        self._set_status(job_id, number, JobStatus.FAILED)

    def _set_status(self, job_id: str, number: int, status: JobStatus) -> None:
        try:
            self._table.update(
                (self._pk(job_id), "status"), {"status": status}, where={"number": number, "status": _OPEN}
            )
        except ChangedError as changed:
            if not changed.stands({"number": number, "status": status}):
                raise FencedError(job_id) from changed

    def _pk(self, job_id: str) -> str:
        return f"{self._kind}#{job_id}"


def _chunk(chunk: int) -> str:
    return f"chunk#{chunk:04d}"


def _job(job_id: str, item: Item) -> Job:
    return Job(job_id, JobStatus(item["status"]), item["number"], item["rows"], item["facts"])
