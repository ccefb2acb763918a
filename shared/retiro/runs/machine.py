"""What the state machine asks of a worker: begin a phase, work a chunk, end a phase, note a failure.

Each of these may be asked twice, or late: the run's item decides, by number and status, what is still to be done.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from retiro.ledger.evidence import Evidence
from retiro.registry.runs import Chunk, Phase, Run, RunChangedError, RunId, RunStatus
from retiro.runs import closing, population, posting, preparing
from retiro.runs.desk import settle_pause
from retiro.runs.hashes import run_hash
from retiro.runs.kinds import RunKind
from retiro.runs.posting import WITHHELD
from retiro.runs.progress import exceptions, total
from retiro.runs.workshop import WORKING, Watch, Workshop

_CLOCK_SKEW = timedelta(seconds=5)

UNDER_WAY = (RunStatus.PREPARING, RunStatus.APPROVED, RunStatus.POSTING, RunStatus.PAUSING)
"""The statuses in which an execution is at work, or should be."""


class WorkerEvent(BaseModel):
    """What the state machine sends. Anything of another shape is refused: it would be another machine's."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    op: Literal["begin", "work", "end", "fail"]
    kind: str
    period: str
    attempt: Annotated[int, Field(ge=1)]
    number: Annotated[int, Field(ge=1)]
    phase: Annotated[Phase, Field(strict=False)]
    chunk: Annotated[int, Field(ge=0)] | None = None
    error: str | None = None

    @property
    def run_id(self) -> RunId:
        """The run that it is about."""
        return RunId(self.kind, self.period, self.attempt)


@dataclass(frozen=True)
class Invocation:
    """A worker's invocation: a name that no other has, and when its time is over."""

    name: str
    until: datetime


class RunFailedError(Exception):
    """The run has failed, and its item says why. It ends the execution, whose failure is what the alarm watches."""


def answer(shop: Workshop, event: Mapping[str, Any], invocation: Invocation) -> dict[str, Any]:
    """Do what the state machine asks. Raises pydantic's `ValidationError` for an event of another shape."""
    asked = WorkerEvent.model_validate(event)
    kind = shop.kinds[asked.kind]
    match asked.op, asked.chunk:
        case "begin", None:
            return {"chunks": _begin(shop, kind, asked)}
        case "work", int(chunk):
            return {"done": _work(shop, kind, asked, chunk, invocation)}
        case "end", None:
            return _end(shop, asked)
        case "fail", None:
            _fail(shop, asked)
            return {}
        case _:
            raise ValueError("a chunk is named where work is asked, and only there")


def _begin(shop: Workshop, kind: RunKind, asked: WorkerEvent) -> list[int]:
    """The chunks that the phase has work in. None for an execution that is not the run's any more."""
    run = shop.book.get(asked.run_id)
    if run.number != asked.number:
        return []
    if asked.phase is Phase.PREPARE and run.status is RunStatus.PREPARING:
        _plan(shop, kind, run)
    if asked.phase is Phase.POST and run.status in {RunStatus.APPROVED, RunStatus.POSTING}:
        run = _start_posting(shop, kind, run)
    if run.status not in WORKING[asked.phase]:
        return []
    return [chunk.index for chunk in shop.book.chunks(run.id) if not _is_done(chunk, asked)]


def _plan(shop: Workshop, kind: RunKind, run: Run) -> None:
    """Cut the population into chunks, once: the bounds that the run's item took first are the ones."""
    if "bounds" not in run.details:
        bounds = population.plan(shop.roster, kind, shop.sizes.chunk_accounts)
        run = shop.book.fix(run, bounds=bounds)
    shop.book.plan(run.id, list(population.chunks(run.details["bounds"])))
    _unstick(shop, run)


def _start_posting(shop: Workshop, kind: RunKind, run: Run) -> Run:
    """What comes before the first line: the evidence, and the runs that this one reverses say so."""
    for evidence in (_approval(run), *kind.evidence(run)):
        shop.ledger.put_evidence(evidence)
    _mark_reversed(shop, run, RunStatus.REVERSING)
    _unstick(shop, run)
    try:
        return shop.book.change(run, RunStatus.APPROVED, RunStatus.POSTING, status=RunStatus.POSTING)
    except RunChangedError:
        return shop.book.get(run.id)


def _approval(run: Run) -> Evidence:
    """Who approved what, as evidence."""
    names = ("hash", "totals", "approved_by", "approved_at")
    return Evidence(
        "approval", str(run.id), {"requested_by": run.requested_by} | {name: run.details[name] for name in names}
    )


def _unstick(shop: Workshop, run: Run) -> None:
    for chunk in shop.book.chunks(run.id):
        if chunk.stuck is not None:
            shop.book.move(run.id, chunk, stuck=None)


def _mark_reversed(shop: Workshop, run: Run, status: RunStatus) -> None:
    """A run that reverses others names them in its context: they are reversing, and then reversed."""
    reverses = run.context.get("reverses")
    if reverses is None:
        return
    for attempt in reverses["attempts"]:
        other = shop.book.get(RunId(reverses["kind"], run.id.period, attempt))
        if other.status is not status:
            shop.book.change(other, RunStatus.POSTED, RunStatus.REVERSING, status=status)


