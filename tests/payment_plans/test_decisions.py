"""What only a person decides about a plan, § 830q(d), (f): proposed by one, approved by another, on the record."""

from typing import Any

import pytest

from retiro.ledger.verify import verify_passbook
from tests.conftest import Called
from tests.payment_plans.office import PLAN, PlansOffice

REASON = "Opinión legal 2010-14 del asesor del Sistema"


@pytest.fixture
def undecided(office: PlansOffice) -> PlansOffice:
    """The standard plan, 5,354.30 of interest owed, and a death before any pension with a benefit of 3,000.00."""
    office.on("2010-04-20")
    office.standard()
    office.fact("death_benefit", death_date="2010-03-04", amount="3000.00")
    return office


@pytest.fixture
def lapsed(office: PlansOffice) -> PlansOffice:
    """1,500.00 of 4,000.00 paid, and the deadline of 2009-10-10 gone by."""
    office.approve(office.apply())
    office.pay("1500.00", "2008-10-15")
    office.on("2009-10-20")
    assert office.look("2009-10-11")["lapsed"] == 1
    return office


def propose(office: PlansOffice, choice: str, plan: str = PLAN, user: str = "u-ana", **more: Any) -> Called:
    body = {"choice": choice, "reason": REASON} | more
    return office.post(f"/payment-plans/{plan}/decisions", body, user=user)


def approve(office: PlansOffice, proposed: Called, plan: str = PLAN, user: str = "u-luis") -> Called:
    path = f"/payment-plans/{plan}/decisions/approval"
    return office.post(path, {"content_hash": proposed.body["content_hash"]}, user=user, scopes="plans.approve")


def decide(office: PlansOffice, choice: str, plan: str = PLAN, **more: Any) -> dict[str, str]:
    """Proposed, approved; what it moved, by account."""
    proposed = propose(office, choice, plan, **more)
    assert proposed.status == 201, proposed.text
    done = approve(office, proposed, plan)
    assert (done.status, done.body["status"]) == (200, "done"), done.text
    assert done.body["moves"] == proposed.body["moves"]
    check_audit(office)
    return {move["account"]: move["amount"] for move in done.body["moves"]}


def check_audit(office: PlansOffice) -> None:
    store = office.passbooks.store
    verified = verify_passbook("P-000001", store.items("passbook#P-000001"), read=store.get_evidence)
    assert verified.findings == ()


# Who has died before any pension


def test_a_decision_is_proposed_by_one_person_and_done_by_another(undecided: PlansOffice) -> None:
    before = undecided.stack.ledger_items()
    proposed = propose(undecided, "charge_death_benefit")
    assert (proposed.status, proposed.body["status"], proposed.body["approved_by"]) == (201, "proposed", None)
    assert undecided.stack.ledger_items() == before
    assert approve(undecided, proposed, user="u-ana").code == "same_person"
    wrong = Called(200, '{"content_hash": "' + "0" * 64 + '"}', {})
    assert approve(undecided, wrong).code == "stale_hash"
    assert undecided.stack.ledger_items() == before

    done = approve(undecided, proposed)
    assert (done.status, done.body["status"]) == (200, "done")
    assert (done.body["proposed_by"], done.body["approved_by"]) == ("u-ana", "u-luis")
    assert approve(undecided, proposed).body == done.body
    assert approve(undecided, proposed, user="u-eva").code == "already_approved"
    assert propose(undecided, "charge_death_benefit").code == "already_decided"
    assert undecided.get(f"/payment-plans/{PLAN}/decisions").body["items"] == [done.body]


def test_the_death_benefit_is_charged_as_of_a_pensioner_where_a_person_decides_so(undecided: PlansOffice) -> None:
    """5,354.30 − 3,000.00 = 2,354.30 = 26 × 89.23 + 34.32, by the plan's installment of 89.23."""
    moves = decide(undecided, "charge_death_benefit")
    assert moves == {"plan_debt:1": "3000.00", "death_benefit": "-3000.00"}
    shown = undecided.read()
    assert (shown["status"], shown["balance"]) == ("paying", "2354.30")
    assert undecided.prepare_orders("2010-04")["exceptions"] == {"no_survivors_pension": 1}
    undecided.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="600.00")
    assert undecided.read()["schedule"] == {
        "total": "2354.30", "count": 27, "amount": "89.23", "last_amount": "34.32", "first_due_on": "2010-04-30",
    }  # fmt: skip
    undecided.issue_orders("2010-04")
    assert [line["total"] for line in undecided.order("E-000", "2010-04")] == ["89.23"]


