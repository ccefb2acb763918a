"""The system under simulation: the project's own code on a few hosts whose clocks differ, and people who don't give up.

Below the doors everything is the real thing: enrolments, remittances, runs, the engine, the ledger, the audit. What
DynamoDB, S3, Lambda and Step Functions do is simulated, and goes wrong as the seed says.
"""

import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any, Self, TypeVar

import pytest
from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError

from annuities.kinds import AnnuityKind
from ledger_guard.audit import Auditor
from participants.files import FileKind, FileStore
from payroll_deductions.crediting import RemittanceKind
from payroll_deductions.order_runs import MonthAheadError
from payroll_deductions.order_runs import NoRunError as NoOrdersError
from payroll_deductions.order_runs import NotPostedError as NothingOrderedError
from payroll_deductions.orders import OrderKind, OrderReversalKind
from payroll_deductions.remittances import Remittances
from retiro.ledger.board import BoardBook
from retiro.ledger.keys import KeyConflictError
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.plans import ORDER_REVERSAL_RUN, ORDER_RUN
from retiro.ledger.resolutions import RESOLUTION
from retiro.ledger.retries import BusyError, Retries
from retiro.ledger.store import LedgerStore
from retiro.portal import Principal, Problem
from retiro.registry import employers, roster
from retiro.registry.batches import ItemsUnreadError
from retiro.registry.clients import Party
from retiro.registry.jobs import Jobs
from retiro.registry.runs import Chunk, PartReference, Phase, Run, RunBook, RunId
from retiro.registry.table import Below, ChangedError, Table, from_attributes
from retiro.rules.refusals import Refusal
from retiro.runs import machine, population
from retiro.runs.desk import Desk, RunConflictError
from retiro.runs.jobs import JobStarter, JobWorker
from retiro.runs.objects import RunObjects
from retiro.runs.start import start_execution
from retiro.runs.workshop import Sizes, Workshop
from semester_yields.kinds import YieldKind, YieldReversalKind
from semester_yields.yield_runs import LaterSemesterStandsError, NoRunError, NotPostedError, YieldRuns
from tests.simulation import deductions
from tests.simulation import wire as wires
from tests.simulation.deductions import CREDITED_ROWS, Deductions
from tests.simulation.dynamodb import DynamoDB, Partition, unpacked
from tests.simulation.figures import RESOLUTIONS
from tests.simulation.gifts import Gifts
from tests.simulation.invariants import LEDGER, PAGE_ACCOUNTS, REGISTRY, Invariants, Operation
from tests.simulation.machines import Deliveries, Machines
from tests.simulation.model import Model
from tests.simulation.scheduler import Scheduler, ViolationError
from tests.simulation.wire import DeadError, Invocation, ObjectsClient, TablesClient, Weather, Wire

BEGINNING = datetime(2025, 7, 10, 16, 0, tzinfo=UTC)
"""Noon in Puerto Rico; both semesters of the fiscal year are over."""

HOSTS = 3
SHARDS = 8
EMPLOYERS = ("E-001", "E-002")
API_SECONDS = 29.0
WORKER_SECONDS = (40.0, 60.0, 300.0)

Answer = TypeVar("Answer")

REFUSALS = (
    Refusal, Problem, KeyConflictError, RunConflictError, NoRunError, NotPostedError, LaterSemesterStandsError,
    NoOrdersError, NothingOrderedError, MonthAheadError,
)  # fmt: skip
"""What an operation may be answered with, for good: nothing of it may have been done."""

_TOLD = {"no_money_to_place": "placement#"}
"""By code, what a refusal may change: the registry is told what the ledger says already, whoever finds out."""

NO_FAULT = (BusyError, HTTPClientError, UnreachableError, machine.RunFailedError, ItemsUnreadError)
"""What an attempt may end with that is no fault of ours: it is made again."""


@dataclass(frozen=True)
class Refused:
    """An operation's answer, where it was refused."""

    error: Exception

    @property
    def code(self) -> str:
        """The refusal's code, or the name of its class."""
        return str(getattr(self.error, "code", type(self.error).__name__))


