"""Facts from outside and what § 830q(e), (f) makes of them; the disclosure register, (g)."""

from typing import Any

import pytest

from tests.conftest import Called
from tests.payment_plans.office import PlansOffice

SHA = "ab" * 32


def pensioner(office: PlansOffice) -> None:
    """The standard plan, pensioned on 2009-06-15."""
    office.on("2010-04-20")
    office.standard()
    office.fact("pension", starts_on="2009-06-15", monthly_amount="1200.00")


def test_a_fact_is_entered_by_one_person_and_adopted_by_another(office: PlansOffice) -> None:
    body = {
        "kind": "pension", "participant_id": "P-000001", "source": "Sistema de Retiro", "starts_on": "2008-11-16",
        "monthly_amount": "1200.00",
    }  # fmt: skip
    entered = office.post("/pension-facts", body)
    assert (entered.status, entered.body["status"], entered.body["adopted_by"]) == (201, "entered", None)
    assert office.post("/pension-facts", body, user="u-eva").body == entered.body
    assert office.last().state.get("pension") is None
    assert office.adopt(entered, user="u-ana").code == "same_person"
    adopted = office.adopt(entered)
    assert (adopted.status, adopted.body["status"], adopted.body["adopted_by"]) == (200, "adopted", "u-luis")
    assert office.last().state["pension"] == {"from": "2008-11-16", "monthly": 120_000}
    assert office.adopt(entered).body == adopted.body
    assert office.get(f"/pension-facts/{entered.body['fact_id']}").body == adopted.body


def enter(office: PlansOffice, kind: str, source: str = "Sistema de Retiro", **content: str) -> Called:
    return office.post("/pension-facts", {"kind": kind, "participant_id": "P-000001", "source": source} | content)


@pytest.mark.parametrize(
    ("kind", "first", "second", "stands"),
    [
        (
            "pension",
            {"starts_on": "2010-01-01", "monthly_amount": "500.00"},
            {"starts_on": "2010-06-01", "monthly_amount": "500.00"},
            "(2010-06-01, 500.00)",
        ),
        ("service_end", {"ended_on": "2009-12-31"}, {"ended_on": "2010-05-31"}, "(2010-05-31)"),
    ],
)
def test_a_fact_that_holds_again_is_entered_with_its_new_source(
    office: PlansOffice, kind: str, first: dict[str, str], second: dict[str, str], stands: str
) -> None:
    """The first day was right after all: the first entry, sent again, is refused, since it would do nothing."""
    assert office.fact(kind, **first).status == 200
    assert enter(office, kind, **first).body["status"] == "adopted"  # it stands: the first answer
    later = office.fact(kind, **second).body["fact_id"]
    again = enter(office, kind, **first)
    assert (again.status, again.code) == (409, "fact_replaced"), again.text
    assert f"{later} {stands}" in again.text
    assert enter(office, kind, **second).body["fact_id"] == later
    before = office.last()
    sourced = enter(office, kind, "Sistema de Retiro, carta 2010-7", **first)
    assert office.adopt(sourced).status == 200
    key = {"pension": "pension", "service_end": "left"}[kind]
    assert office.last().state[key] != before.state[key]
    assert enter(office, kind, **second).code == "fact_replaced"


def test_a_survivors_pension_that_holds_again_is_entered_with_its_new_source(office: PlansOffice) -> None:
    """40.00, then 60.00, which stands when 40.00 is entered once more."""
    pensioner(office)
    office.fact("death_benefit", death_date="2010-03-04", amount="0.00")
    first = {"starts_on": "2010-04-01", "monthly_amount": "40.00"}
    office.fact("survivors_pension", **first)
    assert enter(office, "survivors_pension", **first).status == 201
    later = office.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="60.00").body["fact_id"]
    again = enter(office, "survivors_pension", **first)
    assert (again.status, again.code) == (409, "fact_replaced")
    assert f"{later} (2010-04-01, 60.00)" in again.text


def test_a_fact_is_read_by_whom_its_participant_is_in_reach_of(office: PlansOffice) -> None:
    """P-000001 is of E-001: another agency's client reads neither the plan nor the fact."""
    fact_id = enter(office, "pension", starts_on="2010-01-01", monthly_amount="500.00").body["fact_id"]
    assert office.get(f"/pension-facts/{fact_id}", client="employer-001").status == 200
    other = office.get(f"/pension-facts/{fact_id}", client="employer-002")
    assert (other.status, other.code) == (403, "other_employer")