def test_the_receipt_of_the_charge_stands_with_the_decision(undecided: PlansOffice) -> None:
    decide(undecided, "charge_death_benefit")
    evidence = undecided.passbooks.store.get_evidence(*str(undecided.last().determination).split("/", 1))
    assert evidence is not None
    assert evidence.body["receipt"]["inputs"]["death_benefit"] == "3000.00"
    assert (evidence.body["proposed_by"], evidence.body["approved_by"]) == ("u-ana", "u-luis")
    assert evidence.body["decision"]["reason"] == REASON
    assert evidence.body["citation"] == "3 L.P.R.A. § 830q(f)"


@pytest.mark.parametrize(
    ("choice", "account"), [("claim_on_estate", "receivable:estate"), ("release", "plan_released")]
)
def test_what_is_left_is_claimed_or_released_and_the_plan_ends(
    undecided: PlansOffice, choice: str, account: str
) -> None:
    assert decide(undecided, choice) == {"plan_debt:1": "5354.30", account: "-5354.30"}
    shown = undecided.read()
    assert (shown["status"], shown["balance"], shown["payoff"]) == ("ended", "0.00", None)
    # What isn't collected from the plan any more isn't paid either: 4,000.00 of principal was.
    assert shown["debts"] == [
        {"kind": "unaccounted_service", "principal": "4000.00", "interest": "0.00", "paid": "4000.00",
         "balance": "0.00"}
    ]  # fmt: skip
    assert undecided.prepare_orders("2010-04")["exceptions"] == {}
    assert propose(undecided, "charge_death_benefit").code == "plan_not_open"


def test_what_no_survivors_pension_bears_is_claimed_after_the_charge(undecided: PlansOffice) -> None:
    decide(undecided, "charge_death_benefit")
    assert decide(undecided, "claim_on_estate") == {"plan_debt:1": "2354.30", "receivable:estate": "-2354.30"}
    done = undecided.get(f"/payment-plans/{PLAN}/decisions").body["items"]
    assert [one["decision"]["choice"] for one in done] == ["charge_death_benefit", "claim_on_estate"]


def test_an_approval_of_figures_that_have_moved_is_refused(undecided: PlansOffice) -> None:
    """The release of 2,354.30 is proposed; then 89.23 of it is remitted."""
    decide(undecided, "charge_death_benefit")
    undecided.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="600.00")
    proposed = propose(undecided, "release")
    undecided.remit(8_923, "2010-05-05", "2010-04-30")
    assert approve(undecided, proposed).code == "stale_hash"
    # 2,354.30 − 89.23
    assert decide(undecided, "release") == {"plan_debt:1": "2265.07", "plan_released": "-2265.07"}


def test_without_a_schedule_the_decision_says_the_installment(office: PlansOffice) -> None:
    """`with_pension`: nothing was scheduled. 2,354.30 = 23 × 100.00 + 54.30."""
    office.adopt_settings(installments_start="with_pension")
    office.on("2010-04-20")
    office.standard()
    office.fact("death_benefit", death_date="2010-03-04", amount="3000.00")
    missing = propose(office, "charge_death_benefit")
    assert (missing.code, missing.body["field"]) == ("invalid_input", "installment")
    decide(office, "charge_death_benefit", installment="100.00")
    office.fact("survivors_pension", starts_on="2010-04-01", monthly_amount="600.00")
    schedule = office.read()["schedule"]
    assert (schedule["count"], schedule["amount"], schedule["last_amount"]) == (24, "100.00", "54.30")


def test_a_plan_with_a_schedule_keeps_its_own_installment(undecided: PlansOffice) -> None:
    assert propose(undecided, "charge_death_benefit", installment="100.00").code == "installment_known"


def test_principal_that_was_open_at_the_death_lapses_the_plan_and_what_was_paid_goes_to_those_named(
    office: PlansOffice,
) -> None:
    """4,000.00, of which 1,500.00 was paid. Neither benefit nor estate bears a principal: the service isn't bought."""
    office.approve(office.apply())
    office.pay("1500.00", "2008-10-15")
    office.fact("death_benefit", death_date="2008-10-18", amount="3000.00")
    assert office.read()["status"] == "undecided"
    for choice in ("claim_on_estate", "release"):
        assert propose(office, choice).code == "plan_not_open"
    assert propose(office, "charge_death_benefit", installment="100.00").code == "plan_not_open"
    moves = decide(office, "lapse")
    assert moves == {"plan_debt:1": "2500.00", "plan_stated": "-4000.00", "plan_held": "1500.00"}
    assert (office.read()["status"], office.read()["held"]) == ("lapsed", "1500.00")

    assert propose(office, "place_held").code == "held_differs"  # to whom?
    payees = [{"name": "First heir", "amount": "1000.00"}, {"name": "Second heir", "amount": "500.00"}]
    assert decide(office, "place_held", payees=payees) == {"plan_held": "-1500.00", "plan_payable": "1500.00"}
    assert office.read()["held"] == "0.00"


