"""The recorded gateway events through the real handler, in the order in which they would come."""

import json
from pathlib import Path

import pytest

from board_resolutions import api

EVENTS = Path(__file__).parents[2] / "events" / "board_resolutions"
REFUSED = {
    "propose_number_for_percent": (422, "invalid_input", "months.2025-06"),
    "propose_without_the_scope": (403, "scope_missing", None),
    "propose_without_a_key": (400, "idempotency_key_missing", "Idempotency-Key"),
    "adopt_by_the_proposer": (403, "same_person", "Acting-User"),
    "adopt_a_stale_hash": (409, "stale_hash", "content_hash"),
}
ANSWERED = ["propose_treasury_yields", "propose_setting", "read", "adopt", "list_settings"]


@pytest.fixture
def answer(replay, schedule):
    return lambda name: replay(api.handler, json.loads((EVENTS / f"{name}.json").read_text()))


def test_a_resolution_goes_from_proposal_to_adoption(answer):
    answers = [answer(name) for name in ANSWERED]
    assert [one.status for one in answers] == [201, 201, 200, 200, 200]
    proposed, _, read, adopted, listed = (one.body for one in answers)
    assert (proposed["status"], read["status"], adopted["status"]) == ("proposed", "proposed", "adopted")
    assert read["resolution"]["months"]["2025-06"] == "3.89"
    assert [item["kind"] for item in listed["items"]] == ["setting"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_problem_in_the_callers_language_and_changes_nothing(answer, stack, name):
    answer("propose_treasury_yields")
    before = stack.ledger_items() + stack.registry_items()

    refused = answer(name)

    status, code, field = REFUSED[name]
    assert (refused.status, refused.code, refused.body.get("field")) == (status, code, field)
    assert refused.headers["Content-Language"] == "es"
    assert refused.body["citation"]
    assert stack.ledger_items() + stack.registry_items() == before


@pytest.mark.parametrize("name", ["propose_treasury_yields", "propose_setting", "adopt"])
def test_an_event_that_is_delivered_twice_is_answered_the_same(answer, stack, name):
    answer("propose_treasury_yields")
    first = answer(name)
    after = stack.ledger_items() + stack.registry_items()
    again = answer(name)
    assert (again.status, again.text, again.headers) == (first.status, first.text, first.headers)
    assert stack.ledger_items() + stack.registry_items() == after


def test_every_recorded_event_is_replayed():
    assert {file.stem for file in EVENTS.glob("*.json")} == {*ANSWERED, *REFUSED}
