"""Deaths of pensioners, § 242b(f), and the thirty days, through the doors."""

from datetime import UTC, date, datetime

import pytest

from retiro.ledger import annuities
from tests.death_refunds.judges import BY_THE_OFFICE, JUDGE, Judges, payees

MONTHLY = 63_682  # 636.82
BALANCE = 5_000_000  # 50,000.00


def retired(judges: Judges, on: str = "2024-01-01", *, monthly_cents: int = MONTHLY) -> None:
    """A judge who retired with 50,000.00, every semester until then posted with nothing."""
    judges.enrol(born="1955-03-17")
    judges.credit(BALANCE, "2023-07-31")
    judges.post_return("FY2024-S1", 0)
    judges.retire(on, monthly_cents)


def test_the_excess_over_the_gross_of_the_payments_is_paid(judges: Judges) -> None:
    """DR-11, https://github.com/frappe/hrms/issues/1724: one side used net, the other gross."""
    # Given 15 payments of 636.82 through March 2025, of which 89.23 a month went to a debt
    retired(judges)
    judges.owe("2000.00", installment="89.23")
    judges.pay("2024-01", "2025-03")
    judges.designate("A")
    # When the pensioner dies on April 10, 2025
    judges.dies("2025-04-10")
    settled = judges.settled()
    # Then 50,000.00 - 15 × 636.82 = 40,447.70, less what is left of the debt: 2,000.00 - 15 × 89.23 = 661.55
    assert settled["route"] == "pensioner"
    figures = settled["figures"]
    assert (figures["gross"], figures["debts_collected"], figures["net"]) == ("40447.70", "661.55", "39786.15")
    # and the payment for April, whole, which nobody has received: to the estate
    assert (figures["overpaid"], figures["unpaid"]) == ("0.00", "636.82")
    assert payees(settled) == [("A", "39786.15", "payable", None), ("estate", "636.82", "held", "estate")]
    balances = judges.balances()
    # 50,000.00 - 16 × 636.82 - 40,447.70 = -636.82: that April's payment doesn't count against the balance, (f)
    assert balances["annuity_reserve"] == BALANCE - 16 * MONTHLY - 4_044_770
    assert (balances["payable:1"], balances["held:2"]) == (3_978_615, 63_682)
    assert "debts" not in balances


@pytest.mark.parametrize(
    ("died", "route", "net"),
    [
        # 50,000.00 + 55.00 - 636.82
        ("2024-01-31", "active_service", "49418.18"),
        # 50,000.00 - 636.82, received on January 31
        ("2024-02-01", "pensioner", "49363.18"),
        ("2024-01-30", "active_service", "49363.18"),
    ],
)
def test_the_thirtieth_day_is_the_last_that_counts_as_service(judges: Judges, died: str, route: str, net: str) -> None:
    """DR-09, https://github.com/themarshallproject/klaxon/issues/104: a late evening took the next day's date."""
    retired(judges)
    judges.pay("2024-01", "2024-01")
    judges.adopt_return("FY2024-S2", "0.11", months=1)  # of 50,000.00: 55.00
    judges.designate("A")
    # The certificate says 23:40 in Puerto Rico; in UTC the next day has begun.
    judges.clock.now = datetime.fromisoformat(f"{died}T23:41:00-04:00").astimezone(UTC)
    judges.dies(died)
    settled = judges.settled()
    assert (settled["route"], settled["figures"]["net"]) == (route, net)


def test_a_void_annuity_s_payments_are_the_first_debt_and_both_benefits_are_never_paid(judges: Judges) -> None:
    retired(judges)
    judges.pay("2024-01", "2024-01")
    judges.adopt_return("FY2024-S2", "0.11", months=1)
    judges.owe("100.00")
    judges.designate("A")
    judges.dies("2024-01-31")
    settled = judges.settled()
    assert settled["figures"]["debts"][0] == {"name": "annuity payments", "collected": "636.82"}
    # 50,055.00 - 636.82 - 100.00
    assert settled["figures"]["net"] == "49318.18"
    # Nothing is left of the reserve: 50,000.00 - 636.82 paid + 636.82 got back - 50,000.00
    assert judges.balances() == {
        "contributions": -BALANCE, "yields": -5_500, "cash": MONTHLY, "debts_stated": 10_000, "payable:1": 4_931_818,
    }  # fmt: skip


