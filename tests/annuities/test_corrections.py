"""An annuity is never changed, save by a correction, 4 L.P.R.A. § 242b(d): a ground, a reason, two persons."""

from datetime import date

import pytest

from cli.reproduce import reproduced
from retiro.ledger.savings import YieldPosting, semester_yield
from retiro.rules.calendar import Semester
from tests.annuities.conftest import EVA, JUDGE, SETTINGS, SETTLE

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


# The balance is that of the date of retirement, (c)(1)

# Fixed points of the table: 65y0m 106.8062 and 66y0m 104.2000, so that a month is 2.6062 / 12.


@pytest.fixture
def earning(unregulated):
    """Return at an exit: 1.2 % for July of 2026, 2.4 % for July and August; 2.5 % for January to May."""
    for name, value in (SETTINGS | {"return_at_exit": "provisional"}).items():
        unregulated.adopt_setting(name, value)
    for semester, percent, months in (("FY2027-S1", "1.2", 1), ("FY2027-S1", "2.4", 2), ("FY2026-S2", "2.5", 5)):
        unregulated.adopt("hybrid_return", semester=semester, percent=percent, months_covered=months)
    return unregulated


def told(contract):
    return contract["balance"], contract["provisional_return"], contract["monthly_annuity"]


def moved(line):
    return {one.account: one.amount_cents for one in line.postings}


def test_an_earlier_retirement_has_the_balance_and_the_return_of_its_own_day(earning):
    """100,000.00 and 2.4 % on 2026-09-10: 102,400.00 / 105.068733 (65y8m) = 974.60. The day was 2026-08-10.

    1.2 % then: 101,200.00 / 105.285917 (65y7m) = 961.19, and 1,200.00 of return comes off again. Paid: 974.60 x 21/30 =
    682.22. Due through September: 961.19 x 22/31 = 682.13, and 961.19: 961.10 more than was paid.
    """
    earning.enrol(born="1961-01-10")
    wrong = earning.issue(on="2026-09-10", separated="2026-08-09")
    assert told(wrong["contract"]) == ("102400.00", "2400.00", "974.60")
    earning.pay("2026-09")

    entered = earning.correct(wrong, retirement_date="2026-08-10")
    issued = earning.approve_correction(entered)

    assert issued.status == 200, issued.text
    assert told(issued.body["contract"]) == ("101200.00", "1200.00", "961.19")
    assert issued.body["contract"]["difference"] == "961.10"
    line = earning.last()
    assert moved(line) == {"yields": 120_000, "annuity_reserve": -120_000 - 96_110, "annuity_arrears": 96_110}
    assert (line.facts["balance"], line.facts["return"]) == (10_120_000, 120_000)
    # All that was ever credited of return is what the right day gives.
    assert line.balance_cents("yields") == -120_000

    earning.pay("2026-10")
    # 101,200.00 less 682.22 and 961.19 + 961.10.
    assert earning.last().balance_cents("annuity_reserve") == 10_120_000 - 68_222 - 192_229
    earning.check_sound()


def test_it_is_the_annuity_that_would_have_been_entered_rightly_from_the_start(earning):
    """The same by two ways: of the one judge the day was wrong at first, of the other never."""
    for judge in (JUDGE, "P-000202"):
        earning.enrol(judge, born="1961-01-10")
    wrong = earning.issue(on="2026-09-10", separated="2026-08-09")
    right = earning.issue("P-000202", on="2026-08-10", separated="2026-08-09")
    corrected = earning.approve_correction(earning.correct(wrong, retirement_date="2026-08-10")).body

    assert told(corrected["contract"]) == told(right["contract"]) == ("101200.00", "1200.00", "961.19")
    assert [one["determination"] for one in corrected["contract"]["receipts"]] == ["provisional_yield", "life_annuity"]
    assert corrected["contract"]["receipts"] == right["contract"]["receipts"]
    assert corrected["contract"]["citations"] == right["contract"]["citations"]
    assert dict(earning.last().balances) == dict(earning.last("P-000202").balances)
    found = reproduced(earning.ledger, f"annuity_contract/{wrong['annuity_id']}/2")
    assert [(one.name, one.differences) for one in found] == [("provisional_yield", ()), ("life_annuity", ())]


