"""The annuity payroll, 4 L.P.R.A. § 242b(d): each pensioner once a month, by a run that one prepares, another approves.

An annuity of 63,682.00 at 100.0000 months is 636.82 a month.
"""

from dataclasses import replace
from datetime import date

import pytest

from annuities.payment_files import cell, text_of
from retiro.ledger import annuities as ledger_annuities
from retiro.ledger import lines as line_items
from retiro.ledger.annuities import Payment, payment
from retiro.ledger.encoding import size_bytes
from retiro.ledger.lines import Posting, next_line
from retiro.ledger.passbooks import RUN_LINE_BYTES_MAX
from tests.annuities.conftest import EVA, JUDGE, TABLE

BALANCE = 6_368_200
POINTS_OF_100 = {"65y0m": "100", "66y0m": "100", "67y0m": "100"}


@pytest.fixture
def pensioners(program):
    """A judge who retired on 2026-09-10 on 636.82 a month, and one in active service."""
    program.adopt(
        "factor_table", **(TABLE | {"points": {"65y0m": "100", "70y0m": "100"} | {}, "in_force_from": "2026-01-01"})
    )
    program.enrol(JUDGE, born="1961-02-10", balance=BALANCE)
    program.enrol("P-000202")
    program.issue(JUDGE)
    return program


def amounts(line):
    return {one.account: one.amount_cents for one in line.postings}


# Months


def test_the_first_month_is_a_fraction_and_the_next_ones_are_whole(pensioners):
    september = pensioners.pay("2026-09")
    pensioners.pay("2026-10")

    # 636.82 x 21/30 = 445.774.
    assert pensioners.paid() == [("2026-09", 44_577), ("2026-10", 63_682)]
    assert september["paid_on"] == "2026-09-30"
    assert (september["run"]["pensioners"], september["run"]["posted"], september["run"]["net_total"]) == (
        1,
        1,
        "445.77",
    )
    first, second = pensioners.lines("annuity_payment")
    assert amounts(first) == {"annuity_reserve": -44_577, "cash": 44_577}
    # October 31 of 2026 is a Saturday.
    assert (first.effective_on, second.effective_on) == (date(2026, 9, 30), date(2026, 10, 30))
    assert first.determination == "annuity/2026-09/1"
    assert pensioners.last().balance_cents("annuity_reserve") == BALANCE - 44_577 - 63_682
    pensioners.check_sound()


@pytest.mark.parametrize(
    ("on", "paid_cents"),
    [
        ("2026-02-10", 43_213),  # 636.82 x 19/28 = 432.1278...
        ("2026-03-01", 63_682),
        ("2028-02-10", 43_919),  # 636.82 x 20/29 = 439.1862...
    ],
)
def test_a_first_month_counts_the_days_of_its_own_month(program, on, paid_cents):
    """AN-05: https://github.com/microsoft/BCApps/issues/5718."""
    program.adopt("factor_table", **(TABLE | {"points": POINTS_OF_100}))
    program.enrol(JUDGE, born="1961-02-10", balance=BALANCE, credited_on="2026-01-02" if on < "2027" else "2028-01-03")
    program.day(on)
    program.issue(JUDGE, on=on, separated="2026-01-31")

    program.pay(on[:7])

    assert program.paid() == [(on[:7], paid_cents)]


def test_a_month_is_paid_once_however_often_it_is_run(pensioners):
    """No two payments for one person, benefit and month."""
    pensioners.pay("2026-09")

    again = pensioners.prepare("2026-09")

    assert again["run"]["exceptions"] == {"already_paid": 1}
    assert again["run"]["lines"] == 0
    assert len(pensioners.lines("annuity_payment")) == 1


def test_an_earlier_month_is_not_paid_after_a_later_one_that_had_it_in(pensioners):
    pensioners.pay("2026-10")
    assert pensioners.paid() == [("2026-10", 44_577 + 63_682)]
    assert pensioners.lines("annuity_payment")[0].facts["since"] == "2026-09"

    assert pensioners.prepare("2026-09")["run"]["exceptions"] == {"already_paid": 1}


def test_nothing_is_paid_before_the_retirement_or_to_who_has_no_annuity(pensioners):
    standing = pensioners.prepare("2026-08")

    assert (standing["run"]["pensioners"], standing["run"]["lines"], standing["run"]["exceptions"]) == (0, 0, {})


