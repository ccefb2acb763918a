"""Designations, service, debts and changes of system: filed by one person, approved by another, and all of it stays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from participants import api as participants
from retiro.ledger import hybrid
from tests.death_refunds.judges import JUDGE, Judges, judges

__all__ = ["judges"]

PEOPLE = [{"name": "Ana", "share_percent": "75"}, {"name": "Beto", "share_percent": "25"}]
DESIGNATION = {"reference": "ORDER-1", "filed_on": "2015-02-02", "beneficiaries": PEOPLE}
PATH = f"/participants/{JUDGE}/designations"


def listed(judges: Judges) -> list[tuple[int, str]]:
    """Sequence and status of each designation."""
    return [(sequence, status) for sequence, status, _ in ended(judges)]


def ended(judges: Judges) -> list[tuple[int, str, int | None]]:
    """Sequence and status of each designation, and the line that ended it."""
    answer = judges.call(participants.handler, "GET", PATH, scopes="participants.read")
    return [(one["sequence"], one["status"], one["ended_by"]) for one in answer.body["items"]]


def recognized(judges: Judges, sequence: int, user: str = "u-berta") -> Any:
    return judges.write(f"{PATH}/{sequence}/recognition", user=user)


def test_a_designation_counts_once_another_person_has_recognized_it(judges: Judges) -> None:
    judges.enrol()
    filed = judges.write(PATH, DESIGNATION)
    assert (filed.status, filed.body["status"], filed.body["sequence"]) == (201, "filed", 2)
    assert "designation" not in judges.last().state
    same = recognized(judges, 2, "u-ana")
    assert (same.status, same.code) == (403, "same_person")
    answer = recognized(judges, 2)
    assert (answer.status, answer.body["status"]) == (201, "recognized")
    assert answer.body["recognized_by"] == "u-berta via portal"
    assert judges.last().state["designation"] == 3
    assert recognized(judges, 2).body == answer.body
    assert recognized(judges, 2, "u-carla").code == "already_approved"


def test_the_next_one_filed_supersedes_and_the_history_stays(judges: Judges) -> None:
    judges.enrol()
    judges.designate("Ana")
    judges.designate("Beto")
    assert listed(judges) == [(2, "superseded"), (4, "recognized")]


def test_an_older_paper_is_recognized_and_replaces_nothing(judges: Judges) -> None:
    """The last order filed counts, § 242b(e): neither entry nor recognition makes one the last."""
    judges.enrol()
    later = judges.write(PATH, DESIGNATION | {"filed_on": "2020-05-01"}).body["sequence"]
    older = judges.write(PATH, DESIGNATION | {"reference": "ORDER-0"}).body["sequence"]
    assert recognized(judges, older).body["status"] == "recognized"  # as long as no other is
    assert recognized(judges, later).body["status"] == "recognized"
    assert ended(judges) == [(2, "recognized", None), (3, "superseded", judges.last().sequence)]
    oldest = judges.write(PATH, DESIGNATION | {"reference": "ORDER-00", "filed_on": "2014-05-01"}).body["sequence"]
    answer = recognized(judges, oldest)
    assert (answer.status, answer.body["status"], answer.body["ended_by"]) == (201, "superseded", 5)
    assert ended(judges)[:2] == [(2, "recognized", None), (3, "superseded", 5)]


def test_of_one_day_the_one_filed_last_counts_whichever_was_recognized_last(judges: Judges) -> None:
    judges.enrol()
    first = judges.write(PATH, DESIGNATION).body["sequence"]
    second = judges.write(PATH, DESIGNATION | {"reference": "ORDER-2"}).body["sequence"]
    recognized(judges, second)
    recognized(judges, first)
    assert ended(judges) == [(2, "superseded", 4), (3, "recognized", None)]


def test_a_change_of_system_makes_it_void(judges: Judges) -> None:
    judges.enrol()
    judges.designate("Ana")
    judges.write(PATH, DESIGNATION)
    change = {"reference": "C-1", "changed_on": "2016-01-15", "to_system": "ERS"}
    judges.file(JUDGE, "system-changes", change)
    assert "designation" not in judges.last().state
    assert ended(judges) == [(2, "void", 6), (4, "filed", None)]
    assert recognized(judges, 4).code == "later_designation_stands"


def test_a_change_of_system_takes_down_what_was_filed_before_its_day_and_nothing_else(judges: Judges) -> None:
    """By the days, whatever was entered first, § 803: the order of 2020 outlives the move of 2018 that came in late."""
    judges.enrol()
    judges.designate("Ana", filed_on="2020-05-01")
    filed = judges.write(PATH, DESIGNATION | {"filed_on": "2021-05-01"}).body["sequence"]
    judges.file(JUDGE, "system-changes", {"reference": "C-1", "changed_on": "2018-01-15", "to_system": "ERS"})
    assert listed(judges) == [(2, "recognized"), (filed, "filed")]
    assert recognized(judges, filed).body["status"] == "recognized"
    before = judges.write(PATH, DESIGNATION | {"reference": "ORDER-0", "filed_on": "2016-05-01"}).body["sequence"]
    refused = recognized(judges, before)
    assert (refused.status, refused.code) == (409, "later_designation_stands")
    assert refused.body["citation"] == "4 L.P.R.A. § 242b(e); 3 L.P.R.A. § 803"
    assert listed(judges) == [(2, "superseded"), (filed, "recognized"), (before, "filed")]


def test_a_reported_death_is_the_day_as_of_which_they_stand(judges: Judges) -> None:
    """One filed after the death isn't the participant's, and a move after it takes nothing down."""
    judges.enrol()
    judges.designate("Ana", filed_on="2016-05-01")
    judges.designate("Beto", filed_on="2021-05-01")
    judges.file(JUDGE, "system-changes", {"reference": "C-1", "changed_on": "2022-01-15", "to_system": "ERS"})
    assert ended(judges) == [(2, "void", 7), (4, "void", 7)]
    report = int(str(judges.report("2020-01-01").body["report_id"]).rsplit("-", 1)[1])
    assert ended(judges) == [(2, "recognized", None), (4, "void", report)]
    older = judges.write(PATH, DESIGNATION | {"reference": "ORDER-0"}).body["sequence"]
    assert recognized(judges, older).body["status"] == "superseded"


REFUSED = {
    "shares of 90 percent": (
        {"beneficiaries": [{"name": "Ana", "share_percent": "90"}]},
        (422, "shares_do_not_total_100", "beneficiaries", "4 L.P.R.A. § 242b(e)"),
    ),
    "a share for one of two": (
        {"beneficiaries": [{"name": "Ana", "share_percent": "100"}, {"name": "Beto"}]},
        (422, "shares_do_not_total_100", "beneficiaries", "4 L.P.R.A. § 242b(e)"),
    ),
    "nobody": ({"beneficiaries": []}, (422, "invalid_input", "beneficiaries", "Retiro API v1, values")),
    "somebody twice": (
        {"beneficiaries": [{"name": "Ana"}, {"name": "Ana"}]},
        (422, "invalid_input", "beneficiaries", "Retiro API v1, values"),
    ),
    "filed tomorrow": ({"filed_on": "2025-07-11"}, (422, "invalid_input", "filed_on", "4 L.P.R.A. § 242b")),
    "filed before the enrolment": ({"filed_on": "2014-01-14"}, (422, "invalid_input", "filed_on", "4 L.P.R.A. § 242b")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_faulty_designation_is_refused_and_changes_nothing(judges: Judges, case: str) -> None:
    changes, expected = REFUSED[case]
    judges.enrol()
    before = (judges.stack.ledger_items(), judges.stack.registry_items())
    refused = judges.write(PATH, DESIGNATION | changes)
    body = refused.body
    assert (refused.status, body["code"], body["field"], body["citation"]) == expected
    assert (judges.stack.ledger_items(), judges.stack.registry_items()) == before


def test_who_does_not_participate_designates_nobody(judges: Judges) -> None:
    refused = judges.write("/participants/P-999999/designations", DESIGNATION)
    assert (refused.status, refused.code) == (404, "unknown_participant")


def test_service_is_credited_by_two_persons_and_the_last_counts(judges: Judges) -> None:
    judges.enrol()
    service = {"reference": "S-1", "through": "2025-06-30", "credited_service": {"years": 11, "months": 5, "days": 15}}
    filed = judges.write(f"/participants/{JUDGE}/service-credits", service)
    assert (filed.status, filed.body["status"]) == (201, "filed")
    assert hybrid.service_of(judges.history()) is None
    judges.write(f"/participants/{JUDGE}/service-credits/{filed.body['sequence']}/approval", user="u-berta")
    found = hybrid.service_of(judges.history())
    assert found is not None
    assert (found.credited.years, found.credited.months, found.as_judge.days) == (11, 5, 15)
    longer = service | {"reference": "S-2", "service_as_judge": {"years": 12}}
    refused = judges.write(f"/participants/{JUDGE}/service-credits", longer)
    assert (refused.status, refused.code) == (422, "invalid_input")


def test_debts_are_owed_once_approved_and_collected_in_their_order(judges: Judges) -> None:
    judges.enrol()
    judges.owe("100.00", reference="FIRST")
    judges.owe("50.00", reference="SECOND", installment="10.00")
    judges.owe("30.00", reference="ELSEWHERE", system="ERS")
    history = judges.history()
    assert [(one.reference, one.amount_cents) for one in hybrid.debts(history)] == [
        ("FIRST", 10_000),
        ("SECOND", 5_000),
    ]
    assert [(one.reference, one.system) for one in hybrid.debts_elsewhere(history)] == [("ELSEWHERE", "ERS")]
    assert hybrid.owed_cents(history[-1]) == 15_000
    assert judges.last().state["installment"] == 1_000
    again = judges.write(
        f"/participants/{JUDGE}/debts", {"reference": "FIRST", "owed_from": "2015-01-01", "amount": "100.01"}
    )
    assert (again.status, again.code) == (409, "key_conflict")


def test_a_judge_selects_no_investment(judges: Judges) -> None:
    judges.enrol()
    body = {"requested_on": "2025-07-01", "selection": {"fixed_income": 100}}
    path = f"/participants/{JUDGE}/investment-selection"
    refused = judges.call(participants.handler, "PUT", path, body=body, scopes="participants.write")
    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", "selection")
    enrolment = {
        "participant_id": "P-000002",
        "fund": "JRS",
        "birth_date": "1955-03-17",
        "employer_id": "E-010",
        "enrolled_on": "2014-01-15",
        "selection": {"fixed_income": 100},
    }
    refused = judges.write("/participants", enrolment)
    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", "selection")
    assert judges.last().state["selections"] == {"2014-01-15": {"hybrid_return": 100}}


EVENTS = Path(__file__).parents[2] / "events" / "participants"
STORY = {
    "enrol_judge": (201, "active"),
    "designate": (201, "filed"),
    "recognize": (201, "recognized"),
    "credit_service": (201, "filed"),
    "approve_service": (201, "approved"),
    "state_debt": (201, "filed"),
    "approve_debt": (201, "approved"),
    "change_system": (201, "filed"),
    "approve_system_change": (201, "approved"),
}


def test_the_recorded_events_of_what_is_filed_and_approved(judges: Judges, replay: Callable[..., Any]) -> None:
    answers = {name: answered(replay, name) for name in STORY}
    assert {name: (one.status, one.body["status"]) for name, one in answers.items()} == STORY
    assert [one["status"] for one in answered(replay, "read_designations").body["items"]] == ["void"]
    assert judges.balances() == {"debts": -200_000, "debts_stated": 200_000}


def test_the_recorded_events_that_are_refused(judges: Judges, replay: Callable[..., Any]) -> None:
    answered(replay, "enrol_judge")
    answered(replay, "designate")
    before = judges.stack.ledger_items()
    refused = answered(replay, "designate_90_percent")
    assert (refused.status, refused.code, refused.headers["Content-Language"]) == (422, "shares_do_not_total_100", "es")
    refused = answered(replay, "recognize_by_who_filed")
    assert (refused.status, refused.code) == (403, "same_person")
    assert judges.stack.ledger_items() == before


def answered(replay: Callable[..., Any], name: str) -> Any:
    return replay(participants.handler, json.loads((EVENTS / f"{name}.json").read_text()))
