"""What is held, or released, stays with its person: a payee's number is given once and kept for the whole case."""

from typing import Any

import pytest

from tests.conftest import Called
from tests.death_refunds.judges import Judges

HELD = {"event": "held", "payee": 2, "reason": "rival_claims", "note": "Another claims Ana's share"}
LEAVE_OUT = {
    "about": "debt_to_another_system",
    "choice": "leave_out",
    "reason": "Section 245: debts to the System",
}


def a_death(judges: Judges) -> None:
    """Of a judge with 1,000.00 and no designation."""
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.dies("2025-04-10")


def told(judges: Judges, refund_id: str, **event: Any) -> Called:
    answer = judges.settle(f"/death-refunds/{refund_id}/heirs", event)
    assert answer.status == 201, answer.text
    return answer


def declare(judges: Judges, refund_id: str, *names: str) -> Called:
    return told(judges, refund_id, event="heirs_declared", heirs=[{"name": name} for name in names])


def rows(payees: list[dict[str, Any]]) -> list[tuple[int, str, str, str]]:
    return [(one["number"], one["name"], one["amount"], one["status"]) for one in payees]


@pytest.mark.parametrize("is_settled", [True, False])
def test_heirs_declared_in_another_order_keep_their_numbers_and_holds(judges: Judges, *, is_settled: bool) -> None:
    """The hold was on Ana, whose half of the 1,000.00 is 500.00: it is hers in whatever order the heirs are told."""
    a_death(judges)
    refund_id = (judges.settled() if is_settled else judges.enter().body)["refund_id"]
    shown = "pending_payees" if is_settled else "payees"
    first = declare(judges, refund_id, "Ana", "Bea")
    assert rows(first.body[shown]) == [(2, "Ana", "500.00", "payable"), (3, "Bea", "500.00", "payable")]
    told(judges, refund_id, **HELD)
    turned = declare(judges, refund_id, "Bea", "Ana")
    assert rows(turned.body[shown]) == [(3, "Bea", "500.00", "payable"), (2, "Ana", "500.00", "held")]
    assert judges.approve(turned, heirs=is_settled).status == 201
    assert {name: cents for name, cents in judges.balances().items() if ":" in name} == {
        "held:2": 50_000, "payable:3": 50_000,
    }  # fmt: skip


def test_an_heir_who_is_left_out_and_comes_back_is_still_held_and_nobody_else(judges: Judges) -> None:
    """Without Ana all 1,000.00 are Bea's, and Cruz, who is new, isn't 2; with her again each has 500.00."""
    a_death(judges)
    refund_id = judges.settled()["refund_id"]
    declare(judges, refund_id, "Ana", "Bea")
    told(judges, refund_id, **HELD)
    alone = declare(judges, refund_id, "Cruz")
    assert rows(alone.body["pending_payees"]) == [(4, "Cruz", "1000.00", "payable")]
    assert judges.approve(alone, heirs=True).status == 201
    both = declare(judges, refund_id, "Bea", "Ana")
    assert rows(both.body["pending_payees"]) == [(3, "Bea", "500.00", "payable"), (2, "Ana", "500.00", "held")]
    assert judges.approve(both, heirs=True).status == 201
    assert {name: cents for name, cents in judges.balances().items() if ":" in name} == {
        "held:2": 50_000, "payable:3": 50_000,
    }  # fmt: skip


def test_a_release_stays_with_the_minor_it_was_of(judges: Judges) -> None:
    """Ana's guardian was named: hers is released; Bea's, whose isn't, stays held, in whatever order."""
    a_death(judges)
    refund_id = judges.settled()["refund_id"]
    minors = [{"name": "Ana", "minor": True}, {"name": "Bea", "minor": True}]
    told(judges, refund_id, event="heirs_declared", heirs=minors)
    told(judges, refund_id, event="released", payee=2, note="The court named a guardian")
    turned = told(judges, refund_id, event="heirs_declared", heirs=minors[::-1])
    assert rows(turned.body["pending_payees"]) == [(3, "Bea", "500.00", "held"), (2, "Ana", "500.00", "payable")]


def test_a_question_in_between_takes_no_hold_off(judges: Judges) -> None:
    """Thirds of 1,000.00: 333.34, 333.33, 333.33. A debt to another system asks a person; the hold outlasts it."""
    a_death(judges)
    refund_id = judges.enter().body["refund_id"]
    declare(judges, refund_id, "Ana", "Bea", "Cruz")
    told(judges, refund_id, **HELD)
    judges.owe("50.00", system="ERS")
    asked = declare(judges, refund_id, "Cruz", "Ana", "Bea")
    assert (asked.body["status"], asked.body["payees"], asked.body["figures"]) == ("needs_decision", [], None)
    # Who takes may be held while the question is open: the numbers are those of before.
    assert told(judges, refund_id, **HELD | {"payee": 4}).body["status"] == "needs_decision"
    unknown = judges.settle(f"/death-refunds/{refund_id}/heirs", HELD | {"payee": 5})
    assert (unknown.status, unknown.code) == (422, "unknown_payee")
    decided = judges.settle(f"/death-refunds/{refund_id}/decision", LEAVE_OUT, user="u-carla")
    assert rows(decided.body["payees"]) == [
        (4, "Cruz", "333.34", "held"), (2, "Ana", "333.33", "held"), (3, "Bea", "333.33", "payable"),
    ]  # fmt: skip
    assert judges.approve(decided).status == 201


def test_an_heir_called_estate_isn_t_the_estate(judges: Judges) -> None:
    """A pensioner's April, 636.82, is the estate's and held; an heir of that name takes the benefit.

    50,000.00 - 15 × 636.82 = 40,447.70.
    """
    judges.enrol(born="1955-03-17")
    judges.credit(5_000_000, "2023-07-31")
    judges.post_return("FY2024-S1", 0)
    judges.retire("2024-01-01", 63_682)
    judges.pay("2024-01", "2025-03")
    judges.dies("2025-04-10")
    refund_id = judges.settled()["refund_id"]  # heirs: 1, the estate: 2
    told(judges, refund_id, event="released", payee=2, note="Letters testamentary of 2025-07-08")
    declared = declare(judges, refund_id, "estate")
    assert rows(declared.body["pending_payees"]) == [
        (3, "estate", "40447.70", "payable"), (2, "estate", "636.82", "payable"),
    ]  # fmt: skip
    other = declare(judges, refund_id, "Ana")
    assert rows(other.body["pending_payees"]) == [(4, "Ana", "40447.70", "payable"), (2, "estate", "636.82", "payable")]
