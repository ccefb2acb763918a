"""The nightly audit starts once a night, and the night is that of the scheduled time in Puerto Rico."""

import json

import pytest
from pydantic import ValidationError

from ledger_guard import schedule
from retiro.registry import aws
from tests.conftest import Context


@pytest.fixture
def started(guard, monkeypatch):
    """What the schedule has asked Step Functions to start."""
    calls = []

    class Machine:
        def start_execution(self, **asked):
            calls.append(asked)

    monkeypatch.setattr(aws, "stepfunctions", Machine)
    return calls


def test_two_in_the_morning_in_puerto_rico_is_that_days_audit(started, event):
    assert schedule.handler(event("night"), Context()) == {"audit": "2025-07-11"}
    (call,) = started
    assert call["name"] == "audit-2025-07-11-0001-0001"
    assert json.loads(call["input"]) == {
        "worker": "arn:aws:lambda:us-east-1:000000000000:function:audit",
        "kind": "audit",
        "period": "2025-07-11",
        "attempt": 1,
        "number": 1,
        "phase": "verify",
    }


@pytest.mark.parametrize(
    ("scheduled", "night"),
    [
        ("2025-07-11T03:59:59Z", "2025-07-10"),
        ("2025-07-11T04:00:00Z", "2025-07-11"),
        ("2025-07-12T03:59:59Z", "2025-07-11"),
    ],
)
def test_the_day_is_puerto_ricos_and_not_utcs(started, scheduled, night):
    assert schedule.handler({"scheduled_time": scheduled}, Context()) == {"audit": night}


def test_a_second_delivery_has_the_same_name_and_so_starts_nothing(started, event):
    schedule.handler(event("night"), Context())
    schedule.handler(event("night"), Context())
    assert {call["name"] for call in started} == {"audit-2025-07-11-0001-0001"}


def test_a_placeholder_that_was_not_filled_in_is_the_clocks_day(started, clock):
    assert schedule.handler({"scheduled_time": "<aws.scheduler.scheduled-time>"}, Context()) == {"audit": "2025-07-10"}


@pytest.mark.parametrize(
    "event", ["{}", {}, {"scheduled_time": "2025-07-11T06:00:00"}, {"time": "2025-07-11T06:00:00Z"}]
)
def test_an_event_of_another_shape_starts_nothing(started, event):
    with pytest.raises(ValidationError):
        schedule.handler(event, Context())
    assert started == []
