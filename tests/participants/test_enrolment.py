"""Enrolling one participant: what is written, what is written once, and what is refused."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from retiro.registry.roster import partition, shard_of
from tests.participants.conftest import NEW

IDENTIFIER = "123-45-6789"


def test_an_enrolment_opens_the_passbook_with_selection_and_transfer(
    write: Callable[..., Any], read: Callable[..., Any]
) -> None:
    answer = write("POST", "/participants", NEW)
    assert answer.status == 201
    assert answer.body == {
        "participant_id": "P-000001",
        "fund": "ERS",
        "employer_id": "E-001",
        "birth_date": "1970-04-04",
        "enrolled_on": "2025-01-01",
        "status": "active",
        "savings": "10000.00",
        "selections": {"2025-01-01": {"fixed_income": 100}},
        "last_posted_semester": None,
        "lines": 2,
    }
    lines = read("/participants/P-000001/passbook").body["lines"]
    assert [line["kind"] for line in lines] == ["enrolment", "initial_transfer"]
    assert lines[1]["balances"] == {"savings": "10000.00", "transfers": "-10000.00"}
    assert lines[1]["determination"] == "enrolment/P-000001"


def test_a_participant_is_put_on_the_roster_in_the_same_transaction(enrolled: dict[str, Any], stack: Any) -> None:
    entry = stack.registry.get(partition(shard_of("P-000001")), "P-000001")
    assert (entry["fund"], entry["holder"]) == ("ERS", "participant")


def test_the_same_enrolment_again_is_the_first_answer(
    enrolled: dict[str, Any], write: Callable[..., Any], stack: Any
) -> None:
    before = stack.ledger_items()
    again = write("POST", "/participants", NEW)
    assert (again.status, again.body) == (201, enrolled)
    assert stack.ledger_items() == before


def test_another_enrolment_of_the_same_id_is_a_conflict(
    enrolled: dict[str, Any], write: Callable[..., Any], stack: Any
) -> None:
    before = stack.ledger_items()
    other = write("POST", "/participants", NEW | {"birth_date": "1970-04-05"})
    assert other.status == 409
    assert stack.ledger_items() == before


def test_without_selection_and_transfer_there_is_one_line(write: Callable[..., Any]) -> None:
    answer = write("POST", "/participants", {k: NEW[k] for k in list(NEW)[:5]})
    assert (answer.body["lines"], answer.body["savings"], answer.body["selections"]) == (1, "0.00", {})


def test_a_zero_in_a_selection_is_dropped_at_the_door_pa_03(write: Callable[..., Any]) -> None:
    """https://github.com/macor161/ts-money/pull/5"""
    answer = write("POST", "/participants", NEW | {"selection": {"fixed_income": 100, "system_portfolio": 0}})
    assert answer.body["selections"] == {"2025-01-01": {"fixed_income": 100}}


