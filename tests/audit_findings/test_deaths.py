"""What auditors found about deaths in real systems, and can't happen here. Each is a story through the doors."""

from datetime import date

import pytest

from retiro.ledger import annuities, savings
from retiro.rules.calendar import parse_month
from retiro.rules.refusals import Refusal, RefusalCode
from tests.death_refunds.judges import Judges, judges, payees

__all__ = ["judges"]

MONTHLY = 63_682  # 636.82


def pensioner(judges: Judges, year: int, *, through: str) -> None:
    """A judge retired on January 1 with 90,000.00 at 636.82 a month, of which 89.23 go to a debt; paid through."""
    judges.enrol()
    judges.credit(9_000_000, f"{year - 1}-07-31")
    judges.post_return(f"FY{year}-S1", 0)
    judges.retire(f"{year}-01-01", MONTHLY)
    judges.owe("9000.00", installment="89.23")
    judges.designate("A", "B")
    judges.pay(f"{year}-01", through)


def test_finding_2_a_death_told_late_opens_a_receivable_for_the_gross_deductions_included(judges: Judges) -> None:
    """Puerto Rico Comptroller 2014: $1,275,379 to 102 dead, $594,856 uncollected; nor were the deductions told of."""
    # Given a pensioner paid through June 2025
    pensioner(judges, 2025, through="2025-06")
    # When it is told on July 10 that the death was on February 3
    judges.dies("2025-02-03")
    settled = judges.settled()
    # Then March to June are to be got back, gross: 4 × 636.82, of which 4 × 89.23 had gone to the debt
    assert settled["figures"]["overpaid"] == "2547.28"
    assert judges.balances()["receivable:annuity"] == -4 * MONTHLY
    # 6 × 89.23 = 535.38 were collected month by month, and the rest of the 9,000.00 from the benefit
    assert settled["figures"]["debts_collected"] == "8464.62"


def test_finding_7_a_pensioner_s_death_found_after_47_months_is_handled_to_the_cent(judges: Judges) -> None:
    """CalPERS 2021: $41.6 million, deaths found after 47 months on average."""
    pensioner(judges, 2020, through="2025-06")
    # The death was on 2021-07-20; 47 months were paid after July 2021
    judges.dies("2021-07-20")
    settled = judges.settled()
    # Received before the death: January 2020 to June 2021, 18 months. 90,000.00 - 18 × 636.82 = 78,537.24
    assert settled["figures"]["gross"] == "78537.24"
    # August 2021 to June 2025: 47 × 636.82; July 2021 was due whole
    assert settled["figures"]["overpaid"] == "29930.54"
    assert settled["figures"]["unpaid"] == "0.00"
    balances = judges.balances()
    assert balances["receivable:annuity"] == -47 * MONTHLY
    # 78,537.24 less what was left of the debt, 9,000.00 - 66 × 89.23 = 3,110.82, in halves of 37,713.21
    assert payees(settled) == [("A", "37713.21", "payable", None), ("B", "37713.21", "payable", None)]
    # 90,000.00 - 66 × 636.82 + 47 × 636.82 - 78,537.24 = -636.82: July 2021, which doesn't count against the balance
    assert balances["annuity_reserve"] == -MONTHLY


def test_finding_7_a_judge_s_death_found_after_two_semesters_takes_their_return_back(judges: Judges) -> None:
    # Given 10,000.00, and a return of 100.00, 101.00 and 102.01 posted for three semesters
    judges.enrol()
    judges.credit(1_000_000, "2023-07-31")
    for semester, cents in [("FY2024-S1", 10_000), ("FY2024-S2", 10_100), ("FY2025-S1", 10_201)]:
        judges.post_return(semester, cents)
    judges.adopt_return("FY2024-S2", "0.5", months=3)
    judges.designate("A")
    # When it is found that the death was on 2024-04-10
    judges.dies("2024-04-10")
    settled = judges.settled()
    # Then FY2024-S1 counts, and of FY2024-S2 the three complete months: 10,100.00 × 0.5 % = 50.50
    assert (settled["figures"]["provisional_yield"], settled["figures"]["net"]) == ("50.50", "10150.50")
    assert judges.balances() == {"contributions": -1_000_000, "yields": -15_050, "payable:1": 1_015_050}


def test_finding_8_a_beneficiary_s_death_changes_who_takes_before_and_after(judges: Judges) -> None:
    """Massachusetts 2016: $271,000 underpaid when a beneficiary's death was missed."""
    judges.adopt("setting", name="predeceased_share", value="accrue", in_force_from="2010-01-01")
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.designate(A="50", B="30", C="20")
    judges.dies("2025-04-10")
    entered = judges.enter()
    refund_id = entered.body["refund_id"]
    # Told of before the approval: what was entered can't be approved any more, and B takes 30 ÷ 50, C 20 ÷ 50
    event = {"event": "beneficiary_died", "name": "A", "died_on": "2025-04-09"}
    told = judges.settle(f"/death-refunds/{refund_id}/heirs", event)
    assert judges.approve(entered).code == "stale_hash"
    settled = judges.approve(told).body
    assert payees(settled) == [("B", "6000.00", "payable", None), ("C", "4000.00", "payable", None)]
    # Told of after it: B's death moves all to C, by a new line
    changed = judges.change(refund_id, "beneficiary_died", name="B", died_on="2025-01-01")
    assert payees(changed) == [("C", "10000.00", "payable", None)]
    balances = judges.balances()
    assert {name: cents for name, cents in balances.items() if name.startswith("payable:")} == {"payable:3": 1_000_000}
    # Somebody who isn't designated dies: nothing changes, and the caller is told
    stranger = judges.settle(f"/death-refunds/{refund_id}/heirs", event | {"name": "Z"})
    assert (stranger.status, stranger.code) == (422, "unknown_beneficiary")


def test_finding_10_no_payment_is_due_over_an_unresolved_report_nor_after_its_settlement(judges: Judges) -> None:
    """OPM: 3 of 200 known deaths still paid after 2-5 years."""
    pensioner(judges, 2025, through="2025-03")
    judges.dies("2025-04-10")
    for month in ("2025-04", "2025-05", "2030-01"):
        with pytest.raises(Refusal) as withheld:
            annuities.due(judges.last(), parse_month(month))
        assert withheld.value.code is RefusalCode.DEATH_REPORTED
    settled = judges.settled()
    assert settled["figures"]["unpaid"] == "636.82"  # April, to the estate, by the settlement alone
    with pytest.raises(Refusal):
        annuities.due(judges.last(), parse_month("2025-04"))
    with pytest.raises(Refusal) as closed:
        savings.contribution(judges.last(), 100, date(2025, 7, 10), savings.Origin("u-ana"))
    assert closed.value.code is RefusalCode.STATUS_FORBIDS
