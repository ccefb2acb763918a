"""The statement of a posted semester, recomputed; and a transfer that belongs to a semester that is posted."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from participants import api as participants
from retiro.ledger import savings
from retiro.ledger.lines import next_line
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from tests.death_refunds.judges import Judges, judges
from tests.participants.conftest import NEW
from tests.participants.semesters import passbooks_of, post_fy2025_s2

__all__ = ["judges"]

PATH = "/participants/P-000001"
STATEMENT = f"{PATH}/statements/FY2025-S2"


def contribute(stack: Any, participant_id: str, amount_cents: int, day: date) -> None:
    """A contribution as a remittance credits it."""
    passbooks = passbooks_of(stack)
    last = passbooks.last(participant_id)
    assert last is not None
    draft = savings.contribution(last, amount_cents, day, Origin("u-ana via fund"))
    passbooks.store.put_line(next_line(last, draft, passbook=participant_id, fund="ERS", recorded_at=passbooks.clock()))


def test_a_statement_shows_the_semester_with_its_law_and_receipt(
    enrolled: dict[str, Any], read: Callable[..., Any], stack: Any
) -> None:
    """10,000.00 on 2025-01-01 and 200.00 in each month.

    Month-ends 10,200 to 11,200: average 10,700.00. Percent 24.04 / 6 / 2 = 2.003333…; yield 214.356666… = 214.36.
    """
    for month in range(1, 7):
        contribute(stack, "P-000001", 200_00, date(2025, month, 15))
    post_fy2025_s2(stack, "P-000001", 214_36)
    answer = read(STATEMENT)
    assert answer.status == 200
    seen = answer.body
    assert [one["amount"] for one in seen["credits"]] == ["10000.00"] + ["200.00"] * 6
    assert {
        name: seen[name] for name in ("opening_balance", "average_monthly_balance", "yield", "closing_balance")
    } == {
        "opening_balance": "0.00",
        "average_monthly_balance": "10700.00",
        "yield": "214.36",
        "closing_balance": "11414.36",
    }
    assert seen["option_percents"] == {"fixed_income": "2.003333"}
    assert seen["semester_percent"] == "2.003333"
    assert (seen["yield_date"], seen["determination"]) == ("2025-06-30", "yield/FY2025-S2/1")
    assert all(citation.startswith("3 L.P.R.A. § 786-7") for citation in seen["citations"])
    assert seen["receipt"]["determination"] == "semester_yield"
    # The receipt names what adopted the setting, and since when it is in force.
    used = {setting["name"]: setting for setting in seen["receipt"]["settings"]}
    assert used["cmt_semester_conversion"]["source"]["en"] == "Resolution 2025-07"
    assert used["cmt_semester_conversion"]["in_force_from"] == "2025-01-01"


def test_a_judges_statement_rests_on_the_law_of_judges(judges: Judges) -> None:
    """1,000.00 since January at the Board's 2 percent: 20.00. Section 786-7 isn't a judge's."""
    judges.enrol()
    judges.credit(100_000, "2025-01-15")
    post_fy2025_s2(judges.stack, "P-000001", 20_00, {"hybrid_return": {"semester_percent": "2"}})
    answer = judges.call(participants.handler, "GET", STATEMENT, scopes="participants.read")
    assert answer.status == 200, answer.text
    assert answer.body["citations"] == ["4 L.P.R.A. § 242b"]
    names = ("average_monthly_balance", "semester_percent", "yield", "closing_balance")
    assert [answer.body[name] for name in names] == ["1000.00", "2.000000", "20.00", "1020.00"]


def test_a_semester_that_isnt_posted_has_no_statement(enrolled: dict[str, Any], read: Callable[..., Any]) -> None:
    answer = read(STATEMENT)
    assert (answer.status, answer.code, answer.body["field"]) == (404, "semester_not_posted", "semester")


