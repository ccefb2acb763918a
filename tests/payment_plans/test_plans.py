"""Payment plans through their doors, 3 L.P.R.A. § 830q(a)-(e): quoted, applied for, granted, paid, lapsed."""

from collections.abc import Callable
from typing import Any

import pytest

from payroll_deductions.plan_records import record_of
from retiro.rules.calendar import parse_date
from tests.conftest import Called, Stack, StoppedClock
from tests.payment_plans.office import PLAN, STANDARD, Executions, PlansOffice

QUOTE = STANDARD | {"approved_on": "2008-10-10", "principal_paid_on": "2008-10-15"}


def test_a_quote_gives_the_cost_of_the_service_and_posts_nothing(office: PlansOffice) -> None:
    before = office.stack.ledger_items()
    quote = office.post("/payment-plans/quotes", QUOTE, scopes="benefits.quote", client="portal", key=None)
    assert quote.status == 200, quote.text
    # 4,000.00 × 6 % × 8,143 ÷ 365 = 5,354.30
    assert quote.body["total_cost"] == "9354.30"
    assert quote.body["plan"]["interest"] == [{"kind": "unaccounted_service", "amount": "5354.30"}]
    assert quote.body["plan"]["principal_deadline"] == "2009-10-10"
    assert quote.body["plan"]["installments"] == {
        "count": 60, "amount": "89.23", "last_amount": "89.73", "first_due_on": "2008-10-31",
        "last_due_on": "2013-09-30",
    }  # fmt: skip
    assert quote.body["defaults_used"] == []
    assert office.stack.ledger_items() == before


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"principal_paid_on": "1900-01-01"}, "principal_paid_on"),
        ({"principal_paid_on": "2008-08-31"}, "principal_paid_on"),
        ({"approved_on": "2199-12-31"}, "approved_on"),
        ({"cost_notified_on": "2195-01-01"}, "cost_notified_on"),
    ],
)
def test_a_quote_of_days_that_cannot_be_names_the_field(
    office: PlansOffice, change: dict[str, str], field: str
) -> None:
    """Applied for on 2008-09-01; and sixty months from 2195-01-01 end after 2199."""
    quote = office.post("/payment-plans/quotes", QUOTE | change, scopes="benefits.quote", key=None)
    assert (quote.status, quote.code) == (422, "invalid_input"), quote.text
    assert [fault["field"] for fault in quote.body["errors"]] == [field]


@pytest.mark.parametrize("to", ["principal-payments", "payoff"])
@pytest.mark.parametrize("on", ["1990-01-31", "2008-08-31"])
def test_nothing_is_paid_to_a_plan_before_it_was_applied_for(office: PlansOffice, to: str, on: str) -> None:
    """Applied for on 2008-09-01."""
    office.approve(office.apply())
    before = office.last()
    answer = office.pay("4000.00", on, to=to)
    assert (answer.status, answer.code) == (422, "invalid_input"), answer.text
    assert "before the application" in answer.text
    assert office.last() == before


def test_principal_paid_on_the_day_of_the_application_has_installments_from_then_on(office: PlansOffice) -> None:
    """8,099 days from 1986-06-30 to 2008-09-01: 240.00 × 8099 ÷ 365 = 5,325.3699 → 5,325.37.

    The plan ends on 2013-10-10: 61 month-ends from 2008-09-30 to 2013-09-30. 5,325.37 ÷ 61 = 87.301…; the last is
    5,325.37 − 60 × 87.30 = 87.37.
    """
    office.standard(paid_on="2008-09-01")
    assert office.read()["schedule"] == {
        "total": "5325.37", "count": 61, "amount": "87.30", "last_amount": "87.37", "first_due_on": "2008-09-30",
    }  # fmt: skip


def test_a_quote_says_which_settings_are_at_their_default_where_the_board_has_adopted_none(
    stack: Stack, clock: StoppedClock, call: Callable[..., Called]
) -> None:
    quote = PlansOffice(stack, clock, call, Executions()).post(
        "/payment-plans/quotes", QUOTE, scopes="benefits.quote", client="portal", key=None
    )
    assert set(quote.body["defaults_used"]) == {"plan_interest_base", "day_count", "installments_start"}