class Host:
    """A machine that functions run on, with a clock of its own: what every function's `world()` builds."""

    def __init__(self, world: "World", index: int) -> None:
        scheduler = world.scheduler
        self.skew_seconds = 0.0
        self.clock: Callable[[], datetime] = lambda: (
            BEGINNING + timedelta(seconds=scheduler.now + world.jumped_seconds + self.skew_seconds)
        )
        self.index = index
        client: Any = TablesClient(world.wire, world.tables)
        objects: Any = world.objects
        machines: Any = world.machines
        self.registry = Table(client, REGISTRY)
        self.ledger = LedgerStore(client, LEDGER, retries=Retries(sleep=scheduler.sleep, jitter=scheduler.rng.random))
        self.passbooks = Passbooks(self.ledger, self.clock)
        self.board = BoardBook(self.ledger)
        self.book = RunBook(self.registry)
        self.shop = Workshop(
            kinds={
                "yield": YieldKind(self.clock),
                "yield_reversal": YieldReversalKind(),
                "annuity": AnnuityKind(),
                "gift": Gifts(),
                ORDER_RUN: OrderKind(self.registry),
                ORDER_REVERSAL_RUN: OrderReversalKind(),
            },
            book=self.book,
            roster=self.registry,
            ledger=self.ledger,
            objects=RunObjects(objects, "files"),
            clock=self.clock,
            sizes=Sizes(
                chunk_accounts=3,
                part_accounts=3,
                page_accounts=PAGE_ACCOUNTS,
                invocation_accounts=world.invocation_accounts,
            ),
        )

        def start(run: RunId, number: int, phase: Phase) -> None:
            start_execution(
                machines,
                state_machine_arn="arn:machine",
                worker_arn="arn:orders" if run.kind in {ORDER_RUN, ORDER_REVERSAL_RUN} else "arn:runs",
                run=run,
                number=number,
                phase=phase,
            )

        self.desk = Desk(self.book, self.clock, start)
        self.yields = YieldRuns(self.desk, self.board, self.shop.objects)
        self.auditor = Auditor(
            self.registry, self.ledger, objects, "files", self.clock, chunks=2, invocation_passbooks=4
        )
        jobs = Jobs(self.registry, "remittance")
        self.remittances = Remittances(
            self.passbooks, self.registry, jobs, JobStarter("remittance", jobs, machines, "arn:machine", "arn:credits")
        )
        kind = RemittanceKind(self.passbooks, self.board)
        self.crediting = JobWorker("remittance", jobs, kind, 1_000, CREDITED_ROWS, world.invocation_accounts)
        self.files = FileStore(objects, "files")
        self.file_jobs = Jobs(self.registry, "file")
        self.file_starter = JobStarter("participant_file", self.file_jobs, machines, "arn:machine", "arn:enrolling")
        file_kind = FileKind(self.file_jobs, self.files, self.passbooks, self.registry, self.board)
        self.enrolling = JobWorker("participant_file", self.file_jobs, file_kind, 2, 1, world.invocation_accounts)
        self.deductions = Deductions(self, objects, machines, world.invocation_accounts)