def test_a_later_retirement_has_the_return_of_its_months_as_well(earning):
    """101,200.00 on 2026-08-10; the day was 2026-09-10: 102,400.00, 1,200.00 more of return, 974.60 a month."""
    earning.enrol(born="1961-01-10")
    wrong = earning.issue(on="2026-08-10", separated="2026-08-09")

    corrected = earning.approve_correction(earning.correct(wrong, retirement_date="2026-09-10")).body

    assert told(corrected["contract"]) == ("102400.00", "2400.00", "974.60")
    assert moved(earning.last()) == {"yields": -120_000, "annuity_reserve": 120_000}
    earning.check_sound()


def test_an_earlier_retirement_in_a_posted_semester_gives_its_return_back_for_that_of_its_months(earning):
    """3,000.00 were posted for FY2026-S2 by 2026-07-10. The day was 2026-06-10: five months of 2.5 %, 2,500.00.

    102,500.00 / 105.720283 (65y5m) = 969.54.
    """
    earning.enrol(born="1961-01-10", credited_on="2026-01-02")
    posting = YieldPosting(Semester.parse("FY2026-S2"), 1, 300_000, date(2026, 6, 30), earning.last().sequence)
    earning.write(JUDGE, semester_yield(earning.last(), posting, EVA))
    wrong = earning.issue(on="2026-07-10", separated="2026-06-09")
    assert wrong["contract"]["balance"] == "103000.00"

    corrected = earning.approve_correction(earning.correct(wrong, retirement_date="2026-06-10")).body

    assert told(corrected["contract"]) == ("102500.00", "2500.00", "969.54")
    assert moved(earning.last()) == {"yields": 50_000, "annuity_reserve": -50_000}
    earning.check_sound()


def test_a_retirement_after_a_semester_that_is_not_posted_is_not_put_in_the_place_of_one_before_it(earning):
    """FY2027-S1 was complete by 2027-01-10, and isn't posted: what the account came to on that day nobody can say."""
    earning.enrol(born="1961-01-10")
    wrong = earning.issue(on="2026-09-10", separated="2026-08-09")
    earning.day("2027-02-01")

    refused = earning.correct(wrong, retirement_date="2027-01-10")

    assert (refused.status, refused.code) == (422, "period_open")
    assert earning.lines("annuity_correction") == []


def test_what_came_in_late_has_its_return_as_of_the_retirement_and_once(earning):
    """1,000.00 of 2026-08-15 came after the annuity of 2026-09-10: (100,000.00 + 101,000.00) / 2 x 2.4 % = 2,412.00.

    The day put right to 2026-08-10, the 1,000.00 is swept already: July's 100,000.00 x 1.2 % = 1,200.00, and 1,212.00
    comes off.
    """
    earning.enrol(born="1961-01-10")
    annuity = earning.issue(on="2026-09-10", separated="2026-08-09")
    earning.contribute(JUDGE, 100_000, "2026-08-15")

    second = earning.approve_correction(earning.correct(annuity, citation="Remittance 2026-08")).body
    assert told(second["contract"])[:2] == ("103412.00", "2412.00")
    assert moved(earning.last()) == {"savings": -100_000, "yields": -1_200, "annuity_reserve": 101_200}

    third = earning.approve_correction(earning.correct(annuity, retirement_date="2026-08-10")).body
    assert told(third["contract"])[:2] == ("102200.00", "1200.00")
    assert moved(earning.last()) == {"yields": 121_200, "annuity_reserve": -121_200}
    assert earning.last().balance_cents("annuity_reserve") == 10_220_000
    earning.check_sound()


def test_a_birth_date_put_right_leaves_the_balance_and_its_return_alone(earning):
    """Whatever the Board has adopted since: 102,400.00 / 104.2000 (66y0m) = 982.73."""
    earning.enrol(born="1961-01-10")
    annuity = earning.issue(on="2026-09-10", separated="2026-08-09")
    earning.adopt("hybrid_return", semester="FY2027-S1", percent="3", months_covered=2, vintage="2026-09-30")

    corrected = earning.correct(annuity, birth_date="1960-09-10").body

    assert told(corrected["contract"]) == ("102400.00", "2400.00", "982.73")
