"""What is told again, or comes in between: a case keeps what was told of it, and the same again is the first answer."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from retiro.ledger import annuities
from tests.conftest import Called
from tests.death_refunds.judges import BY_THE_OFFICE, JUDGE, Judges, payees

LEAVE_OUT = {
    "about": "debt_to_another_system",
    "choice": "leave_out",
    "reason": "Section 245: debts to the System",
}
HEIRS = {"event": "heirs_declared", "heirs": [{"name": "X"}]}


def a_judge(judges: Judges) -> None:
    """With 1,000.00 and a return of nothing."""
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)


def told(judges: Judges, refund_id: str, event: Mapping[str, Any], **request: Any) -> Called:
    answer = judges.settle(f"/death-refunds/{refund_id}/heirs", event, **request)
    assert answer.status == 201, answer.text
    return answer


def test_a_settled_case_stays_as_it_is_when_its_first_request_comes_again(judges: Judges) -> None:
    """A pensioner paid through June 2025 who died on April 10: a debt to another system was left out by a person.

    50,000.00 - 15 × 636.82 = 40,447.70 to whoever takes; the first request, which had no decision, doesn't undo it.
    """
    judges.enrol(born="1955-03-17")
    judges.credit(5_000_000, "2023-07-31")
    judges.post_return("FY2024-S1", 0)
    judges.retire("2024-01-01", 63_682)
    paid = judges.pay("2024-01", "2025-06")
    judges.owe("50.00", system="ERS")
    judges.dies("2025-04-10")
    refund_id = judges.enter().body["refund_id"]
    decided = judges.settle(f"/death-refunds/{refund_id}/decision", LEAVE_OUT)
    assert judges.approve(decided).status == 201
    pending = told(judges, refund_id, HEIRS)
    # June's payment comes back while the heirs wait for their approval, and the first request comes again.
    back_on = date(2025, 7, 8)
    judges.append(JUDGE, lambda _: annuities.returned(judges.history(), paid.sequence, back_on, BY_THE_OFFICE))
    lines = judges.last().sequence
    again = judges.enter()
    assert (again.status, again.body) == (201, pending.body)
    assert judges.last().sequence == lines
    # The heirs are entered anew, by the decision that stands, and approved.
    assert judges.approve(pending, heirs=True).code == "stale_hash"
    changed = judges.change(refund_id, **HEIRS)
    assert payees(changed) == [("X", "40447.70", "payable", None)]
    later = told(judges, refund_id, {"event": "held", "payee": 2, "reason": "rival_claims", "note": "Y claims it too"})
    assert [one["status"] for one in later.body["pending_payees"]] == ["held"]


@pytest.mark.parametrize("user", ["u-ana", "u-carla"])
def test_what_was_told_of_a_case_is_kept_when_it_is_entered_anew(judges: Judges, user: str) -> None:
    """Of 1,000.00 and a later 1.00, in halves: 500.50 each; Beto's stays held, by whoever it is entered anew."""
    a_judge(judges)
    judges.owe("50.00", system="ERS")
    judges.dies("2025-04-10")
    refund_id = judges.enter().body["refund_id"]
    judges.settle(f"/death-refunds/{refund_id}/decision", LEAVE_OUT)
    told(judges, refund_id, {"event": "heirs_declared", "heirs": [{"name": "Ana"}, {"name": "Beto"}]})
    number = 3  # the heirs not declared yet were 1
    held = {"event": "held", "payee": number, "reason": "rival_claims", "note": "Another claims to be Beto"}
    told(judges, refund_id, held)
    judges.credit(100, "2025-04-01")
    anew = judges.enter(user=user)
    assert (anew.status, anew.body["status"]) == (201, "entered")
    assert payees(anew.body) == [("Ana", "500.50", "payable", None), ("Beto", "500.50", "held", "rival_claims")]
    assert judges.approve(anew).status == 201


