"""Real events of the gateway, the state machine and the scheduler, through the real handlers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annuities import api, schedule, worker
from tests.annuities.conftest import JUDGE, Program
from tests.conftest import Called, Context

Replay = Callable[..., Called]
EVENTS = Path("events/annuities")


def event(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text())


def with_body(name: str, **body: Any) -> Any:
    """The event with what its answer before has told: a hash."""
    return event(name) | {"body": json.dumps(body)}


def answered(name: str) -> Any:
    """What the worker answers to the machine's event of this name."""
    return worker.handler(event(name), Context())  # type: ignore[arg-type]


def issued(replay: Replay) -> Called:
    content_hash = replay(api.handler, event("enter")).body["content_hash"]
    return replay(api.handler, with_body("issue", content_hash=content_hash))


def test_an_annuity_goes_through_the_doors_event_by_event(program: Program, replay: Replay) -> None:
    program.enrol(born="1961-09-10")
    assert replay(api.handler, event("quote")).body["monthly_annuity"] == "936.28"
    entered = replay(api.handler, event("enter"))
    assert entered.status == 201
    content_hash = entered.body["content_hash"]
    assert replay(api.handler, event("issue")).code == "stale_hash"
    refused = replay(api.handler, with_body("issue_by_who_entered", content_hash=content_hash))
    assert (refused.status, refused.code) == (403, "same_person")

    assert replay(api.handler, with_body("issue", content_hash=content_hash)).status == 200
    certificate = replay(api.handler, event("read")).body
    assert (certificate["language"], certificate["status"]) == ("es", "in_force")

    corrected = replay(api.handler, event("correct"))
    assert corrected.body["contract"]["monthly_annuity"] == "959.69"
    issued_again = replay(api.handler, with_body("issue_correction", content_hash=corrected.body["content_hash"]))
    assert (issued_again.status, issued_again.body["contract"]["supersedes"]) == (200, 1)
    assert replay(api.handler, event("read_the_first")).body["status"] == "superseded"


def test_a_payroll_goes_through_the_doors_event_by_event(program: Program, replay: Replay) -> None:
    program.enrol(born="1961-09-10")
    issued(replay)
    assert replay(api.handler, event("prepare")).status == 202
    assert answered("begin") == {"chunks": [0]}
    assert answered("work") == {"done": True}
    assert answered("end") == {"next": None, "wait": False}
    program.executions.waiting.clear()

    told = replay(api.handler, event("read_payroll")).body
    assert (told["status"], told["run"]["net_total"]) == ("prepared", "655.40")
    assert replay(api.handler, event("read_exceptions")).body == {"items": [], "next_cursor": None}
    run_hash = told["run"]["hash"]
    assert replay(api.handler, with_body("approve_by_the_preparer", hash=run_hash)).code == "same_person"
    assert replay(api.handler, with_body("approve_payroll", hash=run_hash)).status == 202
    assert replay(api.handler, event("pause")).body["status"] == "paused"
    assert replay(api.handler, event("resume")).body["status"] == "posting"
    program.work_off()

    assert replay(api.handler, event("make_payment_file")).body["net_total"] == "655.40"
    assert replay(api.handler, event("read_payment_file")).body["payments"] == 1
    assert replay(api.handler, event("reverse")).code == "payment_file_made"
    assert replay(api.handler, event("note_return")).body["kind"] == "payment_returned"
    assert replay(api.handler, event("reissue")).body["kind"] == "payment_reissued"


def test_a_refund_goes_through_the_doors_event_by_event(program: Program, replay: Replay) -> None:
    program.enrol("P-000202", service=(3, 0, 0), balance=1_000_000)
    assert replay(api.handler, event("quote_refund")).body["benefit"] == "refund"
    entered = replay(api.handler, event("enter_refund"))
    assert entered.status == 201
    paid = replay(api.handler, with_body("pay_refund", content_hash=entered.body["content_hash"]))
    assert (paid.status, paid.body["refund"]["amount"]) == (200, "10000.00")
    assert replay(api.handler, event("read_refund")).body["status"] == "paid"


def test_a_request_that_is_delivered_twice_is_answered_as_the_first(program: Program, replay: Replay) -> None:
    program.enrol(born="1961-09-10")
    content_hash = replay(api.handler, event("enter")).body["content_hash"]
    first, second = (replay(api.handler, with_body("issue", content_hash=content_hash)) for _ in range(2))

    assert first.text == second.text
    assert len(program.lines("retirement")) == 1


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("enter_without_a_key", 400, "idempotency_key_missing"),
        ("enter_with_a_time", 422, "invalid_input"),
        ("enter_before_the_separation", 422, "retirement_before_separation"),
        ("issue", 404, "not_entered"),
        ("read", 404, "annuity_not_found"),
        ("correct", 422, "no_annuity"),
        ("correct_without_a_ground", 422, "correction_without_ground"),
        ("issue_correction", 404, "not_entered"),
        ("pay_refund", 404, "unknown_participant"),
        ("prepare_a_month_to_come", 422, "month_not_begun"),
        ("read_exceptions", 404, "run_not_found"),
        ("approve_payroll", 404, "run_not_found"),
        ("pause", 404, "run_not_found"),
        ("reverse", 409, "not_posted"),
        ("make_payment_file", 409, "not_posted"),
        ("note_return", 422, "not_paid"),
        ("reissue", 422, "not_paid"),
    ],
)
def test_what_does_not_go_is_a_problem_that_says_so_and_changes_nothing(
    program: Program, replay: Replay, name: str, status: int, code: str
) -> None:
    program.enrol(born="1961-09-10")
    before = program.stack.ledger_items()

    problem = replay(api.handler, event(name))

    assert (problem.status, problem.code) == (status, code)
    assert problem.body["citation"]
    assert program.stack.ledger_items() == before


def test_the_machines_failure_is_told_to_the_run(program: Program, replay: Replay) -> None:
    replay(api.handler, event("prepare"))
    assert answered("fail") == {}
    assert replay(api.handler, event("read_payroll")).body["run"]["failure"] == "execution_failed"


@pytest.mark.parametrize(("name", "period"), [("monthly", "2026-09"), ("monthly_unfilled", "2026-10")])
def test_the_schedule_prepares_the_month(program: Program, name: str, period: str) -> None:
    found = schedule.handler(event(name), Context())  # type: ignore[arg-type]

    assert (found["period"], found["run"]) == (period, f"annuity/{period}/1")


def test_the_schedulers_default_payload_is_refused(program: Program) -> None:
    """The scheduler sends the text of an empty object where no input is set."""
    with pytest.raises(ValueError, match="validation error"):
        schedule.handler(event("default_payload"), Context())  # type: ignore[arg-type]


def test_every_event_that_was_recorded_is_replayed_by_a_test() -> None:
    replayed = Path(__file__).read_text()

    assert [file.stem for file in EVENTS.glob("*.json") if f'"{file.stem}"' not in replayed] == []
    assert JUDGE in (EVENTS / "enter.json").read_text()
