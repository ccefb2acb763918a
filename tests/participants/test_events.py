"""The recorded events of gateway and state machine, through the real handlers, in the order they would come."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from participants import api, worker
from tests.conftest import Context
from tests.participants.semesters import post_fy2025_s2

EVENTS = Path(__file__).parents[2] / "events" / "participants"
MACHINE = ("begin", "work", "end")
REFUSED = {
    "enrol_with_another_content": (409, "already_enrolled", "participant_id"),
    "enrol_number_for_money": (422, "invalid_input", "initial_transfer.amount"),
    "enrol_off_the_calendar": (422, "invalid_input", "enrolled_on"),
    "enrol_with_an_unknown_employer": (422, "unknown_employer", "employer_id"),
    "enrol_for_another_agency": (403, "other_employer", "employer_id"),
    "enrol_file_with_errors": (422, "file_refused", "control.count"),
    "transfer_with_three_places": (422, "invalid_input", "amount"),
    "transfer_twice": (422, "initial_transfer_already_credited", None),
    "select_25_percent": (422, "not_multiple_of_ten", "selection"),
    "select_again_in_the_fiscal_year": (422, "already_changed_this_fiscal_year", "requested_on"),
    "read_unknown": (404, "unknown_participant", "participant_id"),
}
ANSWERED = {
    "enrol": 201,
    "enrol_file": 202,
    "begin": None,
    "work": None,
    "end": None,
    "read_file": 200,
    "transfer": 201,
    "select": 200,
    "read": 200,
    "read_passbook": 200,
}


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


def test_participants_come_one_by_one_and_by_file_and_are_read(
    story: dict[str, Any], answer: Callable[[str], Any], stack: Any
) -> None:
    assert {name: getattr(one, "status", None) for name, one in story.items()} == ANSWERED
    assert story["begin"] == {"chunks": [0]}
    assert story["work"] == {"done": True}
    assert (story["read_file"].body["status"], story["read_file"].body["done"]) == ("done", 2)
    assert story["transfer"].body["savings"] == "1234.56"
    assert story["select"].body["effective_on"] == "2025-07-01"
    assert story["read"].body["lines"] == 3
    # The change of selection is effective on July 1: on January 31 it isn't there yet.
    assert [line["kind"] for line in story["read_passbook"].body["lines"]] == ["enrolment", "initial_transfer"]
    post_fy2025_s2(stack, "P-000001", 200_33)
    assert answer("read_statement").body["yield"] == "200.33"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_problem_in_the_callers_language_and_changes_nothing(
    *, story: dict[str, Any], answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    refused = answer(name)
    status, code, field = REFUSED[name]
    assert (refused.status, refused.code, refused.body.get("field")) == (status, code, field)
    assert refused.headers["Content-Language"] == "es"
    assert refused.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize("name", ["enrol", "enrol_file", "transfer", "select"])
def test_an_event_that_is_delivered_twice_is_answered_the_same(
    story: dict[str, Any], answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    again = answer(name)
    assert (again.status, again.text) == (story[name].status, story[name].text)
    assert (stack.ledger_items(), stack.registry_items()) == before


def test_a_failed_execution_is_told_where_the_file_stands(answer: Callable[[str], Any]) -> None:
    answer("enrol_file")
    assert worker.handler(recorded("fail"), Context()) == {}
    assert answer("read_file").body["status"] == "failed"


def test_every_recorded_event_is_replayed() -> None:
    """Here, or beside the tests of what is filed of a judge."""
    here = {*ANSWERED, *REFUSED, "read_statement", "fail"}
    filings = Path(__file__).with_name("test_filings.py").read_text()
    recorded_names = {file.stem for file in EVENTS.glob("*.json")}
    assert here <= recorded_names
    assert {name for name in recorded_names - here if f'"{name}"' not in filings} == set()
