"""A ledger, a roster and a bucket on moto, a desk, and the state machine run in process."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from retiro.ledger import savings
from retiro.ledger.lines import Draft, Line, LineKind, next_line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.retries import Retries
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from retiro.registry import roster
from retiro.registry.roster import Holder, roster_item
from retiro.registry.runs import Chunk, Phase, Run, RunBook, RunId
from retiro.runs.desk import Desk
from retiro.runs.machine import Invocation, answer
from retiro.runs.objects import Row, RunObjects
from retiro.runs.start import start_execution
from retiro.runs.workshop import Sizes, Workshop
from tests.conftest import ENVIRONMENT, Stack, StoppedClock
from tests.runs.gifts import CONTEXT, Gifts
from tests.runs.states_language import execute

ANA, LUIS = "u-ana", "u-luis"
SIZES = Sizes(chunk_accounts=3, part_accounts=3, page_accounts=1)


class Executions:
    """Takes the place of Step Functions' client: keeps what was started, by name, until a test runs it."""

    class exceptions:  # noqa: N801  # as botocore names it
        class ExecutionAlreadyExists(Exception):  # noqa: N818  # as botocore names it
            pass

    def __init__(self) -> None:
        self.names: list[str] = []
        self.waiting: list[dict[str, Any]] = []

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> None:  # noqa: A002, N803
        assert stateMachineArn == "arn:machine"
        if name in self.names:
            raise self.exceptions.ExecutionAlreadyExists
        self.names.append(name)
        self.waiting.append(json.loads(input))


@dataclass
class Office:
    """All of a run's world, for a test."""

    shop: Workshop
    desk: Desk
    executions: Executions
    clock: StoppedClock
    kind: str = "gift"
    period: str = "2025-03"
    invocations: int = 0
    naps: list[float] = field(default_factory=list)

    @property
    def ledger(self) -> LedgerStore:
        return self.shop.ledger

    @property
    def passbooks(self) -> Passbooks:
        return Passbooks(self.shop.ledger, self.clock)

    # what people do

    def request(self, by: str = ANA, **context: Any) -> Run:
        return self.desk.request(self.kind, self.period, {**CONTEXT, **context}, by)

    def approve(self, run: Run, by: str = LUIS) -> Run:
        return self.desk.approve([self.run(run.id)], self.run(run.id).details["hash"], by)

    def prepared(self) -> Run:
        run = self.request()
        self.work_off()
        return self.run(run.id)

    def posted(self) -> Run:
        run = self.prepared()
        self.approve(run)
        self.work_off()
        return self.run(run.id)

    def resume(self, run: Run) -> Run:
        return self.desk.resume(self.run(run.id))

    # what the machine does

    def work_off(self, on_wait: Callable[[], None] = lambda: None) -> None:
        """Run all executions that wait, in the order in which they were started."""
        while self.executions.waiting:
            execute(self.worker, self.executions.waiting.pop(0), on_wait=on_wait)

    def worker(self, event: dict[str, Any]) -> dict[str, Any]:
        """An invocation of the worker, with a minute of time."""
        self.invocations += 1
        until = self.clock() + timedelta(minutes=1)
        return answer(self.shop, event, Invocation(f"invocation-{self.invocations}", until))

    def event(self, run: Run, op: str, phase: Phase, chunk: int | None = None) -> dict[str, Any]:
        """An event as the machine sends it."""
        event = {
            "op": op,
            "kind": run.id.kind,
            "period": run.id.period,
            "attempt": run.id.attempt,
            "number": run.number,
            "phase": str(phase),
        }
        return event if chunk is None else {**event, "chunk": chunk}

    # what there is

    def run(self, run_id: RunId | None = None) -> Run:
        return self.shop.book.get(run_id or RunId(self.kind, self.period, 1))

    def chunks(self, run: Run) -> list[Chunk]:
        return self.shop.book.chunks(run.id)

    def rows(self, run: Run) -> list[Row]:
        """All rows that were prepared."""
        return [row for chunk in self.chunks(run) for part in chunk.parts for row in self.shop.objects.read(part)]

    def outcomes(self, run: Run) -> dict[str, Row]:
        """What came of each prepared line, by passbook."""
        results = [result for chunk in self.chunks(run) for result in chunk.results]
        return {row["passbook"]: row for result in results for row in self.shop.objects.read(result)}

    def last(self, passbook: str) -> Line:
        line = self.ledger.last_line(passbook)
        assert line is not None
        return line

    def gifts(self) -> dict[str, int]:
        """How many lines of the run's kind each passbook has."""
        ids = [entry.passbook_id for shard in range(roster.SHARDS) for entry in roster.entries(self.shop.roster, shard)]
        return {one: sum(line.determination is not None for line in self.ledger.lines(one)) for one in ids}

    # what happens

    def enrol(self, passbook: str, *, savings_cents: int = 10_000, on: str = "2025-01-01", **state: Any) -> None:
        """A participant who has something since a day, all of it in fixed income."""
        day = date.fromisoformat(on)
        draft = savings.enrolment(None, day, {"fixed_income": 100}, EVA)
        self.put(passbook, None, replace(draft, state={**draft.state, **state}))
        self.shop.roster.insert(roster_item(passbook, "ERS", Holder.PARTICIPANT))
        if savings_cents:
            self.add(passbook, lambda last: savings.initial_transfer(last, savings_cents, day, EVA))

    def credit(self, passbook: str, cents: int, on: str) -> Line:
        day = date.fromisoformat(on)
        return self.add(passbook, lambda last: savings.contribution(last, cents, day, EVA))

    def report_death(self, passbook: str, on: str = "2025-06-30") -> Line:
        day = date.fromisoformat(on)
        return self.add(passbook, lambda _: savings.status_change(LineKind.DEATH_REPORT, day, EVA))

    def add(self, passbook: str, decide: Callable[[Line], Draft]) -> Line:
        last = self.last(passbook)
        return self.put(passbook, last, decide(last))

    def put(self, passbook: str, last: Line | None, draft: Draft) -> Line:
        """A line without a business key: moto copies a whole table for each transaction."""
        line = next_line(last, draft, passbook=passbook, fund="ERS", recorded_at=self.clock())
        self.ledger.put_line(line)
        return line


