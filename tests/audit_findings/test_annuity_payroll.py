"""What auditors found in annuity payrolls elsewhere, and what can't happen here. Through the doors, on moto.

1: $2.7 million paid to 57 dead pensioners (Puerto Rico Comptroller, OC-25-47). 3: $423,538.53 to five living payees by
double payment or wrong readjustment (Puerto Rico OIG, 2024). 10: 3 of 200 known deaths still paid after two to five
years (OPM). 15: late final payments, $17 million overpaid (Hawaii, 2000).
"""

import pytest

from tests.annuities.conftest import JUDGE, Program, few_shards, program, unregulated

OTHER = "P-000202"

__all__ = ["few_shards", "program", "unregulated"]


@pytest.fixture
def pensioners(program: Program) -> Program:
    """Two judges on 936.28 a month since 2026-07-01, paid through September."""
    for judge in (JUDGE, OTHER):
        program.enrol(judge, born="1961-07-01")
        program.issue(judge, on="2026-07-01", separated="2026-06-30")
    for period in ("2026-07", "2026-08", "2026-09"):
        program.pay(period)
    return program


def months_paid(program: Program, judge: str) -> list[str]:
    return [month for month, _ in program.paid(judge)]


@pytest.mark.parametrize("reported", ["2026-10-20", "2026-11-20", "2026-12-20"])
def test_1_no_payment_is_posted_for_a_month_after_a_death_once_it_is_reported(
    pensioners: Program, reported: str
) -> None:
    """Whenever the report of a death on October 4 comes, nothing is posted after it; who lives is paid each month."""
    for day, period in (("2026-10-15", "2026-10"), ("2026-11-15", "2026-11"), ("2026-12-15", "2026-12")):
        pensioners.day(day)
        if reported < day and pensioners.last(JUDGE).state["status"] == "retired":
            pensioners.report_death(JUDGE, "2026-10-04", reported=reported)
        pensioners.pay(period)

    paid = ["2026-07", "2026-08", "2026-09", "2026-10", "2026-11", "2026-12"]
    posted_before = {"2026-10-20": 4, "2026-11-20": 5, "2026-12-20": 6}[reported]
    assert months_paid(pensioners, JUDGE) == paid[:posted_before]
    assert months_paid(pensioners, OTHER) == paid


def test_1_a_month_of_death_waits_for_the_report_to_be_resolved_and_no_later_one_is_ever_paid(
    pensioners: Program,
) -> None:
    pensioners.day("2026-10-15")
    pensioners.report_death(JUDGE, "2026-10-04", reported="2026-10-15")
    for day, period in (("2026-10-15", "2026-10"), ("2026-11-15", "2026-11")):
        pensioners.day(day)
        assert pensioners.pay(period)["run"]["exceptions"] == {"death_reported": 1}

    assert months_paid(pensioners, JUDGE)[-1] == "2026-09"


def test_3_no_two_payments_for_one_person_benefit_and_month(pensioners: Program) -> None:
    """Prepared, approved and delivered again, in whatever order: each month is in one payment."""
    pensioners.prepare("2026-10")
    for _ in range(2):
        pensioners.approve_payroll("2026-10")
    deliveries = list(pensioners.executions.waiting)
    pensioners.work_off()
    pensioners.executions.waiting += deliveries
    pensioners.work_off()
    for period in ("2026-10", "2026-09", "2026-07"):
        assert pensioners.prepare(period)["run"]["lines"] == 0

    for judge in (JUDGE, OTHER):
        assert months_paid(pensioners, judge) == ["2026-07", "2026-08", "2026-09", "2026-10"]
        pensioners.check_sound(judge)


def test_3_a_readjustment_pays_its_difference_once(pensioners: Program) -> None:
    """Born on 1960-07-01, 66 at retirement: 959.69 instead of 936.28, 23.41 more for each of three months."""
    annuity = pensioners.enter(JUDGE, on="2026-07-01", separated="2026-06-30").body
    entered = pensioners.correct(annuity, birth_date="1960-07-01")
    for _ in range(2):
        assert pensioners.approve_correction(entered).status == 200

    pensioners.day("2026-11-15")
    pensioners.pay("2026-10")
    pensioners.pay("2026-11")

    assert [gross for _, gross in pensioners.paid(JUDGE)][3:] == [95_969 + 3 * 2_341, 95_969]


def test_10_no_payroll_posts_over_an_unresolved_death_report(pensioners: Program) -> None:
    """Reported between any two steps of the payroll: nothing is posted, and every later payroll names it."""
    pensioners.day("2026-10-15")
    pensioners.prepare("2026-10")
    pensioners.approve_payroll("2026-10")
    pensioners.report_death(JUDGE, "2026-10-04", reported="2026-10-15")
    pensioners.work_off()

    run = pensioners.payroll("2026-10")["run"]
    assert (run["posted"], run["withheld"]) == (1, {"death_reported": 1})
    assert months_paid(pensioners, JUDGE)[-1] == "2026-09"
    for day, period in (("2026-11-15", "2026-11"), ("2026-12-15", "2026-12")):
        pensioners.day(day)
        pensioners.pay(period)
        assert pensioners.exceptions(period) == {JUDGE: "death_reported"}


def test_15_a_death_whose_last_payment_is_open_is_seen_in_each_payroll_until_it_is_resolved(
    pensioners: Program,
) -> None:
    pensioners.day("2026-10-15")
    pensioners.report_death(JUDGE, "2026-10-04", reported="2026-10-15")
    pensioners.pay("2026-10")
    assert pensioners.exceptions("2026-10") == {JUDGE: "death_reported"}
    assert pensioners.payroll("2026-10")["run"]["exceptions"] == {"death_reported": 1}

    # The report was made in error: the payroll after its withdrawal pays what was open, and names nobody.
    pensioners.withdraw_report(JUDGE)
    pensioners.day("2026-11-15")
    pensioners.pay("2026-11")
    assert pensioners.exceptions("2026-11") == {}
    assert pensioners.paid(JUDGE)[-1] == ("2026-11", 2 * 93_628)
