"""As much of the Amazon States Language as `functions/run.asl.json` uses, in process: so that tests run the real file.

A worker is a function of an event. `Killed` is an invocation that is gone: the machine retries it, as its file says.
`Stopped` is the whole execution gone, the worker in the middle of its work.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

DEFINITION = json.loads(Path("functions/run.asl.json").read_text())

Worker = Callable[[dict[str, Any]], Any]

_DELAY_SECONDS_MAX = 60
"""As the file's retries have it."""


class Killed(BaseException):
    """A worker's invocation ends in the middle: out of time, or of memory."""


class Stopped(BaseException):
    """The execution ends in the middle, its worker too."""


class StateError(Exception):
    """A state has failed: the error's name is what `Retry` and `Catch` look at."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class ExecutionFailedError(Exception):
    """The execution ended in a Fail state."""


def execute(worker: Worker, machine_input: Mapping[str, Any], *, on_wait: Callable[[], None] = lambda: None) -> Any:
    """Run an execution to its end; its output. Raises `ExecutionFailedError`."""
    return Execution(worker, on_wait).run(DEFINITION, dict(machine_input), {})


class Execution:
    """An execution: its states one after the other, a map's children too. It waits for nothing but `on_wait`."""

    def __init__(self, worker: Worker, on_wait: Callable[[], None]) -> None:
        self.worker = worker
        self.on_wait = on_wait

    def pause(self, seconds: float) -> None:
        """What a Wait state does, and a retry before it tries again."""

    def children(self, machine: Mapping[str, Any], inputs: Sequence[tuple[Any, Mapping[str, Any]]]) -> list[Any]:
        """The outputs of a map's children, from their inputs and contexts."""
        return [self.run(machine, data, context) for data, context in inputs]

    def run(self, machine: Mapping[str, Any], data: Any, context: Mapping[str, Any]) -> Any:
        name = machine["StartAt"]
        while True:
            state = machine["States"][name]
            try:
                data, following = self._state(state, data, context)
            except StateError as error:
                caught = next((one for one in state.get("Catch", []) if _matches(one, error)), None)
                if caught is None:
                    raise
                data, following = _at(data, caught["ResultPath"], {"Error": error.name}), caught["Next"]
            if following is None:
                return data
            name = following

    def _state(self, state: Mapping[str, Any], data: Any, context: Mapping[str, Any]) -> tuple[Any, str | None]:
        following = state.get("Next")
        match state["Type"]:
            case "Task":
                return self._task(state, data, context), following
            case "Map":
                self._map(state, data)
                return data, following  # its ResultPath is null
            case "Choice":
                return data, next((one["Next"] for one in state["Choices"] if _chosen(one, data)), state["Default"])
            case "Pass":
                return state.get("Result", _filled(state.get("Parameters", {}), data, context)), following
            case "Wait":
                self.pause(state["Seconds"])
                self.on_wait()
                return data, following
            case "Succeed":
                return data, None
            case "Fail":
                raise ExecutionFailedError(state["Error"])
            case other:
                raise NotImplementedError(other)

    def _task(self, state: Mapping[str, Any], data: Any, context: Mapping[str, Any]) -> Any:
        payload = _filled(state["Parameters"]["Payload"], data, context)
        attempts = 0
        while True:
            try:
                answer = {"Payload": json.loads(json.dumps(self._invoke(payload)))}
                break
            except StateError as error:
                retry = next((one for one in state.get("Retry", []) if _matches(one, error)), None)
                attempts += 1
                if retry is None or attempts > retry["MaxAttempts"]:
                    raise
                self.pause(min(retry["IntervalSeconds"] * retry["BackoffRate"] ** (attempts - 1), _DELAY_SECONDS_MAX))
        if "ResultSelector" in state:
            answer = _filled(state["ResultSelector"], answer, context)
        return _at(data, state.get("ResultPath", "$"), answer)

    def _invoke(self, payload: dict[str, Any]) -> Any:
        assert len(json.dumps(payload)) < 262_144
        try:
            answer = self.worker(payload)
        except Killed as killed:
            raise StateError("Lambda.Unknown") from killed
        except Exception as error:  # Lambda's runtime does the same
            raise StateError(type(error).__name__) from error
        assert len(json.dumps(answer)) < 262_144
        return answer

    def _map(self, state: Mapping[str, Any], data: Any) -> None:
        assert state["ItemProcessor"]["ProcessorConfig"]["Mode"] == "DISTRIBUTED"
        assert state["ResultPath"] is None
        contexts = [
            {"Map": {"Item": {"Index": index, "Value": item}}}
            for index, item in enumerate(_found(state["ItemsPath"], data))
        ]
        inputs = [(_filled(state["ItemSelector"], data, context), context) for context in contexts]
        assert all(output == {} for output in self.children(state["ItemProcessor"], inputs))


def _matches(rule: Mapping[str, Any], error: StateError) -> bool:
    return "States.ALL" in rule["ErrorEquals"] or error.name in rule["ErrorEquals"]


def _chosen(rule: Mapping[str, Any], data: Any) -> bool:
    value = _found(rule["Variable"], data)
    if "IsNull" in rule:
        return (value is None) == rule["IsNull"]
    return value is rule["BooleanEquals"]


def _filled(template: Any, data: Any, context: Mapping[str, Any]) -> Any:
    filled: dict[str, Any] = {}
    for name, value in template.items():
        if not name.endswith(".$"):
            filled[name] = _filled(value, data, context) if isinstance(value, dict) else value
        elif value.startswith("$$."):
            filled[name.removesuffix(".$")] = _found(value[1:], context)
        else:
            filled[name.removesuffix(".$")] = _found(value, data)
    return filled


def _found(path: str, data: Any) -> Any:
    for step in path.split(".")[1:]:
        data = data[step]
    return data


def _at(data: Any, path: str | None, value: Any) -> Any:
    if path is None:
        return data
    if path == "$":
        return value
    return {**data, path.removeprefix("$."): value}
