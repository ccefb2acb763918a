"""A yield run over a million accounts and over ten, simulated on the published limits of DynamoDB and Lambda.

The engine is modelled as it is: chunks of whole shards, parts, pages, requests in flight, looks at the run, moves of
the cursors, hand-backs before the time is over, and both layers of retries, botocore's and the ledger's. The settings
are read from the code and from run.asl.json, the limits from limits.toml, the processor's time from units.toml.
"""

import json
import math
import random
import tomllib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import simpy

from bench.measures import Measure, at_most
from cli.cost.units import unit
from retiro.ledger.retries import Retries
from retiro.registry.roster import SHARDS
from retiro.runs.worker import AT_ONCE
from retiro.runs.workshop import RESERVE, Sizes

HERE = Path(__file__).parent
Steps = Generator[simpy.Event, Any, None]
BATCH = 100
BOTOCORE_ATTEMPTS = 4
MB = 1024 * 1024


@cache
def limit(name: str) -> float:
    """A published limit, or what is taken where nothing is published."""
    return float(tomllib.loads((HERE / "limits.toml").read_text())[name]["value"])


@cache
def map_concurrency() -> int:
    """How many chunks the state machine has under way."""
    definition = json.loads((HERE.parent / "functions" / "run.asl.json").read_text())
    return int(definition["States"]["Chunks"]["MaxConcurrency"])


def ideal_seconds(units: float, at_start: float, quota: float, doubles_after: float = math.inf) -> float:
    """What a table's limit alone allows: used to the full from the first moment, and doubled each so many seconds.

    8,000 units at 4,000 a second take 2 seconds.
    """
    seconds, capacity = 0.0, min(at_start, quota)
    while units > capacity * doubles_after and capacity < quota:
        units -= capacity * doubles_after
        seconds += doubles_after
        capacity = min(2 * capacity, quota)
    return seconds + units / capacity


class Throughput:
    """So many units a second; a second's worth is kept, no more. It doubles some time after it was used to the full."""

    def __init__(self, env: simpy.Environment, per_second: float, quota: float, doubles_after: float) -> None:
        self.env = env
        self.per_second = min(per_second, quota)
        self.quota = quota
        self.doubles_after = doubles_after
        self.left = 0.0
        self.at = env.now
        self.full_since: float | None = None
        self.used = self.refused = self.offered = 0.0

    def begin(self) -> None:
        """Count anew, from nothing left."""
        self._flow()
        self.left = self.used = self.refused = self.offered = 0.0

    def take(self, units: float) -> float:
        """Take what there is, at most so many. The rest is refused."""
        self._flow()
        granted = min(units, self.left)
        self.left -= granted
        self.used += granted
        self.refused += units - granted
        if granted < units and self.full_since is None:
            self.full_since = self.env.now
        return granted

    def _flow(self) -> None:
        passed = self.env.now - self.at
        self.at = self.env.now
        self.offered += passed * self.per_second
        self.left = min(self.left + passed * self.per_second, self.per_second)
        if self.full_since is not None and self.env.now - self.full_since >= self.doubles_after:
            self.per_second = min(2 * self.per_second, self.quota)
            self.full_since = None


@dataclass(frozen=True)
class Scenario:
    """Accounts, and what the ledger's table takes when the run begins."""

    accounts: int
    writes_at_start: float
    reads_at_start: float
    doubles_after: float
    request_ms: float
    at_once: int = AT_ONCE
    concurrency: int = 0
    quantum: int = 10
    sizes: Sizes = field(default_factory=Sizes)

    @property
    def chunks(self) -> list[int]:
        """The accounts of each chunk: whole shards, until there are as many as a chunk is meant to have."""
        shard = self.accounts / SHARDS
        shards = max(1, math.ceil(self.sizes.chunk_accounts / shard))
        bounds = [*range(0, SHARDS, shards), SHARDS]
        return [round(until * shard) - round(first * shard) for first, until in pairwise(bounds)]


def new_table(accounts: int, **changed: Any) -> Scenario:
    """On a table that has never been used: what a first run meets."""
    return Scenario(
        accounts,
        limit("table_writes_at_start"),
        limit("table_reads_at_start"),
        limit("table_doubles_after"),
        limit("request_ms"),
        **changed,
    )


def warm_table(accounts: int, **changed: Any) -> Scenario:
    """On a table that was warmed to its quota, or that has had such a run before."""
    return Scenario(
        accounts,
        limit("table_writes_quota"),
        limit("table_reads_quota"),
        math.inf,
        limit("request_ms"),
        **changed,
    )


