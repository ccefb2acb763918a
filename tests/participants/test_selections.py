"""The selection of investment: the first at once, a change from the next fiscal year on, one a fiscal year."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.participants.conftest import NEW

PATH = "/participants/P-000001/investment-selection"
HALVES = {"fixed_income": 50, "system_portfolio": 50}


def _asked(requested_on: str, **selection: int) -> dict[str, Any]:
    return {"requested_on": requested_on, "selection": selection or HALVES}


def test_a_change_takes_effect_on_the_first_of_the_next_fiscal_year(
    enrolled: dict[str, Any], write: Callable[..., Any], read: Callable[..., Any]
) -> None:
    answer = write("PUT", PATH, _asked("2025-03-15"))
    assert answer.status == 200
    assert answer.body == {
        "participant_id": "P-000001",
        "sequence": 3,
        "requested_on": "2025-03-15",
        "selection": HALVES,
        "effective_on": "2025-07-01",
        "fiscal_year": "FY2026",
        "determination": "selection/P-000001/00000003",
    }
    selections = read("/participants/P-000001").body["selections"]
    assert selections == {"2025-01-01": {"fixed_income": 100}, "2025-07-01": HALVES}


def test_the_determination_is_kept_with_its_receipt(
    enrolled: dict[str, Any], write: Callable[..., Any], stack: Any
) -> None:
    write("PUT", PATH, _asked("2025-03-15"))
    evidence = [item for item in stack.ledger_items() if item["pk"]["S"] == "evidence#selection#P-000001/00000003"]
    assert len(evidence) == 1
    assert '"determination":"investment_selection"' in evidence[0]["body"]["S"]


def test_who_never_selected_selects_at_once(write: Callable[..., Any]) -> None:
    write("POST", "/participants", NEW | {"selection": None})
    first = write("PUT", PATH, _asked("2025-03-15"))
    assert (first.body["effective_on"], first.body["fiscal_year"]) == ("2025-03-15", "FY2025")
    # The first selection was no change: one change is still open in the same fiscal year.
    change = write("PUT", PATH, _asked("2025-03-16", system_portfolio=100))
    assert (change.status, change.body["effective_on"]) == (200, "2025-07-01")


def test_one_change_in_each_fiscal_year_by_the_days_of_the_requests_pa_01(
    enrolled: dict[str, Any], write: Callable[..., Any], clock: Any
) -> None:
    """https://github.com/jszwedko/go-datemath/pull/8"""
    clock.now = datetime(2026, 7, 10, 16, tzinfo=UTC)
    asked = [
        write("PUT", PATH, _asked("2025-06-30")),
        write("PUT", PATH, _asked("2025-07-01", system_portfolio=100)),
        write("PUT", PATH, _asked("2026-06-30")),
        write("PUT", PATH, _asked("2026-07-01")),
    ]
    assert [answer.status for answer in asked] == [200, 200, 422, 200]
    assert [(one.body["effective_on"], one.body["fiscal_year"]) for one in (asked[0], asked[1], asked[3])] == [
        ("2025-07-01", "FY2026"),
        ("2026-07-01", "FY2027"),
        ("2027-07-01", "FY2028"),
    ]
    assert asked[2].code == "already_changed_this_fiscal_year"


def test_the_same_request_again_is_the_first_answer(
    enrolled: dict[str, Any], write: Callable[..., Any], stack: Any
) -> None:
    first = write("PUT", PATH, _asked("2025-03-15"))
    before = stack.ledger_items()
    again = write("PUT", PATH, _asked("2025-03-15"))
    assert (again.status, again.body) == (200, first.body)
    assert stack.ledger_items() == before


@pytest.mark.parametrize(
    ("requested_on", "selection", "field", "code"),
    [
        ("2025-03-15", {"fixed_income": 25, "system_portfolio": 75}, "selection", "not_multiple_of_ten"),
        ("2025-03-15", {"fixed_income": 50, "system_portfolio": 40}, "selection", "does_not_total_100"),
        ("2025-03-15", {"gold": 100}, "selection", "unknown_option"),
        ("2025-02-30", HALVES, "requested_on", "invalid_input"),
        ("1999-12-31", HALVES, "requested_on", "invalid_input"),
        ("2024-12-31", HALVES, "requested_on", "invalid_input"),
        ("2025-07-11", HALVES, "requested_on", "invalid_input"),
    ],
)
def test_what_is_refused_names_field_rule_and_citation_and_changes_nothing(
    *,
    enrolled: dict[str, Any],
    write: Callable[..., Any],
    stack: Any,
    requested_on: str,
    selection: dict[str, int],
    field: str,
    code: str,
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    answer = write("PUT", PATH, {"requested_on": requested_on, "selection": selection})
    assert (answer.status, answer.code, answer.body["field"]) == (422, code, field)
    assert answer.body["citation"]
    assert answer.body["detail"]
    assert (stack.ledger_items(), stack.registry_items()) == before


def test_a_second_change_in_the_fiscal_year_is_refused_with_the_receipt_so_far(
    enrolled: dict[str, Any], write: Callable[..., Any], stack: Any
) -> None:
    write("PUT", PATH, _asked("2025-03-15"))
    before = stack.ledger_items()
    second = write("PUT", PATH, _asked("2025-03-15", system_portfolio=100))
    assert (second.status, second.code) == (422, "already_changed_this_fiscal_year")
    assert second.body["citation"] == "3 L.P.R.A. § 786-7(b)(2)"
    assert second.body["field"] == "requested_on"
    assert second.body["receipt"]["inputs"]["earlier_changes"] == ["2025-03-15"]
    assert stack.ledger_items() == before
