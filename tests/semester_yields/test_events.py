"""Real events of the gateway, the state machine, the scheduler and an adoption, through the real handlers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semester_yields import api, schedule, worker
from tests.conftest import Called, Context
from tests.semester_yields.conftest import Yields

Replay = Callable[..., Called]


def event(name: str) -> Any:
    return json.loads(Path(f"events/semester_yields/{name}.json").read_text())


def answered(name: str) -> Any:
    """What the worker answers to the machine's event of this name."""
    return worker.handler(event(name), Context())  # type: ignore[arg-type]


def test_a_semester_goes_through_the_doors_event_by_event(yields: Yields, replay: Replay) -> None:
    yields.enrol_account_of_readings()
    yields.enrol("P-000002", savings_cents=0)
    yields.adopt_figures("FY2025-S2")
    assert replay(api.handler, event("prepare")).status == 202
    assert answered("begin") == {"chunks": [0]}
    assert answered("work") == {"done": True}
    assert answered("end") == {"next": None, "wait": False}
    yields.executions.waiting.clear()

    told = replay(api.handler, event("read")).body
    assert (told["status"], told["run"]["totals"]["total_yield"]) == ("prepared", "214.36")
    (exception,) = replay(api.handler, event("read_exceptions")).body["items"]
    assert (exception["participant_id"], exception["code"]) == ("P-000002", "no_credit_yet")

    stale = replay(api.handler, event("approve"))
    assert (stale.status, stale.code) == (409, "stale_hash")
    body = json.dumps({"hash": told["run"]["hash"]})
    refused = replay(api.handler, event("approve_by_the_preparer") | {"body": body})
    assert (refused.status, refused.code) == (403, "same_person")
    assert replay(api.handler, event("approve") | {"body": body}).status == 202

    assert replay(api.handler, event("pause")).body["status"] == "paused"
    assert replay(api.handler, event("resume")).body["status"] == "posting"
    yields.work_off()
    assert replay(api.handler, event("read")).body["run"]["result"]["total_yield"] == "214.36"

    refused = replay(api.handler, event("reverse_without_a_reason"))
    assert (refused.status, refused.body["field"]) == (422, "reason")
    assert replay(api.handler, event("reverse")).status == 202
    assert yields.executions.names[-1] == "yield_reversal-FY2025-S2-0001-0001"


def test_a_request_that_is_delivered_twice_is_answered_as_the_first_and_starts_one_run(
    yields: Yields, replay: Replay
) -> None:
    yields.adopt_figures("FY2025-S2")
    first, second = (replay(api.handler, event("prepare")) for _ in range(2))
    assert first.text == second.text
    assert yields.executions.names == ["yield-FY2025-S2-0001-0001"]


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("prepare", 422, "yield_not_in_force"),  # nothing is adopted but the settings
        ("prepare_an_unknown_semester", 422, "invalid_input"),
        ("prepare_without_a_key", 400, "idempotency_key_missing"),
        ("approve", 404, "run_not_found"),
        ("reverse", 409, "not_posted"),
        ("read_exceptions", 404, "run_not_found"),
    ],
)
def test_what_does_not_go_is_a_problem_that_says_so(
    yields: Yields, replay: Replay, name: str, status: int, code: str
) -> None:
    problem = replay(api.handler, event(name))
    assert (problem.status, problem.code) == (status, code)
    assert problem.body["citation"]


def test_the_machines_failure_is_told_to_the_run(yields: Yields, replay: Replay) -> None:
    yields.adopt_figures("FY2025-S2")
    replay(api.handler, event("prepare"))
    assert answered("fail") == {}
    assert replay(api.handler, event("read")).body["run"]["failure"]["detail"] == "prepare: States.Timeout"


@pytest.mark.parametrize("name", ["daily", "daily_unfilled", "adopted"])
def test_the_schedule_prepares_what_is_due(yields: Yields, name: str) -> None:
    yields.adopt_figures("FY2025-S2")
    assert schedule.handler(event(name), Context())["run"] == "yield/FY2025-S2/1"  # type: ignore[arg-type]


def test_the_schedulers_default_payload_is_refused(yields: Yields) -> None:
    """The scheduler sends the text of an empty object where no input is set."""
    with pytest.raises(ValueError, match="validation error"):
        schedule.handler(event("default_payload"), Context())  # type: ignore[arg-type]
