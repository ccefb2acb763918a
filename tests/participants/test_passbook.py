"""Transfers that come later, and the passbook as it is read: by pages, as of a day, as of a moment."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.participants.conftest import NEW

PATH = "/participants/P-000001"
TRANSFER = {"amount": "1234.56", "credited_on": "2025-02-03", "reference": "T-7"}


@pytest.fixture
def opened(write: Callable[..., Any]) -> None:
    """P-000001 without a transfer."""
    assert write("POST", "/participants", NEW | {"initial_transfer": None}).status == 201


def test_a_transfer_may_come_after_the_enrolment(opened: None, write: Callable[..., Any]) -> None:
    answer = write("POST", f"{PATH}/transfers", TRANSFER)
    assert answer.status == 201
    assert answer.body == {
        "participant_id": "P-000001",
        "sequence": 2,
        "kind": "initial_transfer",
        "amount": "1234.56",
        "effective_on": "2025-02-03",
        "belongs_on": None,
        "differences": {},
        "savings": "1234.56",
        "determination": None,
    }


def test_it_is_credited_once(opened: None, write: Callable[..., Any], stack: Any) -> None:
    first = write("POST", f"{PATH}/transfers", TRANSFER)
    before = stack.ledger_items()
    again = write("POST", f"{PATH}/transfers", TRANSFER)
    assert (again.status, again.body) == (201, first.body)
    other_content = write("POST", f"{PATH}/transfers", TRANSFER | {"amount": "1234.57"})
    assert other_content.status == 409
    other_reference = write("POST", f"{PATH}/transfers", TRANSFER | {"reference": "T-8"})
    assert (other_reference.status, other_reference.code) == (422, "initial_transfer_already_credited")
    assert other_reference.body["citation"] == "3 L.P.R.A. § 786-7(a)(1)"
    assert stack.ledger_items() == before


def test_one_that_came_with_the_enrolment_was_the_one(enrolled: dict[str, Any], write: Callable[..., Any]) -> None:
    answer = write("POST", f"{PATH}/transfers", TRANSFER)
    assert (answer.status, answer.code) == (422, "initial_transfer_already_credited")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"amount": 1234.56}, "amount"),
        ({"amount": "1234.567"}, "amount"),
        ({"amount": "-1.00"}, "amount"),
        ({"credited_on": "2025-02-30"}, "credited_on"),
        ({"credited_on": "2024-12-31"}, "credited_on"),
        ({"credited_on": "2025-07-11"}, "credited_on"),
    ],
)
def test_a_transfer_out_of_form_changes_nothing(
    opened: None, write: Callable[..., Any], stack: Any, change: dict[str, Any], field: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    answer = write("POST", f"{PATH}/transfers", TRANSFER | change)
    assert (answer.status, answer.code, answer.body["field"]) == (422, "invalid_input", field)
    assert answer.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before


def test_a_number_for_money_is_shown_as_it_came(opened: None, write: Callable[..., Any]) -> None:
    """https://github.com/pydantic/pydantic/issues/9180"""
    body = '{"amount": 1234567890123456.78, "credited_on": "2025-02-03", "reference": "T-7"}'
    answer = write("POST", f"{PATH}/transfers", body)
    assert answer.body["errors"][0]["received"] == "1234567890123456.78"


def test_pages_follow_one_another_to_the_end(enrolled: dict[str, Any], read: Callable[..., Any]) -> None:
    first = read(f"{PATH}/passbook", query={"limit": "1"}).body
    assert [line["sequence"] for line in first["lines"]] == [1]
    second = read(f"{PATH}/passbook", query={"limit": "1", "cursor": first["next_cursor"]}).body
    assert [line["sequence"] for line in second["lines"]] == [2]
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    ("day", "savings"), [("2025-02-02", None), ("2025-02-03", "1234.56"), ("2025-02-04", "1234.56")]
)
def test_balances_as_of_a_day_count_lines_from_their_effective_day(
    opened: None, write: Callable[..., Any], read: Callable[..., Any], day: str, savings: str | None
) -> None:
    write("POST", f"{PATH}/transfers", TRANSFER)
    seen = read(f"{PATH}/passbook", query={"effective_on": day}).body
    assert seen["effective_on"] == day
    assert seen["balances"].get("savings") == savings


def test_balances_as_of_a_moment_count_lines_from_their_record(
    opened: None, write: Callable[..., Any], read: Callable[..., Any], clock: Any
) -> None:
    """Dated February 3, recorded on July 10 at 17:00 UTC: an hour earlier nobody knew of it."""
    clock.advance(hours=1)
    write("POST", f"{PATH}/transfers", TRANSFER)
    before = read(f"{PATH}/passbook", query={"recorded_at": "2025-07-10T16:59:59Z"}).body
    after = read(f"{PATH}/passbook", query={"recorded_at": "2025-07-10T17:00:00Z"}).body
    assert (before["balances"], len(before["lines"])) == ({}, 1)
    assert (after["balances"], len(after["lines"])) == ({"savings": "1234.56", "transfers": "-1234.56"}, 2)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"effective_on": "2025-02-30"}, "effective_on"),
        ({"recorded_at": "2025-07-10"}, "recorded_at"),
        ({"recorded_at": "2025-02-30T00:00:00Z"}, "recorded_at"),
        ({"cursor": "bm90IGEgbnVtYmVy"}, "cursor"),
        ({"as_of": "2025-07-10"}, "as_of"),
    ],
)
def test_a_query_out_of_form_is_refused_by_its_field(
    enrolled: dict[str, Any], read: Callable[..., Any], query: dict[str, str], field: str
) -> None:
    answer = read(f"{PATH}/passbook", query=query)
    assert (answer.status, answer.body["field"]) == (422, field)
