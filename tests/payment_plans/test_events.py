"""The recorded events of gateway, state machine and scheduler, through the real handlers, in their order."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from payroll_deductions import order_doors, orders_worker, schedule
from tests.conftest import Called, Context
from tests.payment_plans.office import PlansOffice

EVENTS = Path(__file__).parents[2] / "events" / "payment_plans"
ANSWERED = {
    "quote_plan": 200,
    "apply_for_plan": 201,
    "approve_plan": 200,
    "pay_principal": 201,
    "read_plan": 200,
    "read_decisions": 200,
    "enter_fact": 201,
    "enter_disclosure": 201,
    "read_disclosures": 200,
    "prepare_orders": 202,
}
REFUSED = {
    "apply_outside_the_window": (422, "application_window_closed", "applied_on"),
    "approve_plan_by_who_entered": (403, "same_person", "Acting-User"),
    "pay_off_by_a_cent_less": (422, "payoff_differs", "amount"),
    "decide_without_a_reason": (422, "invalid_input", "reason"),
    "adopt_fact_by_who_entered": (403, "same_person", "Acting-User"),
    "read_order_of_another_payer": (403, "other_employer", "employer_id"),
}


def recorded(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


@pytest.fixture
def answer(office: PlansOffice, replay: Callable[..., Called]) -> Callable[..., Called]:
    """Replay an event by its name; with a hash in the place of the recorded one, which no run has."""

    def answered(name: str, run_hash: str | None = None) -> Called:
        event = recorded(name)
        if run_hash is not None:
            event["body"] = json.dumps({"hash": run_hash})
        return replay(order_doors.portal.handler, event)

    return answered


def test_a_plan_goes_through_the_doors_event_by_event(office: PlansOffice, answer: Callable[..., Called]) -> None:
    answers = {name: answer(name) for name in ANSWERED}
    assert {name: one.status for name, one in answers.items()} == ANSWERED, answers["approve_plan"].text
    assert answers["quote_plan"].body["total_cost"] == "9354.30"
    assert (answers["read_plan"].body["balance"], answers["read_plan"].body["arrears"]) == ("5354.30", "89.23")
    assert answers["read_disclosures"].body["report"]["compliant"] is False
    worked = [orders_worker.handler(recorded(f"orders_{op}"), Context()) for op in ("begin", "work", "end")]  # type: ignore[arg-type]
    assert worked == [{"chunks": [0]}, {"done": True}, {"next": None, "wait": False}]
    prepared = answer("read_order_run").body
    assert (prepared["status"], prepared["orders"]) == ("prepared", {"orders": 1, "total": "89.23"})

    assert answer("approve_orders").code == "stale_hash"
    assert answer("approve_orders", prepared["hash"]).status == 202
    office.executions.waiting.pop(0)  # the preparation, which the events above have done
    office.work_off()
    assert [line["total"] for line in answer("read_order").body["items"]] == ["89.23"]
    assert answer("read_order_csv").text.splitlines()[1] == "E-001,2008-10,P-000001,89.23,0.00,89.23"
    assert (answer("reverse_orders").status, answer("read_order_run").body["reversal"]["status"]) == (202, "preparing")
    assert answer("adopt_fact").body["adopted_by"] == "u-luis"
    assert office.last().state["pension"]["from"] == "2008-10-20"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_problem_in_the_callers_language_and_changes_nothing(
    *, office: PlansOffice, answer: Callable[..., Called], name: str
) -> None:
    for granted in ("apply_for_plan", "approve_plan", "pay_principal", "enter_fact"):
        if name != "approve_plan_by_who_entered" or granted == "apply_for_plan":
            answer(granted)
    before = (office.stack.ledger_items(), office.stack.registry_items())
    refused = answer(name)
    status, code, field = REFUSED[name]
    assert (refused.status, refused.code, refused.body["field"]) == (status, code, field)
    assert refused.headers["Content-Language"] == "es"
    assert (office.stack.ledger_items(), office.stack.registry_items()) == before


def test_the_daily_look_warns_on_the_scheduled_day(office: PlansOffice, answer: Callable[..., Called]) -> None:
    for granted in ("apply_for_plan", "approve_plan"):
        answer(granted)
    office.on("2009-08-11")
    looked = schedule.handler(recorded("plans_daily"), Context())  # type: ignore[arg-type]
    assert looked == {"day": "2009-08-11", "open": 1, "warned": 1, "lapsed": 0, "orders": "deduction_order/2009-08/1"}


def test_a_placeholder_that_an_emulator_left_is_the_clocks_time(office: PlansOffice) -> None:
    assert schedule.handler(recorded("plans_daily_unfilled"), Context())["day"] == "2008-10-20"  # type: ignore[arg-type]


def test_anything_but_a_scheduled_time_is_refused(office: PlansOffice) -> None:
    with pytest.raises(ValidationError):
        schedule.handler({}, Context())  # type: ignore[arg-type]


def test_a_failed_preparation_says_why(office: PlansOffice, answer: Callable[..., Called]) -> None:
    answer("prepare_orders")
    orders_worker.handler(recorded("orders_fail"), Context())  # type: ignore[arg-type]
    told = answer("read_order_run").body
    assert (told["status"], told["failure"]) == ("failed", "execution_failed")


def test_every_recorded_event_is_replayed() -> None:
    named = {
        *ANSWERED,
        *REFUSED,
        "adopt_fact",
        "approve_orders",
        "read_order",
        "read_order_csv",
        "read_order_run",
        "reverse_orders",
    }
    of_machines = {"orders_begin", "orders_work", "orders_end", "orders_fail", "plans_daily", "plans_daily_unfilled"}
    assert {path.stem for path in EVENTS.glob("*.json")} == named | of_machines
