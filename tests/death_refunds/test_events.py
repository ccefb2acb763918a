"""The recorded events of the gateway, through the real handlers, in the order they would come."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from death_refunds import api
from tests.conftest import Called
from tests.death_refunds.judges import Judges

EVENTS = Path(__file__).parents[2] / "events" / "death_refunds"


def recorded(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


@pytest.fixture
def answer(judges: Judges, replay: Callable[..., Called]) -> Callable[..., Called]:
    """Replay an event by its name; `content_hash` in the place of the recorded one, which no case has."""

    def answered(name: str, content_hash: str | None = None) -> Called:
        event = recorded(name)
        if content_hash is not None:
            event["body"] = json.dumps({"content_hash": content_hash})
        return replay(api.handler, event)

    return answered


@pytest.fixture
def judge(judges: Judges) -> Judges:
    """A judge with 1,000.00, and three debts: lines 1 to 4."""
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.owe("50.00")
    return judges


def test_a_death_goes_through_the_doors_event_by_event(judge: Judges, answer: Callable[..., Called]) -> None:
    assert answer("quote").body["figures"]["net"] == "950.00"
    assert answer("report").body["report_id"] == "P-000001-5"
    assert answer("confirm").body["status"] == "confirmed"
    assert answer("read_report").body["confirmed_by"] == "u-berta via office"
    entered = answer("settle").body
    assert (entered["refund_id"], entered["status"]) == ("P-000001-7", "entered")
    settled = answer("approve", entered["content_hash"]).body
    assert [(one["name"], one["status"]) for one in settled["payees"]] == [("heirs", "held")]
    declared = answer("declare_heirs").body
    assert [one["amount"] for one in declared["pending_payees"]] == ["475.00", "475.00"]
    answer("approve_heirs", declared["content_hash"])
    told = answer("read").body
    assert [(one["amount"], one["status"], one["reason"]) for one in told["payees"]] == [
        ("475.00", "payable", None), ("475.00", "held", "minor"),
    ]  # fmt: skip
    assert answer("withdraw").body["status"] == "withdrawn"
    assert answer("read").body["status"] == "withdrawn"
    assert judge.balances() == {
        "savings": 100_000, "contributions": -100_000, "debts": -5_000, "debts_stated": 5_000,
    }  # fmt: skip


def test_a_question_is_decided_event_by_event(judges: Judges, answer: Callable[..., Called]) -> None:
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.owe("50.00", system="ERS")
    answer("report")
    answer("confirm")
    asked = answer("settle").body
    assert asked["status"] == "needs_decision"
    assert "otro sistema" in asked["question"]["detail"]
    decided = answer("decide").body
    assert (decided["status"], decided["figures"]["net"]) == ("entered", "1000.00")


@pytest.mark.parametrize("name", ["report", "confirm", "settle", "declare_heirs"])
def test_an_event_that_is_delivered_twice_is_answered_the_same(
    judge: Judges, answer: Callable[..., Called], name: str
) -> None:
    for before in ("report", "confirm", "settle", "declare_heirs"):
        first = answer(before)
        if before == name:
            break
    items = judge.stack.ledger_items()
    again = answer(name)
    assert (again.status, again.text) == (first.status, first.text)
    assert judge.stack.ledger_items() == items


REFUSED = {
    "report_in_the_future": (422, "invalid_input", "death_date"),
    "report_with_a_time": (422, "invalid_input", "death_date"),
    "report_by_an_employer": (403, "party_not_allowed", None),
    "confirm_by_the_reporter": (403, "same_person", "Acting-User"),
    "withdraw_without_a_reason": (422, "invalid_input", "reason"),
    "settle_by_another_clerk": (409, "refund_entered", None),
    "settle_somebody_alive": (422, "no_death_reported", "participant_id"),
    "read_unknown": (404, "refund_not_found", "refund_id"),
    "approve": (409, "stale_hash", "content_hash"),
    "approve_heirs": (409, "stale_hash", "content_hash"),
    "hold_a_payee_that_is_not_there": (422, "unknown_payee", "payee"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_problem_in_the_callers_language_and_changes_nothing(
    judge: Judges, answer: Callable[..., Called], name: str
) -> None:
    judge.enrol("P-000002")
    for before in ("report", "confirm", "settle"):
        answer(before)
    items = (judge.stack.ledger_items(), judge.stack.registry_items())
    refused = answer(name)
    assert (refused.status, refused.code, refused.body.get("field")) == REFUSED[name]
    assert refused.headers["Content-Language"] == "es"
    assert refused.body["citation"]
    assert (judge.stack.ledger_items(), judge.stack.registry_items()) == items


def test_who_entered_is_refused_by_the_hash_that_stands(judge: Judges, answer: Callable[..., Called]) -> None:
    answer("report")
    answer("confirm")
    refused = answer("approve_by_who_entered", answer("settle").body["content_hash"])
    assert (refused.status, refused.code) == (403, "same_person")
    assert judge.last().kind == "refund_entered"


def test_every_route_has_an_event() -> None:
    replayed = {(one["httpMethod"], one["resource"]) for one in (recorded(path.stem) for path in EVENTS.glob("*.json"))}
    assert replayed == {(route.method, route.path) for route in api.portal.routes}
