"""§ 242b(e): the return as of the date of death, for the semester under way.

The Hybrid Program's own return is the Board's percent (`hybrid_return`), which § 786-7 doesn't govern; the average
balance, and the percents of options where an account has them, are worked as there, on the complete months alone.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

from pydantic import ConfigDict, Field

from retiro.rules.calendar import Date, Semester, last_day_of_month, parse_month
from retiro.rules.forms import Sentence
from retiro.rules.frame import Result, Worksheet, determination
from retiro.rules.judiciary_hybrid.section import SECTION
from retiro.rules.money import Amount, round_half_away
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import (
    SemesterYieldGiven,
    average_monthly_balance_cents,
    check_figures,
    month_balances_cents,
    option_percents,
    semester_percent,
    yield_cents,
)
from retiro.rules.savings_accounts.arithmetic import WHOLE_PERCENT
from retiro.rules.savings_accounts.options import share_in_force

_CLAUSE = f"{SECTION}(e)"


class ProvisionalYieldGiven(SemesterYieldGiven):
    """§ 242b(e): the account in the semester under way, the figures of its complete months, and the day of the exit."""

    as_of: Date


class ProvisionalYield(Result):
    """§ 242b(e): the return of the complete months, and the average balance that it rests on."""

    model_config = ConfigDict(validate_by_name=True)  # `yield` is a word of Python

    complete_months: int
    average_balance: Amount
    yield_amount: Annotated[Amount, Field(alias="yield")]


@determination("provisional_yield", _CLAUSE, ProvisionalYieldGiven, ProvisionalYield)
def provisional_yield(given: ProvisionalYieldGiven, sheet: Worksheet) -> ProvisionalYield:
    """(e): average balance of the semester's complete months times the rate earned in them, or nothing.

    Nothing is earned under `return_at_exit` `posted_only`, or before a month is complete; the figures aren't asked for
    then.
    """
    months = _complete_months(given, sheet)
    earns = sheet.setting("return_at_exit", given.settings, given.as_of) == "provisional" and months > 0
    selection = _selection(given, sheet) if earns else {}
    _check_movements(given)
    average = _average(given, months, sheet)
    amount = _yield(given, selection, months, average, sheet) if earns else 0
    return ProvisionalYield(
        complete_months=months,
        average_balance=round_half_away(average),
        yield_amount=amount,
        receipt=sheet.receipt(),
    )


def complete_months(semester: Semester, as_of: Date) -> int:
    """How many months of a semester have ended on or before a day."""
    firsts = [parse_month(month) for month in semester.months]
    return sum(first.replace(day=last_day_of_month(first.year, first.month)) <= as_of for first in firsts)


def _complete_months(given: ProvisionalYieldGiven, sheet: Worksheet) -> int:
    months = complete_months(given.semester, given.as_of)
    sheet.fact(
        _CLAUSE,
        Sentence("Complete months", "Meses completos"),
        Sentence(
            f"months of {given.semester} whose last day is on or before {given.as_of}",
            f"meses de {given.semester} cuyo último día es, a más tardar, el {given.as_of}",
        ),
        months,
    )
    return months


def _selection(given: ProvisionalYieldGiven, sheet: Worksheet) -> Mapping[str, int]:
    if given.selection:
        return given.selection
    in_its_place = sheet.setting("no_selection", given.settings, given.as_of)
    if in_its_place == "hold":
        raise Refusal(RefusalCode.NO_SELECTION, _CLAUSE, field="selection", semester=given.semester)
    return {in_its_place: WHOLE_PERCENT}


def _check_movements(given: ProvisionalYieldGiven) -> None:
    semester = given.semester
    for number, movement in enumerate(given.movements):
        if not semester.starts_on <= movement.date <= semester.ends_on:
            raise Refusal(
                RefusalCode.MOVEMENT_OUTSIDE_SEMESTER,
                _CLAUSE,
                field=f"movements.{number}",
                day=movement.date,
                semester=semester,
            )


def _average(given: ProvisionalYieldGiven, months: int, sheet: Worksheet) -> Fraction:
    """The average balance of the complete months, in exact cents. What moves after them doesn't count."""
    if months == 0:
        return Fraction(0)
    balances = month_balances_cents(
        given.semester, given.opening_balance, ((each.date, each.amount) for each in given.movements)
    )[: months + 1]
    method = sheet.setting("average_balance_method", given.settings, given.as_of)
    average = average_monthly_balance_cents(balances, method, months)
    sheet.money(
        _CLAUSE,
        Sentence("Average balance", "Balance promedio"),
        Sentence(f"mean over {months} complete months, by {method}", f"promedio de {months} meses completos, {method}"),
        average,
    )
    return average


def _yield(
    given: ProvisionalYieldGiven, selection: Mapping[str, int], months: int, average_cents: Fraction, sheet: Worksheet
) -> int:
    percents = _percents(given, selection, months, sheet)
    percent = semester_percent(selection, percents)
    for option, weight in selection.items():
        sheet.percent(
            _CLAUSE,
            Sentence(f"Percent of {option} in {months} months", f"Por ciento de {option} en {months} meses"),
            Sentence(
                f"{weight} % of the selection; fixed income: a semester's percent × {months} ÷ 6, others as given",
                f"{weight} % de la selección; renta fija: por ciento de semestre × {months} ÷ 6, las demás según dado",
            ),
            percents[option],
        )
    amount = yield_cents(average_cents, percent, sheet.setting("negative_yield", given.settings, given.as_of))
    sheet.money(
        _CLAUSE,
        Sentence("Provisional return", "Rendimiento provisional"),
        Sentence(
            "average balance × percent ÷ 100, rounded to the cent, half away from zero",
            "balance promedio × por ciento ÷ 100, redondeado al centavo",
        ),
        Fraction(amount),
    )
    return amount


def _percents(
    given: ProvisionalYieldGiven, selection: Mapping[str, int], months: int, sheet: Worksheet
) -> dict[str, Fraction]:
    for option in selection:
        try:
            check_figures(given.semester, option, given.option_yields.get(option), months)
        except Refusal as refusal:
            refusal.citation = _CLAUSE  # the figures are asked for by this clause
            raise
    selected = {option: given.option_yields[option] for option in selection}
    for figures in selected.values():
        if figures.monthly_percent is not None:
            sheet.setting("cmt_semester_conversion", given.settings, given.as_of)
        if figures.return_percent is not None:
            sheet.setting("portfolio_fee_treatment", given.settings, given.as_of)
            if figures.share_percent is None:
                sheet.parameter(share_in_force(given.semester), given.semester.ends_on)
    return option_percents(given.semester, selected, given.settings, months)
