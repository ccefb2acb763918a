"""The worker of a job: begin, work and end, as the runs' state machine asks for them.

    begin -> {"chunks": [0, 1]}     work -> {"done": false}     end -> {"next": null, "wait": false}     fail -> {}

A kind says what its rows are and how to take some of them; taking the same rows twice must be taking them once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from retiro.registry.jobs import Cursor, FencedError, Jobs
from retiro.registry.runs import RunId
from retiro.runs.start import start_execution

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_stepfunctions import SFNClient

_HAND_BACK_MS = 20_000
"""How much of an invocation's time must be left to take another page of rows."""


class WorkerEvent(BaseModel):
    """What the state machine asks of a worker. An event of another shape is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    op: Literal["begin", "work", "end", "fail"]
    kind: str
    period: str
    attempt: int
    number: int
    phase: str
    chunk: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class JobStarter:
    """Starts the executions that work jobs of one kind off. `name` is the kind, as its worker knows it."""

    name: str
    jobs: Jobs
    stepfunctions: "SFNClient"
    state_machine_arn: str
    worker_arn: str

    def start(self, job_id: str) -> None:
        """Start the job's next execution, which fences the one before; nothing where the job is done."""
        number = self.jobs.next_number(job_id)
        if number is not None:
            start_execution(
                self.stepfunctions,
                state_machine_arn=self.state_machine_arn,
                worker_arn=self.worker_arn,
                run=RunId(self.name, job_id, 1),
                number=number,
                phase="work",
            )


class Kind(Protocol):
    """What a job of some kind does."""

    def rows(self, job_id: str) -> Sequence[Any]:
        """The job's rows, always the same ones. They are looked at by pages: all of them needn't be in memory."""

    def take(self, job_id: str, first: int, rows: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
        """Take these rows, the first of which is number `first` of the job, and say what is to be said of them."""


Notes = Sequence[Mapping[str, Any]]
"""What is to be said of some rows of a chunk."""


def _appended(before: Notes, notes: Notes) -> Notes:
    return [*before, *notes]


@dataclass(frozen=True)
class JobWorker:
    """Works jobs of one kind off, by chunks of `chunk_rows` and pages of `page_rows`; the cursor is saved after a page.

    `invocation_rows` is how many rows an invocation takes before it hands back; 0 leaves that to the time. `finish` is
    what the kind does with a job all of whose rows are taken, before it is done; done again, it must be done once.
    `fold` adds a page's notes to a chunk's: where there may be many pages, so that they stay few.
    """

    name: str
    jobs: Jobs
    kind: Kind
    chunk_rows: int
    page_rows: int
    invocation_rows: int = 0
    finish: Callable[[str], None] | None = None
    fold: Callable[[Notes, Notes], Notes] = _appended

    def handle(self, raw_event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
        """Answer the state machine. Raises `ValueError` for an event that isn't for this worker."""
        event = WorkerEvent.model_validate(dict(raw_event))
        if event.kind != self.name:
            raise ValueError(f"a job of kind {event.kind}, where {self.name} is worked")
        try:
            return self._answer(event, context.get_remaining_time_in_millis)
        except FencedError:
            # A newer execution goes on with it: this one stops, in peace.
            return {"chunks": [], "done": True, "next": None, "wait": False}

    def _answer(self, event: WorkerEvent, remaining_ms: Callable[[], int]) -> dict[str, Any]:
        match event.op:
            case "begin":
                chunks = -(-len(self.kind.rows(event.period)) // self.chunk_rows)
                self.jobs.begin(event.period, event.number, chunks)
                return {"chunks": list(range(chunks))}
            case "work":
                if event.chunk is None:
                    raise ValueError("work without a chunk")
                return {"done": self._work(event.period, event.chunk, event.number, remaining_ms)}
            case "end":
                if self.finish is not None:
                    # A chunk that an older execution was fenced off from is answered as done, and isn't.
                    self.jobs.check_newest(event.period, event.number)
                    self.finish(event.period)
                self.jobs.end(event.period, event.number)
                return {"next": None, "wait": False}
            case "fail":
                self.jobs.fail(event.period, event.number)
                return {}

    def _work(self, job_id: str, chunk: int, number: int, remaining_ms: Callable[[], int]) -> bool:
        rows = self.kind.rows(job_id)
        first, end = chunk * self.chunk_rows, min((chunk + 1) * self.chunk_rows, len(rows))
        cursor = self.jobs.cursor(job_id, chunk)
        taken = 0
        while first + cursor.done < end:
            if remaining_ms() < _HAND_BACK_MS or (self.invocation_rows and taken >= self.invocation_rows):
                return False
            start = first + cursor.done
            page = rows[start : min(start + self.page_rows, end)]
            notes = self.kind.take(job_id, start, page)
            after = Cursor(cursor.done + len(page), self.fold(cursor.notes, notes))
            moved = self.jobs.advance(job_id, chunk, number, cursor, after)
            cursor, taken = after if moved else self.jobs.cursor(job_id, chunk), taken + len(page)
        return True
