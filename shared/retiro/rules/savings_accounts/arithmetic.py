"""§ 786-7(a)(3), (b)(3): the arithmetic alone, in integer cents and exact fractions, without forms or receipts.

The batch runs call these functions, and so does `semester_yield`, so that a run and its receipts can't differ. Each
amount is rounded once, in `yield_cents`.
"""

import decimal
import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction

from retiro.rules.calendar import Semester
from retiro.rules.money import round_quotient

MONTHS_IN_SEMESTER = 6
WHOLE_PERCENT = 100


# (a)(3) The average monthly balance


def month_balances_cents(semester: Semester, opening_cents: int, movements: Iterable[tuple[date, int]]) -> list[int]:
    """The opening balance and the six month-end balances. Months are calendar months: a month-end counts its last day.

    A movement is its date, within the semester, and its signed cents; the order of movements doesn't matter.
    """
    balances = [opening_cents] + [0] * MONTHS_IN_SEMESTER
    first_month = semester.starts_on.month
    for day, amount_cents in movements:
        balances[day.month - first_month + 1] += amount_cents
    return list(itertools.accumulate(balances))


def average_monthly_balance_cents(
    month_ends_cents: Sequence[int], method: str, months: int = MONTHS_IN_SEMESTER
) -> Fraction:
    """The average monthly balance in exact cents, of the opening balance and the six month-ends, in this order.

    `month_end` is the mean of the month-ends, `month_start` that of the balances when each month begins, `month_mid`
    the mean of both. Fewer months are the complete ones of a semester under way.

    Raises:
        ValueError: there isn't an opening and a month-end for each month, or the method doesn't exist.
    """
    opening, *_, closing = month_ends_cents
    if len(month_ends_cents) != months + 1:
        raise ValueError(f"the opening balance and {months} month-ends are needed")
    ends = sum(month_ends_cents) - opening
    if method == "month_end":
        return Fraction(ends, months)
    if method == "month_start":
        return Fraction(ends + opening - closing, months)
    if method == "month_mid":
        return Fraction(2 * ends + opening - closing, 2 * months)
    raise ValueError(f"no average balance method {method!r}")


# (b)(3) The options' percents


def fixed_income_percent(monthly_percent: Sequence[Fraction], conversion: str) -> Fraction:
    """(b)(3)(A): the mean of the semester's monthly Two-Year Treasury yields, an annual percent made a semester's.

    Raises:
        ValueError: the conversion doesn't exist.
    """
    annual = _sum((1, percent) for percent in monthly_percent) / len(monthly_percent)
    if conversion == "half":
        return annual / 2
    if conversion == "unhalved":
        return annual
    if conversion == "geometric":
        return _semester_of_annual(annual)
    raise ValueError(f"no conversion {conversion!r}")


def _semester_of_annual(annual_percent: Fraction) -> Fraction:
    """(1 + r)^½ - 1, to 40 significant digits: the one value of the section that no fraction can hold exactly."""
    growth = 1 + annual_percent / WHOLE_PERCENT
    with decimal.localcontext() as context:
        context.prec = _GUARDED_DIGITS
        root = (decimal.Decimal(growth.numerator) / decimal.Decimal(growth.denominator)).sqrt()
        percent = (root - 1) * WHOLE_PERCENT
        context.prec = _SIGNIFICANT_DIGITS
        return Fraction(+percent)


_SIGNIFICANT_DIGITS = 40
_GUARDED_DIGITS = 120  # the root is near 1, and loses digits when 1 is taken off


def system_portfolio_percent(
    return_percent: Fraction, fees_percent: Fraction, share_percent: Fraction, treatment: str
) -> Fraction:
    """(b)(3)(B): the participants' share of the portfolio's return, net of management fees. The return is before fees.

    Raises:
        ValueError: the treatment of fees doesn't exist.
    """
    share = share_percent / WHOLE_PERCENT
    if treatment == "fees_before_share":
        return share * (return_percent - fees_percent)
    if treatment == "fees_after_share":
        return share * return_percent - fees_percent
    raise ValueError(f"no treatment of fees {treatment!r}")


def _sum(weighted: Iterable[tuple[int, Fraction]], divisor: int = 1) -> Fraction:
    """The exact sum of weight × percent, by a divisor. Reduced once, where adding fractions reduces at each step."""
    numerator, denominator = 0, 1
    for weight, percent in weighted:
        numerator = numerator * percent.denominator + weight * percent.numerator * denominator
        denominator *= percent.denominator
    return Fraction(numerator, denominator * divisor)


# (a)(3) The yield


def semester_percent(selection: Mapping[str, int], percents: Mapping[str, Fraction]) -> Fraction:
    """The percent of a combination of options: each option's, weighted by the selection."""
    return _sum(((weight, percents[option]) for option, weight in selection.items()), WHOLE_PERCENT)


def yield_cents(average_cents: Fraction, percent: Fraction, negative_yield: str) -> int:
    """The yield in cents: average monthly balance times the semester's percent, and the one rounding.

    Under `floor_at_zero` the participant's total is floored, not each option.

    Raises:
        ValueError: the setting has no such value.
    """
    # Not Fraction times Fraction: reducing costs more than all the rest, and half a million accounts are waiting.
    rounded = round_quotient(
        average_cents.numerator * percent.numerator, average_cents.denominator * percent.denominator * WHOLE_PERCENT
    )
    if negative_yield == "post":
        return rounded
    if negative_yield == "floor_at_zero":
        return max(rounded, 0)
    raise ValueError(f"no negative yield {negative_yield!r}")