@dataclass
class World:
    """Everything of a seed."""

    seed: int
    trace: Callable[[str], None] | None = None
    jumped_seconds: float = 0.0
    operations: int = 0
    invocations: int = 0
    heads: list[tuple[str, int, bytes]] = field(default_factory=list)
    guarding: bool = True

    def __post_init__(self) -> None:
        self.scheduler = scheduler = Scheduler(self.seed)
        rng = scheduler.rng
        scheduler.restless = rng.choice([0.05, 0.2, 0.5])
        self.weather = Weather()
        self.deliveries = Deliveries()
        self.skew_seconds_max = rng.choice([0.0, 2.0, 2.0, 3600.0])
        self.invariants = Invariants(scheduler, clocks_agree=self.skew_seconds_max <= _SKEW_ALLOWED_SECONDS)
        self.invariants.heads = lambda *head: self.heads.append(head)
        self.tables = DynamoDB((LEDGER, REGISTRY), lambda: scheduler.now, self.invariants.committed)
        self.wire = Wire(scheduler, self.weather, self.trace)
        self.objects = ObjectsClient(self.wire)
        self.machines = Machines(scheduler, self.wire, self.deliveries, self.invoke)
        self.invocation_accounts = rng.choice([0, 2, 3])
        self.pausing = rng.choice([0.0, 0.03, 0.1])
        self.hosts = [Host(self, index) for index in range(HOSTS)]
        self.model = Model()
        for request in _board():
            self.tables.put_item(TableName=LEDGER, Item=request)
        for employer_id in EMPLOYERS:
            employers.register(self.hosts[0].registry, employers.Employer(employer_id, "ERS"))

    # -- weather

    def storm(self) -> None:
        """From now on things go wrong, as often as the seed says."""
        rng, weather, deliveries = self.scheduler.rng, self.weather, self.deliveries
        weather.refused = rng.choice([0.0, 0.005, 0.02, 0.05])
        weather.lost = rng.choice([0.0, 0.01, 0.03])
        weather.repeated = rng.choice([0.0, 0.01, 0.04])
        weather.dies = rng.choice([0.0, 0.001, 0.004])
        weather.stale = rng.choice([0.0, 0.3, 0.8])
        weather.stale_seconds = rng.choice([1.0, 30.0])
        weather.stalls = rng.choice([0.0, 0.001, 0.01])
        weather.partial = rng.choice([0.0, 0.1])
        deliveries.twice = rng.choice([0.0, 0.05, 0.2])
        deliveries.lost = rng.choice([0.0, 0.02])
        deliveries.stopped = rng.choice([0.0, 0.0, 0.02])
        self.set_clocks()

    def calm(self) -> None:
        """From now on nothing goes wrong."""
        self.weather.calm()
        self.deliveries.calm()

    def set_clocks(self) -> None:
        """Each host's clock is off by something, and the day may have gone on."""
        rng = self.scheduler.rng
        for host in self.hosts:
            host.skew_seconds = (2 * rng.random() - 1) * self.skew_seconds_max

    def jump(self) -> None:
        """All clocks are put forward, by up to a day, and each is off by something else than before."""
        self.jumped_seconds += self.scheduler.rng.random() * 86_400
        self.set_clocks()

    # -- people

    def ask(self, name: str, do: Callable[[Host], Answer]) -> Answer | Refused:
        """An operation through a function of the API, again and again until it is answered."""
        operation = Operation(name)
        self.scheduler.current.operation = operation
        self.operations += 1
        self._say(f"asks {name}")
        while True:
            operation.registry_keys.clear()
            try:
                answer = self.invoke_on(name, API_SECONDS, do)
            except REFUSALS as refusal:
                told = _TOLD.get(getattr(refusal, "code", ""), "-")
                changed = [key for key in operation.registry_keys if not key[0].startswith(told)]
                if operation.ledger_writes or changed:
                    detail = (
                        f"{name} was refused ({refusal!r}), wrote {operation.ledger_writes} items, changed {changed}"
                    )
                    self.scheduler.fail(ViolationError("refused_changes_nothing", detail))
                self._say(f"is refused {name}: {refusal}")
                return Refused(refusal)
            except (DeadError, ClientError, *NO_FAULT):
                self.scheduler.sleep(0.5 + self.scheduler.rng.random() * 20)
            else:
                self._say(f"has done {name}")
                return answer

    def invoke(self, arn: str, payload: dict[str, Any], name: str) -> Any:
        """An invocation of a worker."""
        seconds = self.scheduler.rng.choice(WORKER_SECONDS)
        return self.invoke_on(
            name, seconds, lambda host: _FUNCTIONS[arn](self, host, payload), number=payload["number"]
        )

    def invoke_on(
        self, name: str, seconds: float, do: Callable[[Host], Answer], *, number: int | None = None
    ) -> Answer:
        """An invocation of a function on some host; a fault of ours is a violation."""
        task = self.scheduler.current
        host = self.scheduler.rng.choice(self.hosts)
        self.invocations += 1
        task.invocation = invocation = Invocation(
            f"{name} {self.invocations}", self.scheduler.now + seconds, host.index, number=number
        )
        try:
            return do(host)
        except (*REFUSALS, *NO_FAULT):
            raise
        except Exception as error:
            if not (isinstance(error, ClientError) and error.response["Error"]["Code"] in wires.TRANSIENT):
                where = traceback.format_exc()
                self.scheduler.fail(ViolationError("no_own_fault", f"{name}: {error!r}\n{where}"))
            raise
        finally:
            if task.invocation is invocation:
                task.invocation = None

    def remaining_ms(self) -> int:
        """What is left of the time of the invocation under way."""
        return int((self.scheduler.current.invocation.ends_at - self.scheduler.now) * 1000)

    # -- what the registry and the bucket hold, for who looks on

    def chunks(self, run: RunId) -> list[Chunk]:
        """A run's chunks."""
        partition = self.tables.tables[REGISTRY].get(run.partition, Partition())
        items = [unpacked(partition.items[sk]) for sk in partition.order if sk.startswith("chunk#")]
        return [Chunk.from_item(from_attributes(item)) for item in items]

    def rows(self, parts: Iterable[PartReference]) -> dict[str, Any]:
        """The rows of objects, by passbook."""
        found = {}
        for part in parts:
            for text in self.objects.objects["files", part.key].splitlines():
                row = json.loads(text)
                found[row["passbook"]] = row
        return found

    def check_accounted(self, run: Run) -> None:
        """All that a run has posted was prepared so, to the cent; a run that is over has counted it rightly."""
        prepared = self.rows(part for chunk in self.chunks(run.id) for part in chunk.parts)
        written = self.invariants.written.get((run.id.kind, run.id.period, run.id.attempt), {})
        for passbook, postings in written.items():
            row = prepared.get(passbook, {})
            found = [[posting["account"], posting["cents"]] for posting in postings]
            if "draft" not in row or row["draft"]["postings"] != found:
                self.fail("accounted", f"{run.id} posted {found} to {passbook}, and prepared {row.get('draft')}")
        result = run.details.get("result")
        if result is None:
            return
        cents = sum(prepared[passbook]["cents"] for passbook in written)
        told = result["posted"], result["cents"], result["posted"] + sum(result["withheld"].values())
        if told != (len(written), cents, run.details["totals"]["lines"]):
            self.fail("accounted", f"{run.id} says {result}, and {len(written)} lines of {cents} cents stand")

    def fail(self, invariant: str, detail: str) -> None:
        """End the simulation with what was found."""
        self.scheduler.fail(ViolationError(invariant, detail))

    # -- the guard of the ledger's stream

    def guard(self) -> None:
        """Bear witness of each line: at least once, and in no particular order."""
        rng = self.scheduler.rng
        while self.guarding or self.heads:
            if not self.heads:
                self.scheduler.sleep(5.0)
                continue
            record = self.heads[0] if rng.random() < 0.1 else self.heads.pop(0)
            try:
                self.invoke_on("guard", 60.0, lambda host, record=record: self._bear(host, *record))
            except (DeadError, ClientError, *NO_FAULT):
                self.heads.append(record)
                self.scheduler.sleep(1.0)

    def _bear(self, host: Host, passbook: str, sequence: int, digest: bytes) -> None:
        key = (roster.partition(roster.shard_of(passbook)), passbook)
        try:
            host.registry.update(key, {"head": sequence, "head_hash": digest}, where={"head": Below(sequence)})
        except ChangedError as unchanged:
            if unchanged.existing is None:
                self.scheduler.fail(ViolationError("on_roster", f"{passbook} has a line and isn't on the roster"))

    def _say(self, what: str) -> None:
        if self.trace is not None:
            self.trace(f"{self.scheduler.steps:6} {self.scheduler.now:10.3f} {self.scheduler.current.name:34} {what}")