@dataclass(frozen=True)
class Pass:
    """What a phase asks of an account: the request's units, the processor's milliseconds, and how many go together."""

    name: str
    units: float
    writes: bool
    cpu_ms: float
    batch: int
    at_once: int
    looks_a_part: int
    moves_a_part: int


def passes(scenario: Scenario) -> list[Pass]:
    """The three passes, with the units that the ledger's code asks for."""
    pages = scenario.sizes.part_accounts // scenario.sizes.page_accounts
    reading: dict[str, Any] = {"writes": False, "looks_a_part": 1, "moves_a_part": 1}
    writing: dict[str, Any] = {"writes": True, "looks_a_part": 1 + pages, "moves_a_part": pages}
    one_by_one: dict[str, Any] = {"batch": 1, "at_once": scenario.at_once}
    return [
        _pass("prepare", "prepare_read_units", **reading, **one_by_one),
        _pass("post", "post_write_units", **writing, **one_by_one),
        _pass("close", "close_read_units", **reading, batch=BATCH, at_once=1),
    ]


def _pass(name: str, units: str, **how: Any) -> Pass:
    return Pass(name, units=float(unit(units)), cpu_ms=float(unit(f"{name}_cpu_ms")), **how)


@dataclass(frozen=True)
class PhaseResult:
    """How long a phase took, what the table's limit alone allows, and what was used to what part."""

    name: str
    seconds: float
    ideal_seconds: float
    used: dict[str, float]
    refused: float
    stuck: int
    billed_seconds: float

    @property
    def binds(self) -> str:
        """What was used most: the limit that the phase ran into."""
        return max(self.used, key=lambda name: self.used[name])


@dataclass(frozen=True)
class Result:
    """A whole run."""

    scenario: Scenario
    phases: list[PhaseResult]

    @property
    def seconds(self) -> float:
        """From the preparation's start to the proof, without the time in which a person approves."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def ideal_seconds(self) -> float:
        """What the table's limits alone allow, reads and writes."""
        return sum(phase.ideal_seconds for phase in self.phases)

    @property
    def post(self) -> PhaseResult:
        """The phase that writes."""
        return self.phases[1]


