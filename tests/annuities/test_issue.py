"""Annuities through the doors, 4 L.P.R.A. § 242b(b)-(d): quoted, entered by one person, issued by another."""

import pytest

from annuities import contracts, determined
from cli.reproduce import reproduced
from retiro.ledger import lines as line_items
from retiro.ledger.encoding import size_bytes
from tests.annuities.conftest import JUDGE, READ, SETTLE, TABLE


def test_an_annuity_entered_by_one_person_and_approved_by_another_moves_the_balance_in_one_line(program):
    program.enrol(born="1961-09-10")

    entered = program.enter()
    assert (entered.status, entered.body["status"], entered.body["approved_by"]) == (201, "entered", None)
    assert program.lines("retirement") == []

    issued = program.approve(entered)

    # 100,000.00 / 106.8062 = 936.2752...; the first payment 936.28 x 21/30 = 655.396.
    assert (issued.status, issued.body["status"]) == (200, "in_force")
    contract = issued.body["contract"]
    assert (contract["age"], contract["factor"], contract["monthly_annuity"]) == ("65y0m", "106.806200", "936.28")
    assert contract["first_payment"] == {"from": "2026-09-10", "through": "2026-09-30", "amount": "655.40"}
    assert (issued.body["entered_by"], issued.body["approved_by"]) == ("u-ana", "u-luis")

    separation, retirement = program.history()[-2:]
    assert (separation.kind, str(separation.effective_on)) == ("separation", "2026-09-09")
    assert (retirement.kind, str(retirement.effective_on)) == ("retirement", "2026-09-10")
    assert {one.account: one.amount_cents for one in retirement.postings} == {
        "savings": -10_000_000,
        "annuity_reserve": 10_000_000,
    }
    assert (retirement.state["status"], retirement.balance_cents("savings")) == ("retired", 0)
    assert retirement.sequence == issued.body["sequence"]
    assert size_bytes(line_items.to_item(retirement)) < 4096
    program.check_sound()


def test_who_entered_an_annuity_cannot_approve_it(program):
    program.enrol(born="1961-09-10")
    refused = program.approve(program.enter(), user="u-ana")

    assert (refused.status, refused.code) == (403, "same_person")
    assert program.lines("retirement") == []


def test_approving_twice_gives_the_first_answer_and_one_line(program):
    program.enrol(born="1961-09-10")
    entered = program.enter()

    first, again = program.approve(entered), program.approve(entered)

    assert again.body == first.body
    assert len(program.lines("retirement")) == 1


def test_what_was_approved_is_what_stood_there_and_nothing_else(program):
    program.enrol(born="1961-09-10")
    entered = program.enter()
    program.contribute(JUDGE, 100_000, "2026-10-01")

    refused = program.approve(entered)
    assert (refused.status, refused.code) == (409, "stale_hash")
    assert program.lines("retirement") == []

    again = program.enter()
    assert again.body["contract"]["balance"] == "101000.00"
    assert program.approve(again).status == 200


# What is refused: the code, the citation, and nothing is written


@pytest.mark.parametrize(
    ("code", "field", "enrolled", "dates"),
    [
        # (b)(2): 65 on 2026-09-11, the day after.
        ("under_age_65", "retirement_date", {"born": "1961-09-11"}, {}),
        ("insufficient_service", "service_as_judge", {"service": (11, 11, 30)}, {}),
        ("insufficient_service", "service_as_judge", {"service": (13, 0, 0), "as_judge": (11, 11, 30)}, {}),
        ("service_not_credited", "participant_id", {"service": None}, {}),
        # The day after the separation is the first one.
        ("retirement_before_separation", "retirement_date", {}, {"separated": "2026-09-10"}),
        ("retirement_before_separation", "retirement_date", {}, {"separated": "2026-09-30"}),
        ("invalid_input", "retirement_date", {}, {"on": "2026-10-02", "separated": "2026-10-01"}),
        # FY2027-S1 has begun on 2026-07-01: with a credit in June, FY2026-S2 is complete and open.
        ("period_open", None, {"credited_on": "2026-06-30"}, {}),
        ("no_factor_for_age", "factor_table", {"born": "1950-01-01"}, {}),
    ],
)
def test_an_annuity_that_may_not_be_is_refused_and_nothing_changes(program, code, field, enrolled, dates):
    program.enrol(**({"born": "1961-09-10"} | enrolled))
    before = program.stack.ledger_items()

    refused = program.enter(**dates)

    assert (refused.status, refused.code, refused.body.get("field")) == (422, code, field)
    assert refused.body["citation"].startswith("4 L.P.R.A. § 242b")
    assert program.stack.ledger_items() == before


