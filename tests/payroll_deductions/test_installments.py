"""Installments that are remitted: matched to the order, credited up to what is due, and what is over held."""

from collections.abc import Callable
from datetime import date
from typing import Any

from payroll_deductions import api
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.verify import Audit
from retiro.portal.spreadsheets import read_back
from tests.payroll_deductions.conftest import line, remittance
from tests.payroll_deductions.plans_at_work import TOTAL_CENTS, arrears_cents, csv_file, open_plan, order, owed_cents

NOVEMBER, DECEMBER = date(2008, 11, 30), date(2008, 12, 31)


def installment(number: int, amount: str, **change: Any) -> dict[str, Any]:
    return line(number, amount, kind="installment", **change)


def remitted(month: str, lines: list[dict[str, Any]], total: str, **change: Any) -> dict[str, Any]:
    return remittance(lines, total, reference=month, period=month, **change)


def audited(stack: Any, passbooks: Passbooks, *names: str) -> Audit:
    """The audit of these passbooks, from the items as they stand."""
    audit = Audit()
    for name in names:
        audit.add(name, passbooks.store.items(f"passbook#{name}"), None, passbooks.store.get_evidence)
    return audit


def test_a_file_that_comes_late_clears_its_arrear_and_what_is_over_is_held_pd_07(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """https://github.com/frappe/lending/issues/1303"""
    open_plan(passbooks, "P-000001")

    def paid(month: str, amount: str, value_date: str) -> Any:
        assert remit(remitted(month, [installment(1, amount)], amount)).status == 201
        place = f"/payroll-remittances/E-001_{month}"
        deposit = {"reference": f"D-{month}", "amount": amount, "value_date": value_date}
        assert confirm(deposit, place=place).status == 202
        credit()
        return look(place).body

    assert paid("2008-10", "89.23", "2008-11-10")["status"] == "closed"
    # November's file isn't there when December is ordered: 89.23 and an arrear of 89.23.
    order(stack, "E-001", "2008-12", ("P-000001", 89_23, 89_23))
    assert arrears_cents(passbooks, "P-000001", NOVEMBER) == 89_23
    assert paid("2008-11", "89.23", "2009-01-05")["status"] == "closed"
    assert arrears_cents(passbooks, "P-000001", NOVEMBER) == 0
    december = paid("2008-12", "178.46", "2009-01-10")
    assert (december["status"], december["credited"], december["clearing"]) == ("credited", 1, "89.23")
    assert december["matched"] == {"exact": 1}
    (over,) = december["unplaced"]
    assert (over["line"], over["amount"], over["code"]) == (1, "89.23", "over_due")
    # Three installments of 89.23 are paid: 5,354.30 − 267.69.
    assert owed_cents(passbooks, "P-000001") == TOTAL_CENTS - 267_69
    audit = audited(stack, passbooks, "P-000001", "E-001")
    assert audit.findings == []
    assert audit.trial_balance.totals_cents["ERS"].get("installments", 0) == 0


def test_a_short_payment_credits_what_came_and_opens_an_arrear(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    call: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """P-1 short, P-2 exact beside a contribution, P-3 missing, P-4 of another employer on the order."""
    for number in (1, 2, 3, 4):
        open_plan(passbooks, f"P-{number:06d}")
    order(stack, "E-001", "2008-10", *((f"P-{number:06d}", 89_23, 0) for number in (1, 2, 3, 4)))
    # 50.00 + 89.23 + 100.00 + 100.00 = 339.23
    text = csv_file(
        [
            "P-000001,installment,50.00,,=cmd|'/C calc'!A0",
            "P-000002,installment,89.23,,",
            "P-000002,contribution,100.00,1000.00,García",
            "P-000004,installment,100.00,,",
        ],
        "339.23",
    )
    body = {"reference": "2008-10", "employer_id": "E-001", "period": "2008-10", "format": "csv", "file": text}
    answer = remit(body)
    assert answer.status == 201
    # 1,000.00 × 8.275 % = 82.75
    assert answer.body["matched"] == {"exact": 1, "missing": 1, "outside_statutory_rate": 1, "over": 1, "short": 1}
    place = "/payroll-remittances/E-001_2008-10"
    confirm({"reference": "D-9", "amount": "339.23", "value_date": "2008-10-31"}, place=place)
    credit()
    seen = look(place).body
    assert (seen["status"], seen["credited"], seen["clearing"], seen["unplaced_count"]) == ("credited", 4, "10.77", 1)
    assert (seen["unplaced"][0]["line"], seen["unplaced"][0]["amount"]) == (5, "10.77")
    # What came is credited; 39.23 is in arrears. P-3's whole installment is.
    assert owed_cents(passbooks, "P-000001") == TOTAL_CENTS - 50_00
    assert arrears_cents(passbooks, "P-000001", date(2008, 10, 31)) == 39_23
    assert arrears_cents(passbooks, "P-000003", date(2008, 10, 31)) == 89_23
    last = passbooks.last("P-000002")
    assert (last.balance_cents("savings"), last.balance_cents("installments")) == (100_00, -89_23)
    employer = passbooks.last("E-001")
    assert (employer.balance_cents("contributions"), employer.balance_cents("installments")) == (100_00, 228_46)
    assert audited(stack, passbooks, "P-000001", "P-000002", "P-000004", "E-001").is_clean

    def lines(**query: str) -> Any:
        scopes = {"scopes": "payroll.remit", "client": "employer-001"}
        return call(api.handler, "GET", f"{place}/lines", query=query or None, **scopes).body

    short = lines(result="short")["items"]
    assert [(one["line"], one["ordered"], one["amount"]) for one in short] == [(2, "89.23", "50.00")]
    flagged = lines(result="outside_statutory_rate")["items"]
    assert [(one["line"], one["expected"], one["amount"]) for one in flagged] == [(4, "82.75", "100.00")]
    (absent,) = lines(result="missing")["items"]
    assert (absent["participant_id"], absent["line"], absent["amount"]) == ("P-000003", 0, "0.00")
    first = lines(limit="2")
    rest = lines(limit="3", cursor=first["next_cursor"])
    assert [one["line"] for one in (*first["items"], *rest["items"])] == [2, 3, 4, 5, 0]
    assert rest["next_cursor"] is None

    exported = call(api.handler, "GET", f"{place}/lines/csv", scopes="payroll.remit", client="employer-001")
    assert exported.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "\r\n2,P-000001,installment,50.00,,'=cmd|'/C calc'!A0,short,89.23,,\r\n" in exported.text
    assert read_back(exported.text)[1][5] == "=cmd|'/C calc'!A0"
    assert call(api.handler, "GET", f"{place}/lines", scopes="payroll.remit", client="employer-002").status == 403
    beyond = call(api.handler, "GET", f"{place}/lines/csv", scopes="payroll.remit", query={"page": "1"})
    assert (beyond.status, beyond.code) == (404, "no_such_page")


def test_what_has_no_plan_stays_in_clearing(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    passbooks: Passbooks,
) -> None:
    answer = remit(remitted("2008-11", [installment(1, "89.23")], "89.23"))
    assert answer.body["matched"] == {"unknown": 1}
    place = "/payroll-remittances/E-001_2008-11"
    confirm({"amount": "89.23", "value_date": "2008-12-01"}, place=place)
    credit()
    seen = look(place).body
    assert (seen["status"], seen["credited"], seen["clearing"]) == ("credited", 0, "89.23")
    assert seen["unplaced"][0]["code"] == "plan_not_open"
    assert passbooks.last("P-000001").balances == {}


def test_a_test_validates_and_matches_and_stores_nothing(
    *, remit: Callable[..., Any], look: Callable[..., Any], stack: Any
) -> None:
    order(stack, "E-001", "2008-11", ("P-000001", 89_23, 0))
    before = (stack.ledger_items(), stack.registry_items())
    answer = remit(remitted("2008-11", [installment(1, "80.00")], "80.00", test=True))
    assert (answer.status, answer.body["status"], answer.body["matched"]) == (201, "tested", {"short": 1})
    refused = remit(remitted("2008-11", [installment(9, "80.00")], "80.01", test=True))
    assert [error["code"] for error in refused.body["errors"]] == ["control_mismatch", "unknown_participant"]
    assert (stack.ledger_items(), stack.registry_items()) == before
    assert look("/payroll-remittances/E-001_2008-11").status == 404


def test_a_refused_file_is_kept_with_all_its_errors_for_the_employer_to_fetch(
    *, remit: Callable[..., Any], call: Callable[..., Any], stack: Any
) -> None:
    lines = ["P-000001,installment,1e2,,", "P-000004,contribution,10.00,,", "P-000009,contribution,5.00,,José"]
    body = {"reference": "R-1", "employer_id": "E-001", "period": "2025-01", "format": "csv"}
    before = (stack.ledger_items(), stack.registry_items())
    refused = remit(body | {"file": csv_file(lines, "15.00", count=2)})
    assert (refused.status, refused.code) == (422, "remittance_refused")
    expected = [
        (5, "count", "control_mismatch"),
        (2, "amount", "amount_form"),
        (3, "participant_id", "other_employers_participant"),
        (4, "participant_id", "unknown_participant"),
    ]
    assert [(*error["location"][2:], error["code"]) for error in refused.body["errors"]] == expected
    assert (stack.ledger_items(), stack.registry_items()) == before
    place = "/payroll-remittances/E-001_R-1/errors"
    kept = call(
        api.handler,
        "GET",
        place,
        scopes="payroll.remit",
        client="employer-001",
        headers={"Accept-Language": "es-PR"},
        query={"limit": "3"},
    ).body
    assert [(one["line"], one["column"], one["code"]) for one in kept["items"]] == expected[:3]
    assert kept["items"][0]["detail"] == "El control dice 2; las líneas, 3."
    rest = call(api.handler, "GET", place, scopes="payroll.remit", query={"cursor": kept["next_cursor"]}).body
    assert ([one["line"] for one in rest["items"]], rest["next_cursor"]) == ([4], None)
    assert call(api.handler, "GET", place, scopes="payroll.remit", client="employer-002").status == 403
    wrong = call(api.handler, "GET", place, scopes="payroll.remit", query={"cursor": "YWJj"})
    assert (wrong.status, wrong.code) == (422, "invalid_cursor")