def test_a_month_still_to_come_is_not_prepared(pensioners):
    refused = pensioners.post("/annuity-payrolls", {"period": "2026-11"}, scopes="runs.prepare")

    assert (refused.status, refused.code, refused.body["field"]) == (422, "month_not_begun", "period")


def test_who_prepared_a_payroll_cannot_approve_it(pensioners):
    pensioners.prepare("2026-09")

    assert pensioners.approve_payroll("2026-09", user="u-ana").code == "same_person"
    assert pensioners.approve_payroll("2026-09").status == 202


def test_a_payrolls_line_stays_in_one_write_unit(pensioners):
    pensioners.owe(JUDGE, 50_000, 8_923)
    pensioners.pay("2026-09")

    (line,) = pensioners.lines("annuity_payment")
    assert size_bytes(line_items.to_item(line)) <= RUN_LINE_BYTES_MAX


# Deaths


def test_nothing_is_paid_from_the_month_of_a_reported_death_on_until_it_is_resolved(pensioners):
    pensioners.pay("2026-09")
    pensioners.report_death(JUDGE, "2026-10-01")

    october = pensioners.pay("2026-10")

    assert october["run"]["exceptions"] == {"death_reported": 1}
    assert pensioners.exceptions("2026-10") == {JUDGE: "death_reported"}
    assert pensioners.paid() == [("2026-09", 44_577)]


def test_a_death_in_a_later_month_leaves_the_months_before_it_whole_and_stands_in_the_exceptions(pensioners):
    """AN-07: https://github.com/frappe/hrms/pull/925."""
    pensioners.pay("2026-09")
    pensioners.day("2026-11-03")
    pensioners.report_death(JUDGE, "2026-12-31", reported="2026-11-03")

    october = pensioners.pay("2026-10")

    assert pensioners.paid()[-1] == ("2026-10", 63_682)
    assert (october["run"]["exceptions"], october["run"]["notices"]) == ({}, {"death_reported": 1})
    assert pensioners.exceptions("2026-10") == {JUDGE: "death_reported"}

    pensioners.pay("2026-11")
    pensioners.day("2026-12-31")
    december = pensioners.pay("2026-12")
    assert december["run"]["exceptions"] == {"death_reported": 1}
    assert [month for month, _ in pensioners.paid()] == ["2026-09", "2026-10", "2026-11"]


def test_a_death_reported_while_the_payroll_is_prepared_leaves_the_month_before_it_whole(pensioners):
    """AN-07: death on 2026-10-03, reported while September is prepared: September stays, and the report is named."""
    pensioners.pay("2026-09")
    pensioners.day("2026-11-10")
    pensioners.prepare("2026-10")
    pensioners.report_death(JUDGE, "2026-11-03", reported="2026-11-10")
    pensioners.approve_payroll("2026-10")
    pensioners.work_off()

    assert pensioners.payroll("2026-10")["run"]["posted"] == 1
    assert pensioners.paid()[-1] == ("2026-10", 63_682)
    assert pensioners.exceptions("2026-10") == {JUDGE: "late_line"}
    pensioners.check_sound()


@pytest.mark.parametrize("reported_before", ["approval", "posting"])
def test_a_death_reported_between_preparation_and_posting_withholds_the_payment(pensioners, reported_before):
    pensioners.prepare("2026-09")
    if reported_before == "approval":
        pensioners.report_death(JUDGE, "2026-09-20")
    assert pensioners.approve_payroll("2026-09").status == 202
    if reported_before == "posting":
        pensioners.report_death(JUDGE, "2026-09-20")
    pensioners.work_off()

    run = pensioners.payroll("2026-09")["run"]
    assert (run["posted"], run["withheld"]) == (0, {"death_reported": 1})
    assert pensioners.lines("annuity_payment") == []


def test_the_months_withheld_by_a_report_made_in_error_follow_when_it_is_withdrawn(pensioners):
    pensioners.pay("2026-09")
    pensioners.report_death(JUDGE, "2026-10-01")
    pensioners.pay("2026-10")
    pensioners.day("2026-11-15")
    pensioners.pay("2026-11")
    assert pensioners.paid() == [("2026-09", 44_577)]

    pensioners.withdraw_report(JUDGE)
    pensioners.day("2026-12-15")
    pensioners.pay("2026-12")

    assert pensioners.paid() == [("2026-09", 44_577), ("2026-12", 3 * 63_682)]
    pensioners.check_sound()


