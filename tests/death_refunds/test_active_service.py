"""Deaths in active service, § 242b(e), from the report to the payees, through the doors."""

from typing import Any

import pytest

from tests.death_refunds.judges import JUDGE, Judges, payees


def with_balance(judges: Judges, cents: int) -> None:
    """A judge who has contributed so much, with every completed semester's return posted: nothing."""
    judges.enrol()
    judges.credit(cents, "2025-02-10")
    judges.adopt_return("FY2025-S2", "0", months=3)


def test_a_judge_dies_with_a_debt_and_three_beneficiaries(judges: Judges) -> None:
    # Given 12,000.00 of contributions, 300.00 of return posted for FY2025-S1, and a debt of 2,000.00
    judges.enrol()
    judges.credit(1_200_000, "2024-07-31")
    judges.adopt_return("FY2025-S2", "0.9", months=3)
    judges.post_return("FY2025-S1", 30_000)
    judges.owe("2000.00")
    judges.designate("Ana", "Beto", "Carla")
    # When the judge dies on April 10: three months are complete
    judges.dies("2025-04-10")
    settled = judges.settled()
    # Then 12,300.00 × 0.9 % = 110.70; 12,410.70 - 2,000.00 = 10,410.70 in thirds of 3,470.2333...
    assert settled["status"] == "settled"
    assert settled["route"] == "active_service"
    figures = settled["figures"]
    assert (figures["provisional_yield"], figures["gross"]) == ("110.70", "12410.70")
    assert (figures["debts_collected"], figures["uncollected_debt"], figures["net"]) == ("2000.00", "0.00", "10410.70")
    assert payees(settled) == [
        ("Ana", "3470.24", "payable", None),
        ("Beto", "3470.23", "payable", None),
        ("Carla", "3470.23", "payable", None),
    ]
    assert judges.last().state["status"] == "closed"
    # The return is 300.00 + 110.70; the debt is collected in full.
    assert judges.balances() == {
        "contributions": -1_200_000, "yields": -41_070, "debts_stated": 200_000,
        "payable:1": 347_024, "payable:2": 347_023, "payable:3": 347_023,
    }  # fmt: skip
    receipt = settled["receipts"]["active_death_refund"]
    assert {one["name"]: one["source"]["en"] for one in receipt["settings"]} == {}
    assert settled["receipts"]["provisional_yield"]["settings"][0]["source"]["en"].startswith("Resolution 2014-01")


@pytest.mark.parametrize(
    ("cents", "shares", "expected"),
    [
        # DR-01, https://github.com/moneyphp/money/pull/492: the odd cent always went to the first in the list.
        (9_999, {"A": "75", "B": "25"}, ["74.99", "25.00"]),
        (9_999, {"B": "25", "A": "75"}, ["25.00", "74.99"]),
        # DR-03, https://github.com/moneyphp/money/issues/466: fewer cents than heirs crashed the split.
        (2, {"A": "33.4", "B": "33.3", "C": "33.3"}, ["0.01", "0.01", "0.00"]),
        (1, {"A": "33.4", "B": "33.3", "C": "33.3"}, ["0.01", "0.00", "0.00"]),
    ],
)
def test_the_split_is_to_the_cent(judges: Judges, cents: int, shares: dict[str, str], expected: list[str]) -> None:
    with_balance(judges, cents)
    judges.designate(**shares)
    judges.dies("2025-04-10")
    settled = judges.settled()
    assert [(one["name"], one["amount"]) for one in settled["payees"]] == list(zip(shares, expected, strict=True))
    assert sum(amount for name, amount in judges.balances().items() if name.startswith("payable:")) == cents


def test_nothing_net_is_settled_with_no_payees(judges: Judges) -> None:
    """DR-03: a net of nothing sends nothing to pay."""
    with_balance(judges, 10_000)
    judges.owe("150.00")
    judges.designate("A")
    judges.dies("2025-04-10")
    settled = judges.settled()
    assert (settled["status"], settled["payees"]) == ("settled", [])
    # 150.00 - 100.00: the rest is a claim on the estate, and stays in the books
    assert settled["figures"]["uncollected_debt"] == "50.00"
    assert judges.balances() == {"contributions": -10_000, "debts": -5_000, "debts_stated": 15_000}