class Simulation:
    """A run under way."""

    def __init__(self, scenario: Scenario, seed: int = 1) -> None:
        self.scenario = scenario
        self.env = simpy.Environment()
        self.random = random.Random(seed)  # noqa: S311  # nothing secret
        quota, growth = limit("table_writes_quota"), scenario.doubles_after
        self.writes = Throughput(self.env, scenario.writes_at_start, quota, growth)
        self.reads = Throughput(self.env, scenario.reads_at_start, limit("table_reads_quota"), growth)
        # The run's item and its chunks: one partition of the registry, which never doubles.
        self.run_writes = Throughput(self.env, limit("partition_writes"), limit("partition_writes"), math.inf)
        self.run_reads = Throughput(self.env, limit("partition_reads"), limit("partition_reads"), math.inf)
        self.map = simpy.Resource(self.env, scenario.concurrency or map_concurrency())
        self.account = simpy.Resource(self.env, int(limit("lambda_concurrency")))
        self.environments = 0
        self.idle_environments = 0
        self.ramp = Throughput(self.env, limit("lambda_environments_each_10_s") / 10, math.inf, math.inf)
        self.stuck = 0
        self.processor_seconds = self.waiting_seconds = self.billed_seconds = 0.0

    def run(self) -> Result:
        """All phases, one after the other."""
        return Result(self.scenario, [self._phase(one) for one in passes(self.scenario)])

    def _phase(self, asked: Pass) -> PhaseResult:
        started = self.env.now
        pools = {
            "the table's writes": self.writes,
            "the table's reads": self.reads,
            "writes of the run's partition": self.run_writes,
            "reads of the run's partition": self.run_reads,
        }
        for pool in pools.values():
            pool.begin()
        self.processor_seconds = self.waiting_seconds = self.billed_seconds = 0.0
        self.stuck = 0
        table = self.writes if asked.writes else self.reads
        at_start = table.per_second
        self.env.run(self.env.process(self._machine(asked)))
        seconds = self.env.now - started
        used = {name: pool.used / (pool.offered or 1) for name, pool in pools.items()}
        workers = min(self.map.capacity, len(self.scenario.chunks))
        used["the workers' processors"] = self.processor_seconds / (workers * seconds)
        used["waiting for answers"] = self.waiting_seconds / (workers * asked.at_once * seconds)
        return PhaseResult(
            asked.name,
            seconds,
            ideal_seconds(self.scenario.accounts * asked.units, at_start, table.quota, self.scenario.doubles_after),
            used,
            table.refused,
            self.stuck,
            self.billed_seconds,
        )

    def _machine(self, asked: Pass) -> Steps:
        """Begin, the map over the chunks, end: as run.asl.json goes."""
        yield self._ms(limit("transition_ms") + self._beginning_ms(asked))
        yield simpy.AllOf(
            self.env, [self.env.process(self._chunk(asked, accounts)) for accounts in self.scenario.chunks]
        )
        yield self._ms(limit("transition_ms") + self._reading_chunks_ms())

    def _beginning_ms(self, asked: Pass) -> float:
        """The first one counts the roster and writes the chunks; each one reads them twice."""
        if asked.name != "prepare":
            return 2 * self._reading_chunks_ms()
        shard_pages = math.ceil(self.scenario.accounts / SHARDS * float(unit("roster_item_bytes")) / MB)
        counting = SHARDS / 8 * (self.scenario.request_ms + (shard_pages - 1) * limit("batch_ms"))
        return counting + len(self.scenario.chunks) * self.scenario.request_ms + self._reading_chunks_ms()

    def _reading_chunks_ms(self) -> float:
        pages = math.ceil(len(self.scenario.chunks) * self._chunk_bytes(1.0) / MB)
        return pages * limit("batch_ms")

    def _chunk_bytes(self, done: float) -> float:
        parts = math.ceil(self.scenario.accounts / len(self.scenario.chunks) / self.scenario.sizes.part_accounts)
        return float(unit("chunk_item_bytes")) + done * parts * 2 * float(unit("part_reference_bytes"))

    def _run_bytes(self) -> float:
        return float(unit("run_item_bytes")) + len(self.scenario.chunks) * float(unit("run_item_bytes_a_chunk"))

    def _chunk(self, asked: Pass, accounts: int) -> Steps:
        """A child of the map: the worker is asked until it says that the chunk is done."""
        with self.map.request() as child:
            yield child
            parts = list(_pieces(accounts, self.scenario.sizes.part_accounts))
            while parts:
                yield self._ms(2 * limit("transition_ms"))
                yield from self._invocation(asked, parts)

    def _invocation(self, asked: Pass, parts: list[int]) -> Steps:
        """A worker, until the chunk is done or its time nearly over. It takes off the parts that it has done."""
        with self.account.request() as granted:
            yield granted
            if self.idle_environments:
                self.idle_environments -= 1
            else:
                while self.ramp.take(1) < 1:
                    yield self.env.timeout(0.01)
                self.environments += 1
                yield self._ms(limit("cold_start_ms"))
            began = self.env.now
            worker = Worker(self)
            while parts and self.env.now - began < limit("lambda_seconds") - RESERVE.total_seconds():
                yield from worker.part(asked, parts.pop(0))
            self.billed_seconds += self.env.now - began
            self.idle_environments += 1

    def _ms(self, milliseconds: float) -> simpy.Event:
        return self.env.timeout(milliseconds / 1000)

    def botocore_pause(self, attempt: int) -> float:
        """How long botocore's standard mode waits after a throttle, in seconds: a random part of 1, 2, 4."""
        return self.random.random() * min(2.0**attempt, 20.0)