def test_a_month_withheld_can_be_paid_by_the_periods_next_attempt(pensioners):
    pensioners.report_death(JUDGE, "2026-09-20")
    pensioners.pay("2026-09")
    pensioners.withdraw_report(JUDGE)

    again = pensioners.pay("2026-09")

    assert again["run"]["attempt"] == 2
    assert pensioners.paid() == [("2026-09", 44_577)]


# Deductions


@pytest.mark.parametrize(
    ("owed_cents", "installment_cents", "deducted_cents"),
    [
        (50_000, 8_923, 8_923),  # an installment
        (5_000, 8_923, 5_000),  # the rest of the debt is less
        (20_000, None, 20_000),  # no installment: what the payment bears
        (100_000, None, 63_682),  # never more than the payment
        (100_000, 70_000, 63_682),
    ],
)
def test_a_debt_is_deducted_and_never_more_than_the_payment(pensioners, owed_cents, installment_cents, deducted_cents):
    pensioners.pay("2026-09")
    pensioners.owe(JUDGE, owed_cents, installment_cents)

    pensioners.pay("2026-10")

    line = pensioners.lines("annuity_payment")[-1]
    moved = amounts(line)
    assert moved["annuity_reserve"] == -63_682
    assert moved["debts"] == deducted_cents
    assert moved.get("cash", 0) == 63_682 - deducted_cents
    assert line.facts["gross"] == 63_682
    assert pensioners.last().balance_cents("debts") == deducted_cents - owed_cents
    pensioners.check_sound()


def test_a_debt_entered_after_the_preparation_withholds_what_was_approved_without_it(pensioners):
    pensioners.prepare("2026-09")
    pensioners.owe(JUDGE, 10_000)
    pensioners.approve_payroll("2026-09")
    pensioners.work_off()
    assert pensioners.payroll("2026-09")["run"]["withheld"] == {"figures_changed": 1}

    pensioners.pay("2026-09")

    assert amounts(pensioners.lines("annuity_payment")[-1]) == {
        "annuity_reserve": -44_577,
        "debts": 10_000,
        "cash": 34_577,
    }


# The payment file


def test_the_file_has_a_row_a_payment_and_control_totals_that_foot(pensioners):
    """AN-13: https://github.com/frappe/hrms/pull/2347. A gross in two parts bears a deduction once."""
    on_600 = "P-000203"
    pensioners.enrol(on_600, born="1961-02-10", balance=6_000_000)
    pensioners.issue(on_600)
    pensioners.pay("2026-09")
    pensioners.owe(on_600, 50_000, 8_923)
    owe_arrears(pensioners, on_600, 3_682)

    run = pensioners.pay("2026-10")["run"]
    totals, rows = pensioners.payment_file("2026-10")

    header, *payments, control = rows
    assert header[6:] == ["base", "correction", "gross", "deductions", "net"]
    by_participant = {row[1]: row[6:] for row in payments}
    # 600.00 + 36.82 = 636.82; less 89.23 = 547.59. Twice would be 458.36, not at all 636.82.
    assert by_participant[on_600] == ["600.00", "36.82", "636.82", "89.23", "547.59"]
    assert by_participant[JUDGE] == ["636.82", "0.00", "636.82", "0.00", "636.82"]
    assert control == ["control", "2", "", "", "", "", "1236.82", "36.82", "1273.64", "89.23", "1184.41"]
    assert (totals["gross_total"], totals["deductions_total"], totals["net_total"]) == ("1273.64", "89.23", "1184.41")
    assert run["net_total"] == "1184.41"
    assert totals["payments"] == 2
    assert totals["url"].startswith("https://")


def owe_arrears(program, participant, cents):
    """A correction that owes so much for the months already paid."""
    last = program.last(participant)
    corrected = ledger_annuities.Corrected(date(2026, 9, 10), 60_000, "actual", 6_000_000, 0)
    draft = ledger_annuities.correction(last, corrected, program.today, EVA)
    postings = (Posting("annuity_reserve", -cents), Posting("annuity_arrears", cents))
    program.write(participant, replace(draft, postings=postings))


