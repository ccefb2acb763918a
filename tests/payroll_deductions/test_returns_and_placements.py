"""Money that has no place is placed by two persons; a deposit that the bank takes back takes its credits with it."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from payroll_deductions import api
from retiro.ledger.lines import LineKind
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.plans import Terms
from retiro.ledger.verify import Audit
from tests.participants.semesters import post_fy2025_s2
from tests.payroll_deductions.conftest import DEPOSIT, REMITTANCE, THREE, line, remittance
from tests.payroll_deductions.plans_at_work import TOTAL_CENTS, arrears_cents, open_plan, owed_cents
from tests.payroll_deductions.test_crediting import balances, close

FUND = {"scopes": "payroll.confirm", "client": "fund"}
RETURNED = {"reference": "RD-1", "returned_on": "2025-03-01", "reason": "Insufficient funds"}


def audit_of(passbooks: Passbooks, *names: str) -> Audit:
    audit = Audit()
    for name in names:
        audit.add(name, passbooks.store.items(f"passbook#{name}"), None, passbooks.store.get_evidence)
    return audit


@pytest.fixture
def propose(call: Callable[..., Any]) -> Callable[..., Any]:
    def proposed(body: dict[str, Any], place: str = REMITTANCE, **request: Any) -> Any:
        return call(api.handler, "POST", f"{place}/placements", body=body, **{**FUND, "user": "u-carla"} | request)

    return proposed


@pytest.fixture
def approve(call: Callable[..., Any]) -> Callable[..., Any]:
    def approved(number: int, content_hash: str, place: str = REMITTANCE, **request: Any) -> Any:
        body = {"content_hash": content_hash}
        path = f"{place}/placements/{number}/approval"
        return call(api.handler, "POST", path, body=body, **{**FUND, "user": "u-diego"} | request)

    return approved


@pytest.fixture
def take_back(call: Callable[..., Any]) -> Callable[..., Any]:
    def taken(change: dict[str, Any] | None = None, place: str = REMITTANCE, **request: Any) -> Any:
        body = RETURNED | (change or {})
        return call(api.handler, "POST", f"{place}/deposit-return", body=body, **{**FUND, "user": "u-carla"} | request)

    return taken


def test_what_has_no_place_is_placed_by_a_second_person_once(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    propose: Callable[..., Any],
    approve: Callable[..., Any],
    call: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """P-2's 300.50 came for a closed account: it was P-3's. P-1's 0.01 more is given back."""
    remit(THREE)
    close(stack, passbooks, "P-000002")
    confirm()
    credit()
    credited_to = {"action": "credit", "participant_id": "P-000003", "kind": "contribution"}
    body = {"line": 2, "reason": "The line named another account", **credited_to}
    before = stack.ledger_items()
    assert propose(body | {"line": 1}).code == "no_money_to_place"
    assert propose(body | {"kind": None}).code == "placement_incomplete"
    assert propose(body | {"action": "return"}).code == "placement_incomplete"
    assert propose(body | {"participant_id": "P-000099"}).code == "unknown_participant"
    assert propose(body, client="employer-001").code == "party_not_allowed"
    proposed = propose(body)
    assert (proposed.status, proposed.body["amount"], proposed.body["status"]) == (201, "300.50", "proposed")
    content_hash = proposed.body["content_hash"]
    assert approve(2, content_hash, user="u-carla").code == "same_person"
    assert approve(2, "0" * 64).code == "stale_hash"
    assert approve(3, content_hash).code == "no_money_to_place"
    assert stack.ledger_items() == before

    done = approve(2, content_hash)
    assert (done.status, done.body["status"], done.body["approved_by"]) == (200, "placed", "u-diego")
    last = passbooks.last("P-000003")
    assert (last.effective_on, last.balances["savings"]) == (date(2025, 2, 10), 300_51)
    seen = look().body
    assert (seen["status"], seen["clearing"], seen["unplaced"], seen["unplaced_count"]) == ("closed", "0.00", [], 0)
    before = stack.ledger_items()
    assert approve(2, content_hash, user="u-berta").body == done.body
    assert propose(body).code == "no_money_to_place"
    assert stack.ledger_items() == before
    listed = call(api.handler, "GET", f"{REMITTANCE}/placements", **FUND).body
    assert [(one["line"], one["status"]) for one in listed["items"]] == [(2, "placed")]
    assert audit_of(passbooks, "P-000001", "P-000002", "P-000003", "E-001").is_clean


