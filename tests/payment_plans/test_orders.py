"""The monthly deduction orders, § 830q(e), (f): who is to withhold what, and what is on nobody's order."""

from datetime import date
from typing import Any

import pytest

from payroll_deductions import order_doors, orders_worker
from retiro.ledger.verify import verify_passbook
from retiro.portal.spreadsheets import read_back
from retiro.registry.deduction_orders import (
    Order,
    note_month,
    ordered_months,
    orders_of,
    put_order,
    withdraw_order,
)
from retiro.registry.runs import RunId
from tests.conftest import Called
from tests.payment_plans.office import PlansOffice


def line(installment: str, arrears: str, total: str) -> dict[str, str]:
    return {"participant_id": "P-000001", "installment": installment, "arrears": arrears, "total": total}


def test_pd_07_what_was_not_remitted_is_asked_again_apart_and_once(office: PlansOffice) -> None:
    """https://github.com/frappe/lending/issues/1303. The standard plan, paid on 2008-10-31: November is first.

    8,159 days from 1986-06-30: 4,000.00 × 6 % × 8,159 ÷ 365 = 5,364.82 = 58 × 90.92 + 91.46 (PD-01).
    """
    office.on("2008-11-10")
    office.standard(paid_on="2008-10-31")
    run = office.issue_orders("2008-11")
    assert run["status"] == "posted"
    assert run["orders"] == {"orders": 1, "total": "90.92"}
    assert office.order("E-001", "2008-11") == [line("90.92", "0.00", "90.92")]

    # November's file isn't there when December's order runs.
    office.issue_orders("2008-12")
    assert office.order("E-001", "2008-12") == [line("90.92", "90.92", "181.84")]
    # It comes, and January asks for one arrear alone: December's.
    assert office.remit(9_092, "2008-12-20", "2008-11-30").facts["arrears"] == 0
    office.on("2009-01-05")
    office.issue_orders("2009-01")
    assert office.order("E-001", "2009-01") == [line("90.92", "90.92", "181.84")]
    assert office.plan().due_cents(office.plan().terms.first_on) == 0  # type: ignore[union-attr]
    assert office.plan().balance_cents == 536_482 - 9_092


def test_a_month_is_ordered_once(office: PlansOffice) -> None:
    office.standard()
    office.issue_orders("2008-10")
    again = office.prepare_orders("2008-10")
    assert (again["attempt"], again["orders"]) == (2, {"orders": 0, "total": "0.00"})


def test_a_payer_sees_its_own_order_alone(office: PlansOffice) -> None:
    office.standard()
    office.enrol(2, "E-002")
    office.issue_orders("2008-10")
    assert office.order("E-001", "2008-10", client="employer-001") == [line("89.23", "0.00", "89.23")]
    assert office.order("E-002", "2008-10", client="employer-002") == []
    path = "/deduction-orders/E-001/2008-10"
    assert office.get(path, scopes="payroll.remit", client="employer-002").code == "other_employer"
    assert office.get(f"{path}/csv", scopes="payroll.remit", client="employer-002").code == "other_employer"
    assert office.get("/deduction-orders/E-001/2008-11", scopes="payroll.remit").code == "run_not_found"


def test_pd_13_the_order_comes_as_csv_with_amounts_untouched(office: PlansOffice) -> None:
    """https://github.com/woocommerce/woocommerce/issues/53020"""
    office.standard()
    office.issue_orders("2008-10")
    answer = office.get("/deduction-orders/E-001/2008-10/csv", scopes="payroll.remit", client="employer-001")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.text == (
        "payer_id,period,participant_id,installment,arrears,total\r\nE-001,2008-10,P-000001,89.23,0.00,89.23\r\n"
    )
    assert read_back(answer.text)[1][3:] == ["89.23", "0.00", "89.23"]


def test_a_long_order_comes_as_csv_in_parts(office: PlansOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_doors, "CSV_ROWS_MAX", 1)
    office.enrol(2)
    for number in (1, 2):
        plan = office.apply(f"A-{number}", f"P-00000{number}")
        office.approve(plan)
        office.pay("4000.00", "2008-10-15", f"C-{number}", plan.body["plan_id"])
    office.issue_orders("2008-10")
    rows, after = [], {}
    for _ in range(3):
        answer = office.get("/deduction-orders/E-001/2008-10/csv", scopes="payroll.remit", query=after or None)
        rows.append([row[2] for row in read_back(answer.text)[1:]])
        after = {"after": rows[-1][-1]} if rows[-1] else {}
    assert rows == [["P-000001"], ["P-000002"], []]
    wrong = office.get("/deduction-orders/E-001/2008-10/csv", scopes="payroll.remit", query={"after": "2"})
    assert wrong.code == "invalid_input"


def test_the_pension_payroll_takes_over_with_no_month_lost_and_none_taken_twice(office: PlansOffice) -> None:
    office.standard()
    office.issue_orders("2008-10")
    office.remit(8_923, "2008-11-05", "2008-10-31")
    office.on("2008-11-20")
    assert office.fact("pension", starts_on="2008-11-16", monthly_amount="1200.00").status == 200
    office.issue_orders("2008-11")
    assert office.order("E-001", "2008-11") == []
    assert office.order("E-000", "2008-11") == [line("89.23", "0.00", "89.23")]