TEN_THOUSAND_AND_ONE_CENT = 1_000_001
PREDECEASED = [
    ("2024-01-01", "heirs", [("B", "3333.34", "payable"), ("C", "3333.33", "payable"), ("heirs", "3333.34", "held")]),
    ("2025-04-10", "heirs", [("B", "3333.34", "payable"), ("C", "3333.33", "payable"), ("heirs", "3333.34", "held")]),
    ("2024-01-01", "accrue", [("B", "5000.01", "payable"), ("C", "5000.00", "payable")]),
    (
        "2025-04-11",
        "heirs",
        [("estate of A", "3333.34", "payable"), ("B", "3333.34", "payable"), ("C", "3333.33", "payable")],
    ),
]


@pytest.mark.parametrize(("died_on", "share", "expected"), PREDECEASED)
def test_a_beneficiary_who_is_dead_counts_by_the_day(
    judges: Judges, died_on: str, share: str, expected: list[tuple[str, str, str]]
) -> None:
    """DR-07, https://github.com/MikePiper/open-social-security/issues/4: who was already dead was left out."""
    judges.adopt("setting", name="predeceased_share", value=share, in_force_from="2010-01-01")
    with_balance(judges, TEN_THOUSAND_AND_ONE_CENT)
    judges.designate("A", "B", "C")
    judges.dies("2025-04-10")
    settled = judges.settled(beneficiary_deaths=[{"name": "A", "died_on": died_on}])
    assert [(one["name"], one["amount"], one["status"]) for one in settled["payees"]] == expected


def test_a_death_of_a_beneficiary_after_the_settlement_moves_what_stands(judges: Judges) -> None:
    """DR-07: told of only later, it gives the same."""
    with_balance(judges, TEN_THOUSAND_AND_ONE_CENT)
    judges.designate("A", "B", "C")
    judges.dies("2025-04-10")
    refund_id = judges.settled()["refund_id"]
    assert {"payable:1": 333_334, "payable:2": 333_334, "payable:3": 333_333}.items() <= judges.balances().items()
    changed = judges.change(refund_id, "beneficiary_died", name="A", died_on="2024-01-01")
    assert payees(changed) == [
        ("B", "3333.34", "payable", None), ("C", "3333.33", "payable", None),
        ("heirs", "3333.34", "held", "heirs_not_declared"),
    ]  # fmt: skip
    assert {"held:4": 333_334, "payable:2": 333_334, "payable:3": 333_333}.items() <= judges.balances().items()
    # And the heirs, declared: one of them a minor
    heirs = [{"name": "Hijo"}, {"name": "Nieta", "minor": True}]
    declared = judges.change(refund_id, "heirs_declared", heirs=heirs)
    # 3,333.34 in halves
    assert payees(declared)[2:] == [("Hijo", "1666.67", "payable", None), ("Nieta", "1666.67", "held", "minor")]
    number = declared["payees"][3]["number"]
    released = judges.change(refund_id, "released", payee=number, note="The court named a guardian")
    assert payees(released)[3] == ("Nieta", "1666.67", "payable", None)
    assert sum(cents for name, cents in judges.balances().items() if name.startswith("payable:")) == 1_000_001


