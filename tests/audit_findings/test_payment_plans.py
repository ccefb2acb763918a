"""What auditors found of service credit and its deductions, and can't happen here. § 830q, through the doors.

12, San Diego: service credit sold below cost in a 60-day window, at a loss of $146 million.
17, CalPERS: an update stopped service-credit deductions for over three years for 2,257 people; they failed to roll
from the payroll to the pension.
"""

import pytest

from tests.payment_plans.conftest import few_shards, office
from tests.payment_plans.office import STANDARD, PlansOffice

__all__ = ["few_shards", "office"]

WITHDRAWN = [{"kind": "withdrawn_contributions", "principal": "1000.00", "owed_from": "1990-10-15"}]


@pytest.mark.parametrize(
    ("applied_on", "admitted"),
    [
        ("2005-12-29", False), ("2005-12-30", True), ("2006-06-30", True), ("2006-07-01", False),
        ("2008-08-08", False), ("2008-08-09", True), ("2009-02-09", True), ("2009-02-10", False),
    ],
)  # fmt: skip
def test_12_no_plan_is_admitted_outside_its_window(*, office: PlansOffice, applied_on: str, admitted: bool) -> None:
    office.on("2009-03-02")
    answer = office.apply(applied_on=applied_on)
    assert (answer.status == 201) is admitted
    if not admitted:
        assert answer.code == "application_window_closed"
        assert "plan" not in office.last().state


def test_12_each_kind_of_debt_bears_its_own_rate_whatever_the_other_bears(office: PlansOffice) -> None:
    """1,000.00 from 1990-10-15 to 2008-10-15, 6,575 days: 2.5 % gives 450.34, 6 % 1,080.82."""
    both = [*WITHDRAWN, WITHDRAWN[0] | {"kind": "unaccounted_service"}]
    quote = STANDARD | {"debts": both, "approved_on": "2008-10-10", "principal_paid_on": "2008-10-15"}
    answer = office.post("/payment-plans/quotes", quote, scopes="benefits.quote", key=None)
    assert [one["amount"] for one in answer.body["plan"]["interest"]] == ["450.34", "1080.82"]


def test_12_a_rate_of_the_boards_is_for_act_305_alone(office: PlansOffice) -> None:
    quote = STANDARD | {"approved_on": "2008-10-10", "principal_paid_on": "2008-10-15", "board_rate_percent": "1.00"}
    answer = office.post("/payment-plans/quotes", quote, scopes="benefits.quote", key=None)
    assert answer.body["plan"]["total_interest"] == "5354.30"


def test_17_a_deduction_rolls_from_the_payroll_to_the_pension_with_every_month_on_one_order(
    office: PlansOffice,
) -> None:
    """Pensioned on 2008-12-10: October and November are the employer's, December and January the pension payroll's."""
    office.on("2009-01-20")
    office.standard()
    for month in ("2008-10", "2008-11"):
        office.issue_orders(month)
    office.fact("service_end", ended_on="2008-12-09")
    office.fact("pension", starts_on="2008-12-10", monthly_amount="1200.00")
    for month in ("2008-12", "2009-01"):
        assert office.issue_orders(month)["exceptions"] == {}
    asked = {
        month: [payer for payer in ("E-001", "E-000") if office.order(payer, month)]
        for month in ("2008-10", "2008-11", "2008-12", "2009-01")
    }
    assert asked == {"2008-10": ["E-001"], "2008-11": ["E-001"], "2008-12": ["E-000"], "2009-01": ["E-000"]}
    # Nothing was remitted: January's order asks for all of it, 4 × 89.23, and no month is lost.
    assert [line["total"] for line in office.order("E-000", "2009-01")] == ["356.92"]


def test_17_a_deduction_that_stops_is_an_exception_every_month_until_somebody_takes_it(office: PlansOffice) -> None:
    office.on("2009-01-20")
    office.standard()
    office.issue_orders("2008-10")
    office.fact("service_end", ended_on="2008-11-15")
    for month in ("2008-11", "2008-12"):
        assert office.issue_orders(month)["exceptions"] == {"deduction_stopped": 1}
        assert office.exceptions(month) == {"P-000001": "deduction_stopped"}
    office.fact("pension", starts_on="2008-11-16", monthly_amount="1200.00")
    assert office.issue_orders("2009-01")["exceptions"] == {}
    assert [line["arrears"] for line in office.order("E-000", "2009-01")] == ["267.69"]


def test_17_no_open_plan_is_passed_over_by_a_months_run(office: PlansOffice) -> None:
    """Each participant with something due has an order, or stands in the exceptions; the others have neither."""
    office.on("2009-01-20")
    office.standard()
    for number in (2, 3):
        office.enrol(number)
    applied = office.apply(participant_id="P-000002")
    office.approve(applied)
    office.pay("4000.00", "2008-10-15", "C-2", plan=applied.body["plan_id"])
    office.fact("service_end", "P-000002", ended_on="2008-10-20")
    run = office.issue_orders("2008-12")
    ordered = {line["participant_id"] for line in office.order("E-001", "2008-12")}
    assert (ordered, office.exceptions("2008-12")) == ({"P-000001"}, {"P-000002": "installment_without_payer"})
    assert run["orders"]["orders"] == 1


def test_17_installments_that_wait_for_a_pension_do_not_wait_unseen_past_the_plans_last_day(
    office: PlansOffice, capsys: pytest.CaptureFixture[str]
) -> None:
    """`with_pension`, and no pension comes: the plan ends on 2013-10-10, so that October's order is the first."""
    office.adopt_settings(installments_start="with_pension")
    office.on("2013-12-20")
    office.standard()
    found = {
        month: office.prepare_orders(month)["exceptions"] for month in ("2008-10", "2013-09", "2013-10", "2013-12")
    }
    assert found == {"2008-10": {}, "2013-09": {}, "2013-10": {"no_pension": 1}, "2013-12": {"no_pension": 1}}
    metrics = capsys.readouterr().out.replace(" ", "").splitlines()
    assert '"InstallmentsWithoutOrder":[1.0]' in [text for text in metrics if "InstallmentsWithoutOrder" in text][-1]
    # A pension is found at last: all of it is due, on the pension payroll's order.
    office.fact("pension", starts_on="2013-11-01", monthly_amount="1200.00")
    assert office.issue_orders("2014-01")["exceptions"] == {}
    assert [line["total"] for line in office.order("E-000", "2014-01")] == ["5354.30"]