@pytest.mark.parametrize("given", ["2024-01-31T23:40:00", "2024-01-31T23:40:00-04:00", "2024-1-31", 1706659200])
def test_a_death_date_with_a_time_is_refused(judges: Judges, given: object) -> None:
    """DR-09, AP-01."""
    retired(judges)
    before = judges.stack.ledger_items()
    body = {"participant_id": JUDGE, "death_date": given, "reference": "R-1", "source": "Demographic Registry"}
    refused = judges.settle("/death-reports", body)
    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", "death_date")
    assert judges.stack.ledger_items() == before


def test_gross_paid_after_the_month_of_death_is_to_be_got_back(judges: Judges) -> None:
    # Given payments through June 2025, of which 89.23 each went to a debt
    retired(judges)
    judges.owe("9000.00", installment="89.23")
    judges.pay("2024-01", "2025-06")
    judges.designate("A")
    # When it is told in July that the pensioner died on April 10
    judges.dies("2025-04-10")
    settled = judges.settled()
    # Then May and June, gross: 2 × 636.82. April is due whole, and was paid after the death: it doesn't count in (f).
    assert (settled["figures"]["overpaid"], settled["figures"]["unpaid"]) == ("1273.64", "0.00")
    # 50,000.00 - 15 × 636.82 = 40,447.70, less the debt left: 9,000.00 - 18 × 89.23 = 7,393.86
    assert (settled["figures"]["gross"], settled["figures"]["net"]) == ("40447.70", "33053.84")
    assert judges.balances()["receivable:annuity"] == -127_364


def test_what_the_settlement_found_is_still_told_after_an_allocation(judges: Judges) -> None:
    """Paid through June, died on April 10: 2 × 636.82 are to be got back, whoever takes the benefit in the end."""
    retired(judges)
    judges.pay("2024-01", "2025-06")
    judges.dies("2025-04-10")
    settled = judges.settled()
    assert settled["figures"]["overpaid"] == "1273.64"
    for heirs in ([{"name": "X"}], [{"name": "Y"}]):
        changed = judges.change(settled["refund_id"], "heirs_declared", heirs=heirs)
        assert changed["figures"] == settled["figures"]
        kind, identifier = str(judges.last().determination).split("/", 1)
        evidence = judges.passbooks.store.get_evidence(kind, identifier)
        assert evidence is not None
        assert evidence.body["amounts"]["overpaid"] == "1273.64"


def test_the_return_of_a_void_annuity_is_still_told_after_an_allocation(judges: Judges) -> None:
    """0.11 % of 50,000.00 for January: 55.00."""
    retired(judges)
    judges.adopt_return("FY2024-S2", "0.11", months=1)
    judges.dies("2024-01-31")
    settled = judges.settled()
    assert settled["figures"]["provisional_yield"] == "55.00"
    changed = judges.change(settled["refund_id"], "heirs_declared", heirs=[{"name": "X"}])
    assert changed["figures"] == settled["figures"]


def test_a_payment_that_came_back_was_not_received(judges: Judges) -> None:
    retired(judges)
    paid = judges.pay("2024-01", "2025-06")
    # June's came back from the bank: the account was closed
    judges.append(
        JUDGE,
        lambda _: annuities.returned(judges.history(), paid.sequence, date(2025, 7, 3), BY_THE_OFFICE),
    )
    judges.designate("A")
    judges.dies("2025-04-10")
    settled = judges.settled()
    # May alone is to be got back
    assert settled["figures"]["overpaid"] == "636.82"
    balances = judges.balances()
    assert balances["receivable:annuity"] == -MONTHLY
    assert "payments_returned" not in balances


def test_a_payment_made_again_after_the_death_was_not_received_before_it(judges: Judges) -> None:
    """Section 242b(f) counts what was received before the death: 50,000.00 - January's 636.82 = 49,363.18.

    February's was paid on the 29th, came back, and was made again on March 20, ten days after the death.
    """
    retired(judges)
    paid = judges.pay("2024-01", "2024-02")
    came_back_and_was_made_again(judges, paid.sequence, "2024-03-05", "2024-03-20")
    judges.designate("A")
    judges.dies("2024-03-10")
    figures = judges.settled()["figures"]
    # January to March are due, 3 × 636.82, and two were received: March goes to the estate.
    assert (figures["gross"], figures["overpaid"], figures["unpaid"]) == ("49363.18", "0.00", "636.82")