def test_what_is_said_otherwise_when_it_is_entered_anew_counts(judges: Judges) -> None:
    """The 1,001.00 are Cruz's alone: the clerk who enters it anew names the heirs."""
    a_judge(judges)
    judges.dies("2025-04-10")
    refund_id = judges.enter().body["refund_id"]
    told(judges, refund_id, HEIRS)
    judges.credit(100, "2025-04-01")
    anew = judges.enter(user="u-carla", heirs=[{"name": "Cruz"}])
    assert payees(anew.body) == [("Cruz", "1001.00", "payable", None)]


def test_a_beneficiary_s_death_that_was_told_of_is_kept_beside_another(judges: Judges) -> None:
    """Ana and Beto died first: Carla has a third of 1,001.00, and two thirds fall to the heirs.

    1,001.00 ÷ 3 = 333.666...: 333.67 to Ana and Beto, who come first, 667.34 together, and 333.66 to Carla.
    """
    a_judge(judges)
    judges.designate("Ana", "Beto", "Carla")
    judges.dies("2025-04-10")
    refund_id = judges.enter().body["refund_id"]
    told(judges, refund_id, EVENTS["died"])
    judges.credit(100, "2025-04-01")
    anew = judges.enter(user="u-carla", beneficiary_deaths=[{"name": "Beto", "died_on": "2025-04-08"}])
    assert payees(anew.body) == [
        ("Carla", "333.66", "payable", None), ("heirs", "667.34", "held", "heirs_not_declared"),
    ]  # fmt: skip


@pytest.mark.parametrize("by", ["request", "event"])
def test_what_the_board_has_adopted_since_has_it_entered_anew(judges: Judges, by: str) -> None:
    """Ana's half of the 1,000.00 would fall to the heirs; by the act adopted since, it accrues to Beto."""
    a_judge(judges)
    judges.designate("Ana", "Beto")
    judges.dies("2025-04-10")
    refund_id = judges.enter().body["refund_id"]
    entered = told(judges, refund_id, EVENTS["died"])
    judges.adopt("setting", name="predeceased_share", value="accrue", in_force_from="2010-01-01")
    assert judges.approve(entered).code == "stale_hash"
    anew = judges.enter() if by == "request" else told(judges, refund_id, EVENTS["died"])
    assert (anew.status, anew.body["refund_id"]) == (201, refund_id)
    assert payees(anew.body) == [("Beto", "1000.00", "payable", None)]
    assert judges.approve(anew).status == 201


EVENTS = {
    "heirs": {"event": "heirs_declared", "heirs": [{"name": "X", "minor": True}]},
    "died": {"event": "beneficiary_died", "name": "Ana", "died_on": "2025-04-09"},
    "held": {"event": "held", "payee": 1, "reason": "rival_claims", "note": "Another claims to be Ana"},
    "released": {"event": "released", "payee": 1, "note": "Judgment of 2025-07-09, final"},
}


@pytest.mark.parametrize("is_settled", [True, False])
@pytest.mark.parametrize("name", EVENTS)
def test_an_event_told_again_is_the_first_answer(judges: Judges, name: str, *, is_settled: bool) -> None:
    """Before its approval and after it, and with another event of its kind in between, it writes nothing."""
    a_judge(judges)
    judges.designate("Ana", "Beto", "Carla")
    judges.dies("2025-04-10")
    refund_id = (judges.settled() if is_settled else judges.enter().body)["refund_id"]
    told(judges, refund_id, EVENTS[name])
    other = {"payee": 2} if "payee" in EVENTS[name] else {"name": "Beto"} if name == "died" else {}
    first = told(judges, refund_id, EVENTS[name] | other)
    lines = judges.last().sequence
    assert told(judges, refund_id, EVENTS[name]).body == first.body
    approved = judges.approve(first, heirs=is_settled)
    assert approved.status == 201
    again = told(judges, refund_id, EVENTS[name], user="u-carla")
    assert again.body == approved.body
    assert (again.body["content_hash"], again.body["pending_payees"]) == (None, None)
    assert judges.last().sequence == lines + 1  # the approval