def _work(shop: Workshop, kind: RunKind, asked: WorkerEvent, chunk: int, invocation: Invocation) -> bool:
    """Work on a chunk under a lease, put before the first look at the run, and taken away when nothing is written."""
    lease = f"{chunk:04d}#{asked.number:04d}#{invocation.name}"
    shop.book.lease(asked.run_id, lease, invocation.until + _CLOCK_SKEW)
    try:
        watch = Watch(shop, asked.run_id, asked.number, asked.phase, invocation.until)
        return _PASSES[asked.phase](shop, kind, chunk, watch)
    finally:
        shop.book.release(asked.run_id, lease)


_PASSES: Mapping[Phase, Callable[[Workshop, RunKind, int, Watch], bool]] = {
    Phase.PREPARE: preparing.work,
    Phase.POST: posting.work,
    Phase.CLOSE: closing.work,
}


def _is_done(chunk: Chunk, asked: WorkerEvent) -> bool:
    match asked.phase:
        case Phase.PREPARE:
            return chunk.prepared
        case Phase.POST:
            return len(chunk.results) == len(chunk.parts)
        case Phase.CLOSE:
            return closing.is_checked(chunk, asked.number)


def _end(shop: Workshop, asked: WorkerEvent) -> dict[str, Any]:
    """What comes after the phase: the next one, nothing, or another look in a while."""
    run = shop.book.get(asked.run_id)
    if run.number != asked.number:
        return _after()
    try:
        if run.status is RunStatus.PAUSING:
            return _after(wait=settle_pause(shop.book, shop.clock, run).status is RunStatus.PAUSING)
        if run.status in WORKING[asked.phase]:
            return _after(_end_phase(shop, run, asked))
    except RunChangedError:
        return _after(wait=True)  # somebody has paused or resumed it this moment: look again
    return _after()


def _end_phase(shop: Workshop, run: Run, asked: WorkerEvent) -> Phase | None:
    """Draw the phase's conclusion; the phase that follows. Raises `RunFailedError`."""
    chunks = shop.book.chunks(run.id)
    stuck = [chunk.stuck for chunk in chunks if chunk.stuck is not None]
    if stuck:
        count = sum(listed.counts[preparing.THROTTLED] for listed in stuck)
        raise failed(shop, run, "throttled", f"{count} accounts were not done for want of capacity.")
    if not all(_is_done(chunk, asked) for chunk in chunks):
        raise failed(shop, run, "chunk_unfinished", "A chunk was left before its end.")
    match asked.phase:
        case Phase.PREPARE:
            _end_prepare(shop, run, chunks)
            return None
        case Phase.POST:
            shop.book.change(run, RunStatus.POSTING, phase=Phase.CLOSE)
            return Phase.CLOSE
        case Phase.CLOSE:
            _end_close(shop, run, chunks)
            return None


def _after(phase: Phase | None = None, *, wait: bool = False) -> dict[str, Any]:
    return {"next": None if phase is None else {"phase": str(phase)}, "wait": wait}


def _end_prepare(shop: Workshop, run: Run, chunks: list[Chunk]) -> None:
    totals = {"lines": _sum(chunks, "lines"), "cents": _sum(chunks, "cents")}
    excepted = exceptions(chunks)
    totals["population"] = totals["lines"] + sum(excepted.values())
    shop.book.change(
        run,
        RunStatus.PREPARING,
        status=RunStatus.PREPARED,
        totals=totals,
        exceptions=excepted,
        hash=run_hash(run, chunks, totals),
    )


def _end_close(shop: Workshop, run: Run, chunks: list[Chunk]) -> None:
    """Prepared = posted + withheld, in accounts and in cents, or the run fails."""
    counts: Counter[str] = Counter()
    problems: list[str] = []
    for chunk in chunks:
        check = chunk.check or {}
        counts.update(check["counts"])
        problems += check["problems"]
    withheld = {name.removeprefix(WITHHELD): count for name, count in counts.items() if name.startswith(WITHHELD)}
    totals = run.details["totals"]
    accounted = counts["posted"] + sum(withheld.values())
    cents_accounted = counts["cents"] + counts["cents_not_posted"]
    if problems or accounted != totals["lines"] or cents_accounted != totals["cents"]:
        named = ", ".join(problems[:_PROBLEMS_NAMED_MAX])
        raise failed(
            shop, run, "not_proved", f"Prepared {totals['lines']}, found posted or withheld {accounted}: {named}."
        )
    late = sum(result.counts.get("late", 0) for chunk in chunks for result in chunk.results)
    result = {"posted": counts["posted"], "cents": counts["cents"], "withheld": withheld, "late": late}
    _mark_reversed(shop, run, RunStatus.REVERSED)
    shop.book.change(run, RunStatus.POSTING, status=RunStatus.POSTED, result=result, closed_at=shop.clock())


_PROBLEMS_NAMED_MAX = 20


def _sum(chunks: Iterable[Chunk], name: str) -> int:
    return sum(total(chunk, name) for chunk in chunks)


def failed(shop: Workshop, run: Run, code: str, detail: str) -> RunFailedError:
    """Write into the run's item that it has failed, and give the error that ends the execution."""
    shop.book.change(run, *UNDER_WAY, status=RunStatus.FAILED, failure={"code": code, "detail": detail})
    return RunFailedError(f"{run.id}: {code}. {detail}")


def _fail(shop: Workshop, asked: WorkerEvent) -> None:
    """The execution has failed: the run has too, unless it says so already or is another execution's."""
    run = shop.book.get(asked.run_id)
    if run.number == asked.number and run.status in UNDER_WAY:
        try:
            failed(shop, run, "execution_failed", f"{asked.phase}: {asked.error or 'unknown'}")
        except RunChangedError:
            return