def test_rival_claims_are_held_and_released_by_new_lines(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.designate("A", "B")
    judges.dies("2025-04-10")
    settled = judges.settled()
    lines = judges.last().sequence
    held = judges.change(settled["refund_id"], "held", payee=2, reason="rival_claims", note="Two persons claim to be B")
    assert payees(held) == [("A", "50.00", "payable", None), ("B", "50.00", "held", "rival_claims")]
    assert judges.balances()["held:2"] == 5_000
    released = judges.change(settled["refund_id"], "released", payee=2, note="Judgment of 2025-07-09, final")
    assert payees(released)[1] == ("B", "50.00", "payable", None)
    assert judges.last().sequence == lines + 4  # entered and approved, twice


def test_heirs_not_declared_are_held_and_can_only_be_declared(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.dies("2025-04-10")
    settled = judges.settled()
    assert payees(settled) == [("heirs", "100.00", "held", "heirs_not_declared")]
    path = f"/death-refunds/{settled['refund_id']}/heirs"
    refused = judges.settle(path, {"event": "released", "payee": 1, "note": "Somebody asked for it"})
    assert (refused.status, refused.code) == (422, "heirs_not_declared")
    declared = judges.change(settled["refund_id"], "heirs_declared", heirs=[{"name": "H"}])
    assert payees(declared) == [("H", "100.00", "payable", None)]


def test_settling_twice_gives_the_first_answer(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.designate("A")
    judges.dies("2025-04-10")
    first = judges.enter()
    again = judges.enter()
    assert (again.status, again.body) == (201, first.body)
    approved = judges.approve(first)
    assert judges.approve(first).body == approved.body
    before = judges.stack.ledger_items()
    after = judges.enter()
    assert (after.status, after.body) == (201, approved.body)
    assert judges.stack.ledger_items() == before


def test_another_clerk_is_told_of_the_first(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.designate("A")
    judges.dies("2025-04-10")
    first = judges.enter()
    told = judges.enter(user="u-carla")
    assert (told.status, told.code) == (409, "refund_entered")
    assert first.body["refund_id"] in told.body["detail"]
    assert judges.approve(first, user="u-carla").status == 201
    told = judges.enter(user="u-carla")
    assert (told.status, told.code) == (409, "already_settled")


def test_two_clerks_at_once_one_wins_and_the_other_is_told(judges: Judges, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have read the passbook before either wrote."""
    from death_refunds import api  # noqa: PLC0415  # its world is the one of this test

    with_balance(judges, 10_000)
    judges.designate("A")
    judges.dies("2025-04-10")
    cases = type(api.world().cases)
    entered: dict[str, Any] = {}
    as_it_is = cases._entered

    def after_the_other(self: Any, *given: Any) -> Any:
        if not entered:
            entered["by another"] = None
            entered["by another"] = judges.enter(user="u-carla")
        return as_it_is(self, *given)

    monkeypatch.setattr(cases, "_entered", after_the_other)
    told = judges.enter(user="u-ana")
    assert entered["by another"].status == 201
    assert (told.status, told.code) == (409, "refund_entered")
    assert judges.last().kind == "refund_entered"


def test_who_entered_can_not_approve_by_whatever_client(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.dies("2025-04-10")
    entered = judges.enter()
    path = f"/death-refunds/{entered.body['refund_id']}/approval"
    body = {"content_hash": entered.body["content_hash"]}
    refused = judges.settle(path, body, user="u-ana", client="office")
    assert (refused.status, refused.code) == (403, "same_person")
    stale = judges.settle(path, {"content_hash": "0" * 64}, user="u-berta")
    assert (stale.status, stale.code) == (409, "stale_hash")
    assert judges.last().kind == "refund_entered"


def test_what_came_in_between_has_to_be_entered_anew(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.dies("2025-04-10")
    entered = judges.enter()
    judges.credit(100, "2025-04-01")
    stale = judges.approve(entered)
    assert (stale.status, stale.code) == (409, "stale_hash")
    anew = judges.enter()
    assert anew.body["refund_id"] == entered.body["refund_id"]
    assert anew.body["figures"]["gross"] == "101.00"
    assert judges.approve(anew).body["status"] == "settled"


def test_a_completed_semester_that_is_open_comes_first(judges: Judges) -> None:
    judges.enrol()
    judges.credit(1_200_000, "2024-07-31")
    judges.adopt_return("FY2025-S2", "0.9", months=3)
    judges.dies("2025-04-10")
    before = judges.stack.ledger_items()
    refused = judges.enter()
    assert (refused.status, refused.code) == (422, "period_open")
    assert "FY2025-S1" in refused.body["detail"]
    assert refused.body["citation"] == "4 L.P.R.A. § 242b"
    assert judges.stack.ledger_items() == before
    # Posted after the report, since it was complete by the day of death; the next one isn't.
    judges.post_return("FY2025-S1", 30_000)
    assert judges.enter().status == 201


def test_a_death_on_a_semester_s_last_day_waits_for_that_semester(judges: Judges) -> None:
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    judges.dies("2025-06-30")
    assert judges.enter().code == "period_open"
    judges.post_return("FY2025-S2", 20_000)
    settled = judges.settled()
    # No month of FY2026-S1 is complete: 10,000.00 + 200.00, and nothing provisional
    assert (settled["figures"]["gross"], settled["figures"]["provisional_yield"]) == ("10200.00", "0.00")


def test_no_figure_and_no_setting_is_assumed(judges: Judges) -> None:
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    judges.dies("2025-04-10")
    refused = judges.enter()
    assert (refused.status, refused.code) == (422, "not_in_force")
    assert "hybrid_return FY2025-S2, 3 months" in refused.body["detail"]


def test_a_person_decides_what_the_rules_leave_and_another_seconds(judges: Judges) -> None:
    # Given a debt to another system
    with_balance(judges, 100_000)
    judges.owe("200.00", system="ERS")
    judges.owe("50.00")
    judges.designate("A")
    judges.dies("2025-04-10")
    # When it is entered, then it is a question for a person
    asked = judges.enter()
    assert (asked.status, asked.body["status"], asked.body["content_hash"]) == (201, "needs_decision", None)
    assert asked.body["question"]["citation"] == "4 L.P.R.A. § 242b(e); 3 L.P.R.A. § 803"
    refund_id = asked.body["refund_id"]
    decision = {"about": "debt_to_another_system", "choice": "leave_out", "reason": "Section 245: debts to the System"}
    decided = judges.settle(f"/death-refunds/{refund_id}/decision", decision)
    assert (decided.status, decided.body["status"]) == (201, "entered")
    # 1,000.00 - 50.00
    assert decided.body["figures"]["net"] == "950.00"
    approved = judges.approve(decided)
    assert approved.body["status"] == "settled"
    [step] = [
        one for one in approved.body["receipts"]["active_death_refund"]["steps"] if "Decision" in one["label"]["en"]
    ]
    assert step["value"] == "leave_out"
    assert step["formula"]["en"] == "Section 245: debts to the System (decided by u-ana, seconded by u-berta)"
    late = judges.settle(f"/death-refunds/{refund_id}/decision", decision)
    assert (late.status, late.code) == (409, "already_settled")


def test_a_question_isn_t_approved(judges: Judges) -> None:
    with_balance(judges, 100_000)
    judges.owe("200.00", system="ERS")
    judges.dies("2025-04-10")
    asked = judges.enter()
    path = f"/death-refunds/{asked.body['refund_id']}/approval"
    refused = judges.settle(path, {"content_hash": "0" * 64}, user="u-berta")
    assert (refused.status, refused.code) == (409, "stale_hash")


def test_a_quote_posts_nothing_and_names_its_defaults(judges: Judges) -> None:
    with_balance(judges, 10_000)
    judges.designate("A", "B")
    before = (judges.stack.ledger_items(), judges.stack.registry_items())
    quoted = judges.settle("/death-refunds/quotes", {"participant_id": JUDGE, "death_date": "2025-04-10"}, key=None)
    assert quoted.status == 200, quoted.text
    assert [(one["name"], one["amount"]) for one in quoted.body["payees"]] == [("A", "50.00"), ("B", "50.00")]
    assert (judges.stack.ledger_items(), judges.stack.registry_items()) == before


def test_a_late_name_that_breaks_its_limit_changes_nothing(judges: Judges) -> None:
    """DR-13, https://github.com/blnkfinance/blnk/issues/203: the balance moved though the caller got 400."""
    with_balance(judges, 1_000_000)
    judges.dies("2025-04-10")
    before = (judges.stack.ledger_items(), judges.stack.registry_items())
    heirs = [{"name": "A"}, {"name": "B" * 121}, {"name": "C"}]
    refused = judges.enter(heirs=heirs)
    assert (refused.status, refused.body["field"]) == (422, "heirs.1.name")
    assert (judges.stack.ledger_items(), judges.stack.registry_items()) == before
    settled = judges.settled(heirs=[*heirs[:1], {"name": "B" * 120}, *heirs[2:]])
    assert [one["amount"] for one in settled["payees"]] == ["3333.34", "3333.33", "3333.33"]
    assert sum(cents for name, cents in judges.balances().items() if name.startswith("payable:")) == 1_000_000
