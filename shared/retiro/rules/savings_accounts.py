"""3 L.P.R.A. § 786-7: the savings accounts of System 2000, clause by clause.

The small functions are the arithmetic, exact, without receipts: the batch runs call them, and so does `semester_yield`,
so that a run and a receipt can't differ. Balances are integer cents, percents exact fractions; each amount is rounded
once, in `yield_cents`.
"""

import decimal
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, TypeAdapter, ValidationError

from retiro.rules import calendar, parameters
from retiro.rules.calendar import Date, Semester, fiscal_year
from retiro.rules.forms import Form, Sentence, form_error
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.money import Money, Percent, ShownPercent, format_cents, format_percent, round_quotient
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input, refuse_form
from retiro.rules.settings import value_of

SECTION = "3 L.P.R.A. § 786-7"
FIXED_INCOME = "fixed_income"
SYSTEM_PORTFOLIO = "system_portfolio"
MONTHS_IN_SEMESTER = 6
WHOLE_PERCENT = 100
SHARE_PARAMETER = "system_portfolio_share_percent"

# What comes in


class Movement(Form):
    """A credit or debit of the savings account on the day that it counts from: signed cents."""

    date: Date
    amount: Money


def _without_zeros(selection: dict[str, int]) -> dict[str, int]:
    """Drop the zeros at the door: an option with no weight takes no part, and needs no figures."""
    if any(percent < 0 for percent in selection.values()):
        raise form_error("selection_negative")
    return {option: percent for option, percent in selection.items() if percent}


def _whole_or_none(selection: dict[str, int]) -> dict[str, int]:
    if selection and sum(selection.values()) != WHOLE_PERCENT:
        raise form_error("selection_total")
    return selection


def _no_more_than_all(percents: list[Fraction] | None) -> list[Fraction] | None:
    """A yield under -100 percent is a slip, and has no square root."""
    if percents is not None and any(percent < -WHOLE_PERCENT for percent in percents):
        raise form_error("percent_below_minus_100")
    return percents


def _nothing_for_null(closure_days: object) -> object:
    return [] if closure_days is None else closure_days


OptionCode = Annotated[str, StringConstraints(min_length=1, max_length=60)]
Selection = Annotated[dict[OptionCode, int], AfterValidator(_without_zeros)]
ClosureDays = Annotated[list[Date], BeforeValidator(_nothing_for_null)]


class OptionYield(Form):
    """An option's figures for a semester. Which of them it takes depends on the option; `FIGURES` says."""

    monthly_percent: Annotated[list[Percent] | None, AfterValidator(_no_more_than_all)] = None
    return_percent: Percent | None = None
    management_fees_percent: Percent | None = None
    share_percent: Percent | None = None
    semester_percent: Percent | None = None


OPTION_YIELDS = TypeAdapter(dict[OptionCode, OptionYield])


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures that an option's yield takes: all of the needed, none but these and the optional."""

    needed: frozenset[str]
    optional: frozenset[str] = frozenset()

    def are_those_of(self, figures: OptionYield) -> bool:
        present = {name for name in OptionYield.model_fields if getattr(figures, name) is not None}
        months = figures.monthly_percent
        return self.needed <= present <= self.needed | self.optional and (
            months is None or len(months) == MONTHS_IN_SEMESTER
        )

    def __str__(self) -> str:
        return ", ".join(sorted(self.needed))


FIGURES = {
    FIXED_INCOME: _Figures(frozenset({"monthly_percent"})),
    SYSTEM_PORTFOLIO: _Figures(
        frozenset({"return_percent", "management_fees_percent"}), optional=frozenset({"share_percent"})
    ),
}
FIGURES_OF_OTHER_OPTIONS = _Figures(frozenset({"semester_percent"}))


class SemesterCalendarGiven(Given):
    """§ 786-7(a)(3): a semester, and the closure days that the Board has entered."""

    semester: Semester
    closure_days: ClosureDays = Field(default_factory=list)


class SemesterCalendar(Result):
    """§ 786-7(a)(3): the semester's first and last day, and the day on which its yield is computed."""

    starts_on: Date
    ends_on: Date
    yield_date: Date