class Worker:
    """An execution environment at work: one processor, some threads."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.env = simulation.env
        self.processor_free_at = simulation.env.now

    def part(self, asked: Pass, accounts: int) -> Steps:
        """A part: looks at the run, the accounts, the cursor."""
        simulation = self.simulation
        look = math.ceil(simulation._run_bytes() / 4096)  # noqa: SLF001
        move = math.ceil(simulation._chunk_bytes(0.75) / 1024)  # noqa: SLF001
        for _ in range(asked.looks_a_part):
            yield from self._registry(simulation.run_reads, look)
        waiting = list(_pieces(accounts, max(simulation.scenario.quantum, asked.batch)))
        threads = [self.env.process(self._thread(asked, waiting)) for _ in range(asked.at_once)]
        yield simpy.AllOf(self.env, threads)
        yield self.env.timeout(limit("object_ms") / 1000)
        for _ in range(asked.moves_a_part):
            yield from self._registry(simulation.run_writes, move)

    def _thread(self, asked: Pass, waiting: list[int]) -> Steps:
        while waiting:
            yield from self._requests(asked, waiting.pop())

    def _requests(self, asked: Pass, rows: int) -> Steps:
        """Some rows one after the other; who is throttled is asked for again, as the code does it."""
        simulation, scenario = self.simulation, self.simulation.scenario
        table = simulation.writes if asked.writes else simulation.reads
        left = float(rows)
        for attempt in range(Retries().attempts_max * BOTOCORE_ATTEMPTS):
            busy = left * asked.cpu_ms / 1000
            simulation.processor_seconds += busy
            self.processor_free_at = max(self.processor_free_at, self.env.now) + busy
            requests = math.ceil(left / asked.batch)
            answer_ms = scenario.request_ms if asked.batch == 1 else limit("batch_ms")
            simulation.waiting_seconds += requests * answer_ms / 1000
            yield self.env.timeout(self.processor_free_at - self.env.now + requests * answer_ms / 1000)
            left -= table.take(left * asked.units) / asked.units
            if left < 1e-9:  # noqa: PLR2004  # of a row
                return
            yield self.env.timeout(self._pause(attempt))
        simulation.stuck += math.ceil(left)

    def _pause(self, attempt: int) -> float:
        ours, botocores = divmod(attempt, BOTOCORE_ATTEMPTS)
        if botocores < BOTOCORE_ATTEMPTS - 1:
            return self.simulation.botocore_pause(botocores)
        retries = Retries()
        longest = min(retries.pause_seconds * 2.0**ours, retries.pause_seconds_max)
        return longest * self.simulation.random.random()

    def _registry(self, pool: Throughput, units: int) -> Steps:
        """A request to the run's partition, by botocore's retries alone. One that fails stops its chunk."""
        for attempt in range(BOTOCORE_ATTEMPTS):
            yield self.env.timeout(self.simulation.scenario.request_ms / 1000)
            if pool.left + (self.env.now - pool.at) * pool.per_second >= units:
                pool.take(units)
                return
            pool.refused += units
            yield self.env.timeout(self.simulation.botocore_pause(attempt))
        self.simulation.stuck += 1


def _pieces(whole: int, size: int) -> Iterator[int]:
    """A whole cut into pieces of a size, the last one perhaps smaller."""
    for first in range(0, whole, size):
        yield min(size, whole - first)


def simulate(scenario: Scenario) -> Result:
    """How the run goes."""
    return Simulation(scenario).run()


MILLION = 1_000_000
SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "1m": lambda: new_table(MILLION),
    "10m": lambda: new_table(10 * MILLION, quantum=20),
    "1m_warm": lambda: warm_table(MILLION),
    "10m_warm": lambda: warm_table(10 * MILLION, quantum=20),
}


def measure() -> list[Measure]:
    """Hours of the whole run, and how far the post pass is from what the write limit alone allows."""
    results = {name: simulate(make()) for name, make in SCENARIOS.items()}
    found = []
    for name, result in results.items():
        table = "a table warmed to its quota" if "warm" in name else "a table never used before"
        found.append(
            Measure(f"scale.hours_{name}", result.seconds / 3600, "hours", f"prepare, post and close on {table}")
        )
        compared = f"the write limit alone: {result.post.ideal_seconds:,.0f} s; {result.post.binds} bind"
        ratio = result.post.seconds / result.post.ideal_seconds
        found.append(Measure(f"scale.post_vs_write_limit_{name}", ratio, "ratio", compared, at_most(1.2)))
    worst = max(one.post.seconds / one.post.ideal_seconds for one in results.values())
    found.append(Measure("scale.vs_write_limit", worst, "ratio", "the worst of these", at_most(1.2)))
    whole = max(one.seconds / one.ideal_seconds for one in results.values())
    found.append(Measure("scale.vs_table_limits", whole, "ratio", "the whole run, on reads and writes alone, worst"))
    stuck = sum(phase.stuck for one in results.values() for phase in one.phases)
    found.append(Measure("scale.stuck", stuck, "requests", "given up after all attempts", at_most(0)))
    return found


def report(results: dict[str, Result]) -> str:
    """The table of docs/scale.md."""
    lines = [
        "| run | phase | seconds | the table alone | what binds | used | throttled | worker-seconds |",
        "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for name, result in results.items():
        for phase in result.phases:
            share = phase.used[phase.binds]
            lines.append(
                f"| {name} | {phase.name} | {phase.seconds:,.0f} | {phase.ideal_seconds:,.0f} | {phase.binds}"
                f" | {share:.0%} | {phase.refused:,.0f} | {phase.billed_seconds:,.0f} |"
            )
        lines.append(
            f"| {name} | **all** | **{result.seconds:,.0f}** | **{result.ideal_seconds:,.0f}** | | | |"
            f" {sum(phase.billed_seconds for phase in result.phases):,.0f} |"
        )
    return "\n".join(lines)
