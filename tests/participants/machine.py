"""The runs' state machine as a worker sees it: begin, work by chunks, end. It runs when a test says so."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from tests.conftest import Context

Worker = Callable[[dict[str, Any], Any], dict[str, Any]]


class Killed(Exception):  # noqa: N818  what a test raises inside a worker
    """The worker's invocation is gone."""


class Machine:
    """Takes the place of Step Functions' client: it keeps what was started, by name, and runs it when asked to."""

    class exceptions:  # noqa: N801  as botocore names it
        class ExecutionAlreadyExists(Exception):  # noqa: N818  as botocore names it
            pass

    def __init__(self) -> None:
        self.names: list[str] = []
        self.waiting: deque[dict[str, Any]] = deque()

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, str]:  # noqa: A002, N803
        assert stateMachineArn == "arn:machine"
        if name in self.names:
            raise self.exceptions.ExecutionAlreadyExists
        assert len(name) <= 80, name
        self.names.append(name)
        self.waiting.append(json.loads(input))
        return {"executionArn": f"arn:execution:{name}"}

    def run(self, workers: dict[str, Worker], *, remaining_ms: int = 800_000) -> int:
        """Run all executions that wait; how often a worker was invoked."""
        invocations = 0
        while self.waiting:
            machine_input = self.waiting.popleft()
            worker = workers[machine_input.pop("worker")]
            context = Context(remaining_ms=remaining_ms)
            chunks = worker({"op": "begin", **machine_input}, context)["chunks"]
            invocations += 1
            for chunk in chunks:
                done = False
                while not done:
                    done = worker({"op": "work", **machine_input, "chunk": chunk}, context)["done"]
                    invocations += 1
            assert worker({"op": "end", **machine_input}, context)["next"] is None
        return invocations