def test_a_plan_from_its_application_to_its_payoff(office: PlansOffice) -> None:
    applied = office.apply()
    assert applied.status == 201, applied.text
    assert (applied.body["plan_id"], applied.body["status"], applied.body["balance"]) == (PLAN, "applied", "0.00")
    assert office.approve(applied, user="u-ana").code == "same_person"
    assert office.approve(applied, content_hash="0" * 64).code == "stale_hash"

    approved = office.approve(applied)
    assert approved.status == 200, approved.text
    assert approved.body["principal_deadline"] == "2009-10-10"
    assert (approved.body["balance"], approved.body["approved_by"]) == ("4000.00", "u-luis")
    assert office.apply(reference="A-2").code == "plan_open"
    # Paid off on 2008-10-20, 8,148 days: 4,000.00 × 6 % × 8,148 ÷ 365 = 5,357.589… → 5,357.59.
    assert approved.body["payoff"] == "9357.59"

    first = office.pay("1500.00", "2008-10-15")
    assert (first.status, first.body["balance"]) == (201, "2500.00")
    again = office.pay("1500.00", "2008-10-15")
    assert again.body == first.body
    assert office.pay("1400.00", "2008-10-15").code == "key_conflict"
    assert office.pay("2500.01", "2008-10-15", "C-2").code == "principal_overpaid"
    second = office.pay("2500.00", "2008-10-15", "C-2")
    assert second.body["status"] == "paying"
    assert second.body["debts"] == [
        {"kind": "unaccounted_service", "principal": "4000.00", "interest": "5354.30", "paid": "4000.00",
         "balance": "5354.30"}
    ]  # fmt: skip
    assert second.body["schedule"]["amount"] == "89.23"
    assert office.read(as_of="2008-10-14")["balance"] == "4000.00"
    assert office.read(as_of="2008-10-31")["arrears"] == "89.23"

    assert office.pay_off("5354.29", "2008-10-20").code == "payoff_differs"
    assert office.pay_off("5354.31", "2008-10-20").code == "payoff_differs"
    paid = office.pay_off("5354.30", "2008-10-20")
    assert (paid.body["status"], paid.body["balance"], paid.body["payoff"]) == ("paid", "0.00", None)
    assert office.pay("1.00", "2008-10-20", "C-3").code == "plan_not_open"
    assert office.apply(reference="A-3").status == 201


def test_an_application_that_is_entered_again_replaces_the_one_before(office: PlansOffice) -> None:
    first = office.apply(first_joined_on="1986-07-30")
    second = office.apply(reference="A-2")
    assert (first.body["plan_id"], second.body["plan_id"]) == ("P-000001_2", "P-000001_3")
    assert office.approve(first).code == "plan_not_open"
    assert office.approve(second).status == 200


def test_a_decision_knows_of_a_plan_what_one_line_left_and_nothing_that_came_since(office: PlansOffice) -> None:
    """Neither the approval, whose evidence is there by now, nor the second payment: 4,000.00 − 1,500.00."""
    office.approve(office.apply())
    office.pay("1500.00", "2008-10-15")
    office.pay("2500.00", "2008-10-15", "C-2")
    _, applied, approved, first, *_ = office.passbooks.history("P-000001")
    as_of = [record_of(office.passbooks.store, "P-000001", 2, line) for line in (applied, approved, first)]
    seen = [(one.plan.status, one.approved_on, one.plan.balance_cents) for one in as_of if one is not None]
    granted_on = parse_date("2008-10-10")
    assert seen == [("applied", None, 0), ("principal", granted_on, 400_000), ("principal", granted_on, 250_000)]


def test_principal_and_interest_are_paid_off_at_once_to_the_cent(office: PlansOffice) -> None:
    office.approve(office.apply())
    assert office.pay_off("9354.29", "2008-10-15").code == "payoff_differs"
    paid = office.pay_off("9354.30", "2008-10-15")
    assert (paid.status, paid.body["status"], paid.body["balance"]) == (201, "paid", "0.00")
    assert office.last().balances == {"plan_stated": 935_430, "cash": -935_430}