@pytest.mark.parametrize("semester", ["FY2025-S3", "2025-S2", "FY2025"])
def test_a_text_that_is_no_semester_is_refused(
    enrolled: dict[str, Any], read: Callable[..., Any], semester: str
) -> None:
    answer = read(f"{PATH}/statements/{semester}")
    assert (answer.status, answer.body["field"]) == (422, "semester")


@pytest.mark.parametrize(
    ("day", "average", "difference", "yield_now", "closing"),
    [
        # January's month-end has it: 11,200.00 × 2.003333… % = 224.373333…
        ("2025-01-31", "11200.00", "24.04", "224.37", "11424.37"),
        # A day later it hasn't: (10,000 + 5 × 11,200) / 6 = 11,000.00; 220.366666…
        ("2025-02-01", "11000.00", "20.04", "220.37", "11420.37"),
    ],
)
def test_a_transfer_of_a_posted_semester_is_a_late_credit_with_the_difference_sy_01(
    *,
    write: Callable[..., Any],
    read: Callable[..., Any],
    stack: Any,
    day: str,
    average: str,
    difference: str,
    yield_now: str,
    closing: str,
) -> None:
    """https://github.com/peti/hledger-interest/issues/21. Posted on 10,000.00: 200.333333… = 200.33."""
    write("POST", "/participants", NEW | {"initial_transfer": None})
    contribute(stack, "P-000001", 10_000_00, date(2025, 1, 1))
    post_fy2025_s2(stack, "P-000001", 200_33)
    before = read(STATEMENT).body
    assert (before["yield"], before["closing_balance"], before["changed_by"]) == ("200.33", "10200.33", [])

    transfer = {"amount": "1200.00", "credited_on": day, "reference": "T-1"}
    answer = write("POST", f"{PATH}/transfers", transfer)
    assert answer.status == 201
    assert answer.body == {
        "participant_id": "P-000001",
        "sequence": 4,
        "kind": "late_credit",
        "amount": "1200.00",
        "effective_on": "2025-07-10",
        "belongs_on": day,
        "differences": {"FY2025-S2": difference},
        "savings": closing,
        "determination": "late_credit/P-000001/00000004",
    }
    after = read(STATEMENT).body
    assert (after["average_monthly_balance"], after["yield"], after["closing_balance"]) == (average, yield_now, closing)
    assert after["changed_by"] == [4]
    assert read(STATEMENT, query={"as_posted": "true"}).body == before
    evidence = LedgerStore(stack.dynamodb, "retiro-ledger").get_evidence("late_credit", "P-000001/00000004")
    used = evidence.body["settings"]
    assert [one["source"]["en"] for one in used if one["name"] == "cmt_semester_conversion"] == ["Resolution 2025-07"]
    again = write("POST", f"{PATH}/transfers", transfer)
    assert again.body == answer.body
    other = write("POST", f"{PATH}/transfers", transfer | {"reference": "T-2"})
    assert other.code == "initial_transfer_already_credited"


@pytest.mark.parametrize(
    ("requested_on", "effective_on"), [("2024-06-30", None), ("2024-07-01", "2025-07-01"), ("2025-06-30", "2025-07-01")]
)
def test_a_change_that_would_hold_in_a_posted_semester_is_for_a_person(
    *, write: Callable[..., Any], stack: Any, requested_on: str, effective_on: str | None
) -> None:
    """Asked for by 2024-06-30 it would hold from 2024-07-01 on, and so in FY2025-S2, which is posted."""
    write("POST", "/participants", NEW | {"enrolled_on": "2024-01-01"})
    post_fy2025_s2(stack, "P-000001", 200_33)
    before = stack.ledger_items()
    asked = {"requested_on": requested_on, "selection": {"system_portfolio": 100}}
    answer = write("PUT", f"{PATH}/investment-selection", asked)
    if effective_on is None:
        assert (answer.status, answer.code, answer.body["field"]) == (422, "needs_decision", "requested_on")
        assert stack.ledger_items() == before
    else:
        assert (answer.status, answer.body["effective_on"]) == (200, effective_on)