def test_a_month_ahead_of_the_next_one_is_not_ordered(office: PlansOffice) -> None:
    """It is 2008-10-20: November may be prepared, December not."""
    assert office.post("/deduction-order-runs", {"period": "2008-11"}, scopes="runs.prepare").status == 202
    assert office.post("/deduction-order-runs", {"period": "2008-12"}, scopes="runs.prepare").code == "month_ahead"


def test_who_prepared_the_orders_does_not_approve_them(office: PlansOffice) -> None:
    office.standard()
    prepared = office.prepare_orders("2008-10")
    path = "/deduction-order-runs/2008-10/approval"
    assert office.post(path, {"hash": prepared["hash"]}, scopes="runs.approve").code == "same_person"
    assert office.post(path, {"hash": "0" * 64}, user="u-luis", scopes="runs.approve").code == "stale_hash"
    assert office.get("/deduction-orders/E-001/2008-10", scopes="payroll.remit").code == "run_not_found"


def test_an_order_whose_figures_have_moved_is_withheld_and_made_by_the_next_attempt(office: PlansOffice) -> None:
    office.on("2008-12-10")
    office.standard()
    prepared = office.prepare_orders("2008-11")
    office.remit(8_923, "2008-12-05", "2008-10-31")
    path = "/deduction-order-runs/2008-11/approval"
    office.post(path, {"hash": prepared["hash"]}, user="u-luis", scopes="runs.approve")
    office.work_off()
    run = office.get("/deduction-order-runs/2008-11", scopes="runs.prepare").body
    assert run["withheld"] == {"order_changed": 1}
    office.issue_orders("2008-11")
    assert office.order("E-001", "2008-11") == [line("89.23", "0.00", "89.23")]


@pytest.mark.parametrize(("ordered", "code"), [([], "installment_without_payer"), (["2008-10"], "deduction_stopped")])
def test_an_installment_on_nobodys_order_is_an_exception_with_an_alarm(
    office: PlansOffice, capsys: pytest.CaptureFixture[str], ordered: list[str], code: str
) -> None:
    office.standard()
    for month in ordered:
        office.issue_orders(month)
    office.on("2008-11-20")
    office.fact("service_end", ended_on="2008-11-15")
    capsys.readouterr()
    prepared = office.prepare_orders("2008-11")
    assert prepared["exceptions"] == {code: 1}
    assert office.exceptions("2008-11") == {"P-000001": code}
    metrics = [text for text in capsys.readouterr().out.splitlines() if "InstallmentsWithoutOrder" in text]
    assert any('"InstallmentsWithoutOrder":[1.0]' in text.replace(" ", "") for text in metrics), metrics


def test_the_daily_look_prepares_the_months_orders_once(office: PlansOffice) -> None:
    office.standard()
    first = office.look("2008-10-20")
    office.work_off()
    assert office.look("2008-10-21")["orders"] == first["orders"]
    run: dict[str, Any] = office.get("/deduction-order-runs/2008-10", scopes="runs.prepare").body
    assert (run["status"], run["prepared_by"]) == ("prepared", "(schedule)")


# Taken back


def reverse(office: PlansOffice, month: str) -> dict[str, Any]:
    """Prepare the reversal of a month's orders; how the month stands then."""
    path = f"/deduction-order-runs/{month}/reversal"
    answer = office.post(path, {"reason": "Made of a wrong list."}, scopes="runs.approve")
    assert answer.status == 202, answer.text
    office.work_off()
    return office.get(f"/deduction-order-runs/{month}", scopes="runs.prepare").body


def approve_reversal(office: PlansOffice, month: str, user: str = "u-luis") -> Called:
    path = f"/deduction-order-runs/{month}"
    run_hash = office.get(path, scopes="runs.prepare").body["reversal"]["hash"]
    answer = office.post(f"{path}/approval", {"hash": run_hash}, user=user, scopes="runs.approve")
    office.work_off()
    return answer


def test_orders_are_taken_back_by_two_persons_and_made_again(office: PlansOffice) -> None:
    office.standard()
    office.issue_orders("2008-10")
    prepared = reverse(office, "2008-10")["reversal"]
    assert (prepared["status"], prepared["orders"]) == ("prepared", {"orders": 1, "total": "89.23"})
    assert approve_reversal(office, "2008-10", user="u-ana").code == "same_person"
    assert office.order("E-001", "2008-10") == [line("89.23", "0.00", "89.23")]

    assert approve_reversal(office, "2008-10").status == 202
    run = office.get("/deduction-order-runs/2008-10", scopes="runs.prepare").body
    assert (run["status"], run["reversal"]["status"]) == ("reversed", "posted")
    assert office.get("/deduction-orders/E-001/2008-10", scopes="payroll.remit").code == "run_not_found"
    assert list(orders_of(office.stack.registry, "E-001", "2008-10")) == []
    assert list(ordered_months(office.stack.registry, "E-001")) == []
    last = office.last()
    assert (last.kind, last.effective_on, last.postings) == ("order_reversed", date(2008, 10, 31), ())
    assert "deduction_order" not in last.runs

    again = office.issue_orders("2008-10")
    assert (again["attempt"], again["status"]) == (2, "posted")
    assert office.order("E-001", "2008-10") == [line("89.23", "0.00", "89.23")]
    assert list(ordered_months(office.stack.registry, "E-001")) == ["2008-10"]
    store = office.passbooks.store
    verified = verify_passbook("P-000001", store.items("passbook#P-000001"), read=store.get_evidence)
    assert verified.findings == ()