def test_a_principal_that_was_paid_does_not_lapse(undecided: PlansOffice) -> None:
    assert propose(undecided, "lapse").code == "plan_not_open"


# What a lapsed plan holds


def test_what_is_held_is_payable_to_the_participant(lapsed: PlansOffice) -> None:
    assert decide(lapsed, "place_held") == {"plan_held": "-1500.00", "plan_payable": "1500.00"}
    assert lapsed.last().balances == {"cash": -150_000, "plan_payable": 150_000}
    assert (lapsed.read()["status"], lapsed.read()["held"]) == ("lapsed", "0.00")
    assert propose(lapsed, "place_held").code == "already_decided"


def test_a_death_after_the_lapse_is_known_to_whoever_places_what_is_held(lapsed: PlansOffice) -> None:
    """Dead on 2009-06-01, adopted after the lapse of 2009-10-11: 1,500.00 is for those named, not for the dead."""
    before = propose(lapsed, "place_held")
    told = lapsed.fact("death_benefit", death_date="2009-06-01", amount="3000.00")
    assert (told.status, told.body.get("status")) == (200, "adopted"), told.text
    last = lapsed.last()
    assert (last.kind, str(last.effective_on), last.postings) == ("plan_death", "2009-06-01", ())
    assert approve(lapsed, before).code == "held_differs"
    assert propose(lapsed, "place_held").code == "held_differs"
    # The plan is what it was: on 2009-09-01 its principal was open, and it lapsed in October.
    assert (lapsed.read()["status"], lapsed.read()["held"]) == ("lapsed", "1500.00")
    assert (lapsed.read(as_of="2009-09-01")["status"], lapsed.read(as_of="2009-09-01")["held"]) == ("principal", "0.00")
    payees = [{"name": "First heir", "amount": "1500.00"}]
    assert decide(lapsed, "place_held", payees=payees) == {"plan_held": "-1500.00", "plan_payable": "1500.00"}


def test_a_death_is_not_told_where_nothing_is_held_any_more(lapsed: PlansOffice) -> None:
    body = {"kind": "death_benefit", "participant_id": "P-000001", "source": "Sistema de Retiro", "amount": "0.00"}
    first = lapsed.post("/pension-facts", body | {"death_date": "2009-10-15"})
    decide(lapsed, "place_held")
    assert lapsed.adopt(first).code == "plan_not_open"


def test_a_second_day_of_death_is_refused(lapsed: PlansOffice) -> None:
    lapsed.fact("death_benefit", death_date="2009-10-15", amount="0.00")
    body = {"kind": "death_benefit", "participant_id": "P-000001", "source": "Sistema de Retiro", "amount": "0.00"}
    second = lapsed.post("/pension-facts", body | {"death_date": "2009-10-16"})
    assert lapsed.adopt(second).code == "plan_not_open"


def test_a_later_application_does_not_make_the_dead_forgotten(lapsed: PlansOffice) -> None:
    """The death is on the passbook, whatever plan is the latest."""
    lapsed.fact("death_benefit", death_date="2009-10-15", amount="0.00")
    applied = lapsed.apply("A-2", applied_on="2009-02-01")
    assert propose(lapsed, "place_held").code == "held_differs"
    before = lapsed.stack.ledger_items()
    assert lapsed.approve(applied, on="2009-10-20").code == "participant_died"
    assert lapsed.stack.ledger_items() == before


def test_nothing_is_paid_in_to_a_plan_of_somebody_who_has_died(lapsed: PlansOffice) -> None:
    """The new plan's principal is open, the 1,500.00 of the lapsed one held, when the death is told."""
    plan = new_plan(lapsed, "4000.00")
    lapsed.fact("death_benefit", death_date="2009-10-15", amount="0.00")
    assert propose(lapsed, "place_held", pay_in="1500.00").code == "participant_died"
    assert lapsed.read(plan)["balance"] == "4000.00"


@pytest.mark.parametrize("amount", ["1499.99", "1500.01"])
def test_all_that_is_held_has_a_place_to_the_cent(lapsed: PlansOffice, amount: str) -> None:
    before = lapsed.stack.ledger_items()
    payees = [{"name": "First heir", "amount": amount}]
    assert propose(lapsed, "place_held", payees=payees).code == "held_differs"
    assert lapsed.stack.ledger_items() == before


def new_plan(office: PlansOffice, principal: str) -> str:
    """Another plan, applied for on 2009-02-01 inside the window, granted on 2009-10-20."""
    debts = [{"kind": "unaccounted_service", "principal": principal, "owed_from": "1986-06-30"}]
    applied = office.apply("A-2", applied_on="2009-02-01", debts=debts)
    assert office.approve(applied, on="2009-10-20").status == 200
    return str(applied.body["plan_id"])


