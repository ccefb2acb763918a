"""What the doors of the yields' runs answer."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from retiro.portal import Amount, Answer, Language, spoken
from retiro.registry.runs import Chunk, Run
from retiro.rules.calendar import Date, Semester
from retiro.runs.exceptions import Found
from retiro.runs.progress import progress
from semester_yields.yield_runs import Standing


class RunProgress(Answer):
    """How far a run is, in accounts: of `participants`, how many were looked at; of `lines`, how many are done."""

    participants: int
    looked_at: int
    lines: int
    done: int


class RunTotals(Answer):
    """What a prepared run would post: `participants` = `lines` + exceptions."""

    participants: int
    lines: int
    total_yield: Amount


class RunResult(Answer):
    """What was posted, proved by reading it back; what was withheld, by code; how many have something late."""

    posted: int
    withheld: dict[str, int]
    late: int
    total_yield: Amount


class RunFailure(Answer):
    """Why a run has failed."""

    code: str
    detail: str


class Attempt(Answer):
    """One of a semester's runs."""

    attempt: int
    status: str


class RunState(Answer):
    """A run, and how it stands."""

    kind: str
    attempt: int
    status: str
    hash: str | None
    prepared_by: str
    approved_by: str | None
    progress: RunProgress
    totals: RunTotals | None
    exceptions: dict[str, int]
    result: RunResult | None
    failure: RunFailure | None

    @classmethod
    def of(cls, run: Run, chunks: list[Chunk]) -> Self:
        """The state of a run."""
        details = run.details
        far = progress(chunks)
        return cls(
            kind=run.id.kind,
            attempt=run.id.attempt,
            status=str(run.status),
            hash=details.get("hash"),
            prepared_by=run.requested_by,
            approved_by=details.get("approved_by"),
            progress=RunProgress(
                participants=far.population, looked_at=far.looked_at, lines=far.prepared, done=far.done
            ),
            totals=_totals(details.get("totals")),
            exceptions=details.get("exceptions", {}),
            result=_result(details.get("result")),
            failure=RunFailure(**details["failure"]) if "failure" in details else None,
        )


class YieldRun(Answer):
    """How a semester stands: its latest run, `open` before any, with what a run would lack; and its reversal."""

    semester: Semester
    yield_date: Date
    status: str = Field(examples=["open", "preparing", "prepared", "posting", "posted"])
    missing: list[str]
    run: RunState | None
    attempts: list[Attempt]
    reversal: RunState | None

    @classmethod
    def of(cls, standing: Standing, chunks_of: Mapping[str, list[Chunk]]) -> Self:
        """The state of a semester; `chunks_of` are the chunks of the runs that it tells of, by the runs' names."""
        latest = standing.attempts[-1] if standing.attempts else None
        reversal = standing.reversals[-1] if standing.reversals else None
        return cls(
            semester=standing.semester,
            yield_date=standing.due_on,
            status=str(latest.status) if latest else "open",
            missing=list(standing.missing),
            run=RunState.of(latest, chunks_of[str(latest.id)]) if latest else None,
            attempts=[Attempt(attempt=run.id.attempt, status=str(run.status)) for run in standing.attempts],
            reversal=RunState.of(reversal, chunks_of[str(reversal.id)]) if reversal else None,
        )


class RunException(Answer):
    """A participant to whom nothing is posted, or something came late, and why."""

    participant_id: str
    code: str
    detail: str
    late_lines: list[int]
    settled_by: int | None

    @classmethod
    def of(cls, found: Found, language: Language) -> Self:
        """An exception in the language that is asked for."""
        return cls(
            participant_id=found.passbook,
            code=found.code,
            detail=spoken(found.sentence, language),
            late_lines=list(found.late),
            settled_by=found.settled_by,
        )


class RunExceptions(Answer):
    """A page of a run's exceptions."""

    items: list[RunException]
    next_cursor: str | None


RunKindName = Literal["yield", "yield_reversal"]


def _totals(totals: Mapping[str, Any] | None) -> RunTotals | None:
    if totals is None:
        return None
    return RunTotals(participants=totals["population"], lines=totals["lines"], total_yield=totals["cents"])


def _result(result: Mapping[str, Any] | None) -> RunResult | None:
    if result is None:
        return None
    return RunResult(
        posted=result["posted"], withheld=result["withheld"], late=result["late"], total_yield=result["cents"]
    )