@pytest.mark.parametrize(
    ("died", "gross"),
    [
        # What was deducted had gone to the debt on February 29: 50,000.00 - 636.82 - 89.23
        ("2024-03-20", "49273.95"),
        # Made again on the day before: 50,000.00 - 2 × 636.82
        ("2024-03-21", "48726.36"),
    ],
)
def test_a_payment_made_again_counts_by_that_day_and_its_deduction_by_the_first(
    judges: Judges, died: str, gross: str
) -> None:
    """Received before the death means before that day: of a payment made again on it, the deduction alone was."""
    retired(judges)
    judges.pay("2024-01", "2024-01")
    judges.owe("2000.00", installment="89.23")
    paid = judges.pay("2024-02", "2024-02")
    came_back_and_was_made_again(judges, paid.sequence, "2024-03-05", "2024-03-20")
    judges.designate("A")
    judges.dies(died)
    assert judges.settled()["figures"]["gross"] == gross


@pytest.mark.parametrize(
    ("retired_on", "complete", "died", "gross"),
    [
        # FY2024-S2 of six months at 0.60 %: 50,000.00 + 300.00
        ("2024-06-30", ("FY2024-S2", "0.50", "0.60"), "2024-07-10", "50300.00"),
        # The same of FY2024-S1, which ends on December 31
        ("2023-12-31", ("FY2024-S1", "0.50", "0.60"), "2024-01-30", "50300.00"),
    ],
)
def test_a_void_annuity_of_a_semester_s_last_day_keeps_the_return_of_that_semester(
    judges: Judges, retired_on: str, complete: tuple[str, str, str], died: str, gross: str
) -> None:
    """Section 242b(f): as in active service; (e): the return as of the death, so of the whole semester.

    The contract took 250.00 for five months, 0.50 % of 50,000.00, as of the day before the retirement.
    """
    semester, of_five, of_six = complete
    judges.enrol(born="1955-03-17")
    judges.credit(BALANCE, "2023-06-30")
    judges.post_return("FY2023-S2", 0)
    if semester == "FY2024-S2":
        judges.post_return("FY2024-S1", 0)
    judges.adopt_return(semester, of_five, months=5)
    judges.adopt_return(semester, of_six, months=6)
    judges.retire(retired_on, MONTHLY, provisional_cents=25_000)
    judges.designate("A")
    judges.dies(died)
    settled = judges.settled()
    assert (settled["route"], settled["figures"]["gross"]) == ("active_service", gross)
    # All the return is in the books, the provisional and the rest: 300.00
    assert judges.balances() == {"contributions": -BALANCE, "yields": -30_000, "payable:1": 5_030_000}


def test_a_void_annuity_corrected_past_the_months_that_were_paid_is_settled(judges: Judges) -> None:
    """Section 242b(f): on the tenth day as in active service, and all payments made are the first debt.

    January's fraction is 22 of 31 days, 451.94; with February's 636.82, 1,088.76. Two months' return, 1 %: 500.00.
    """
    retired(judges, "2024-01-10")
    judges.pay("2024-01", "2024-02")
    corrected = annuities.Corrected(date(2024, 3, 10), MONTHLY, "actual", BALANCE, 0)
    judges.append(JUDGE, lambda last: annuities.correction(last, corrected, date(2024, 3, 12), BY_THE_OFFICE))
    judges.adopt_return("FY2024-S2", "1", months=2)
    judges.designate("A")
    judges.dies("2024-03-20")
    settled = judges.settled()
    figures = settled["figures"]
    assert (settled["route"], figures["gross"]) == ("active_service", "50500.00")
    assert figures["debts"][0] == {"name": "annuity payments", "collected": "1088.76"}
    # 50,500.00 - 1,088.76
    assert payees(settled) == [("A", "49411.24", "payable", None)]
    assert judges.balances() == {
        "contributions": -BALANCE, "yields": -50_000, "cash": 108_876, "payable:1": 4_941_124,
    }  # fmt: skip


