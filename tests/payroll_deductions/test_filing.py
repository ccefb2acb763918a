"""Filing a remittance: taken whole or not at all, once, by its own employer."""

from collections.abc import Callable
from typing import Any

import pytest

from payroll_deductions import api, remittances
from retiro.ledger.encoding import canonical
from retiro.registry.deduction_orders import withdraw_order
from tests.payroll_deductions.conftest import REMITTANCE, THREE, line, remittance
from tests.payroll_deductions.plans_at_work import order


def everything(stack: Any) -> tuple[Any, Any]:
    return stack.ledger_items(), stack.registry_items()


def test_a_remittance_awaits_its_deposit_and_credits_nothing(
    remit: Callable[..., Any], look: Callable[..., Any], passbooks: Any, machine: Any
) -> None:
    """What is withheld and not remitted is never a credit."""
    answer = remit(THREE)
    assert answer.status == 201
    assert answer.body == {
        "remittance_id": "E-001_2025-014",
        "employer_id": "E-001",
        "period": "2025-01",
        "status": "awaiting_deposit",
        "count": 3,
        "total": "500.51",
        "credited": 0,
        "clearing": "0.00",
        "deposit": None,
        "unplaced": [],
        "place": REMITTANCE,
        "unplaced_count": 0,
        "matched": {},
        # From the 15th of February to the 10th of July: 13 + 31 + 30 + 31 + 30 + 10.
        "due_on": "2025-02-15",
        "days_late": 145,
        "error_count": 0,
        "upload": None,
    }
    assert look().body == answer.body
    assert machine.names == []
    assert [passbooks.last(f"P-{number:06d}").sequence for number in (1, 2, 3)] == [1, 1, 1]
    assert passbooks.last("E-001") is None


@pytest.mark.parametrize(
    ("total", "count", "field", "stated", "found"),
    [
        ("1000.01", None, "control.total", "1000.01", "1000.00"),
        ("999.99", None, "control.total", "999.99", "1000.00"),
        ("1000.00", 3, "control.count", "3", "4"),
        ("1000.00", 5, "control.count", "5", "4"),
    ],
)
def test_a_control_off_by_a_cent_or_a_line_is_refused_whole_with_both_named_pd_09(
    *, remit: Callable[..., Any], stack: Any, total: str, count: int | None, field: str, stated: str, found: str
) -> None:
    """https://github.com/beancount/beancount/issues/411. Lines of 250.00 + 250.00 + 499.99 + 0.01 = 1,000.00."""
    lines = [line(1, "250.00"), line(2, "250.00"), line(3, "499.99"), line(5, "0.01")]
    before = everything(stack)
    answer = remit(remittance(lines, total, count=count))
    assert (answer.status, answer.code, answer.body["field"]) == (422, "remittance_refused", field)
    assert stated in answer.body["errors"][0]["detail"]
    assert found in answer.body["errors"][0]["detail"]
    assert answer.body["citation"] == "3 L.P.R.A. § 786-7(a)(2)"
    assert everything(stack) == before


def test_all_errors_are_listed_with_their_lines(remit: Callable[..., Any], stack: Any) -> None:
    lines = [line(1), line(9), line(4), line(1, "-5.00"), line(2, "0.00")]
    before = everything(stack)
    answer = remit(remittance(lines, "595.00"))
    assert [(error["field"], error["code"]) for error in answer.body["errors"]] == [
        ("lines.0.participant_id", "participant_twice"),
        ("lines.1.participant_id", "unknown_participant"),
        ("lines.2.participant_id", "other_employers_participant"),
        ("lines.3.participant_id", "participant_twice"),
        ("lines.3.amount", "amount_not_above_zero"),
        ("lines.4.amount", "amount_not_above_zero"),
    ]
    assert answer.body["errors"][1]["detail"].startswith("Line 2: ")
    assert everything(stack) == before


def test_errors_are_told_in_spanish_to_who_asks_for_it(remit: Callable[..., Any]) -> None:
    answer = remit(remittance([line(9)], "200.00"), headers={"Accept-Language": "es-PR"})
    assert answer.body["errors"][0]["detail"] == "Línea 1: No existe tal participante."


@pytest.mark.parametrize(
    "amount", [200.00, 200, "200.0", "200.005", "1e2", "1_000.00", " 200.00", "+200.00", "$200.00"]
)
def test_an_amount_that_isnt_money_is_refused_by_its_field(remit: Callable[..., Any], stack: Any, amount: Any) -> None:
    before = everything(stack)
    answer = remit(remittance([line(1), line(2) | {"amount": amount}], "400.00"))
    assert (answer.status, answer.body["field"]) == (422, "lines.1.amount")
    assert answer.body["citation"]
    assert everything(stack) == before


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"period": "1999-12"}, "period"),
        ({"period": "2025-08"}, "period"),
        ({"period": "2025-13"}, "period"),
        ({"employer_id": "E-009"}, "employer_id"),
        ({"lines": []}, "lines"),
        ({"reference": "2025_014"}, "reference"),
    ],
)
def test_a_remittance_out_of_form_is_refused_by_its_field(
    *, remit: Callable[..., Any], stack: Any, change: dict[str, Any], field: str
) -> None:
    before = everything(stack)
    answer = remit(THREE | change, client="portal")
    assert (answer.status, answer.body["field"]) == (422, field)
    assert answer.body["citation"]
    assert everything(stack) == before