def test_an_annuity_for_one_who_has_one_is_refused(program):
    program.enrol(born="1961-09-10")
    program.issue()

    refused = program.enter(on="2026-09-12")

    assert (refused.status, refused.code) == (422, "annuity_exists")
    assert len(program.lines("retirement")) == 1


def test_an_annuity_for_one_whose_death_is_reported_is_refused(program):
    program.enrol(born="1961-09-10")
    entered = program.enter()
    program.report_death(JUDGE, "2026-09-20")

    assert program.approve(entered).code == "death_reported"
    assert program.lines("retirement") == []


def test_a_table_issues_through_its_last_day_and_not_on_the_next(program):
    """BR-01: https://github.com/openfisca/openfisca-core/issues/437."""
    program.adopt("factor_table", **(TABLE | {"until": "2026-01-01"}))
    program.enrol(born="1960-12-31")

    assert program.quote(on="2025-12-31", separated="2025-12-30").body["monthly_annuity"] == "936.28"
    refused = program.quote(on="2026-01-01", separated="2025-12-30")

    assert (refused.status, refused.code) == (422, "not_in_force")
    assert "2026-01-01. The nearest period in force is 2025-01-01 through 2025-12-31." in refused.body["detail"]


def test_a_table_not_in_force_is_refused_by_name_with_the_nearest_period(program):
    """BR-01: https://github.com/openfisca/openfisca-core/issues/368."""
    program.adopt("factor_table", **(TABLE | {"until": "2026-09-10"}))
    program.enrol(born="1961-09-10")

    refused = program.enter()

    assert (refused.status, refused.code) == (422, "not_in_force")
    assert refused.body["detail"] == (
        "factor_table is not in force on 2026-09-10. The nearest period in force is 2025-01-01 through 2026-09-09."
    )
    assert program.enter(on="2026-09-09", separated="2026-09-08").code == "under_age_65"
    assert program.lines("retirement") == []


def test_nothing_is_issued_on_a_default_that_no_act_has_adopted(unregulated):
    unregulated.enrol(born="1961-07-10")

    refused = unregulated.enter(on="2026-07-20", separated="2026-07-19")

    assert (refused.status, refused.code) == (422, "not_in_force")
    assert refused.body["detail"].startswith("setting return_at_exit is not in force on 2026-07-19.")


# Ages and fractions of a month, at the door


@pytest.mark.parametrize(
    ("born", "on", "monthly", "first"),
    [
        # AN-03: 65 years and a month are complete on 2026-02-28; 106.8062 - 2.6062/12 = 106.5890..., 938.18 x 1/28.
        ("1961-01-31", "2026-02-28", "938.18", "33.51"),
        ("1961-01-31", "2026-02-27", "936.28", "66.88"),
        ("1961-01-31", "2026-03-01", "938.18", "938.18"),
        # AN-01: of a February 29, the birthday of 2025 is February 28; 936.28 x 1/28 = 33.4385...
        ("1960-02-29", "2025-02-28", "936.28", "33.44"),
        ("1960-02-29", "2025-03-01", "936.28", "936.28"),
        # AN-05: 19 of 28 days in February: 936.28 x 19/28 = 635.3328...
        ("1961-02-10", "2026-02-10", "936.28", "635.33"),
    ],
)
def test_a_quote_counts_ages_and_first_months_as_the_contract_will(program, born, on, monthly, first):
    """AN-01, AN-03, AN-05: https://github.com/dateutil/dateutil/issues/900."""
    program.enrol(born=born, credited_on="2025-01-01")

    quoted = program.quote(on=on, separated="2025-01-31")

    assert quoted.status == 200, quoted.text
    assert (quoted.body["monthly_annuity"], quoted.body["first_payment"]["amount"]) == (monthly, first)


def test_a_day_before_the_birthday_of_a_february_29_is_too_early(program):
    """AN-01: the gate and the table count the same age."""
    program.enrol(born="1960-02-29")

    assert program.quote(on="2025-02-27", separated="2025-01-31").code == "under_age_65"


# Quotes


def test_a_quote_posts_nothing_and_says_what_rests_on_defaults(program):
    program.enrol(born="1961-09-10", credited_on="2026-06-30")
    before = program.stack.ledger_items()

    quoted = program.quote(on="2027-01-04", separated="2026-12-31", factor={"value": "8.9005", "unit": "years"})

    # 100,000.00 / 8.9005 / 12 = 936.2766...
    assert (quoted.status, quoted.body["monthly_annuity"]) == (200, "936.28")
    assert quoted.body["rests_on_defaults"] == ["factor"]
    assert quoted.body["open_semester"] == "FY2026-S2"
    assert quoted.body["factor_table"] is None
    assert [receipt["determination"] for receipt in quoted.body["receipts"]] == ["provisional_yield", "life_annuity"]
    assert program.stack.ledger_items() == before


