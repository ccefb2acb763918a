"""What auditors found of remittances, and can't happen here. Through the doors.

4, Puerto Rico Comptroller 2014: 15 employers kept $2,922,689 that they had withheld; due 15 days after the month's end.
13, OCERS 2013: eight pay periods wrong after they were keyed in again.
16, Minnesota PERA 1998: contributions that were not at the statutory amounts.
"""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from payroll_deductions import api
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.store import LedgerStore
from retiro.registry.ageing import Ageing
from retiro.registry.employers import Employer, register
from tests.payroll_deductions.conftest import (
    REMITTANCE,
    THREE,
    confirm,
    credit,
    line,
    look,
    machine,
    passbooks,
    remit,
    remittance,
)
from tests.payroll_deductions.plans_at_work import csv_file

__all__ = ["confirm", "credit", "look", "machine", "passbooks", "remit"]

PARTICIPANTS = ("P-000001", "P-000002", "P-000003")


def test_4_what_is_withheld_and_not_remitted_is_nobodys_credit(
    *, remit: Callable[..., Any], look: Callable[..., Any], machine: Any, passbooks: Passbooks
) -> None:
    remit(THREE)
    assert look().body["credited"] == 0
    assert machine.names == []
    assert [passbooks.last(one).balances for one in PARTICIPANTS] == [{}, {}, {}]
    assert passbooks.last("E-001") is None


@pytest.mark.parametrize(("as_of", "is_late"), [("2025-02-15", False), ("2025-02-16", True)])
def test_4_an_employer_that_keeps_what_it_withheld_is_in_the_ageing_report_from_the_16th_on(
    *, remit: Callable[..., Any], call: Callable[..., Any], as_of: str, is_late: bool
) -> None:
    remit(THREE)
    request = {"scopes": "payroll.confirm", "client": "fund", "query": {"as_of": as_of}}
    answer = call(api.handler, "GET", "/remittance-ageing", **request)
    first = answer.body["items"][0]
    assert (first["employer_id"], first["withheld"]) == ("E-001", "500.51" if is_late else "0.00")


def test_4_no_employer_is_missing_from_the_report_whatever_it_did(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any
) -> None:
    """One that deposited in time and then stopped, one that never filed, and one that was registered today."""
    remit(THREE)
    confirm()
    register(stack.registry, Employer("E-015", "ERS"))
    ages = list(Ageing(LedgerStore(stack.dynamodb, "retiro-ledger"), stack.registry).report(date(2025, 3, 16)))
    assert [age.employer.employer_id for age in ages] == ["E-001", "E-002", "E-015"]
    assert [(month.period, str(month.reason)) for month in ages[0].months] == [("2025-02", "nothing_filed")]
    assert [(age.is_known, age.months_due) for age in ages] == [(True, 2), (False, 0), (False, 0)]


@pytest.mark.parametrize("total", ["500.50", "500.52"])
def test_13_a_file_whose_total_isnt_its_lines_is_not_taken_nor_any_part_of_it(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any, total: str
) -> None:
    before = (stack.ledger_items(), stack.registry_items())
    lines = [
        f"P-{number:06d},contribution,{amount},," for number, amount in ((1, "200.00"), (2, "300.50"), (3, "0.01"))
    ]
    filed = {"reference": "2025-014", "employer_id": "E-001", "period": "2025-01"}
    assert remit(remittance(THREE["lines"], total)).code == "remittance_refused"
    assert remit(filed | {"format": "csv", "file": csv_file(lines, total)}).code == "remittance_refused"
    assert confirm().status == 404
    assert (stack.ledger_items(), stack.registry_items()) == before


def test_13_keyed_in_again_it_is_the_same_remittance_and_is_credited_once(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], credit: Callable[..., int], passbooks: Passbooks
) -> None:
    remit(THREE)
    assert remit(THREE).status == 201
    wrong = remittance([line(1, "300.50"), line(2, "200.00"), line(3, "0.01")], "500.51")
    assert remit(wrong).code == "remittance_reference_used"
    confirm()
    confirm()
    credit()
    assert [passbooks.last(one).balance_cents("savings") for one in PARTICIPANTS] == [200_00, 300_50, 1]


def test_16_a_contribution_outside_the_statutory_rate_is_flagged_and_credited_as_it_came(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    call: Callable[..., Any],
    passbooks: Passbooks,
) -> None:
    """2,589.55 × 8.275 % = 214.285… → 214.29, in June 2013, System 2000's last month. P-3 gives no salary."""
    lines = [line(1, "214.29", salary="2589.55"), line(2, "214.28", salary="2589.55"), line(3, "1.00")]
    # 214.29 + 214.28 + 1.00 = 429.57
    answer = remit(remittance(lines, "429.57", period="2013-06"))
    assert (answer.status, answer.body["matched"]) == (201, {"outside_statutory_rate": 1})
    request = {"scopes": "payroll.remit", "client": "employer-001", "query": {"result": "outside_statutory_rate"}}
    (flagged,) = call(api.handler, "GET", f"{REMITTANCE}/lines", **request).body["items"]
    assert (flagged["line"], flagged["amount"], flagged["expected"]) == (2, "214.28", "214.29")
    confirm({"amount": "429.57", "value_date": "2013-07-10"})
    credit()
    assert [passbooks.last(one).balance_cents("savings") for one in PARTICIPANTS] == [214_29, 214_28, 1_00]