def principal(person: str, party: Party = Party.OFFICE, **more: Any) -> Principal:
    """A person who acts through a client of a party."""
    return Principal(str(party), party, frozenset(), acting_user=person, **more)


def _runs(world: World, host: Host, payload: dict[str, Any]) -> Any:
    until = host.clock() + timedelta(milliseconds=world.remaining_ms())
    return machine.answer(host.shop, payload, machine.Invocation(world.scheduler.current.invocation.name, until))


def _orders(world: World, host: Host, payload: dict[str, Any]) -> Any:
    """As `payroll_deductions.orders_worker` does, but for its metric."""
    answered = _runs(world, host, payload)
    if payload["op"] == "work" and payload["phase"] == Phase.CLOSE and answered["done"]:
        run = RunId(payload["kind"], payload["period"], payload["attempt"])
        host.deductions.index.index(run, payload["chunk"])
    return answered


def _jobs(worker: Any, world: World, payload: dict[str, Any]) -> Any:
    context: Any = SimpleNamespace(get_remaining_time_in_millis=world.remaining_ms)
    return worker.handle(payload, context)


def _audit(world: World, host: Host, payload: dict[str, Any]) -> Any:
    """As `ledger_guard.worker` does."""
    run = RunId(payload["kind"], payload["period"], payload["attempt"])
    match payload["op"]:
        case "begin":
            return {"chunks": host.auditor.begin(run)}
        case "work":
            return {"done": host.auditor.work(run, payload["chunk"], world.remaining_ms)}
        case "end":
            host.auditor.end(run)
            return {"next": None, "wait": False}
        case _:
            host.auditor.fail(run)
            return {}


