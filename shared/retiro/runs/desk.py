"""What people do with runs: request, approve, pause, resume. Each is a conditional change, then a start of the machine.

A change and a start can't be one: so each command may be given again, and then starts what the first one didn't.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from retiro.ledger.encoding import canonical
from retiro.registry.clock import Clock
from retiro.registry.runs import Phase, Run, RunBook, RunChangedError, RunId, RunStatus
from retiro.registry.table import AlreadyThereError

Start = Callable[[RunId, int, Phase], None]
"""Starts the execution of a run that has this number, at this phase; one that is there already is left."""


class ConflictCode(StrEnum):
    """Why a command doesn't go with how a run stands."""

    RUN_UNDER_WAY = "run_under_way"
    STALE_HASH = "stale_hash"
    SAME_PERSON = "same_person"
    ALREADY_APPROVED = "already_approved"
    NOT_UNDER_WAY = "not_under_way"
    NOT_RESUMABLE = "not_resumable"


class RunConflictError(Exception):
    """A command doesn't go with how the run stands."""

    def __init__(self, code: ConflictCode, run: Run | None) -> None:
        super().__init__(str(code))
        self.code = code
        self.run = run


_REPLACEABLE = frozenset({RunStatus.PREPARING, RunStatus.PREPARED})
_ENDED = frozenset({RunStatus.POSTED, RunStatus.REVERSED, RunStatus.SUPERSEDED})
_PAUSABLE = (RunStatus.PREPARING, RunStatus.APPROVED, RunStatus.POSTING)
_RESUMABLE = (*_PAUSABLE, RunStatus.PAUSING, RunStatus.PAUSED, RunStatus.FAILED)