class InvestmentSelectionGiven(Given):
    """§ 786-7(b)(1), (2): a selection asked for. `earlier_changes` are the request dates of the changes accepted."""

    requested_on: Date
    selection: Selection
    options_in_force: list[OptionCode] = Field(default_factory=list)
    initial: bool
    earlier_changes: list[Date] = Field(default_factory=list)


class InvestmentSelection(Result):
    """§ 786-7(b)(1), (2): the day from which the selection holds, and the fiscal year of that day."""

    effective_on: Date
    fiscal_year: str


class SemesterYieldGiven(Given):
    """§ 786-7(a)(3), (b)(3): the account and the figures of a semester. The opening is the end of the day before it."""

    semester: Semester
    opening_balance: Money
    movements: list[Movement] = Field(default_factory=list)
    selection: Annotated[Selection, AfterValidator(_whole_or_none)]
    option_yields: dict[OptionCode, OptionYield]
    closure_days: ClosureDays = Field(default_factory=list)


class SemesterYield(Result):
    """§ 786-7(a)(3), (b)(3): the yield of a semester and the percents that it rests on."""

    average_monthly_balance: Money
    option_percents: dict[OptionCode, ShownPercent]
    semester_percent: ShownPercent
    yield_amount: Annotated[Money, Field(alias="yield")]
    closing_balance: Money
    yield_date: Date


def _in_order(semesters: list[SemesterYieldGiven]) -> list[SemesterYieldGiven]:
    if any(one.semester.next() != other.semester for one, other in itertools.pairwise(semesters)):
        raise form_error("semesters_in_order")
    return semesters


class LateCreditGiven(Given):
    """§ 786-7(a)(2), (3): a movement on its legal date, and each semester from that one on as it was posted."""

    movement: Movement
    semesters: Annotated[list[SemesterYieldGiven], Field(min_length=1), AfterValidator(_in_order)]


class SemesterDifference(Form):
    """What a semester's yield would have been more (or less) with the movement in its place."""

    semester: Semester
    amount: Money


class LateCredit(Result):
    """§ 786-7(a)(2), (3): the yield differences that go with a late credit."""

    differences: list[SemesterDifference]
    total_difference: Money


# (a) Credits. (1), the initial transfer balance, and (2), the contribution when it is remitted, have nothing to compute:
# the passbook credits them on their day, and they count in the average from that day on.


# (a)(3) The average monthly balance


def month_balances_cents(semester: Semester, opening_cents: int, movements: Iterable[Movement]) -> list[int]:
    """The opening balance and the six month-end balances. Months are calendar months: a month-end counts its last day.

    The movements lie within the semester, in any order.
    """
    balances = [opening_cents] + [0] * MONTHS_IN_SEMESTER
    first_month = semester.starts_on.month
    for movement in movements:
        balances[movement.date.month - first_month + 1] += movement.amount
    return list(itertools.accumulate(balances))


def average_monthly_balance_cents(month_ends_cents: Sequence[int], method: str) -> Fraction:
    """The average monthly balance in exact cents, of the opening balance and the six month-ends, in this order.

    `month_end` is the mean of the month-ends, `month_start` that of the balances when each month begins, `month_mid`
    the mean of both.

    Raises:
        ValueError: there aren't seven balances, or the method doesn't exist.
    """
    opening, *_, closing = month_ends_cents
    if len(month_ends_cents) != MONTHS_IN_SEMESTER + 1:
        raise ValueError("the opening balance and six month-ends are needed")
    ends = sum(month_ends_cents) - opening
    if method == "month_end":
        return Fraction(ends, MONTHS_IN_SEMESTER)
    if method == "month_start":
        return Fraction(ends + opening - closing, MONTHS_IN_SEMESTER)
    if method == "month_mid":
        return Fraction(2 * ends + opening - closing, 2 * MONTHS_IN_SEMESTER)
    raise ValueError(f"no average balance method {method!r}")


# (b)(3) The options' percents