def test_the_order_of_another_participant_stays_where_one_was_remitted(office: PlansOffice) -> None:
    """What was remitted to the order is settled: a person decides. Who comes after it isn't kept waiting."""
    office.enrol(2)
    office.on("2008-11-20")
    for number in (1, 2):
        passbook = f"P-00000{number}"
        plan = office.apply(f"A-{number}", passbook)
        office.approve(plan)
        office.pay("4000.00", "2008-10-15", f"C-{number}", plan.body["plan_id"])
    office.issue_orders("2008-10")
    office.remit(8_923, "2008-11-05", "2008-10-31", "P-000002")
    assert reverse(office, "2008-10")["reversal"]["exceptions"] == {"order_remitted": 1}
    path = "/deduction-order-runs/2008-10/exceptions"
    (named,) = office.get(path, scopes="runs.prepare", query={"kind": "deduction_order_reversal"}).body["items"]
    assert (named["participant_id"], named["code"]) == ("P-000002", "order_remitted")
    approve_reversal(office, "2008-10")
    left = [order.participant_id for order in orders_of(office.stack.registry, "E-001", "2008-10")]
    assert left == ["P-000002"]
    assert list(ordered_months(office.stack.registry, "E-001")) == ["2008-10"]


def test_what_is_remitted_between_the_reversals_preparation_and_its_posting_withholds_it(office: PlansOffice) -> None:
    office.on("2008-11-20")
    office.standard()
    office.issue_orders("2008-10")
    reverse(office, "2008-10")
    office.remit(8_923, "2008-11-05", "2008-10-31")
    approve_reversal(office, "2008-10")
    run = office.get("/deduction-order-runs/2008-10", scopes="runs.prepare").body
    assert run["reversal"]["withheld"] == {"order_remitted": 1}
    assert [order.installment_cents for order in orders_of(office.stack.registry, "E-001", "2008-10")] == [8_923]


def test_the_latest_months_orders_go_first(office: PlansOffice) -> None:
    office.standard()
    office.issue_orders("2008-10")
    office.issue_orders("2008-11")
    assert reverse(office, "2008-10")["reversal"]["exceptions"] == {"later_order_stands": 1}
    reverse(office, "2008-11")
    approve_reversal(office, "2008-11")
    mark = office.last().runs["deduction_order"]
    assert (mark.period, mark.attempt) == ("2008-10", 1)
    assert reverse(office, "2008-10")["reversal"]["exceptions"] == {}


def test_nothing_is_taken_back_where_nothing_is_posted(office: PlansOffice) -> None:
    office.standard()
    path = "/deduction-order-runs/2008-10/reversal"
    body = {"reason": "Made of a wrong list."}
    assert office.post(path, body, scopes="runs.approve").code == "not_posted"
    office.prepare_orders("2008-10")
    assert office.post(path, body, scopes="runs.approve").code == "not_posted"
    assert office.post(path, {"reason": "No."}, scopes="runs.approve").code == "invalid_input"


def test_the_chunks_of_a_reversal_beside_each_other_leave_no_month_that_is_ordered_of_nobody(
    office: PlansOffice,
) -> None:
    """One chunk has still seen the other's order, and notes the month after it."""
    registry = office.stack.registry
    for number in (1, 2):
        put_order(registry, "E-001", "2008-10", Order(f"P-00000{number}", 8_923, 0, 5))
    note_month(registry, "E-001", "2008-10", is_reversal=False)
    withdraw_order(registry, "E-001", "2008-10", "P-000001", 6)
    assert list(ordered_months(registry, "E-001")) == ["2008-10"]
    withdraw_order(registry, "E-001", "2008-10", "P-000002", 6)
    for _ in range(2):
        note_month(registry, "E-001", "2008-10", is_reversal=True)
    assert list(ordered_months(registry, "E-001")) == []
    put_order(registry, "E-001", "2008-10", Order("P-000002", 8_923, 0, 7))
    note_month(registry, "E-001", "2008-10", is_reversal=False)
    assert list(ordered_months(registry, "E-001")) == ["2008-10"]


def test_an_index_that_is_written_late_brings_no_order_back(office: PlansOffice) -> None:
    """The worker of the first run delivers its last chunk once more, after the reversal."""
    office.standard()
    office.issue_orders("2008-10")
    reverse(office, "2008-10")
    approve_reversal(office, "2008-10")
    orders_worker.world().index.index(RunId("deduction_order", "2008-10", 1), 0)
    assert list(orders_of(office.stack.registry, "E-001", "2008-10")) == []
    assert list(ordered_months(office.stack.registry, "E-001")) == []