@dataclass(frozen=True)
class Desk:
    """Where runs are requested and approved."""

    book: RunBook
    clock: Clock
    start: Start

    def latest(self, kind: str, period: str) -> Run | None:
        """The latest attempt at a period."""
        attempts = self.book.attempts(kind, period)
        return attempts[-1] if attempts else None

    def request(self, kind: str, period: str, context: Mapping[str, Any], by: str) -> Run:
        """Prepare a run: the period's next attempt. A prepared one that nobody has approved is superseded.

        Asked again by the same person while it is being prepared from the same context: that run. Raises
        `RunConflictError` while another attempt is under way.
        """
        text = canonical(context).decode()
        latest = self.latest(kind, period)
        if latest is not None and _is_same_request(latest, text, by):
            self.start(latest.id, latest.number, latest.phase)
            return latest
        if latest is not None and latest.status not in _ENDED:
            if latest.status not in _REPLACEABLE and not _failed_early(latest):
                raise RunConflictError(ConflictCode.RUN_UNDER_WAY, latest)
            self._supersede(latest)
        now = self.clock()
        run_id = RunId(kind, period, latest.id.attempt + 1 if latest else 1)
        run = Run(run_id, RunStatus.PREPARING, 1, Phase.PREPARE, by, now, now, text, {})
        try:
            self.book.insert(run)
        except AlreadyThereError:
            run = self.book.get(run_id)
            if not _is_same_request(run, text, by):
                raise RunConflictError(ConflictCode.RUN_UNDER_WAY, run) from None
        self.start(run.id, run.number, run.phase)
        return run

    def request_if_new(self, kind: str, period: str, context: Mapping[str, Any], by: str) -> Run:
        """The same for who asks by the clock: only what no attempt has said yet.

        Where the latest attempt was prepared from the same context, or is approved or posted, it stands; so does one
        that a person has paused.
        """
        latest = self.latest(kind, period)
        text = canonical(context).decode()
        if latest is None or _is_over_early(latest):
            return self.request(kind, period, context, by)
        if latest.context_text != text and latest.status in {RunStatus.PREPARED, RunStatus.REVERSED}:
            return self.request(kind, period, context, by)
        if _is_same_request(latest, text, by):
            self.start(latest.id, latest.number, latest.phase)
        return latest

    def approve(self, candidates: list[Run], run_hash: str, by: str) -> Run:
        """Approve the prepared run that has this hash, and start posting it.

        The same person again, with the same hash: the first answer. Raises `RunConflictError`: no such hash, the person
        who prepared it, approved already.
        """
        run = next((run for run in candidates if run.details.get("hash") == run_hash), None)
        if run is None or run.status is RunStatus.SUPERSEDED:
            raise RunConflictError(ConflictCode.STALE_HASH, run)
        if run.requested_by == by:
            raise RunConflictError(ConflictCode.SAME_PERSON, run)
        if run.status is RunStatus.PREPARED:
            now = self.clock()
            try:
                run = self.book.change(
                    run,
                    RunStatus.PREPARED,
                    status=RunStatus.APPROVED,
                    phase=Phase.POST,
                    number=run.number + 1,
                    approved_by=by,
                    approved_at=now,
                    started_at=now,
                )
            except RunChangedError:
                run = self.book.get(run.id)
        if run.details.get("approved_by") != by:
            raise RunConflictError(ConflictCode.ALREADY_APPROVED, run)
        if run.status is RunStatus.APPROVED:
            self.start(run.id, run.number, run.phase)
        return run

    def pause(self, run: Run) -> Run:
        """Ask the workers to stop. The run is `paused` when the last has returned; from then nothing is written."""
        if run.status is RunStatus.PAUSED:
            return run
        if run.status is not RunStatus.PAUSING:
            try:
                run = self.book.change(run, *_PAUSABLE, status=RunStatus.PAUSING)
            except RunChangedError as changed:
                if changed.run is not None and changed.run.status is RunStatus.PAUSED:
                    return changed.run
                raise RunConflictError(ConflictCode.NOT_UNDER_WAY, changed.run) from changed
        try:
            return settle_pause(self.book, self.clock, run)
        except RunChangedError:
            return self.book.get(run.id)  # paused by its worker meanwhile, or resumed by somebody: as it stands

    def resume(self, run: Run) -> Run:
        """Go on from the durable cursors, under the next number: an execution that still runs is fenced off."""
        status = RunStatus.PREPARING if run.phase is Phase.PREPARE else RunStatus.POSTING
        changes = {"status": status, "number": run.number + 1, "started_at": self.clock(), "failure": None}
        try:
            resumed = self.book.change(run, *_RESUMABLE, **changes)
        except RunChangedError as changed:
            raise RunConflictError(ConflictCode.NOT_RESUMABLE, changed.run) from changed
        self.start(resumed.id, resumed.number, resumed.phase)
        return resumed

    def _supersede(self, run: Run) -> None:
        try:
            self.book.change(run, *_REPLACEABLE, RunStatus.FAILED, RunStatus.PAUSED, status=RunStatus.SUPERSEDED)
        except RunChangedError as changed:
            raise RunConflictError(ConflictCode.RUN_UNDER_WAY, changed.run) from changed


def settle_pause(book: RunBook, clock: Clock, run: Run) -> Run:
    """Make a run that is pausing paused, once no worker of any number may write any more; else leave it.

    A worker puts its lease before it looks at the run: one that comes after this look sees `pausing`, and writes
    nothing.
    """
    now = clock()
    if any(until > now for until in book.leases(run.id)):
        return run
    return book.change(run, RunStatus.PAUSING, status=RunStatus.PAUSED)


def _is_same_request(run: Run, context_text: str, by: str) -> bool:
    return run.status is RunStatus.PREPARING and run.context_text == context_text and run.requested_by == by


def _is_over_early(run: Run) -> bool:
    """Failed before anything was approved; or superseded by an attempt that was never written."""
    failed = run.status is RunStatus.FAILED and run.phase is Phase.PREPARE
    return failed or run.status is RunStatus.SUPERSEDED


def _failed_early(run: Run) -> bool:
    """Failed, or paused, before anything was approved."""
    return run.status in {RunStatus.FAILED, RunStatus.PAUSED} and run.phase is Phase.PREPARE
