"""An annuity is never changed, save by a correction, 4 L.P.R.A. § 242b(d): a ground, a reason, two persons."""

import pytest

from tests.annuities.conftest import JUDGE, SETTLE

# Born a year earlier than recorded, the judge was 66 at retirement: 104.2000 months instead of 106.8062.


@pytest.fixture
def annuity(program):
    """936.28 a month from 2026-09-10 on, paid through October: 655.40 + 936.28."""
    program.enrol(born="1961-09-10")
    issued = program.issue()
    program.pay("2026-09")
    program.pay("2026-10")
    return issued


def test_a_correction_is_a_new_contract_that_supersedes_and_the_first_stays_readable(program, annuity):
    entered = program.correct(annuity, birth_date="1960-09-10")

    # 100,000.00 / 104.2 = 959.6929...; first payment 959.69 x 21/30 = 671.783.
    # Due through October: 671.78 + 959.69 = 1,631.47; paid 655.40 + 936.28 = 1,591.68; the difference is 39.79.
    contract = entered.body["contract"]
    assert (entered.status, entered.body["status"], contract["number"], contract["supersedes"]) == (
        201,
        "entered",
        2,
        1,
    )
    assert (contract["monthly_annuity"], contract["difference"]) == ("959.69", "39.79")
    assert program.get(f"/annuities/{annuity['annuity_id']}").body["contract"]["number"] == 1

    issued = program.approve_correction(entered)
    assert (issued.status, issued.body["status"]) == (200, "in_force")
    assert {one.account: one.amount_cents for one in program.last().postings} == {
        "annuity_reserve": -3_979,
        "annuity_arrears": 3_979,
    }

    path = f"/annuities/{annuity['annuity_id']}"
    first, second = program.get(path, query={"number": "1"}).body, program.get(path).body
    assert (first["status"], first["contract"]) == ("superseded", annuity["contract"])
    assert (second["status"], second["contract"]["ground"]) == ("in_force", "error")
    assert second["contract"]["ground_citation"] == "Birth certificate"
    assert second["contracts"] == [1, 2]
    program.check_sound()


def test_what_a_correction_owes_is_paid_with_the_next_month(program, annuity):
    program.approve_correction(program.correct(annuity, birth_date="1960-09-10"))
    program.day("2026-11-15")

    program.pay("2026-11")

    assert program.paid()[-1] == ("2026-11", 95_969 + 3_979)
    assert "annuity_arrears" not in program.last().balances
    program.check_sound()


def test_what_was_paid_too_much_comes_off_the_next_payments_and_never_below_nothing(program):
    program.enrol(born="1960-09-10")
    annuity = program.issue(on="2026-07-01", separated="2026-06-30")
    program.pay("2026-09")
    # Recorded a year too old, at 65 years and 9 months; corrected, 64 and 9: no annuity at all was due then.
    assert program.correct(annuity, birth_date="1961-09-10").code == "under_age_65"

    # The retirement was on 2026-09-28: of July to September, 3 of 30 days.
    entered = program.correct(annuity, retirement_date="2026-09-28")
    program.approve_correction(entered)
    monthly = entered.body["contract"]["monthly_annuity"]
    assert entered.body["contract"]["age"] == "66y0m"
    assert monthly == "959.69"
    # Paid: 100,000.00 / (106.8062 - 2.6062 x 9/12 = 104.85155) = 953.73 x 3 = 2,861.19. Due: 959.69 x 3/30 = 95.97.
    assert entered.body["contract"]["difference"] == "-2765.22"

    program.pay("2026-10")
    program.day("2026-12-15")
    program.pay("2026-11")
    program.pay("2026-12")

    # 2,765.22 = 959.69 + 959.69 + 845.84, so that December pays 113.85.
    assert [gross for _, gross in program.paid()] == [286_119, 0, 0, 11_385]
    program.check_sound()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ground": None}, "ground"),
        ({"citation": None}, "citation"),
        ({"ground": None, "citation": None}, "ground"),
    ],
)
def test_a_correction_without_a_ground_is_refused(program, annuity, body, field):
    refused = program.correct(annuity, **({"birth_date": "1960-09-10"} | body))

    assert (refused.status, refused.code, refused.body["field"]) == (422, "correction_without_ground", field)
    assert refused.body["citation"] == "4 L.P.R.A. § 242b(d)"
    assert program.lines("annuity_correction") == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"reason": "short"}, "invalid_input"),
        ({"ground": "convenience"}, "invalid_input"),
        ({}, "correction_changes_nothing"),
        ({"birth_date": "1961-09-10"}, "correction_changes_nothing"),
        ({"retirement_date": "2026-09-09"}, "retirement_before_separation"),
        ({"retirement_date": "2026-10-02"}, "invalid_input"),
    ],
)
def test_a_correction_that_may_not_be_is_refused(program, annuity, body, code):
    refused = program.correct(annuity, **body)

    assert (refused.status, refused.code) == (422, code)
    assert program.lines("annuity_correction") == []


def test_who_entered_a_correction_cannot_approve_it(program, annuity):
    entered = program.correct(annuity, birth_date="1960-09-10")

    assert program.approve_correction(entered, user="u-ana").code == "same_person"
    assert program.lines("annuity_correction") == []


def test_a_correction_approved_twice_is_one(program, annuity):
    entered = program.correct(annuity, birth_date="1960-09-10")

    first, again = program.approve_correction(entered), program.approve_correction(entered)

    assert first.body == again.body
    assert len(program.lines("annuity_correction")) == 1


def test_a_payment_between_entering_and_approving_makes_the_correction_stale(program, annuity):
    entered = program.correct(annuity, birth_date="1960-09-10")
    program.day("2026-11-15")
    program.pay("2026-11")

    assert program.approve_correction(entered).code == "stale_hash"
    # 959.69 - 936.28 = 23.41 more for November.
    assert program.correct(annuity, birth_date="1960-09-10").body["contract"]["difference"] == "63.20"


def test_what_has_come_into_the_account_since_goes_into_the_corrected_balance(program, annuity):
    program.contribute(JUDGE, 100_000, "2026-10-01")

    entered = program.correct(annuity, citation="Remittance 2026-09", reason="A contribution came later.")
    program.approve_correction(entered)

    # 101,000.00 / 106.8062 = 945.6379...
    contract = entered.body["contract"]
    assert (contract["balance"], contract["monthly_annuity"]) == ("101000.00", "945.64")
    assert program.last().balance_cents("savings") == 0
    program.check_sound()


def test_no_annuity_is_corrected_that_nobody_has_or_whose_death_is_reported(program, annuity):
    path = "/annuities/AN-000201-0123abcd/corrections"
    body = {"ground": "error", "citation": "Acta", "reason": "The record had another day."}
    assert program.post(path, body, scopes=SETTLE).code == "no_annuity"

    program.report_death(JUDGE, "2026-10-01")
    assert program.correct(annuity, birth_date="1960-09-10").code == "death_reported"


def test_a_payroll_before_a_correction_is_a_persons_to_take_back(program, annuity):
    """Reversed, its months would be due again, and the correction's difference for them too."""
    program.approve_correction(program.correct(annuity, birth_date="1960-09-10"))

    program.post("/annuity-payrolls/2026-10/reversal", {"reason": "Prepared by mistake."}, scopes="runs.approve")
    program.work_off()

    assert program.payroll("2026-10")["reversal"]["exceptions"] == {"needs_decision": 1}