def test_where_the_interest_bears_interest_no_figure_of_an_early_day_is_made_up(office: PlansOffice) -> None:
    """`balance_until_liquidated` says what each part bears to its month-end, and nothing of a day before it."""
    office.adopt_settings(plan_interest_base="balance_until_liquidated")
    office.approve(office.apply())
    assert office.read()["payoff"] is None
    before = office.pay_off("9354.30", "2008-10-15")
    office.pay("4000.00", "2008-10-15")
    shown = office.read()
    assert (shown["status"], shown["payoff"]) == ("paying", None)
    after = office.pay_off(shown["balance"], "2008-10-20")
    for refused in (before, after):
        assert (refused.status, refused.code) == (422, "needs_decision")
        assert "balance_until_liquidated" in refused.body["detail"]
    assert office.read() == shown
    # Installments are taken as ever.
    office.on("2008-11-05")
    office.remit(office.plan().due_cents(parse_date("2008-10-31")), "2008-11-05", "2008-10-31")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"applied_on": "2008-08-08"}, "application_window_closed"),
        ({"first_joined_on": "1990-04-02"}, "joined_after_april_1_1990"),
        ({"time_to_merit_pension": {"years": 10, "days": 1}}, "more_than_ten_years_to_merit_pension"),
        ({"act_305": True}, "board_rate_required"),
        ({"status": "inactive"}, "not_in_active_service"),
        ({"applied_on": "2008-10-21"}, "invalid_input"),
        ({"participant_id": "P-000009"}, "unknown_participant"),
    ],
)
def test_what_the_law_refuses_is_refused_when_it_is_applied_for(
    office: PlansOffice, change: dict[str, Any], code: str
) -> None:
    before = office.stack.ledger_items()
    assert office.apply(**change).code == code
    assert office.stack.ledger_items() == before


def test_no_plan_is_granted_on_a_default(stack: Stack, clock: StoppedClock, call: Callable[..., Called]) -> None:
    office = PlansOffice(stack, clock, call, Executions())
    office.enrol()
    applied = office.apply()
    assert applied.status == 201, applied.text
    assert office.approve(applied).code == "not_in_force"
    assert office.plan().status == "applied"


def test_a_plan_lapses_after_its_deadline_with_warnings_before(office: PlansOffice) -> None:
    """The deadline is 2009-10-10: 60 days before is 2009-08-11, 15 days before 2009-09-25."""
    office.approve(office.apply())
    office.pay("1500.00", "2008-10-15")
    office.on("2009-10-12")
    assert office.look("2009-08-10")["warned"] == 0
    assert office.look("2009-08-11")["warned"] == 1
    assert office.look("2009-08-12")["warned"] == 0
    assert office.look("2009-09-25")["warned"] == 1
    assert office.look("2009-10-10") | {"orders": ""} == {
        "day": "2009-10-10", "open": 1, "warned": 0, "lapsed": 0, "orders": "",
    }  # fmt: skip
    assert office.look("2009-10-11")["lapsed"] == 1
    assert office.look("2009-10-12")["open"] == 0
    warnings = [line.facts["days_left"] for line in office.passbooks.history("P-000001") if "days_left" in line.facts]
    assert warnings == [60, 15]
    lapsed = office.read()
    assert (lapsed["status"], lapsed["balance"], lapsed["held"], lapsed["payoff"]) == (
        "lapsed",
        "0.00",
        "1500.00",
        None,
    )
    assert office.pay("2500.00", "2009-10-10", "C-2").code == "plan_lapsed"
    assert office.pay_off("2500.00", "2009-10-10").code == "plan_lapsed"


def test_pd_05_a_year_from_february_29_ends_on_february_28(office: PlansOffice) -> None:
    """https://github.com/dateutil/dateutil/issues/900. Approved on 2012-02-29; 9,740 days at 6 %: 6,404.38."""
    office.on("2013-03-02")
    approved = office.approve(office.apply(), on="2012-02-29")
    assert (approved.body["principal_deadline"], approved.body["plan_ends_on"]) == ("2013-02-28", "2017-02-28")
    assert office.pay("4000.00", "2013-03-01").code == "principal_late"
    paid = office.pay("4000.00", "2013-02-28", "C-2")
    assert paid.body["schedule"] == {
        "total": "6404.38", "count": 48, "amount": "133.42", "last_amount": "133.64", "first_due_on": "2013-03-31",
    }  # fmt: skip


def test_an_end_of_service_lapses_a_plan_whose_principal_is_open(office: PlansOffice) -> None:
    office.approve(office.apply())
    assert office.fact("service_end", ended_on="2008-10-18").status == 200
    assert office.look("2008-10-18")["lapsed"] == 0
    assert office.look("2008-10-19")["lapsed"] == 1


def test_each_of_two_debts_keeps_its_own_account(office: PlansOffice) -> None:
    """170.90 withdrawn, owed from 2004-10-15, at 2.5 %: 1,461 days to 2008-10-15, 17.10 (PD-03)."""
    debts = [*STANDARD["debts"], {"kind": "withdrawn_contributions", "principal": "170.90", "owed_from": "2004-10-15"}]
    office.approve(office.apply(debts=debts))
    office.pay("4170.90", "2008-10-15")
    shown = office.read()["debts"]
    assert [debt["interest"] for debt in shown] == ["5354.30", "17.10"]
    assert office.last().balance_cents("plan_debt:2") == -1_710
