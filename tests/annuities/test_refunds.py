"""Separation refunds, 4 L.P.R.A. § 242b(a), and the return of the semester under way at an exit."""

import pytest

from retiro.ledger.lines import YIELD_RUN
from retiro.ledger.savings import Origin, YieldPosting, semester_yield
from retiro.rules.calendar import Semester, yield_date
from tests.annuities.conftest import JUDGE, QUOTE, READ, SETTLE

FY2027_S1 = Semester.parse("FY2027-S1")


def separating(**changed):
    leaving = {
        "participant_id": JUDGE,
        "separated_on": "2026-09-15",
        "cause": "voluntary",
        "paid_on": "2026-10-01",
    }
    return leaving | changed


def enter(program, **changed):
    return program.post("/separation-refunds", separating(**changed), scopes=SETTLE)


def test_a_refund_entered_by_one_and_approved_by_another_pays_the_balance_out_and_closes_the_account(program):
    program.enrol(service=(11, 11, 30), balance=1_825_040)

    entered = enter(program)
    assert (entered.status, entered.body["status"], entered.body["refund"]["amount"]) == (201, "entered", "18250.40")
    assert program.lines("separation_refund") == []
    paid = program.approve(entered)

    assert (paid.status, paid.body["status"], paid.body["approved_by"]) == (200, "paid", "u-luis")
    separation, refund = program.history()[-2:]
    assert (separation.kind, str(separation.effective_on)) == ("separation", "2026-09-15")
    assert {one.account: one.amount_cents for one in refund.postings} == {"savings": -1_825_040, "cash": 1_825_040}
    assert (refund.state["status"], refund.balance_cents("savings")) == ("closed", 0)
    assert program.get(f"/separation-refunds/{paid.body['refund_id']}").body == paid.body
    program.check_sound()


def test_a_refund_is_paid_once_however_often_it_is_approved(program):
    program.enrol(service=(1, 0, 0))
    entered = enter(program)

    first, again = program.approve(entered), program.approve(entered)

    assert first.body == again.body
    assert len(program.lines("separation_refund")) == 1
    assert enter(program).body == first.body
    assert enter(program, paid_on="2026-09-30").code == "status_forbids"


def test_who_entered_a_refund_cannot_approve_it(program):
    program.enrol(service=(1, 0, 0))

    assert program.approve(enter(program), user="u-ana").code == "same_person"
    assert program.lines("separation_refund") == []


@pytest.mark.parametrize(
    ("code", "enrolled", "changed"),
    [
        ("not_a_refund", {"service": (12, 0, 0), "born": "1961-01-01"}, {}),
        ("not_a_refund", {"service": (12, 0, 0), "born": "1975-01-01"}, {}),
        ("needs_decision", {"service": (12, 0, 0), "as_judge": (11, 0, 0)}, {}),
        ("needs_decision", {"service": (1, 0, 0)}, {"permanent": False}),
        ("cause_excluded", {"service": (1, 0, 0)}, {"cause": "removal"}),
        ("cause_excluded", {"service": (1, 0, 0)}, {"cause": "total_permanent_disability"}),
        ("invalid_input", {"service": (1, 0, 0)}, {"paid_on": "2026-09-15"}),
        ("invalid_input", {"service": (1, 0, 0)}, {"paid_on": "2026-10-02"}),
        ("period_open", {"service": (1, 0, 0), "credited_on": "2026-06-30"}, {}),
        ("service_not_credited", {"service": None}, {}),
    ],
)
def test_a_refund_that_may_not_be_is_refused_and_nothing_changes(program, code, enrolled, changed):
    program.enrol(**enrolled)
    before = program.stack.ledger_items()

    refused = enter(program, **changed)

    assert (refused.status, refused.code) == (422, code)
    assert refused.body["citation"].startswith("4 L.P.R.A. § 242b")
    assert program.stack.ledger_items() == before


def test_a_debt_to_the_system_makes_a_refund_a_persons_to_decide(program):
    program.enrol(service=(1, 0, 0))
    program.owe(JUDGE, 1)

    assert enter(program).code == "needs_decision"


def test_a_quote_says_which_benefit_a_separation_gives_and_posts_nothing(program):
    program.enrol(service=(12, 0, 0), born="1975-10-01", credited_on="2026-06-30")
    before = program.stack.ledger_items()

    quoted = program.post("/separation-refunds/quotes", separating(), scopes=QUOTE)

    assert (quoted.status, quoted.body["benefit"], quoted.body["amount"]) == (200, "deferred", None)
    assert (quoted.body["payable_from"], quoted.body["open_semester"]) == ("2040-10-01", "FY2026-S2")
    assert program.stack.ledger_items() == before


def test_a_refund_that_nobody_entered_is_not_found(program):
    program.enrol()

    assert program.get("/separation-refunds/SR-000201-0123abcd", scopes=READ).code == "refund_not_found"


# The return of the semester under way


def test_the_complete_months_of_the_semester_under_way_earn_the_boards_percent(program):
    program.adopt_setting("return_at_exit", "provisional", since="2026-07-01")
    program.adopt("hybrid_return", semester="FY2027-S1", percent="1.5", months_covered=2, vintage="2026-09-01")
    program.enrol(born="1961-09-10", balance=9_852_217)

    contract = program.issue()["contract"]

    # July and August are complete on 2026-09-09, the day before: 98,522.17 x 1.5 % = 1,477.83255.
    assert (contract["provisional_return"], contract["balance"]) == ("1477.83", "100000.00")
    assert {one.account: one.amount_cents for one in program.last().postings} == {
        "savings": -9_852_217,
        "yields": -147_783,
        "annuity_reserve": 10_000_000,
    }
    assert program.last().facts["return"] == 147_783
    program.check_sound()


def test_without_the_boards_percent_of_those_months_nothing_is_issued(program):
    program.adopt_setting("return_at_exit", "provisional", since="2026-07-01")
    program.enrol(born="1961-09-10")

    refused = program.enter()

    assert (refused.status, refused.code) == (422, "not_in_force")
    assert refused.body["detail"].startswith("hybrid_return FY2027-S1, 2 months is not in force")


def test_a_return_posted_for_a_semester_that_was_not_complete_comes_off_again(program):
    """The judge retired in September; the application came after the semester was posted to everybody."""
    program.enrol(born="1961-09-10")
    program.day("2027-01-05")
    program.write(JUDGE, yield_of(program, 300_000))

    contract = program.issue()["contract"]

    assert contract["balance"] == "100000.00"
    line = program.last()
    assert {one.account: one.amount_cents for one in line.postings} == {
        "savings": -10_300_000,
        "yields": 300_000,
        "annuity_reserve": 10_000_000,
    }
    assert (str(line.effective_on), str(line.belongs_on)) == ("2027-01-05", "2026-09-10")
    assert line.runs[YIELD_RUN].period == "FY2027-S1"
    assert line.state["annuity"]["from"] == "2026-09-10"
    program.check_sound()

    program.pay("2027-01")
    # September's 655.40, then four months of 936.28.
    assert program.paid() == [("2027-01", 65_540 + 4 * 93_628)]


def yield_of(program, cents):
    last = program.last()
    posting = YieldPosting(FY2027_S1, 1, cents, yield_date(FY2027_S1), last.sequence)
    return semester_yield(last, posting, Origin("u-eva", determination="yield_jrs/FY2027-S1/1"))
