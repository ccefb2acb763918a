"""What lies behind the doors of a stack: its tables, its functions and their processes, its state machine, its logs."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache, cached_property
from typing import Any

from cli.audit import audited
from cli.cloud import Cloud
from retiro.ledger import savings
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from retiro.registry import roster
from retiro.registry.clock import utc_now
from retiro.registry.roster import RosterEntry
from retiro.registry.runs import Run, RunBook, RunId
from retiro.registry.table import Table
from tests.cloud.waiting import until

YIELD_WORKER = "SemesterYieldsWorker"
SCHEDULE = "SemesterYieldsSchedule"
STEP_SECONDS = 0.02
"""So little that a worker writes no more than a few lines in it."""


class Backstage:
    """The stack of a local cloud, as only an operator, or a fault, reaches it."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.stack = cloud.stack
        self.dynamodb = self.stack.client("dynamodb")
        self.ledger_table = self.stack.outputs["LedgerTable"]
        self.registry = Table(self.dynamodb, self.stack.outputs["RegistryTable"])
        self.passbooks = Passbooks(LedgerStore(self.dynamodb, self.ledger_table), utc_now)
        self.runs = RunBook(self.registry)

    # --- tables ---

    def ledger_items(self) -> list[dict[str, Any]]:
        """All that the ledger holds, in the order of the keys."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.ledger_table, ConsistentRead=True)
        items = [item for page in pages for item in page["Items"]]
        return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))

    def lines(self, passbook: str) -> list[Line]:
        return self.passbooks.history(passbook)

    def yields(self, ids: Iterable[str], semester: str) -> dict[str, int]:
        """How many yield lines of the semester each of these has."""
        return {
            one: sum(
                line.kind is LineKind.SEMESTER_YIELD and line.runs["yield"].period == semester
                for line in self.lines(one)
            )
            for one in ids
        }

    def count_at(self, ids: Sequence[str], sequence: int) -> int:
        """How many of these passbooks have come to a sequence: one quick read, for who watches a run at work."""
        return len(self.passbooks.store.get_lines([(one, sequence) for one in ids]))

    def change_status(self, passbook: str, kind: LineKind, on: date) -> None:
        """A line that moves no money and changes what may be posted, as another part of the system writes it."""
        key = BusinessKey(KeyKind.SETTLEMENT, f"test-{passbook}-{kind}")
        draft = savings.status_change(kind, on, Origin("test"))
        self.passbooks.append(passbook, lambda _last: draft, key=key, content={"kind": str(kind)})

    def witness(self, passbook: str) -> RosterEntry:
        item = self.registry.get(roster.partition(roster.shard_of(passbook)), passbook)
        assert item is not None, passbook
        return roster.entry(item)

    def attempts(self, semester: str) -> list[Run]:
        return self.runs.attempts("yield", semester)

    def audit(self) -> dict[str, Any]:
        return audited(self.stack)

    # --- functions, and the processes that they run in ---

    @cache  # noqa: B019  one stack lives as long as the tests
    def function(self, logical_id: str) -> str:
        """A function's name."""
        return self._physical_id(logical_id)

    def invoke(self, logical_id: str, event: Any) -> Any:
        """What a function answers."""
        payload = json.dumps(event)
        answer = self.stack.client("lambda").invoke(FunctionName=self.function(logical_id), Payload=payload)
        return json.loads(answer["Payload"].read())

    def processes(self, logical_id: str) -> list[int]:
        """The processes of a function of this cloud and no other: those whose command names its folder."""
        running = self.cloud.running
        assert running is not None
        here = f"{running.temporary}/ministack-lambda-{self.function(logical_id)}-"
        listed = subprocess.run(
            ["ps", "-eww", "-o", "pid=,command="], capture_output=True, text=True, check=True
        ).stdout
        return [int(line.split()[0]) for line in listed.splitlines() if here in line]

    def signalled(self, logical_id: str, number: signal.Signals) -> list[int]:
        """Send a signal to each process of a function; which they were."""
        return _kill(self.processes(logical_id), number)

    def stepped(self, logical_id: str) -> None:
        """Let the processes of a function go on for a moment, and stop them where they stand."""
        pids = self.processes(logical_id)
        _kill(pids, signal.SIGCONT)
        time.sleep(STEP_SECONDS)
        _kill(pids, signal.SIGSTOP)

    # --- the state machine ---

    @property
    def machine(self) -> str:
        return self.stack.outputs["RunsStateMachineArn"]

    @cached_property
    def states(self) -> Any:
        return self.stack.client("stepfunctions")

    def execution(self, run: RunId, number: int) -> str:
        """The execution of a run that has this number."""
        return f"{self.machine.replace(':stateMachine:', ':execution:')}:{run.execution_name(number)}"

    def wait_for_execution(self, execution: str) -> str:
        """The status of an execution when it has ended."""

        def ended() -> str | None:
            status = self.states.describe_execution(executionArn=execution)["status"]
            return None if status == "RUNNING" else str(status)

        return until(ended, f"the end of {execution}")

    # --- logs ---

    def logged(self, *words: str) -> list[str]:
        """What the functions have logged that has all of these words in it."""
        group = self._physical_id("FunctionsLog")
        pages = self.stack.client("logs").get_paginator("filter_log_events").paginate(logGroupName=group)
        messages = (event["message"] for page in pages for event in page["events"])
        return [message for message in messages if all(word in message for word in words)]

    def _physical_id(self, logical_id: str) -> str:
        described = self.stack.client("cloudformation").describe_stack_resource(
            StackName=self.stack.name, LogicalResourceId=logical_id
        )
        return str(described["StackResourceDetail"]["PhysicalResourceId"])


def _kill(pids: Iterable[int], number: signal.Signals) -> list[int]:
    """Send a signal to each of these processes that is there; which they were."""
    sent = []
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        sent.append(pid)
    return sent