def test_what_is_over_is_credited_when_it_is_due_or_given_back(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    propose: Callable[..., Any],
    approve: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """October's file brings 100.00 where 89.23 is due: 10.77 over, for each of two."""
    for number in (1, 2):
        open_plan(passbooks, f"P-{number:06d}")
    lines = [line(number, "100.00", kind="installment") for number in (1, 2)]
    remit(remittance(lines, "200.00", period="2008-10"))
    confirm({"amount": "200.00", "value_date": "2008-11-03"})
    credit()
    to_plan = {"line": 1, "action": "credit", "participant_id": "P-000001", "kind": "installment", "reason": "November"}
    approve(1, propose(to_plan | {"period": "2008-11"}).body["content_hash"])
    assert owed_cents(passbooks, "P-000001") == TOTAL_CENTS - 100_00
    given_back = propose({"line": 2, "action": "return", "reason": "Asked for by the agency"}).body
    assert approve(2, given_back["content_hash"]).status == 200
    # 200.00 came, 10.77 went back, 189.23 is in installments.
    assert passbooks.last("E-001").balances == {"cash": -189_23, "installments": 189_23}
    assert passbooks.last("E-001").kind is LineKind.DEPOSIT_RETURNED
    assert audit_of(passbooks, "P-000001", "P-000002", "E-001").is_clean


def test_a_month_ahead_is_no_place_since_its_installments_arent_due(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    propose: Callable[..., Any],
    approve: Callable[..., Any],
    call: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """The plan starts in June 2025 and today is July 10: June's 89.23 is credited, and of 500.00 410.77 waits.

    Of July 89.23 is due; by December 2099 all of the plan would be.
    """
    open_plan(passbooks, "P-000002", Terms(TOTAL_CENTS, 89_23, 60, date(2025, 6, 30)))
    remit(remittance([line(2, "500.00", kind="installment")], "500.00", period="2025-06"))
    confirm({"amount": "500.00", "value_date": "2025-07-03"})
    credit()
    assert owed_cents(passbooks, "P-000002") == TOTAL_CENTS - 89_23
    body = {"line": 1, "action": "credit", "participant_id": "P-000002", "kind": "installment", "reason": "x"}
    before = (stack.ledger_items(), stack.registry_items())
    for period in ("2099-12", "2025-08", "1999-12"):
        answer = propose(body | {"period": period})
        assert (answer.status, answer.body["field"]) == (422, "period")
    assert (stack.ledger_items(), stack.registry_items()) == before

    july = propose(body | {"period": "2025-07"}).body
    assert approve(1, july["content_hash"]).code == "over_due"
    # One that was proposed before months ahead were refused isn't done.
    [kept] = stack.registry.items("placement#E-001_2025-014")
    stack.registry.put(kept | {"proposal": kept["proposal"] | {"period": "2099-12"}})
    (ahead,) = call(api.handler, "GET", f"{REMITTANCE}/placements", **FUND).body["items"]
    assert approve(1, ahead["content_hash"]).body["field"] == "period"
    assert owed_cents(passbooks, "P-000002") == TOTAL_CENTS - 89_23


def test_a_deposit_taken_back_takes_its_credits_with_it(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    take_back: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """P-1's 200.00 has earned 3.34 since: they go too. P-2 is paid an installment, P-3 is closed since.

    200.00 from February on is in five of six month-ends (February to June): 166.666… × 2.003333 % = 3.338… → 3.34.
    """
    open_plan(passbooks, "P-000002")
    lines = [line(1), line(2, "89.23", kind="installment"), line(3, "50.00")]
    # 200.00 + 89.23 + 50.00 = 339.23
    remit(remittance(lines, "339.23"))
    assert take_back().code == "not_deposited"
    confirm({"amount": "339.23"})
    assert take_back().code == "crediting_under_way"
    credit()
    post_fy2025_s2(stack, "P-000001", 3_34)
    close(stack, passbooks, "P-000003")
    before = stack.ledger_items()
    assert take_back({"returned_on": "2025-02-09"}).code == "return_before_deposit"
    assert take_back({"returned_on": "2025-07-11"}).status == 422
    assert take_back(client="employer-001").code == "party_not_allowed"
    assert stack.ledger_items() == before

    answer = take_back()
    assert (answer.status, answer.body["status"], answer.body["clearing"]) == (202, "returning", "-339.23")
    credit()
    seen = look().body
    # What P-3's closed account can't give back is owed by the employer.
    assert (seen["status"], seen["clearing"]) == ("returning", "-50.00")
    assert passbooks.last("P-000001").balances == {}
    assert owed_cents(passbooks, "P-000002") == TOTAL_CENTS
    assert arrears_cents(passbooks, "P-000002", date(2008, 10, 31)) == 89_23
    assert passbooks.last("P-000003").balances["savings"] == 50_00
    assert passbooks.last("E-001").balances == {"clearing:E-001_2025-014": -50_00, "contributions": 50_00}
    assert passbooks.store.get_evidence("taken_back", "remittance_credit/E-001_2025-014/0000").body["owed"] == [
        {"participant_id": "P-000003", "line": 2, "code": "status_forbids"}
    ]
    audit = audit_of(passbooks, "P-000001", "P-000002", "P-000003", "E-001")
    assert audit.is_clean, audit.findings
    # The principal of P-2's plan, which the office took, is all the cash that is left.
    assert balances(stack, passbooks)["cash"] == -4000_00

    before = stack.ledger_items()
    assert take_back(user="u-berta").status == 202
    assert take_back({"reference": "RD-2"}).code == "already_returned"
    credit()
    assert stack.ledger_items() == before
    assert confirm({"amount": "339.23"}).status == 202
    assert stack.ledger_items() == before


def test_placed_money_is_taken_back_too(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    propose: Callable[..., Any],
    approve: Callable[..., Any],
    take_back: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    close(stack, passbooks, "P-000002")
    remit(THREE)
    confirm()
    credit()
    body = {"line": 2, "action": "credit", "participant_id": "P-000003", "kind": "contribution", "reason": "x"}
    proposed = propose(body).body
    approve(2, proposed["content_hash"])
    assert take_back().status == 202
    credit()
    assert (look().body["status"], look().body["clearing"]) == ("returned", "0.00")
    assert balances(stack, passbooks) == {}
    assert propose(body).code == "deposit_returned"
    # Sent again it is the first answer, and nothing is done.
    assert approve(2, proposed["content_hash"]).body["status"] == "placed"
    assert balances(stack, passbooks) == {}
    assert DEPOSIT["amount"] == look().body["total"]


def test_what_was_proposed_is_not_placed_once_the_bank_has_taken_the_deposit_back(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    propose: Callable[..., Any],
    approve: Callable[..., Any],
    take_back: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    close(stack, passbooks, "P-000002")
    remit(THREE)
    confirm()
    credit()
    body = {"line": 2, "action": "credit", "participant_id": "P-000003", "kind": "contribution", "reason": "x"}
    proposed = propose(body).body
    take_back()
    assert approve(2, proposed["content_hash"]).code == "deposit_returned"
    credit()
    assert balances(stack, passbooks) == {}
    assert approve(2, proposed["content_hash"]).code == "deposit_returned"


def test_a_placement_that_the_registry_has_not_heard_of_is_taken_back_and_is_no_place_for_another(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    propose: Callable[..., Any],
    approve: Callable[..., Any],
    take_back: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    """The approval died after it was posted: the registry has the proposal alone, or a later one."""
    close(stack, passbooks, "P-000002")
    remit(THREE)
    confirm()
    credit()
    body = {"line": 2, "action": "credit", "participant_id": "P-000003", "kind": "contribution", "reason": "x"}
    proposed = propose(body).body
    [before] = stack.registry.items("placement#E-001_2025-014")
    approve(2, proposed["content_hash"])
    stack.registry.put(before)
    assert propose(body | {"participant_id": "P-000001"}).code == "no_money_to_place"
    stack.registry.put(before)
    assert approve(2, proposed["content_hash"]).body["approved_by"] == "u-diego"
    stack.registry.put(before)
    take_back()
    credit()
    assert (look().body["status"], look().body["clearing"]) == ("returned", "0.00")
    assert balances(stack, passbooks) == {}
