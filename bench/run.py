"""A semester's whole run on the local cloud, by the state machine: prepared, posted, closed, over ever more people.

Each size has a cloud of its own. The guard doesn't listen to the ledger's stream here: it would share the two cores.
"""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
"""How many semesters the smallest population is posted, one after the other: the median is held against."""

_WORKER = "SemesterYieldsWorker"
_LOOK_SECONDS = 0.2
_KIB_IN_MIB = 1024


@dataclass
class Ran:
    """Whole runs over one population: seconds by the clock, and the largest resident memory of any worker's process."""

    participants: int
    seconds: list[float] = field(default_factory=list)
    peak_kib: int = 0

    @property
    def each_ms(self) -> float:
        """Milliseconds a participant."""
        return 1000 * median(self.seconds) / self.participants


def measure(sizes: Sequence[int] = SIZES, semesters: int = SEMESTERS) -> list[Measure]:
    """Time a participant by the clock at each size, what it grows by, and the workers' memory."""
    runs = [whole_run(count, semesters if count == min(sizes) else 1) for count in sizes]
    few, many = runs[0], runs[-1]
    growth = f"a participant's time among {few.participants:,}, the median of {len(few.seconds)} runs"
    memory = f"the largest worker's process among {few.participants:,}"
    return [
        *(
            Measure(f"run.{one.participants}_each", one.each_ms, "ms", "a participant, by the clock, on this machine")
            for one in runs
        ),
        Measure("run.growth", many.each_ms / few.each_ms, "ratio", growth, at_most(1.15)),
        *(
            Measure(f"run.{one.participants}_worker_mib", one.peak_kib / _KIB_IN_MIB, "MiB", "the largest worker")
            for one in runs
        ),
        Measure("run.memory_growth", many.peak_kib / few.peak_kib, "ratio", memory, at_most(1.15)),
    ]


def whole_run(participants: int, semesters: int) -> Ran:
    """Post so many semesters to so many participants on a cloud of their own."""
    cloud = Cloud(f"bench-{os.getpid()}")
    try:
        cloud.start()
        cloud.deploy()
        return _whole_run(cloud, participants, semesters)
    finally:
        cloud.stop()


def _whole_run(cloud: Cloud, participants: int, semesters: int) -> Ran:
    stack = cloud.stack
    dynamodb = stack.client("dynamodb")
    for mapping in stack.client("lambda").list_event_source_mappings()["EventSourceMappings"]:
        stack.client("lambda").update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    population = (few_lines(number) for number in range(1, participants + 1))
    fill(dynamodb, stack.outputs["LedgerTable"], stack.outputs["RegistryTable"], population)
    worker = _function(stack, _WORKER)
    desk = _desk(stack, worker)
    ran = Ran(participants)
    processes = _processes_of(cloud, worker)
    semester = SEMESTER
    for _ in range(semesters):
        began = time.perf_counter()
        run = desk.request(YIELD_RUN, str(semester), context_of(semester), "u-ana")
        prepared = _until(desk.book, run.id, RunStatus.PREPARED, ran, processes)
        approved = desk.approve([prepared], prepared.details["hash"], "u-luis")
        posted = _until(desk.book, approved.id, RunStatus.POSTED, ran, processes)
        ran.seconds.append(time.perf_counter() - began)
        if posted.details["result"]["posted"] != participants:
            raise RuntimeError(f"{run.id} posted {posted.details['result']}, of {participants:,} participants")
        semester = semester.next()
    return ran


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


def _until(book: RunBook, run_id: RunId, status: RunStatus, ran: Ran, processes: Callable[[], int]) -> Run:
    """The run, once it has a status. Raises `RuntimeError` where it fails."""
    while True:
        run = book.get(run_id)
        ran.peak_kib = max(ran.peak_kib, processes())
        if run.status is status:
            return run
        if run.status is RunStatus.FAILED:
            raise RuntimeError(f"{run_id} has failed: {run.details['failure']}")
        time.sleep(_LOOK_SECONDS)


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