def test_this_month_is_on_the_calendar(remit: Callable[..., Any]) -> None:
    assert remit(THREE | {"period": "2025-07"}).status == 201


def test_after_a_refusal_the_same_reference_and_key_are_free_le_07(remit: Callable[..., Any], stack: Any) -> None:
    """https://github.com/LerianStudio/midaz/issues/709"""
    before = stack.ledger_items()
    assert remit(THREE | {"control": {"count": 3, "total": "500.50"}}, key="one").status == 422
    assert stack.ledger_items() == before
    assert remit(THREE, key="one").status == 201
    reused = remit(remittance([line(1)], "200.00", reference="2025-015"), key="one")
    assert (reused.status, reused.code) == (422, "idempotency_key_reused")


def test_the_same_remittance_again_is_the_same_answer(remit: Callable[..., Any], stack: Any) -> None:
    first = remit(THREE)
    before = everything(stack)
    for user in ("u-ana", "u-berta"):
        again = remit(THREE, user=user)
        assert (again.status, again.body) == (201, first.body)
    assert everything(stack) == before


def test_another_content_under_the_same_reference_is_a_conflict(remit: Callable[..., Any], stack: Any) -> None:
    remit(THREE)
    before = everything(stack)
    other = remit(remittance([line(1)], "200.00"))
    assert (other.status, other.code, other.body["field"]) == (409, "remittance_reference_used", "reference")
    assert other.body["citation"]
    assert everything(stack) == before


def test_another_employer_may_use_the_same_reference(remit: Callable[..., Any]) -> None:
    remit(THREE)
    other = remit(remittance([line(4)], "200.00", employer_id="E-002"), client="employer-002")
    assert (other.status, other.body["remittance_id"]) == (201, "E-002_2025-014")


def test_an_employers_client_files_and_sees_its_own_only(
    remit: Callable[..., Any], look: Callable[..., Any], stack: Any
) -> None:
    before = everything(stack)
    assert remit(THREE, client="employer-002").code == "other_employer"
    assert everything(stack) == before
    remit(THREE)
    assert look(client="employer-002").status == 403
    assert look("/payroll-remittances/E-001_2025-099").status == 404
    assert look(client="fund", scopes="payroll.confirm").status == 200


def test_more_than_a_thousand_lines_are_refused(remit: Callable[..., Any]) -> None:
    answer = remit(remittance([line(number) for number in range(1, 1002)], "200200.00"))
    assert (answer.status, answer.body["field"]) == (422, "lines")


# Whom a large order names


def test_a_small_remittance_of_a_large_order_is_taken_and_who_is_missing_is_named(
    *, remit: Callable[..., Any], call: Callable[..., Any], passbooks: Any, stack: Any
) -> None:
    """61 are ordered and one is remitted: 60 are missing, at 40 bytes each 2,400 in the evidence, were they its lines.

    Of 12,000 that would be 480 KB, and DynamoDB takes 400 KB.
    """
    order(stack, "E-001", "2025-01", *((f"P-{number:06d}", 89_23, 0) for number in range(1, 62)))
    body = remittance([line(1, "89.23", kind="installment")], "89.23")
    answer = remit(body)
    assert (answer.status, answer.body["matched"]) == (201, {"exact": 1, "missing": 60})
    assert len(canonical(passbooks.store.get_evidence("remittance", "E-001_2025-014").body)) < 1_000

    def listed(**query: str) -> Any:
        return call(
            api.handler, "GET", f"{REMITTANCE}/lines", query=query, scopes="payroll.remit", client="employer-001"
        ).body

    first = listed(limit="2")
    assert [(one["line"], one["participant_id"], one["result"]) for one in first["items"]] == [
        (1, "P-000001", "exact"),
        (0, "P-000002", "missing"),
    ]
    last = listed(limit="100", result="missing")["items"][-1]
    assert (last["participant_id"], last["ordered"], last["amount"]) == ("P-000061", "89.23", "0.00")

    # Filed again after the order has changed it is what it was, and names those whom it named.
    withdraw_order(stack.registry, "E-001", "2025-01", "P-000002", 2)
    assert remit(body).body == answer.body
    assert listed(limit="2") == first


@pytest.mark.parametrize(("name", "status"), [("é" * 100, 201), ("漢" * 100, 422)])
def test_lines_that_one_item_of_the_ledger_cant_hold_are_to_be_uploaded(
    *, remit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, stack: Any, name: str, status: int
) -> None:
    """Three lines stand for a thousand: an item of 1,000 bytes for one of 400,000.

    A name of 100 characters of two bytes takes 200 bytes, of three bytes 300; the rest of a line 36. So they are
    3 × 236 = 708 bytes or 3 × 336 = 1,008, and what stands around them some 160.
    """
    monkeypatch.setattr(remittances, "EVIDENCE_BYTES_MAX", 1_000)
    before = everything(stack)
    lines = [line(number, "1.00", name=name) for number in (1, 2, 3)]
    answer = remit(remittance(lines, "3.00"))
    assert answer.status == status
    if status != 201:
        assert (answer.code, answer.body["field"]) == ("body_too_large", "lines")
        assert everything(stack) == before