def test_a_pensioner_who_dies_owing_is_charged_to_the_death_benefit_and_then_to_the_survivors(
    office: PlansOffice,
) -> None:
    """5,354.30 owed; the benefit bears 3,000.00; 2,354.30 at 89.23 a month: 26 × 89.23 and a last one of 34.32."""
    pensioner(office)
    office.fact("death_benefit", death_date="2010-03-04", amount="3000.00")
    shown = office.read()
    assert (shown["status"], shown["balance"], shown["schedule"]) == ("paying", "2354.30", None)
    prepared = office.prepare_orders("2010-04")
    assert prepared["exceptions"] == {"no_survivors_pension": 1}

    office.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="600.00")
    assert office.read()["schedule"] == {
        "total": "2354.30", "count": 27, "amount": "89.23", "last_amount": "34.32", "first_due_on": "2010-04-30",
    }  # fmt: skip
    office.issue_orders("2010-04")
    assert office.order("E-000", "2010-04") == [
        {"participant_id": "P-000001", "installment": "89.23", "arrears": "0.00", "total": "89.23"}
    ]
    store = office.passbooks.store
    named = [line.determination for line in office.passbooks.history("P-000001") if line.determination is not None]
    assert len(named) == 8
    assert all(store.get_evidence(*one.split("/", 1)) for one in named)


def test_a_plan_on_an_earlier_day_is_what_it_was_then(office: PlansOffice) -> None:
    """From 2008-10-31 to 2009-12-31 fifteen month-ends: 15 × 89.23 = 1,338.45 due, and nothing of it paid."""
    pensioner(office)
    office.fact("death_benefit", death_date="2010-03-04", amount="3000.00")
    office.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="600.00")
    then = office.read(as_of="2009-12-31")
    assert (then["status"], then["balance"], then["arrears"]) == ("paying", "5354.30", "1338.45")
    assert (then["schedule"]["total"], then["schedule"]["count"]) == ("5354.30", 60)
    assert (office.read(as_of="2008-10-14")["status"], office.read(as_of="2008-09-30")["status"]) == (
        "principal",
        "applied",
    )


@pytest.mark.parametrize(
    ("monthly_amount", "count", "amount", "last"), [("40.00", 134, "40.00", "34.30"), ("600.00", 61, "89.23", "0.50")]
)
def test_pd_17_a_survivors_pension_below_the_installment_bears_what_it_is(
    office: PlansOffice, monthly_amount: str, count: int, amount: str, last: str
) -> None:
    """5,354.30 = 133 × 40.00 + 34.30 = 60 × 89.23 + 0.50. Reported as github.com/third-culture-software/bhima 6376."""
    pensioner(office)
    office.fact("death_benefit", death_date="2010-03-04", amount="0.00")
    office.fact("survivors_pension", starts_on="2010-04-01", monthly_amount=monthly_amount)
    schedule = office.read()["schedule"]
    assert (schedule["count"], schedule["amount"], schedule["last_amount"]) == (count, amount, last)


def test_an_order_on_a_survivors_pension_never_asks_for_more_than_the_pension(office: PlansOffice) -> None:
    """Adopted a year late: thirteen discounts of 40.00 have fallen due by 2011-04, and the pension bears 40.00.

    What was missed lengthens the plan: 5,354.30 − 40.00 = 5,314.30 are open after it, and May asks for 40.00.
    """
    pensioner(office)
    office.on("2011-04-20")
    office.fact("death_benefit", death_date="2010-03-04", amount="0.00")
    office.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="40.00")
    assert office.read()["arrears"] == "40.00"
    for month in ("2011-04", "2011-05"):
        office.issue_orders(month)
        assert office.order("E-000", month) == [
            {"participant_id": "P-000001", "installment": "40.00", "arrears": "0.00", "total": "40.00"}
        ]
        if month == "2011-04":
            office.remit(4_000, "2011-05-05", "2011-04-30")
    office.on("2011-05-31")
    assert (office.read()["arrears"], office.read()["payoff"]) == ("40.00", "5314.30")
    assert office.read()["balance"] == "5314.30"


def test_a_death_before_any_pension_is_for_a_person(office: PlansOffice) -> None:
    office.on("2010-04-20")
    office.standard()
    office.fact("death_benefit", death_date="2010-03-04", amount="3000.00")
    assert (office.read()["status"], office.read()["payoff"]) == ("undecided", None)
    assert office.prepare_orders("2010-04")["exceptions"] == {"plan_for_a_person": 1}
    assert office.pay_off("5354.30", "2010-04-01").code == "plan_not_open"


def test_a_death_benefit_without_a_plan_to_pay_is_refused(office: PlansOffice) -> None:
    body = {
        "kind": "death_benefit", "participant_id": "P-000001", "source": "Sistema de Retiro",
        "death_date": "2008-10-01", "amount": "1.00",
    }  # fmt: skip
    assert office.adopt(office.post("/pension-facts", body)).code == "plan_not_open"


