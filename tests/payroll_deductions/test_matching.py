"""Each line against the payer's order, the registry and the statutory rate."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payroll_deductions.file_reading import Row
from payroll_deductions.matching import Flag, Match, Payer, Result, check, counts, missing
from retiro.ledger.plans import PENSION_PAYROLL
from retiro.registry.deduction_orders import Order
from retiro.registry.participants import Profile

DAY = date(2005, 1, 1)


def profile(number: int, employer_id: str = "E-001", fund: str = "ERS") -> Profile:
    return Profile(f"P-{number:06d}", fund, date(1960, 1, 1), employer_id, DAY)


PROFILES = {
    one.participant_id: one for one in (*map(profile, range(1, 7)), profile(8, "E-002"), profile(9, fund="JRS"))
}
# 89.23 a month; P-000002 has an arrear of one month more; P-000008 is employed elsewhere and on this payer's order.
ORDERS = {
    one.participant_id: one
    for one in (
        Order("P-000001", 89_23, 0, 7),
        Order("P-000002", 89_23, 89_23, 7),
        Order("P-000003", 89_23, 0, 7),
        Order("P-000005", 40_00, 0, 7),
        Order("P-000008", 10_00, 0, 7),
    )
}
PAYER = Payer("E-001", "ERS", date(2008, 11, 1), ORDERS)


def installment(number: int, cents: int) -> Row:
    return Row(f"P-{number:06d}", "installment", cents, None, "")


def contribution(number: int, cents: int, salary_cents: int | None = None) -> Row:
    return Row(f"P-{number:06d}", "contribution", cents, salary_cents, "")


def test_each_installment_is_exact_short_over_unknown_or_missing():
    rows = [
        installment(1, 89_23),
        installment(2, 178_45),
        installment(3, 89_24),
        installment(4, 89_23),
        installment(8, 10_00),
    ]
    checked = check(rows, 2, PAYER, PROFILES)
    assert checked.faults == []
    assert checked.matches == [
        Match(2, "P-000001", Result.EXACT, 89_23),
        Match(3, "P-000002", Result.SHORT, 178_46),
        Match(4, "P-000003", Result.OVER, 89_23),
        Match(5, "P-000004", Result.UNKNOWN),
        Match(6, "P-000008", Result.EXACT, 10_00),
    ]
    absent = missing(PAYER.orders.values(), [str(row.participant_id) for row in rows])
    assert absent == [Match(0, "P-000005", Result.MISSING, 40_00)]
    assert counts([*checked.matches, *absent]) == {"exact": 2, "missing": 1, "over": 1, "short": 1, "unknown": 1}


@pytest.mark.parametrize(("cents", "result"), [(178_45, Result.SHORT), (178_46, Result.EXACT), (178_47, Result.OVER)])
def test_an_order_is_the_installment_and_its_arrears_to_the_cent(cents: int, result: Result):
    (match,) = check([installment(2, cents)], 1, PAYER, PROFILES).matches
    assert match.result is result


def test_anothers_participant_and_one_who_isnt_there_are_faults():
    rows = [contribution(1, 1), contribution(7, 1), contribution(8, 1), contribution(9, 1), installment(7, 1)]
    faults = check(rows, 1, PAYER, PROFILES).faults
    assert [(fault.line, fault.column, str(fault.edit)) for fault in faults] == [
        (2, "participant_id", "unknown_participant"),
        (3, "participant_id", "other_employers_participant"),
        (4, "participant_id", "other_employers_participant"),
        (5, "participant_id", "unknown_participant"),
    ]


def test_the_pension_payroll_remits_installments_of_whoever_was_employed_anywhere():
    payer = Payer(PENSION_PAYROLL, "ERS", date(2008, 11, 1), {})
    checked = check([installment(1, 89_23), installment(8, 10_00), contribution(1, 1)], 1, payer, PROFILES)
    assert [(fault.line, fault.column, str(fault.edit)) for fault in checked.faults] == [
        (3, "kind", "contribution_by_pensions")
    ]
    assert [match.result for match in checked.matches] == [Result.UNKNOWN, Result.UNKNOWN]


def test_installments_are_of_one_fund():
    payer = Payer("E-001", "JRS", date(2014, 7, 1), {})
    (fault,) = check([installment(9, 1)], 1, payer, PROFILES).faults
    assert (fault.column, str(fault.edit)) == ("kind", "installment_of_other_fund")


@pytest.mark.parametrize(
    ("month", "fund", "cents", "salary_cents", "flag", "expected_cents"),
    [
        # System 2000: 2,000.00 × 8.275 % = 165.50, through June 2013; 10 % = 200.00 from July on
        ("2013-06-01", "ERS", 165_50, 2000_00, None, None),
        ("2013-06-01", "ERS", 165_49, 2000_00, Flag.OUTSIDE_RATE, 165_50),
        ("2013-06-01", "ERS", 200_00, 2000_00, Flag.OUTSIDE_RATE, 165_50),
        ("2013-07-01", "ERS", 200_00, 2000_00, None, None),
        ("2013-07-01", "ERS", 165_50, 2000_00, Flag.OUTSIDE_RATE, 200_00),
        ("2013-07-01", "ERS", 165_50, None, None, None),
        ("2017-07-01", "ERS", 200_00, 2000_00, Flag.NO_RATE, None),
        # Judges: 7,475.00 × 12 % = 897.00, from July 2014
        ("2014-06-01", "JRS", 897_00, 7475_00, Flag.NO_RATE, None),
        ("2014-07-01", "JRS", 897_00, 7475_00, None, None),
        ("2014-07-01", "JRS", 897_01, 7475_00, Flag.OUTSIDE_RATE, 897_00),
    ],
)
def test_a_contribution_outside_the_statutory_rate_is_flagged_and_no_fault(
    *, month: str, fund: str, cents: int, salary_cents: int | None, flag: Flag | None, expected_cents: int | None
):
    number = 9 if fund == "JRS" else 1
    payer = Payer("E-001", fund, date.fromisoformat(month), {})
    checked = check([contribution(number, cents, salary_cents)], 1, payer, PROFILES)
    assert checked.faults == []
    assert checked.matches == [Match(1, f"P-{number:06d}", None, None, flag, expected_cents)]


@given(st.dictionaries(st.integers(1, 6), st.integers(1, 300_00)))
def test_every_line_and_every_order_is_matched_once(amounts: dict[int, int]):
    rows = [installment(number, cents) for number, cents in amounts.items()]
    checked = check(rows, 1, PAYER, PROFILES)
    absent = missing(PAYER.orders.values(), [str(row.participant_id) for row in rows])
    assert len(checked.matches) == len(rows)
    on_order = {match.participant_id for match in checked.matches if match.result is not Result.UNKNOWN}
    assert on_order | {match.participant_id for match in absent} == ORDERS.keys()
    assert not on_order & {match.participant_id for match in absent}
    for match in [*checked.matches, *absent]:
        assert Match.of_document(match.document) == match