def test_a_pensioner_s_retirement_corrected_past_the_months_that_were_paid_is_settled(judges: Judges) -> None:
    """Section 242b(d), (f): what was paid, 451.94 + 636.82 = 1,088.76, was received before the death.

    Due by the corrected annuity: 22 of 31 days of March, 451.94, April and May: 1,725.58; the rest is the estate's.
    """
    retired(judges, "2024-01-10")
    judges.pay("2024-01", "2024-02")
    corrected = annuities.Corrected(date(2024, 3, 10), MONTHLY, "actual", BALANCE, 0)
    judges.append(JUDGE, lambda last: annuities.correction(last, corrected, date(2024, 3, 12), BY_THE_OFFICE))
    judges.designate("A")
    judges.dies("2024-05-20")
    settled = judges.settled()
    # 50,000.00 - 1,088.76, and 1,725.58 - 1,088.76
    assert payees(settled) == [("A", "48911.24", "payable", None), ("estate", "636.82", "held", "estate")]
    assert (settled["route"], settled["figures"]["overpaid"]) == ("pensioner", "0.00")
    # 50,000.00 - 1,088.76 - 48,911.24 - 636.82: what is owed to the estate doesn't count against the balance, (f)
    assert judges.balances()["annuity_reserve"] == -MONTHLY


def came_back_and_was_made_again(judges: Judges, sequence: int, back_on: str, again_on: str) -> None:
    """The payment of this line came back from the bank and was made again, on these days."""
    back, again = date.fromisoformat(back_on), date.fromisoformat(again_on)
    judges.append(JUDGE, lambda _: annuities.returned(judges.history(), sequence, back, BY_THE_OFFICE))
    judges.append(JUDGE, lambda _: annuities.reissued(judges.history(), sequence, again, BY_THE_OFFICE))


def test_more_received_than_the_balance_leaves_nothing_and_takes_nothing_back(judges: Judges) -> None:
    # 15 × 5,000.00 = 75,000.00 of 50,000.00
    retired(judges, monthly_cents=500_000)
    judges.pay("2024-01", "2025-03")
    judges.dies("2025-04-10")
    settled = judges.settled()
    assert (settled["figures"]["gross"], settled["figures"]["unpaid"]) == ("0.00", "5000.00")
    assert payees(settled) == [("estate", "5000.00", "held", "estate")]
    released = judges.change(settled["refund_id"], "released", payee=1, note="Letters testamentary of 2025-07-08")
    assert payees(released) == [("estate", "5000.00", "payable", None)]


def test_a_hold_of_the_board_s_is_decided_by_a_person_before_or_released_after(judges: Judges) -> None:
    judges.adopt("setting", name="lump_sum_with_transfer_annuity", value="hold", in_force_from="2010-01-01")
    retired(judges)
    judges.pay("2024-01", "2025-04")
    judges.designate("A")
    judges.dies("2025-04-30")
    entered = judges.enter(transfer_annuity_due=True)
    # The payment of April 30 was made on the day of the death, so not before it: 50,000.00 - 15 × 636.82
    assert payees(entered.body) == [("A", "40447.70", "held", "held_by_setting")]
    decision = {
        "about": "lump_sum_with_transfer_annuity",
        "choice": "none",
        "reason": "Opinion 2025-4 of the Secretary of Justice",
    }
    decided = judges.settle(f"/death-refunds/{entered.body['refund_id']}/decision", decision, user="u-carla")
    assert (decided.body["payees"], decided.body["figures"]["net"]) == ([], "0.00")
    # What was there before can't be approved any more.
    assert judges.approve(entered).code == "stale_hash"
    assert judges.approve(decided).body["status"] == "settled"


def test_a_wrong_choice_for_a_question_is_out_of_form(judges: Judges) -> None:
    retired(judges)
    judges.pay("2024-01", "2025-04")
    judges.dies("2025-04-30")
    entered = judges.enter()
    decision = {"about": "pensioner_debts", "choice": "leave_out", "reason": "Because we want it so"}
    refused = judges.settle(f"/death-refunds/{entered.body['refund_id']}/decision", decision)
    assert (refused.status, refused.code) == (422, "invalid_input")


def test_a_separated_judge_who_is_no_pensioner_is_for_a_person(judges: Judges) -> None:
    from retiro.ledger.lines import LineKind  # noqa: PLC0415
    from retiro.ledger.savings import status_change  # noqa: PLC0415

    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.append(JUDGE, lambda _: status_change(LineKind.SEPARATION, date(2025, 3, 1), BY_THE_OFFICE))
    judges.designate("A")
    judges.dies("2025-04-10")
    asked = judges.enter()
    assert asked.body["status"] == "needs_decision"
    assert "neither (e) nor (f)" in asked.body["question"]["detail"]
    decision = {
        "about": "separated_before_death",
        "choice": "as_in_active_service",
        "reason": "Order 2025-11 of the Administrator",
    }
    decided = judges.settle(f"/death-refunds/{asked.body['refund_id']}/decision", decision)
    assert judges.approve(decided).body["figures"]["net"] == "1000.00"