_FUNCTIONS: Mapping[str, Callable[[World, Host, dict[str, Any]], Any]] = {
    "arn:runs": _runs,
    "arn:credits": lambda world, host, payload: _jobs(host.crediting, world, payload),
    "arn:enrolling": lambda world, host, payload: _jobs(host.enrolling, world, payload),
    "arn:audit": _audit,
    "arn:orders": _orders,
    deductions.WORKER: lambda world, host, payload: _jobs(host.deductions.workers[payload["kind"]], world, payload),
}

_SKEW_ALLOWED_SECONDS = 2.0
"""Clocks that differ by no more than twice this keep a pause's promise, which allows five seconds."""


@cache
def _board() -> list[Any]:
    """The items of the Board's book, made once a process."""
    tables = DynamoDB((LEDGER,))
    client: Any = tables
    book = BoardBook(LedgerStore(client, LEDGER))
    for number, body in enumerate(RESOLUTIONS):
        resolution = RESOLUTION.validate_json(body)
        book.adopt(f"RB-{number}", resolution, proposed_by="u-eva", adopted_by="u-leo", now=BEGINNING)
    return list(book.store.items("board#ERS"))


class InTurn:
    """In the place of a pool of threads: the simulation has one thing going on at a time."""

    def __init__(self, _workers: int) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    map = staticmethod(map)

    def submit(self, do: Callable[..., Any], *given: Any) -> "Future[Any]":
        """Done at once. Who dies in it isn't caught: nothing of the process goes on."""
        future: Future[Any] = Future()
        try:
            future.set_result(do(*given))
        except Exception as error:  # noqa: BLE001  # whoever asks for the result gets it
            future.set_exception(error)
        return future

    def shutdown(self, *, cancel_futures: bool) -> None:
        pass


@contextmanager
def installed(patches: Iterable[tuple[Any, str, Any]] = ()) -> Iterator[None]:
    """A roster of few shards, pages of few rows, no threads but the simulation's, and what else is otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roster, "SHARDS", SHARDS)
        patch.setattr(population, "ThreadPoolExecutor", InTurn)
        for module, page_rows in deductions.PAGES:
            patch.setattr(module, "PAGE_ROWS", page_rows)
        for module, name, other in patches:
            patch.setattr(module, name, other)
        yield
