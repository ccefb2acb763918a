"""§ 786-7(b)(3): the investment options, the figures that each takes, and its percent for a semester."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from retiro.rules import parameters
from retiro.rules.calendar import Semester
from retiro.rules.forms import Form, form_error
from retiro.rules.money import Percent
from retiro.rules.parameters import Parameter
from retiro.rules.refusals import Refusal, RefusalCode, refuse_form
from retiro.rules.savings_accounts.arithmetic import (
    MONTHS_IN_SEMESTER,
    WHOLE_PERCENT,
    fixed_income_percent,
    system_portfolio_percent,
)
from retiro.rules.savings_accounts.section import SECTION
from retiro.rules.settings import value_of

FIXED_INCOME = "fixed_income"
SYSTEM_PORTFOLIO = "system_portfolio"
SHARE_PARAMETER = "system_portfolio_share_percent"

OptionCode = Annotated[str, StringConstraints(min_length=1, max_length=60)]


def _no_more_than_all(percents: list[Fraction] | None) -> list[Fraction] | None:
    """A yield under -100 percent is a slip, and has no square root."""
    if percents is not None and any(percent < -WHOLE_PERCENT for percent in percents):
        raise form_error("percent_below_minus_100")
    return percents


class OptionYield(Form):
    """An option's figures for a semester. Which of them it takes depends on the option; `FIGURES` says."""

    monthly_percent: Annotated[list[Percent] | None, AfterValidator(_no_more_than_all)] = None
    return_percent: Percent | None = None
    management_fees_percent: Percent | None = None
    share_percent: Percent | None = None
    semester_percent: Percent | None = None


OPTION_YIELDS = TypeAdapter(dict[OptionCode, OptionYield], config=ConfigDict(defer_build=True))


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures that an option's yield takes: all of the needed, none but these and the optional."""

    needed: frozenset[str]
    optional: frozenset[str] = frozenset()

    def are_those_of(self, figures: OptionYield, months: int) -> bool:
        present = {name for name in OptionYield.model_fields if getattr(figures, name) is not None}
        of_months = figures.monthly_percent
        return self.needed <= present <= self.needed | self.optional and (of_months is None or len(of_months) == months)

    def __str__(self) -> str:
        return ", ".join(sorted(self.needed))


FIGURES = {
    FIXED_INCOME: _Figures(frozenset({"monthly_percent"})),
    SYSTEM_PORTFOLIO: _Figures(
        frozenset({"return_percent", "management_fees_percent"}), optional=frozenset({"share_percent"})
    ),
}
FIGURES_OF_OTHER_OPTIONS = _Figures(frozenset({"semester_percent"}))


def option_percents(
    semester: Semester,
    option_yields: Mapping[str, OptionYield] | Mapping[str, Mapping[str, object]],
    settings: Mapping[str, str],
    months: int = MONTHS_IN_SEMESTER,
) -> dict[str, Fraction]:
    """Each option's exact percent for the semester, by (b)(3)(A), (B) and (C). A setting left out is at its default.

    Fewer months are the complete ones of a semester under way: fixed income then has earned that part of a semester's
    percent, and what the other options' figures say is theirs for those months.

    Raises:
        Refusal: `yield_not_in_force`, an option's figures aren't those that it takes; then `not_in_force`, no share of
            the system's portfolio is given and none is in force. `invalid_input`, the figures break the form.
    """
    try:
        figures_of = OPTION_YIELDS.validate_python(option_yields)
    except ValidationError as error:
        refuse_form(error, f"{SECTION}(b)(3)")
    for option, figures in figures_of.items():
        check_figures(semester, option, figures, months)
    return {option: _option_percent(semester, option, figures, settings) for option, figures in figures_of.items()}


def check_figures(
    semester: Semester, option: str, figures: OptionYield | None, months: int = MONTHS_IN_SEMESTER
) -> None:
    """Check that an option has all the figures that its yield takes, and none but these.

    Raises:
        Refusal: `yield_not_in_force`, naming the option and what it takes.
    """
    takes = FIGURES.get(option, FIGURES_OF_OTHER_OPTIONS)
    if figures is None or not takes.are_those_of(figures, months):
        raise Refusal(
            RefusalCode.YIELD_NOT_IN_FORCE,
            f"{SECTION}{clause_of(option)}",
            field=f"option_yields.{option}",
            option=option,
            semester=semester,
            takes=takes,
        )


def clause_of(option: str) -> str:
    """The clause that an option stands on: `(b)(3)(A)` for fixed income."""
    return {FIXED_INCOME: "(b)(3)(A)", SYSTEM_PORTFOLIO: "(b)(3)(B)"}.get(option, "(b)(3)(C)")


def _option_percent(semester: Semester, option: str, figures: OptionYield, settings: Mapping[str, str]) -> Fraction:
    match figures:
        case OptionYield(monthly_percent=list(months)):
            earned = Fraction(len(months), MONTHS_IN_SEMESTER)
            return fixed_income_percent(months, value_of("cmt_semester_conversion", settings)) * earned
        case OptionYield(return_percent=Fraction() as gross, management_fees_percent=Fraction() as fees):
            share = figures.share_percent
            if share is None:
                share = share_in_force(semester).value
            return system_portfolio_percent(gross, fees, share, value_of("portfolio_fee_treatment", settings))
        case OptionYield(semester_percent=Fraction() as percent):
            return percent
    raise ValueError(f"the figures of {option} were not checked")


def share_in_force(semester: Semester) -> Parameter:
    """(b)(3)(B): the participants' share of the portfolio's net yield, on the semester's last day.

    Raises:
        Refusal: `not_in_force`.
    """
    return parameters.in_force(
        SHARE_PARAMETER, semester.ends_on, field=f"option_yields.{SYSTEM_PORTFOLIO}.share_percent"
    )