def test_what_is_held_is_paid_in_again_to_the_plan_that_is_open(lapsed: PlansOffice) -> None:
    """1,000.00 to the new plan's 4,000.00, and 500.00 payable to the participant."""
    plan = new_plan(lapsed, "4000.00")
    moves = decide(lapsed, "place_held", pay_in="1000.00")
    assert moves == {"plan_held": "-1500.00", "plan_payable": "500.00", "plan_debt:1": "1000.00"}
    assert (lapsed.read()["held"], lapsed.read()["status"]) == ("0.00", "lapsed")
    assert (lapsed.read(plan)["status"], lapsed.read(plan)["balance"]) == ("principal", "3000.00")
    assert lapsed.pay("3000.00", "2009-10-20", "C-2", plan).body["status"] == "paying"


def test_what_is_paid_in_last_brings_the_interest(lapsed: PlansOffice) -> None:
    """1,500.00 × 6 % × 8,513 days (1986-06-30 to 2009-10-20) ÷ 365 = 2,099.0959, and 1,500.00 − 2,099.10 = −599.10."""
    plan = new_plan(lapsed, "1500.00")
    moves = decide(lapsed, "place_held", pay_in="1500.00")
    assert moves == {"plan_held": "-1500.00", "plan_debt:1": "-599.10", "plan_stated": "2099.10"}
    assert (lapsed.read(plan)["status"], lapsed.read(plan)["balance"]) == ("paying", "2099.10")


def test_nothing_is_paid_in_where_no_plan_takes_it(lapsed: PlansOffice) -> None:
    assert propose(lapsed, "place_held", pay_in="1500.00").code == "plan_lapsed"
    paying = new_plan(lapsed, "100.00")
    lapsed.pay("100.00", "2009-10-20", "C-2", paying)
    assert propose(lapsed, "place_held", pay_in="1500.00").code == "plan_not_open"


# Who, and what there is to decide


def test_a_plan_that_takes_its_course_leaves_nothing_to_decide(office: PlansOffice) -> None:
    office.standard()
    for choice in ("charge_death_benefit", "lapse", "claim_on_estate", "release", "place_held"):
        assert propose(office, choice).code == "plan_not_open"
    nothing = Called(200, '{"content_hash": "' + "0" * 64 + '"}', {})
    assert approve(office, nothing).code == "no_decision_proposed"
    assert propose(office, "release", plan="P-000001_1").code == "unknown_plan"


def test_a_participants_portal_decides_nothing(lapsed: PlansOffice) -> None:
    body = {"choice": "place_held", "reason": REASON}
    assert lapsed.post(f"/payment-plans/{PLAN}/decisions", body, client="portal").code == "party_not_allowed"


def test_a_reason_is_given_and_a_later_proposal_takes_the_place_of_one_that_waits(lapsed: PlansOffice) -> None:
    assert lapsed.post(f"/payment-plans/{PLAN}/decisions", {"choice": "place_held"}).status == 422
    first = propose(lapsed, "place_held")
    second = propose(lapsed, "place_held", user="u-eva", payees=[{"name": "First heir", "amount": "1500.00"}])
    assert lapsed.get(f"/payment-plans/{PLAN}/decisions").body["items"] == [second.body]
    assert approve(lapsed, first).code == "stale_hash"
    assert approve(lapsed, second).status == 200


def test_the_question_is_put_in_the_readers_language(lapsed: PlansOffice) -> None:
    propose(lapsed, "place_held")
    path = f"/payment-plans/{PLAN}/decisions"
    spanish = lapsed.get(path, headers={"Accept-Language": "es"}).body["items"][0]
    assert spanish["question"] == "El texto dice que el plan caduca, y no qué se hace con lo pagado."
    assert spanish["citation"] == "3 L.P.R.A. § 830q(d)"


def test_an_approval_sent_again_is_answered_whatever_is_proposed_by_then(lapsed: PlansOffice) -> None:
    """The first answer was lost; before it is asked for again another proposal is put in the first one's place."""
    proposed = propose(lapsed, "place_held")
    registry = lapsed.stack.registry
    [another] = registry.items(f"plan_decision#{PLAN}")
    done = approve(lapsed, proposed)
    assert (done.status, done.body["status"]) == (200, "done")
    lines = len(lapsed.passbooks.history("P-000001"))
    registry.put(another | {"content_hash": "0" * 64, "proposed_by": "u-luis"})
    assert approve(lapsed, proposed).body == done.body
    assert approve(lapsed, proposed, user="u-eva").code == "already_approved"
    assert len(lapsed.passbooks.history("P-000001")) == lines