def test_control_totals_that_end_in_zeros_and_pass_ten_digits_foot(program):
    """PD-15: https://github.com/moov-io/ach/issues/494."""

    def line(number, cents):
        paid = Payment(date(2026, 9, 1), date(2026, 9, 1), cents, 0, 0)
        draft = payment(paid, date(2026, 9, 30), 1, EVA)
        return next_line(None, draft, passbook=f"P-{number:06d}", fund="JRS", recorded_at=program.clock())

    text = text_of([line(1, 999_999_999_900), line(2, 100)])

    assert text.splitlines()[-1] == "control,2,,,,,10000000000.00,0.00,10000000000.00,0.00,10000000000.00"
    assert text_of([]).splitlines()[-1] == "control,0,,,,,0.00,0.00,0.00,0.00,0.00"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_text_of_the_file_is_a_formula(text):
    assert cell(text) == f"'{text}"
    assert cell("P-000201") == "P-000201"


def test_the_file_is_made_once_and_from_then_on_the_payroll_is_not_reversed(pensioners):
    pensioners.pay("2026-09")
    path = "/annuity-payrolls/2026-09"
    assert pensioners.get(f"{path}/payment-file", scopes="runs.prepare").code == "payment_file_not_made"

    first, _ = pensioners.payment_file("2026-09")
    again, _ = pensioners.payment_file("2026-09")
    read = pensioners.get(f"{path}/payment-file", scopes="runs.prepare").body

    assert first["sha256"] == again["sha256"] == read["sha256"]
    refused = pensioners.post(f"{path}/reversal", {"reason": "Prepared by mistake."}, scopes="runs.approve")
    assert (refused.status, refused.code) == (409, "payment_file_made")


def test_no_file_is_made_of_what_is_not_posted(pensioners):
    pensioners.prepare("2026-09")

    refused = pensioners.post("/annuity-payrolls/2026-09/payment-file", scopes="runs.approve")

    assert (refused.status, refused.code) == (409, "not_posted")


# Reversals


def test_a_payroll_that_never_went_out_is_reversed_and_its_month_can_be_paid_again(pensioners):
    pensioners.pay("2026-09")
    reason = {"reason": "Prepared before the debts were in."}

    answer = pensioners.post("/annuity-payrolls/2026-09/reversal", reason, scopes="runs.approve")
    assert answer.status == 202, answer.text
    pensioners.work_off()
    assert pensioners.approve_payroll("2026-09", reversal=True).status == 202
    pensioners.work_off()

    standing = pensioners.payroll("2026-09")
    assert (standing["status"], standing["reversal"]["posted"]) == ("reversed", 1)
    assert pensioners.last().balance_cents("annuity_reserve") == BALANCE
    pensioners.check_sound()

    again = pensioners.pay("2026-09")
    assert again["run"]["attempt"] == 2
    assert pensioners.last().balance_cents("annuity_reserve") == BALANCE - 44_577
    pensioners.check_sound()


def test_an_earlier_month_is_not_reversed_under_a_later_one(pensioners):
    pensioners.pay("2026-09")
    pensioners.pay("2026-10")

    pensioners.post("/annuity-payrolls/2026-09/reversal", {"reason": "Out of order, that is."}, scopes="runs.approve")
    pensioners.work_off()

    assert pensioners.payroll("2026-09")["reversal"]["exceptions"] == {"later_payment_stands": 1}


def test_a_reversal_that_was_prepared_is_not_approved_once_the_file_is_made(pensioners):
    pensioners.pay("2026-09")
    pensioners.post("/annuity-payrolls/2026-09/reversal", {"reason": "Prepared by mistake."}, scopes="runs.approve")
    pensioners.work_off()
    pensioners.payment_file("2026-09")

    refused = pensioners.approve_payroll("2026-09", reversal=True)

    assert (refused.status, refused.code) == (409, "payment_file_made")
    assert pensioners.lines("payment_reversed") == []


def test_no_file_is_made_while_the_payroll_is_being_reversed(pensioners):
    pensioners.pay("2026-09")
    pensioners.post("/annuity-payrolls/2026-09/reversal", {"reason": "Prepared by mistake."}, scopes="runs.approve")
    pensioners.work_off()
    pensioners.approve_payroll("2026-09", reversal=True)

    refused = pensioners.post("/annuity-payrolls/2026-09/payment-file", scopes="runs.approve")

    assert (refused.status, refused.code) == (409, "run_under_way")


