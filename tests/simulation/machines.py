"""Step Functions, as far as `functions/run.asl.json` goes: its own states, with deliveries doubled, late and lost.

A map's children run beside each other. Where one fails the map does, and the others' invocations go on to their end
with nobody listening, as Lambda's do. An execution that is stopped leaves its invocations running too.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.runs.states_language import DEFINITION, Execution, ExecutionFailedError, Killed, StateError
from tests.simulation.scheduler import Scheduler
from tests.simulation.wire import STARTS, DeadError, Wire

Invoke = Callable[[str, dict[str, Any], str], Any]
"""Invoke a function (its ARN) with an event, as the task of this name. Raises `DeadError`."""


class ExecutionAlreadyExists(Exception):  # noqa: N818  # as botocore names it
    pass


@dataclass
class Deliveries:
    """How often an invocation is delivered twice, its answer is lost, or an execution is stopped."""

    twice: float = 0.0
    lost: float = 0.0
    stopped: float = 0.0
    late_seconds: float = 120.0

    def calm(self) -> None:
        """From now on nothing goes wrong."""
        self.twice = self.lost = self.stopped = 0.0


@dataclass
class _Started:
    machine_input: str
    running: bool = True
    stopped: bool = False


class StoppedError(BaseException):
    """The execution was stopped: none of its states is entered any more."""


@dataclass
class Machines:
    """Step Functions' client, and the executions behind it."""

    scheduler: Scheduler
    wire: Wire
    deliveries: Deliveries
    invoke: Invoke
    started: dict[str, _Started] = field(default_factory=dict)
    exceptions: Any = field(default_factory=lambda: SimpleNamespace(ExecutionAlreadyExists=ExecutionAlreadyExists))

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> Any:  # noqa: A002, N803
        """Start it, or say that one of this name is there; the same input while it runs is the first answer."""
        assert len(name) <= 80, name

        def start() -> dict[str, str]:
            there = self.started.get(name)
            if there is not None and not (there.running and there.machine_input == input):
                raise ExecutionAlreadyExists(name)
            if there is None:
                self.started[name] = _Started(input)
                self.scheduler.spawn(f"execution {name}", lambda: self._run(name))
            return {"executionArn": f"{stateMachineArn}:{name}"}

        return self.wire.call("start_execution", name, start, STARTS)

    @property
    def running(self) -> list[str]:
        """The names of the executions that run."""
        return [name for name, one in self.started.items() if one.running]

    def _run(self, name: str) -> None:
        started = self.started[name]
        self.scheduler.current.operation = None
        try:
            _Running(self, name, started).run(DEFINITION, json.loads(started.machine_input), {})
        except (ExecutionFailedError, StateError, StoppedError):
            pass
        finally:
            started.running = False


class _Running(Execution):
    """An execution on the scheduler."""

    def __init__(self, machines: Machines, name: str, started: _Started) -> None:
        super().__init__(self._deliver, lambda: None)
        self.machines = machines
        self.scheduler = machines.scheduler
        self.name = name
        self.started = started
        self.abandoned = False

    def pause(self, seconds: float) -> None:
        self.scheduler.sleep(seconds * self.scheduler.rng.random() + 0.01)

    def children(self, machine: Mapping[str, Any], inputs: Sequence[tuple[Any, Mapping[str, Any]]]) -> list[Any]:
        outputs: dict[int, Any] = {}
        errors: list[Exception] = []
        child_of = [_Running(self.machines, f"{self.name}/{index}", self.started) for index in range(len(inputs))]

        def live(index: int) -> None:
            data, context = inputs[index]
            try:
                outputs[index] = child_of[index].run(machine, data, context)
            except StateError as error:
                errors.append(error)
            except StoppedError:
                return

        for index in range(len(inputs)):
            self.scheduler.spawn(f"execution {self.name}/{index}", lambda index=index: live(index))
        self.scheduler.join(lambda: bool(errors) or len(outputs) == len(inputs) or self.started.stopped)
        self._look()
        if errors:
            for child in child_of:
                child.abandoned = True
            raise errors[0]
        return [outputs[index] for index in range(len(inputs))]

    def _deliver(self, payload: dict[str, Any]) -> Any:
        """An invocation: perhaps twice, the second one late and beside others, its answer heard by nobody."""
        self._look()
        rng, deliveries = self.scheduler.rng, self.machines.deliveries
        if rng.random() < deliveries.stopped:
            self.started.stopped = True
        arn = json.loads(self.started.machine_input)["worker"]
        if rng.random() < deliveries.twice:
            self.scheduler.spawn(
                f"again {self.name}",
                lambda: self._again(arn, payload),
                after_seconds=rng.random() * deliveries.late_seconds,
            )
        try:
            answer = self.machines.invoke(arn, payload, self.name)
        except DeadError as dead:
            raise Killed from dead
        self._look()
        if rng.random() < deliveries.lost:
            raise Killed
        return answer

    def _again(self, arn: str, payload: dict[str, Any]) -> None:
        try:
            self.machines.invoke(arn, dict(payload), f"again {self.name}")
        except (DeadError, Exception):  # noqa: BLE001  # nobody listens
            return

    def _look(self) -> None:
        if self.started.stopped or self.abandoned:
            raise StoppedError