def test_the_person_is_kept_as_a_keyed_hash_and_the_identifier_nowhere(
    write: Callable[..., Any], stack: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write("POST", "/participants", NEW | {"person_identifier": IDENTIFIER})
    other = NEW | {"participant_id": "P-000002", "person_identifier": "123456789", "initial_transfer": None}
    second = write("POST", "/participants", other)
    assert (first.status, second.status) == (201, 201)
    links = [item for item in stack.registry_items() if item["pk"]["S"].startswith("person#")]
    # One person, written two ways: one key, two memberships.
    assert len({item["pk"]["S"] for item in links}) == 1
    assert sorted(item["sk"]["S"] for item in links) == ["P-000001", "P-000002"]
    everything = json.dumps(
        [stack.ledger_items(), stack.registry_items(), stack.items("retiro-idempotency")], default=str
    )
    logged = capsys.readouterr()
    for text in (everything, logged.out, logged.err, first.text):
        assert IDENTIFIER not in text
        assert "123456789" not in text


def test_the_same_key_with_another_person_is_another_request(
    write: Callable[..., Any], stack: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The records of keys have no identifier, nor the hash of one that anybody could compute."""
    first = write("POST", "/participants", NEW | {"person_identifier": IDENTIFIER}, key="one")
    assert first.status == 201
    again = write("POST", "/participants", NEW | {"person_identifier": "123 456 789"}, key="one")
    assert (again.status, again.text) == (201, first.text)  # the same person, written otherwise
    for other in ({"person_identifier": "987-65-4321"}, {}):
        refused = write("POST", "/participants", NEW | other, key="one")
        assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    logged = capsys.readouterr()
    kept = json.dumps([stack.items("retiro-idempotency"), logged.out, logged.err], default=str)
    sent = {"body": NEW | {"person_identifier": IDENTIFIER}, "acting_user": "u-ana"}
    for text in (IDENTIFIER, "123456789", json.dumps(sent, sort_keys=True, separators=(",", ":"))):
        assert text not in kept
        assert sha256(text.encode()).hexdigest() not in kept


@pytest.mark.parametrize("identifier", ["----", "    ", "-1-2-3-", "·····"])
def test_an_identifier_that_tells_nobody_apart_is_refused(
    write: Callable[..., Any], stack: Any, identifier: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    answer = write("POST", "/participants", NEW | {"person_identifier": identifier})
    assert (answer.status, answer.code, answer.body["field"]) == (422, "invalid_input", "person_identifier")
    assert identifier not in answer.text
    assert (stack.ledger_items(), stack.registry_items()) == before
    assert write("POST", "/participants", NEW | {"person_identifier": f"{identifier}1a2B"}).status == 201


def test_an_identifier_sent_as_a_number_is_refused_and_not_said_back(write: Callable[..., Any]) -> None:
    answer = write("POST", "/participants", NEW | {"person_identifier": 123456789})
    assert (answer.status, answer.body["field"]) == (422, "person_identifier")
    assert "123456789" not in answer.text


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"employer_id": "E-009"}, "employer_id", "unknown_employer"),
        ({"enrolled_on": "1999-12-31", "initial_transfer": None}, "enrolled_on", "invalid_input"),
        ({"enrolled_on": "2025-07-11", "initial_transfer": None}, "enrolled_on", "invalid_input"),
        ({"enrolled_on": "2025-02-30"}, "enrolled_on", "invalid_input"),
        ({"birth_date": "2025-01-01"}, "enrolled_on", "invalid_input"),
        ({"selection": {"fixed_income": 25, "system_portfolio": 75}}, "selection", "not_multiple_of_ten"),
        ({"selection": {"fixed_income": 90}}, "selection", "does_not_total_100"),
        ({"selection": {"gold": 100}}, "selection", "unknown_option"),
        (
            {"initial_transfer": NEW["initial_transfer"] | {"amount": 10000.00}},
            "initial_transfer.amount",
            "invalid_input",
        ),
        (
            {"initial_transfer": NEW["initial_transfer"] | {"amount": "1.005"}},
            "initial_transfer.amount",
            "invalid_input",
        ),
        (
            {"initial_transfer": NEW["initial_transfer"] | {"amount": "0.00"}},
            "initial_transfer.amount",
            "invalid_input",
        ),
        (
            {"initial_transfer": NEW["initial_transfer"] | {"credited_on": "2024-12-31"}},
            "initial_transfer.credited_on",
            "invalid_input",
        ),
        (
            {"initial_transfer": NEW["initial_transfer"] | {"credited_on": "2025-07-11"}},
            "initial_transfer.credited_on",
            "invalid_input",
        ),
    ],
)
def test_what_is_refused_names_field_rule_and_citation_and_changes_nothing(
    write: Callable[..., Any], stack: Any, change: dict[str, Any], field: str, code: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    answer = write("POST", "/participants", NEW | change)
    assert (answer.status, answer.code) == (422, code)
    assert answer.body["field"] == field
    assert answer.body["detail"]
    assert answer.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize(
    "birth_date",
    [1744243200, "1744243200", 0, "0", "2025-04-10T00:00:00", "2025-04-10T00:00:00Z", "2025-4-10", True],
)
def test_what_isnt_a_date_is_none_ap_01(write: Callable[..., Any], stack: Any, birth_date: Any) -> None:
    """https://github.com/pydantic/pydantic/issues/1185"""
    before = (stack.ledger_items(), stack.registry_items())
    answer = write("POST", "/participants", NEW | {"birth_date": birth_date})
    assert (answer.status, answer.body["field"]) == (422, "birth_date")
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize("enrolled_on", ["2000-01-01", "2025-07-10"])
def test_the_first_day_of_the_program_and_today_are_on_the_calendar(
    write: Callable[..., Any], enrolled_on: str
) -> None:
    answer = write("POST", "/participants", NEW | {"enrolled_on": enrolled_on, "initial_transfer": None})
    assert answer.status == 201


def test_today_is_puerto_ricos(write: Callable[..., Any], clock: Any) -> None:
    """At 03:30 UTC of July 11 it is still July 10 in Puerto Rico, so the 11th is to come."""
    clock.advance(hours=11, minutes=30)
    late = write("POST", "/participants", NEW | {"enrolled_on": "2025-07-11", "initial_transfer": None})
    assert (late.status, late.body["field"]) == (422, "enrolled_on")
    clock.advance(minutes=30)
    assert write("POST", "/participants", NEW | {"enrolled_on": "2025-07-11", "initial_transfer": None}).status == 201


def test_an_identifier_in_a_refused_request_is_not_logged(
    write: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for identifier in (IDENTIFIER, 123456789, "1", "1" * 41):
        assert write("POST", "/participants", NEW | {"person_identifier": identifier, "fund": "X"}).status == 422
    logged = capsys.readouterr()
    assert "123456789" not in logged.out + logged.err
    assert IDENTIFIER not in logged.out + logged.err


def test_after_a_refusal_the_key_is_free(write: Callable[..., Any]) -> None:
    refused = write("POST", "/participants", NEW | {"employer_id": "E-009"}, key="one")
    assert refused.status == 422
    assert write("POST", "/participants", NEW, key="one").status == 201


def test_an_employers_client_enrols_for_its_own_agency_only(write: Callable[..., Any], stack: Any) -> None:
    before = stack.ledger_items()
    other = write("POST", "/participants", NEW, client="employer-002")
    assert (other.status, other.code) == (403, "other_employer")
    assert stack.ledger_items() == before
    assert write("POST", "/participants", NEW, client="employer-001").status == 201


def test_reading_shows_an_employers_client_its_own_only(enrolled: dict[str, Any], read: Callable[..., Any]) -> None:
    assert read("/participants/P-000001", client="employer-001").body == enrolled
    for path in ("/participants/P-000001", "/participants/P-000001/passbook"):
        assert read(path, client="employer-002").status == 403


def test_an_unknown_participant_is_not_found(read: Callable[..., Any], write: Callable[..., Any], stack: Any) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    body = {"amount": "1.00", "credited_on": "2025-02-01", "reference": "T-9"}
    answers = [
        read("/participants/P-999999"),
        read("/participants/P-999999/statements/FY2025-S2"),
        write("POST", "/participants/P-999999/transfers", body),
        write(
            "PUT",
            "/participants/P-999999/investment-selection",
            {"requested_on": "2025-02-01", "selection": {"fixed_income": 100}},
        ),
    ]
    for answer in answers:
        assert (answer.status, answer.code, answer.body["field"]) == (404, "unknown_participant", "participant_id")
        assert answer.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before


def test_without_the_scope_nothing_is_reached(enrolled: dict[str, Any], read: Callable[..., Any]) -> None:
    assert read("/participants/P-000001", scopes="board.read").status == 403
