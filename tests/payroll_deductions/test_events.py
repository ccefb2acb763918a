"""The recorded events of gateway and state machine, through the real handlers, in the order they would come."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from payroll_deductions import api, worker
from tests.conftest import Context

EVENTS = Path(__file__).parents[2] / "events" / "payroll_deductions"
MACHINE = ("begin", "work", "end")
REFUSED = {
    "remit_with_another_total": (422, "remittance_refused", "control.total"),
    "remit_with_another_content": (409, "remittance_reference_used", "reference"),
    "remit_for_another_agency": (403, "other_employer", "employer_id"),
    "remit_a_number_for_money": (422, "invalid_input", "lines.1.amount"),
    "confirm_another_amount": (422, "deposit_amount_differs", "amount"),
    "confirm_in_the_future": (422, "invalid_input", "value_date"),
    "confirm_by_the_employer": (403, "party_not_allowed", None),
}
ANSWERED = {"remit": 201, "confirm": 202, "begin": None, "work": None, "end": None, "read": 200}


def recorded(name: str) -> dict[str, Any]:
    return json.loads((EVENTS / f"{name}.json").read_text())


@pytest.fixture
def answer(replay: Callable[..., Any], machine: Any) -> Callable[[str], Any]:
    return lambda name: replay(api.handler, recorded(name))


@pytest.fixture
def story(answer: Callable[[str], Any]) -> dict[str, Any]:
    """All that is granted, in order: what each was answered."""

    def one(name: str) -> Any:
        return worker.handler(recorded(name), Context(remaining_ms=800_000)) if name in MACHINE else answer(name)

    return {name: one(name) for name in ANSWERED}


def test_a_remittance_goes_from_its_filing_to_its_closing(story: dict[str, Any], passbooks: Any) -> None:
    assert {name: getattr(one, "status", None) for name, one in story.items()} == ANSWERED
    assert story["remit"].body["status"] == "awaiting_deposit"
    assert story["confirm"].body["status"] == "crediting"
    assert (story["begin"], story["work"]) == ({"chunks": [0]}, {"done": True})
    assert (story["read"].body["status"], story["read"].body["credited"]) == ("closed", 3)
    assert passbooks.last("P-000002").balances == {"savings": 300_50, "contributions": -300_50}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_problem_in_the_callers_language_and_changes_nothing(
    *, answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    answer("remit")
    before = (stack.ledger_items(), stack.registry_items())
    refused = answer(name)
    status, code, field = REFUSED[name]
    assert (refused.status, refused.code, refused.body.get("field")) == (status, code, field)
    assert refused.headers["Content-Language"] == "es"
    assert refused.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize("name", ["remit", "confirm"])
def test_an_event_that_is_delivered_twice_is_answered_the_same(
    story: dict[str, Any], answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    again = answer(name)
    assert (again.status, again.text) == (story[name].status, story[name].text)
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize("name", MACHINE)
def test_the_machines_event_that_comes_twice_is_done_once(story: dict[str, Any], stack: Any, name: str) -> None:
    before = stack.ledger_items()
    worker.handler(recorded(name), Context(remaining_ms=800_000))
    assert stack.ledger_items() == before


def test_a_failed_execution_is_told_where_the_remittance_stands(answer: Callable[[str], Any]) -> None:
    answer("remit")
    answer("confirm")
    assert worker.handler(recorded("fail"), Context()) == {}
    assert answer("read").body["status"] == "failed"


def test_every_recorded_event_is_replayed() -> None:
    assert {file.stem for file in EVENTS.glob("*.json")} == {*ANSWERED, *REFUSED, "fail"}