def test_with_the_pension_installments_wait_for_it(office: PlansOffice) -> None:
    """`with_pension`: paid on 2008-10-15; pensioned on 2009-06-15: 52 month-ends from June 2009 to September 2013.

    5,354.30 = 51 × 102.96 + 103.34
    """
    office.adopt_settings(installments_start="with_pension")
    office.on("2010-04-20")
    office.standard()
    assert (office.read()["schedule"], office.read()["balance"]) == (None, "5354.30")
    assert office.prepare_orders("2009-06")["orders"]["orders"] == 0
    office.fact("pension", starts_on="2009-06-15", monthly_amount="1200.00")
    assert office.read()["schedule"] == {
        "total": "5354.30", "count": 52, "amount": "102.96", "last_amount": "103.34", "first_due_on": "2009-06-30",
    }  # fmt: skip


def test_a_pension_that_makes_paid_principal_late_is_a_fact_and_the_plan_is_for_a_person(office: PlansOffice) -> None:
    """`with_pension`: principal paid on 2009-05-10, and the pension began on 2009-05-01.

    8,350 days: 240.00 × 8350 ÷ 365 = 5,490.4109 → 5,490.41. The day was wrong: from 2009-06-01 it is 52 month-ends
    until 2013-09-30; 5,490.41 ÷ 52 = 105.584; the last is 5,490.41 − 51 × 105.58 = 105.83.
    """
    office.adopt_settings(installments_start="with_pension")
    office.on("2009-06-20")
    office.standard(paid_on="2009-05-10")
    early = office.fact("pension", starts_on="2009-05-01", monthly_amount="1200.00")
    assert (early.status, early.body.get("status")) == (200, "adopted"), early.text
    assert office.last().state["pension"]["from"] == "2009-05-01"
    assert (office.read()["status"], office.read()["schedule"], office.read()["balance"]) == ("paying", None, "5490.41")
    for month in ("2009-05", "2009-06"):
        assert office.prepare_orders(month)["exceptions"] == {"plan_for_a_person": 1}
    answer = office.get("/deduction-order-runs/2009-06/exceptions", scopes="runs.prepare")
    assert "before the principal was paid" in answer.body["items"][0]["detail"]

    office.fact("pension", starts_on="2009-06-01", monthly_amount="1200.00")
    assert office.read()["schedule"] == {
        "total": "5490.41", "count": 52, "amount": "105.58", "last_amount": "105.83", "first_due_on": "2009-06-30",
    }  # fmt: skip
    assert office.prepare_orders("2009-06")["exceptions"] == {}


# The disclosure register


def disclosed(kind: str, day: str, **content: Any) -> dict[str, Any]:
    return {"act": "216-2008", "kind": kind, "date": day, "document_sha256": SHA} | content


def test_the_register_says_what_is_missing(office: PlansOffice) -> None:
    def enter(kind: str, day: str, **content: Any) -> None:
        assert office.post("/disclosures", disclosed(kind, day, **content)).status == 201

    def missing() -> list[str]:
        return office.get("/disclosures", query={"act": "216-2008"}).body["report"]["missing"]

    assert missing() == ["newspapers", "coordinator_notice", "circular_letter"]
    for newspaper in ("El Nuevo Día", "Primera Hora"):
        for day in ("2008-09-01", "2008-09-08", "2008-09-15"):
            enter("publication", day, newspaper=newspaper, general_circulation=newspaper != "Primera Hora")
    # The second one isn't of general circulation.
    assert missing() == ["newspapers", "coordinator_notice", "circular_letter"]
    for day in ("2008-09-02", "2008-09-09", "2008-09-16"):
        enter("publication", day, newspaper="El Vocero", general_circulation=True)
    assert missing() == ["coordinator_notice", "circular_letter"]
    enter("coordinator_notice", "2008-09-03")
    enter("circular_letter", "2008-09-04")
    register = office.get("/disclosures", query={"act": "216-2008"}).body
    assert (register["report"]["compliant"], len(register["items"])) == (True, 11)
    assert office.get("/disclosures", query={"act": "168-2005"}).body["items"] == []


def test_the_same_entry_twice_is_one_and_one_of_tomorrow_is_refused(office: PlansOffice) -> None:
    first = office.post("/disclosures", disclosed("circular_letter", "2008-10-20"))
    assert office.post("/disclosures", disclosed("circular_letter", "2008-10-20"), user="u-eva").body == first.body
    assert office.post("/disclosures", disclosed("circular_letter", "2008-10-21")).code == "invalid_input"