EVA = Origin("u-eva")


def make_office(stack: Stack, clock: StoppedClock, kinds: dict[str, Any], sizes: Sizes) -> Office:
    naps: list[float] = []
    executions = Executions()

    def start(run: RunId, number: int, phase: Phase) -> None:
        start_execution(
            executions,  # type: ignore[arg-type]
            state_machine_arn="arn:machine",
            worker_arn="arn:worker",
            run=run,
            number=number,
            phase=phase,
        )

    shop = Workshop(
        kinds=kinds,
        book=RunBook(stack.registry),
        roster=stack.registry,
        ledger=LedgerStore(
            stack.dynamodb, ENVIRONMENT["LEDGER_TABLE"], retries=Retries(sleep=naps.append, jitter=lambda: 0.5)
        ),
        objects=RunObjects(stack.s3, ENVIRONMENT["FILES_BUCKET"]),
        clock=clock,
        sizes=sizes,
    )
    return Office(shop, Desk(shop.book, clock, start), executions, clock, naps=naps)


@pytest.fixture
def few_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten shards: moto would take longer to count a thousand than the rest of a test takes."""
    monkeypatch.setattr(roster, "SHARDS", 10)


@pytest.fixture
def office(stack: Stack, clock: StoppedClock, few_shards: None) -> Office:
    """The office of gifts: ten participants with 100.00 each; chunks and parts of three, pages of one."""
    office = make_office(stack, clock, {"gift": Gifts()}, SIZES)
    for number in range(1, 11):
        office.enrol(f"P-{number:06d}")
    return office


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