# Payments that come back


def returned(program, period="2026-09", *, user="u-ana", reference="BANCO-1", on="2026-10-01"):
    body = {"participant_id": JUDGE, "returned_on": on, "reference": reference}
    return program.post(f"/annuity-payrolls/{period}/returns", body, scopes="runs.prepare", user=user)


def reissued(program, period="2026-09", *, user="u-luis", reference="PAGO-1", on="2026-10-01"):
    body = {"participant_id": JUDGE, "paid_on": on, "reference": reference}
    return program.post(f"/annuity-payrolls/{period}/reissues", body, scopes="runs.approve", user=user)


def test_a_payment_that_came_back_and_its_reissue_are_a_line_each_once(pensioners):
    pensioners.pay("2026-09")

    back = returned(pensioners)
    assert (back.status, back.body["amount"], back.body["kind"]) == (201, "445.77", "payment_returned")
    assert amounts(pensioners.last()) == {"cash": -44_577, "payments_returned": 44_577}
    assert returned(pensioners).body == back.body
    assert returned(pensioners, reference="BANCO-2").code == "already_returned"

    again = reissued(pensioners)
    assert (again.status, again.body["amount"], again.body["payment"]) == (201, "445.77", back.body["payment"])
    assert reissued(pensioners).body == again.body
    assert reissued(pensioners, reference="PAGO-2").code == "not_returned"
    assert pensioners.last().balances.get("payments_returned") is None
    pensioners.check_sound()

    # It may come back again.
    assert returned(pensioners, reference="BANCO-3").status == 201


def test_who_noted_a_return_does_not_make_the_payment_again(pensioners):
    pensioners.pay("2026-09")
    returned(pensioners, user="u-ana")

    assert reissued(pensioners, user="u-ana").code == "same_person"


def test_a_payment_is_not_made_again_to_who_is_reported_dead(pensioners):
    pensioners.pay("2026-09")
    returned(pensioners)
    pensioners.report_death(JUDGE, "2026-09-25")

    assert reissued(pensioners).code == "death_reported"
    assert pensioners.last().balance_cents("payments_returned") == 44_577


@pytest.mark.parametrize(
    ("period", "on", "code"),
    [
        ("2026-08", "2026-10-01", "not_paid"),
        ("2026-09", "2026-09-29", "invalid_input"),
        ("2026-09", "2026-10-02", "invalid_input"),
    ],
)
def test_a_return_is_of_a_payment_that_was_made_and_on_a_day_since(pensioners, period, on, code):
    pensioners.pay("2026-09")

    assert returned(pensioners, period, on=on).code == code
    assert pensioners.lines("payment_returned") == []


# The monthly look


def test_the_schedule_prepares_the_month_of_its_own_time_once(pensioners):
    found = pensioners.scheduled("2026-10-15T13:00:00Z")
    pensioners.work_off()
    again = pensioners.scheduled("2026-10-15T13:00:00Z")

    assert (found["period"], found["run"], again["run"]) == ("2026-10", "annuity/2026-10/1", "annuity/2026-10/1")
    run = pensioners.payroll("2026-10")["run"]
    assert (run["status"], run["prepared_by"], run["lines"]) == ("prepared", "(schedule)", 1)


@pytest.mark.parametrize(("until", "warned"), [("2026-12-31", True), ("2027-01-15", True), ("2027-01-16", False)])
def test_the_schedule_warns_before_a_table_ends_and_not_on_the_day(program, until, warned):
    """BR-01: https://github.com/openfisca/openfisca-core/issues/437."""
    program.adopt("factor_table", **(TABLE | {"until": until}))
    program.day("2026-10-15")

    found = program.scheduled("2026-10-15T13:00:00Z")

    assert found["warnings"] == ([{"name": "factor_table", "until": until}] if warned else [])
    assert program.payroll("2026-10")["warnings"] == found["warnings"]


def test_a_late_schedule_of_the_last_evening_is_still_of_its_month(pensioners):
    """At 02:00 UTC on the 1st it is 22:00 of the last day of the month before in Puerto Rico."""
    assert pensioners.scheduled("2026-10-01T02:00:00Z")["period"] == "2026-09"
