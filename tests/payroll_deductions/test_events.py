"""The recorded events of gateway and state machine, through the real handlers, in the order they would come."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from payroll_deductions import api, worker
from tests.conftest import Context

EVENTS = Path(__file__).parents[2] / "events" / "payroll_deductions"
MACHINE = ("begin", "work", "end")
REFUSED = {
    "remit_with_another_total": (422, "remittance_refused", "control.total"),
    "remit_with_another_content": (409, "remittance_reference_used", "reference"),
    "remit_for_another_agency": (403, "other_employer", "employer_id"),
    "remit_a_number_for_money": (422, "invalid_input", "lines.1.amount"),
    "confirm_another_amount": (422, "deposit_amount_differs", "amount"),
    "confirm_in_the_future": (422, "invalid_input", "value_date"),
    "confirm_by_the_employer": (403, "party_not_allowed", None),
}
ANSWERED = {"remit": 201, "confirm": 202, "begin": None, "work": None, "end": None, "read": 200}


# A file that is uploaded, a line of which has no place and is given back, and whose deposit the bank takes back.
UPLOADED = {
    "upload": 201,
    "validate": 202,
    "file_begin": None,
    "file_work": None,
    "file_end": None,
    "read_lines": 200,
    "read_lines_csv": 200,
    "confirm_upload": 202,
    "credit_begin": None,
    "credit_work": None,
    "credit_end": None,
    "propose": 201,
    "approve": 200,
    "read_placements": 200,
    "deposit_return": 202,
    "return_begin": None,
    "return_work": None,
    "return_end": None,
    "ageing": 200,
}
# 200.00 + 89.23 + 10.00 = 299.23; P-000002 has no plan.
FILE = """participante,tipo,importe,salario,nombre
P-000001,aportacion,200.00,,"García, José"
P-000002,plazo,89.23,,=cmd|'/C calc'!A0
P-000003,aportacion,10.00,,
total,3,299.23,,
"""


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


def test_a_remittance_goes_from_its_filing_to_its_closing(story: dict[str, Any], passbooks: Any) -> None:
    assert {name: getattr(one, "status", None) for name, one in story.items()} == ANSWERED
    assert story["remit"].body["status"] == "awaiting_deposit"
    assert story["confirm"].body["status"] == "crediting"
    assert (story["begin"], story["work"]) == ({"chunks": [0]}, {"done": True})
    assert (story["read"].body["status"], story["read"].body["credited"]) == ("closed", 3)
    assert passbooks.last("P-000002").balances == {"savings": 300_50, "contributions": -300_50}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_problem_in_the_callers_language_and_changes_nothing(
    *, answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    answer("remit")
    before = (stack.ledger_items(), stack.registry_items())
    refused = answer(name)
    status, code, field = REFUSED[name]
    assert (refused.status, refused.code, refused.body.get("field")) == (status, code, field)
    assert refused.headers["Content-Language"] == "es"
    assert refused.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize("name", ["remit", "confirm"])
def test_an_event_that_is_delivered_twice_is_answered_the_same(
    story: dict[str, Any], answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    again = answer(name)
    assert (again.status, again.text) == (story[name].status, story[name].text)
    assert (stack.ledger_items(), stack.registry_items()) == before


@pytest.mark.parametrize("name", MACHINE)
def test_the_machines_event_that_comes_twice_is_done_once(story: dict[str, Any], stack: Any, name: str) -> None:
    before = stack.ledger_items()
    worker.handler(recorded(name), Context(remaining_ms=800_000))
    assert stack.ledger_items() == before


def test_a_failed_execution_is_told_where_the_remittance_stands(answer: Callable[[str], Any]) -> None:
    answer("remit")
    answer("confirm")
    assert worker.handler(recorded("fail"), Context()) == {}
    assert answer("read").body["status"] == "failed"


@pytest.fixture
def uploaded(answer: Callable[[str], Any], stack: Any) -> dict[str, Any]:
    """All that becomes of an uploaded file, in order."""
    place = {"Bucket": "retiro-files", "Key": "files/remittances/E-001_2025-015/file"}
    stack.s3.put_object(**place, Body=FILE.encode())

    def one(name: str) -> Any:
        machines = name.endswith(("_begin", "_work", "_end"))
        return worker.handler(recorded(name), Context(remaining_ms=800_000)) if machines else answer(name)

    return {name: one(name) for name in UPLOADED}


def test_a_file_goes_from_its_upload_to_the_return_of_its_deposit(uploaded: dict[str, Any], passbooks: Any) -> None:
    assert {name: getattr(one, "status", None) for name, one in uploaded.items()} == UPLOADED
    assert uploaded["upload"].body["status"] == "awaiting_upload"
    assert [one["line"] for one in uploaded["read_lines"].body["items"]] == [3]
    assert "'=cmd|'/C calc'!A0" in uploaded["read_lines_csv"].text
    assert uploaded["approve"].body["status"] == "placed"
    # The bank took 299.23 back, of which the fund had given 89.23 back before: that much the employer owes.
    assert passbooks.last("E-001").balances == {"cash": 89_23, "clearing:E-001_2025-015": -89_23}
    assert passbooks.last("P-000001").balances == {}
    # As of February 19: January was due on the 15th, and deposited on the 12th.
    assert uploaded["ageing"].body["items"][0]["late"] == []


def test_a_file_at_fault_is_refused_and_its_errors_are_there_to_be_read(answer: Callable[[str], Any]) -> None:
    refused = answer("remit_csv_at_fault")
    assert (refused.status, refused.code) == (422, "remittance_refused")
    (error,) = answer("read_errors").body["items"]
    assert (error["line"], error["column"], error["code"]) == (2, "importe", "amount_form")
    assert error["detail"] == "No es un importe con dos decimales, como 214.36."


@pytest.mark.parametrize("name", UPLOADED)
def test_each_event_of_an_upload_that_comes_twice_is_done_once(
    *, uploaded: dict[str, Any], answer: Callable[[str], Any], stack: Any, name: str
) -> None:
    before = stack.ledger_items()
    if name.endswith(("_begin", "_work", "_end")):
        worker.handler(recorded(name), Context(remaining_ms=800_000))
    else:
        assert answer(name).status == UPLOADED[name]
    assert stack.ledger_items() == before


def test_every_recorded_event_is_replayed() -> None:
    replayed = {*ANSWERED, *REFUSED, *UPLOADED, "fail", "remit_csv_at_fault", "read_errors"}
    assert {file.stem for file in EVENTS.glob("*.json")} == replayed