def test_a_quote_names_each_setting_that_no_act_has_adopted(unregulated):
    unregulated.enrol(born="1961-07-10", credited_on="2026-07-01")

    quoted = unregulated.quote(on="2026-07-20", separated="2026-07-19")

    # No month of the semester is complete, so that its return asks for no percent of the Board.
    assert quoted.body["rests_on_defaults"] == ["return_at_exit", "first_payment_days"]


# The certificate


def test_a_certificate_says_the_contract_in_the_language_asked_for_with_its_law(program):
    program.enrol(born="1961-09-10")
    annuity = program.issue()

    spanish = program.get(f"/annuities/{annuity['annuity_id']}", headers={"Accept-Language": "es"}).body
    english = program.get(f"/annuities/{annuity['annuity_id']}", headers={"Accept-Language": "en"}).body

    assert (spanish["language"], english["language"]) == ("es", "en")
    assert spanish["certifies"].startswith("P-000201 tiene una anualidad vitalicia de 936.28 al mes")
    assert english["certifies"].startswith("P-000201 has a life annuity of 936.28 a month from 2026-09-10 on")
    assert english["contract"]["citations"] == ["4 L.P.R.A. § 242b(e)", "4 L.P.R.A. § 242b(b)-(d)"]
    table = english["contract"]["factor_table"]
    assert (table["actuary"], table["payment"], table["interest_percent"]) == (TABLE["actuary"], "start", "5")
    assert english["contracts"] == [1]


def test_an_annuity_that_nobody_entered_is_not_found(program):
    program.enrol()

    assert program.get("/annuities/AN-000201-0123abcd").code == "annuity_not_found"
    assert program.get("/annuities/AN-000999-0123abcd").code == "unknown_participant"


def test_the_doors_want_their_scope_and_reach_judges_alone(program):
    program.enrol(born="1961-09-10")

    assert program.post("/annuities", program.retiring(), scopes=READ).code == "scope_missing"
    assert program.post("/annuities", program.retiring(), scopes=SETTLE, client="fund").code == "other_fund"


def test_a_stored_contract_comes_out_the_same_from_its_own_receipts(program):
    """What a receipt holds is enough: nothing of it is asked of the Board's book again."""
    program.enrol(born="1961-09-10")
    annuity = program.issue()
    program.adopt("factor_table", **(TABLE | {"points": {"65y0m": "200"}}))

    found = reproduced(program.ledger, f"annuity_contract/{annuity['annuity_id']}/1")

    assert [(one.name, one.differences) for one in found] == [("provisional_yield", ()), ("life_annuity", ())]


def test_a_table_with_months_between_years_is_read_by_age_and_not_as_text(program):
    """BR-03: https://github.com/ttsim-dev/gettsim/issues/679. As texts, 65y10m comes before 65y2m."""
    points = {"65y0m": "106.8062", "65y2m": "106.4000", "65y10m": "104.8000", "66y0m": "104.2000"}
    program.adopt("factor_table", **(TABLE | {"points": points}))
    program.enrol(born="1961-01-10", credited_on="2026-01-02")

    quoted = program.quote(on="2026-06-10", separated="2026-06-09").body

    # 65y5m: 106.4 - 1.6 x 3/8 = 105.8; 100,000.00 / 105.8 = 945.1795...; x 21/30 = 661.626.
    assert (quoted["age"], quoted["factor"]) == ("65y5m", "105.800000")
    assert (quoted["monthly_annuity"], quoted["first_payment"]["amount"]) == ("945.18", "661.63")


def test_of_two_who_approve_at_once_one_issues_the_annuity_and_the_other_is_told(program, monkeypatch):
    """Both see the same passbook; the second finds the first's line where its own was to go."""
    program.enrol(born="1961-09-10")
    entered = program.enter()
    inner = []
    decide = determined.issued

    def overtaken(*given):
        found = decide(*given)
        if not inner:
            inner.append(None)
            inner[0] = program.approve(entered, user="u-marta")
        return found

    monkeypatch.setattr(contracts, "issued", overtaken)

    outer = program.approve(entered)

    assert (inner[0].status, inner[0].body["approved_by"]) == (200, "u-marta")
    assert (outer.status, outer.code) == (409, "already_approved")
    assert len(program.lines("retirement")) == 1
