"""§ 786-7(b)(1), (2): the participant's selection of investment, and its change."""

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, Field

from retiro.rules.calendar import Date, fiscal_year
from retiro.rules.forms import Sentence, form_error
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts.arithmetic import WHOLE_PERCENT
from retiro.rules.savings_accounts.options import OptionCode
from retiro.rules.savings_accounts.section import SECTION

MULTIPLE_PERCENT = 10


def _without_zeros(selection: dict[str, int]) -> dict[str, int]:
    """Drop the zeros at the door: an option with no weight takes no part, and needs no figures."""
    if any(percent < 0 for percent in selection.values()):
        raise form_error("selection_negative")
    return {option: percent for option, percent in selection.items() if percent}


Selection = Annotated[dict[OptionCode, int], AfterValidator(_without_zeros)]


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


@determination("investment_selection", f"{SECTION}(b)(1), (2)", InvestmentSelectionGiven, InvestmentSelection)
def investment_selection(given: InvestmentSelectionGiven, sheet: Worksheet) -> InvestmentSelection:
    """(b)(1), (2): whether a selection may be made as asked for, and from which day it holds."""
    clause = f"{SECTION}{'(b)(1)' if given.initial else '(b)(2)'}"
    for option in given.selection:
        if option not in given.options_in_force:
            raise Refusal(RefusalCode.UNKNOWN_OPTION, f"{SECTION}(b)(3)", field="selection", option=option)
    for option, percent in given.selection.items():
        if percent % MULTIPLE_PERCENT:
            raise Refusal(RefusalCode.NOT_MULTIPLE_OF_TEN, clause, field="selection", option=option, percent=percent)
    total = sum(given.selection.values())
    if total != WHOLE_PERCENT:
        raise Refusal(RefusalCode.DOES_NOT_TOTAL_100, clause, field="selection", total=total)
    if given.initial:
        effective_on = given.requested_on
        formula = Sentence(
            "the day of the request, for an initial selection", "el día de la solicitud, si es la inicial"
        )
    else:
        _check_first_change(given)
        effective_on = date(fiscal_year(given.requested_on), 7, 1)
        formula = Sentence(
            "first day of the fiscal year after that of the request",
            "primer día del año fiscal siguiente a la solicitud",
        )
    sheet.fact(clause, Sentence("Effective on", "Vigente desde"), formula, effective_on)
    return InvestmentSelection(
        effective_on=effective_on, fiscal_year=f"FY{fiscal_year(effective_on)}", receipt=sheet.receipt()
    )


def _check_first_change(given: InvestmentSelectionGiven) -> None:
    """(b)(2): one change in a fiscal year, counted by the days on which changes were asked for."""
    year = fiscal_year(given.requested_on)
    for changed_on in given.earlier_changes:
        if fiscal_year(changed_on) == year:
            raise Refusal(
                RefusalCode.ALREADY_CHANGED_THIS_FISCAL_YEAR,
                f"{SECTION}(b)(2)",
                field="requested_on",
                fiscal_year=f"FY{year}",
                changed_on=changed_on,
            )
