"""A small ledger on moto, its passbooks on the roster, and the audit worked off as the state machine does it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger_guard import worker
from retiro.ledger import savings
from retiro.ledger.lines import Line, to_item
from retiro.registry import roster
from retiro.registry.roster import Holder
from tests.conftest import ENVIRONMENT, Context, Stack
from tests.ledger.makers import ANA, day, grown

EVENTS = Path(__file__).parent.parent.parent / "events" / "ledger_guard"
ASKED = {"kind": "audit", "period": "2025-07-10", "attempt": 1, "number": 1, "phase": "verify"}


def brought(passbook: str, cents: int = 1_000_000) -> list[Line]:
    """A passbook with an enrolment and an initial transfer: two lines."""
    opened = grown([savings.enrolment(None, day("2025-01-01"), {"fixed_income": 100}, ANA)], passbook=passbook)
    return grown([savings.initial_transfer(opened[-1], cents, day("2025-01-01"), ANA)], opened, passbook)


@pytest.fixture
def event() -> Callable[[str], dict[str, Any]]:
    """A recorded event by the name of its file."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text())


@pytest.fixture
def guard(stack: Stack, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The stack as this domain's functions see it: 64 shards in four chunks, two accounts an invocation."""
    monkeypatch.setattr(roster, "SHARDS", 64)
    variables = {
        "AUDIT_CHUNKS": "4",
        "INVOCATION_ACCOUNTS": "2",
        "AUDIT_WORKER_ARN": "arn:aws:lambda:us-east-1:000000000000:function:audit",
        "RUNS_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:000000000000:stateMachine:retiro-runs",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return stack


@pytest.fixture
def keep(guard: Stack) -> Callable[[list[Line]], None]:
    """Put a passbook into the ledger and on the roster, its last line witnessed."""

    def kept(lines: list[Line]) -> None:
        for line in lines:
            guard.dynamodb.put_item(TableName=ENVIRONMENT["LEDGER_TABLE"], Item=to_item(line))
        last = lines[-1]
        item = roster.roster_item(last.passbook, last.fund, Holder.PARTICIPANT)
        guard.registry.put(item | {"head": last.sequence, "head_hash": last.hash})

    return kept


@pytest.fixture
def run_audit(guard: Stack) -> Callable[[], dict[str, Any]]:
    """Work an audit off, chunk by chunk; its item, and how many times `work` was called."""

    def run() -> dict[str, Any]:
        context = Context(remaining_ms=900_000)
        invocations = 0
        for chunk in worker.handler({"op": "begin", **ASKED}, context)["chunks"]:
            done = False
            while not done:
                invocations += 1
                done = worker.handler({"op": "work", **ASKED, "chunk": chunk}, context)["done"]
        assert worker.handler({"op": "end", **ASKED}, context) == {"next": None, "wait": False}
        return {"invocations": invocations, **guard.registry.get("run#audit#2025-07-10", "attempt#0001")}

    return run
