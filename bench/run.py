"""A semester's whole run on the local cloud, by the state machine: prepared, posted, closed, over ever more people.

Each size has a cloud of its own, and all are there at once, so that a round posts them one after the other. The guard
doesn't listen to the ledger's stream here: it would share the two cores.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

from bench.accounts import SEMESTER
from bench.clerk import now
from bench.measures import Measure, at_most
from bench.population import CONTEXT, few_lines, fill
from cli.cloud import Cloud
from cli.stacks import Stack
from retiro.ledger.lines import YIELD_RUN
from retiro.registry.runs import Phase, Run, RunBook, RunId, RunStatus
from retiro.registry.table import Table
from retiro.rules.calendar import Semester
from retiro.runs.desk import Desk
from retiro.runs.start import start_execution

SIZES = (1_000, 10_000, 30_000)
SEMESTERS = 5
"""How many rounds: in each, every population is posted the same semester, one after the other."""

_WORKER = "SemesterYieldsWorker"
_LOOK_SECONDS = 0.2
_KIB_IN_MIB = 1024


class Population:
    """Accounts on a cloud of their own, which are posted semester by semester.

    `seconds` is what each took by the clock, `peak_kib` the largest resident memory of any worker's process.
    """

    def __init__(self, cloud: Cloud, participants: int) -> None:
        stack = cloud.stack
        for mapping in stack.client("lambda").list_event_source_mappings()["EventSourceMappings"]:
            stack.client("lambda").update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
        accounts = (few_lines(number) for number in range(1, participants + 1))
        fill(stack.client("dynamodb"), stack.outputs["LedgerTable"], stack.outputs["RegistryTable"], accounts)
        worker = _function(stack, _WORKER)
        self.participants = participants
        self.seconds: list[float] = []
        self.peak_kib = 0
        self._desk = _desk(stack, worker)
        self._processes = _processes_of(cloud, worker)

    @property
    def each_ms(self) -> float:
        """Milliseconds a participant, the median of all rounds."""
        return 1000 * median(self.seconds) / self.participants

    def post(self, semester: Semester) -> None:
        """Prepare, approve, post and close. Raises `RuntimeError` where not everybody is posted."""
        began = time.perf_counter()
        run = self._desk.request(YIELD_RUN, str(semester), context_of(semester), "u-ana")
        prepared = self._until(run.id, RunStatus.PREPARED)
        approved = self._desk.approve([prepared], prepared.details["hash"], "u-luis")
        posted = self._until(approved.id, RunStatus.POSTED)
        self.seconds.append(time.perf_counter() - began)
        if posted.details["result"]["posted"] != self.participants:
            raise RuntimeError(f"{run.id} posted {posted.details['result']}, of {self.participants:,} participants")

    def _until(self, run_id: RunId, status: RunStatus) -> Run:
        """The run, once it has a status. Raises `RuntimeError` where it fails."""
        while True:
            run = self._desk.book.get(run_id)
            self.peak_kib = max(self.peak_kib, self._processes())
            if run.status is status:
                return run
            if run.status is RunStatus.FAILED:
                raise RuntimeError(f"{run_id} has failed: {run.details['failure']}")
            time.sleep(_LOOK_SECONDS)


def measure(sizes: Sequence[int] = SIZES, semesters: int = SEMESTERS) -> list[Measure]:
    """Time a participant by the clock at each size, what it grows by, and the workers' memory."""
    with ExitStack() as clouds:
        populations = [Population(clouds.enter_context(_cloud(count)), count) for count in sizes]
        semester = SEMESTER
        for number in range(semesters):
            for one in populations if number % 2 == 0 else reversed(populations):
                one.post(semester)
            semester = semester.next()
    few, many = populations[0], populations[-1]
    growth = f"a participant's time among {few.participants:,} in the same round, the median of {semesters}"
    memory = f"the largest worker's process among {few.participants:,}"
    grown = [
        (of_many / many.participants) / (of_few / few.participants)
        for of_few, of_many in zip(few.seconds, many.seconds, strict=True)
    ]
    return [
        *(
            Measure(f"run.{one.participants}_each", one.each_ms, "ms", "a participant, by the clock, on this machine")
            for one in populations
        ),
        Measure("run.growth", median(grown), "ratio", growth, at_most(1.15)),
        *(
            Measure(f"run.{one.participants}_worker_mib", one.peak_kib / _KIB_IN_MIB, "MiB", "the largest worker")
            for one in populations
        ),
        Measure("run.memory_growth", many.peak_kib / few.peak_kib, "ratio", memory, at_most(1.15)),
    ]


@contextmanager
def _cloud(participants: int) -> Iterator[Cloud]:
    """A cloud for so many, which is taken away in the end."""
    cloud = Cloud(f"bench-{os.getpid()}-{participants}")
    try:
        cloud.start()
        cloud.deploy()
        yield cloud
    finally:
        cloud.stop()


def context_of(semester: Semester) -> dict[str, Any]:
    """The same figures for another semester."""
    return {**CONTEXT, "semester": str(semester), "yield_date": semester.ends_on.isoformat()}


def _function(stack: Stack, logical_id: str) -> str:
    described = stack.client("cloudformation").describe_stack_resource(
        StackName=stack.name, LogicalResourceId=logical_id
    )
    return str(described["StackResourceDetail"]["PhysicalResourceId"])


def _desk(stack: Stack, worker: str) -> Desk:
    configuration = stack.client("lambda").get_function_configuration(FunctionName=worker)

    def start(run: RunId, number: int, phase: Phase) -> None:
        start_execution(
            stack.client("stepfunctions"),
            state_machine_arn=stack.outputs["RunsStateMachineArn"],
            worker_arn=configuration["FunctionArn"],
            run=run,
            number=number,
            phase=phase,
        )

    book = RunBook(Table(stack.client("dynamodb"), stack.outputs["RegistryTable"]))
    return Desk(book, now, start)


def _processes_of(cloud: Cloud, function: str) -> Callable[[], int]:
    """Says the resident memory, in KiB, of the largest process of a function; 0 where none runs."""
    running = cloud.running
    if running is None:
        raise RuntimeError("the local cloud doesn't run")
    here = f"{running.temporary}/ministack-lambda-{function}-"

    def largest() -> int:
        listed = subprocess.run(["ps", "-eww", "-o", "rss=,command="], capture_output=True, text=True, check=True)  # noqa: S607
        return max((int(line.split()[0]) for line in listed.stdout.splitlines() if here in line), default=0)

    return largest
