"""The statutory rates of contributions, and the day by which they are due."""

from datetime import date

import pytest

from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.remitting import due_on, statutory_contribution_cents


@pytest.mark.parametrize(
    ("fund", "on", "salary_cents", "cents"),
    [
        # 2,589.55 × 8.275 % = 214.28526…
        ("ERS", date(2000, 1, 1), 2589_55, 214_29),
        # 2,000.00 × 8.275 % = 165.50, on the last day; 10 % the day after
        ("ERS", date(2013, 6, 30), 2000_00, 165_50),
        ("ERS", date(2013, 7, 1), 2000_00, 200_00),
        ("ERS", date(2017, 6, 30), 2000_00, 200_00),
        # 7,475.00 × 12 % = 897.00
        ("JRS", date(2014, 7, 1), 7475_00, 897_00),
        ("JRS", date(2026, 9, 1), 7475_00, 897_00),
        # 0.05 × 10 % = 0.005, half a cent, away from zero
        ("ERS", date(2014, 1, 1), 5, 1),
    ],
)
def test_the_rate_of_the_day_gives_the_contribution_rounded_once(fund, on, salary_cents, cents):
    assert statutory_contribution_cents(fund, salary_cents, on) == cents


@pytest.mark.parametrize(
    ("fund", "on"), [("ERS", date(1999, 12, 31)), ("ERS", date(2017, 7, 1)), ("JRS", date(2014, 6, 30))]
)
def test_no_rate_is_carried_past_its_dates(fund, on):
    with pytest.raises(Refusal) as refused:
        statutory_contribution_cents(fund, 100_00, on)
    assert refused.value.code is RefusalCode.NOT_IN_FORCE


@pytest.mark.parametrize(
    ("month", "due"),
    [
        (date(2025, 1, 1), date(2025, 2, 15)),
        (date(2025, 1, 31), date(2025, 2, 15)),
        (date(2024, 12, 1), date(2025, 1, 15)),
        (date(2000, 1, 1), date(2000, 2, 15)),
    ],
)
def test_a_month_is_due_on_the_fifteenth_of_the_next(month, due):
    assert due_on(month) == due