def option_percents(
    semester: Semester,
    option_yields: Mapping[str, OptionYield] | Mapping[str, Mapping[str, object]],
    settings: Mapping[str, str],
) -> dict[str, Fraction]:
    """Each option's exact percent for the semester, by (b)(3)(A), (B) and (C). A setting left out is at its default.

    Raises:
        Refusal: `yield_not_in_force`, an option's figures aren't those that it takes; then `not_in_force`, no share of
            the system's portfolio is given and none is in force. `invalid_input`, the figures break the form.
    """
    try:
        figures_of = OPTION_YIELDS.validate_python(option_yields)
    except ValidationError as error:
        refuse_form(error, f"{SECTION}(b)(3)")
    for option, figures in figures_of.items():
        _check_figures(semester, option, figures)
    return {option: _option_percent(semester, option, figures, settings) for option, figures in figures_of.items()}


def _check_figures(semester: Semester, option: str, figures: OptionYield | None) -> None:
    takes = FIGURES.get(option, FIGURES_OF_OTHER_OPTIONS)
    if figures is None or not takes.are_those_of(figures):
        raise Refusal(
            RefusalCode.YIELD_NOT_IN_FORCE,
            f"{SECTION}{_clause_of(option)}",
            field=f"option_yields.{option}",
            option=option,
            semester=semester,
            takes=takes,
        )


def _clause_of(option: str) -> str:
    return {FIXED_INCOME: "(b)(3)(A)", SYSTEM_PORTFOLIO: "(b)(3)(B)"}.get(option, "(b)(3)(C)")


def _option_percent(
    semester: Semester, option: str, figures: OptionYield, settings: Mapping[str, str]
) -> Fraction:
    match figures:
        case OptionYield(monthly_percent=list(months)):
            return fixed_income_percent(months, value_of("cmt_semester_conversion", settings))
        case OptionYield(return_percent=Fraction() as gross, management_fees_percent=Fraction() as fees):
            share = figures.share_percent
            if share is None:
                share = parameters.in_force(SHARE_PARAMETER, semester.ends_on).value
            return system_portfolio_percent(gross, fees, share, value_of("portfolio_fee_treatment", settings))
        case OptionYield(semester_percent=Fraction() as percent):
            return percent
    raise ValueError(f"the figures of {option} were not checked")


def fixed_income_percent(monthly_percent: Sequence[Fraction], conversion: str) -> Fraction:
    """(b)(3)(A): the mean of the semester's monthly Two-Year Treasury yields, an annual percent made a semester's.

    Raises:
        ValueError: the conversion doesn't exist.
    """
    annual = sum(monthly_percent, Fraction(0)) / len(monthly_percent)
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


# (a)(3) The yield


def semester_percent(selection: Mapping[str, int], percents: Mapping[str, Fraction]) -> Fraction:
    """The percent of a combination of options: each option's, weighted by the selection."""
    return sum((weight * percents[option] for option, weight in selection.items()), Fraction(0)) / WHOLE_PERCENT


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


@determination("semester_calendar", f"{SECTION}(a)(3)", SemesterCalendarGiven, SemesterCalendar)
def semester_calendar(given: SemesterCalendarGiven, sheet: Worksheet) -> SemesterCalendar:
    """(a)(3): the semester's days, and its last business day."""
    semester = given.semester
    day = _yield_date(semester, given.closure_days, sheet)
    return SemesterCalendar(
        starts_on=semester.starts_on, ends_on=semester.ends_on, yield_date=day, receipt=sheet.receipt()
    )


def _yield_date(semester: Semester, closure_days: Sequence[date], sheet: Worksheet) -> date:
    try:
        day = calendar.yield_date(semester, closure_days)
    except ValueError:
        raise invalid_input(f"{SECTION}(a)(3)", "closure_days", "no_business_day") from None
    sheet.fact(
        f"{SECTION}(a)(3)",
        Sentence("Yield date", "Fecha del rendimiento"),
        Sentence(
            f"last business day of {semester}, that is on or before {semester.ends_on}",
            f"último día laborable de {semester}, esto es, hasta el {semester.ends_on}",
        ),
        day,
    )
    return day
