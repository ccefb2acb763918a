"""§ 786-7(a)(3): the semester's calendar and its yield."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from retiro.rules import calendar
from retiro.rules.calendar import Date, Semester
from retiro.rules.forms import Form, Sentence, form_error
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.money import Amount, Money, ShownPercent, format_cents, format_percent, round_half_away
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input
from retiro.rules.savings_accounts.arithmetic import (
    WHOLE_PERCENT,
    average_monthly_balance_cents,
    month_balances_cents,
    semester_percent,
    yield_cents,
)
from retiro.rules.savings_accounts.options import (
    OptionCode,
    OptionYield,
    check_figures,
    clause_of,
    option_percents,
    share_in_force,
)
from retiro.rules.savings_accounts.section import SECTION
from retiro.rules.savings_accounts.selections import Selection


class Movement(Form):
    """A credit or debit of the savings account on the day that it counts from: signed cents."""

    date: Date
    amount: Money


def _whole_or_none(selection: dict[str, int]) -> dict[str, int]:
    if selection and sum(selection.values()) != WHOLE_PERCENT:
        raise form_error("selection_total")
    return selection


def _nothing_for_null(closure_days: object) -> object:
    return [] if closure_days is None else closure_days


ClosureDays = Annotated[list[Date], BeforeValidator(_nothing_for_null)]


class SemesterCalendarGiven(Given):
    """§ 786-7(a)(3): a semester, and the closure days that the Board has entered."""

    semester: Semester
    closure_days: ClosureDays = Field(default_factory=list)


class SemesterCalendar(Result):
    """§ 786-7(a)(3): the semester's first and last day, and the day on which its yield is computed."""

    starts_on: Date
    ends_on: Date
    yield_date: Date


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

    model_config = ConfigDict(validate_by_name=True)  # `yield` is a word of Python

    average_monthly_balance: Amount
    option_percents: dict[OptionCode, ShownPercent]
    semester_percent: ShownPercent
    yield_amount: Annotated[Amount, Field(alias="yield")]
    closing_balance: Amount
    yield_date: Date


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


@determination("semester_yield", f"{SECTION}(a)(3), (b)(3)", SemesterYieldGiven, SemesterYield)
def semester_yield(given: SemesterYieldGiven, sheet: Worksheet) -> SemesterYield:
    """(a)(3), (b)(3): the yield that a semester credits, or debits, to a savings account."""
    day = _yield_date(given.semester, given.closure_days, sheet)
    figures = figures_of(given, given.opening_balance, given.movements, sheet)
    return SemesterYield(
        average_monthly_balance=round_half_away(figures.average_cents),
        option_percents={option: format_percent(percent) for option, percent in figures.percents.items()},
        semester_percent=format_percent(figures.percent),
        yield_amount=figures.yield_cents,
        closing_balance=figures.closing_cents,
        yield_date=day,
        receipt=sheet.receipt(),
    )


@dataclass(frozen=True, slots=True)
class YieldFigures:
    """A semester's figures, exact but for the yield, which is rounded, and the closing balance with it."""

    average_cents: Fraction
    percents: Mapping[str, Fraction]
    percent: Fraction
    yield_cents: int
    closing_cents: int


def figures_of(
    given: SemesterYieldGiven, opening_cents: int, movements: Sequence[Movement], sheet: Worksheet
) -> YieldFigures:
    """The figures of a semester, with the refusals in their order. Opening and movements may be other than given."""
    semester, settings = given.semester, given.settings
    selection = _selection(given, sheet)
    for movement in movements:
        if not semester.starts_on <= movement.date <= semester.ends_on:
            raise Refusal(
                RefusalCode.MOVEMENT_OUTSIDE_SEMESTER,
                f"{SECTION}(a)(3)",
                field="movements",
                day=movement.date,
                semester=semester,
            )
    average = _average(semester, opening_cents, movements, settings, sheet)
    percents = _percents(given, selection, sheet)
    percent = semester_percent(selection, percents)
    sheet.percent(
        f"{SECTION}(b)(3)",
        Sentence("Semester percent", "Por ciento del semestre"),
        Sentence(
            " + ".join(f"{weight} % of {option}" for option, weight in selection.items()),
            " + ".join(f"{weight} % de {option}" for option, weight in selection.items()),
        ),
        percent,
    )
    amount = _yield(semester, average, percent, settings, sheet)
    closing = opening_cents + sum(movement.amount for movement in movements) + amount
    sheet.money(
        f"{SECTION}(a)",
        Sentence("Closing balance", "Balance final"),
        Sentence("opening balance + movements + yield", "balance inicial + movimientos + rendimiento"),
        closing,
    )
    return YieldFigures(average, percents, percent, amount, closing)


def _selection(given: SemesterYieldGiven, sheet: Worksheet) -> Mapping[str, int]:
    """(b)(1): the participant's selection; without one, what the Administrator's order puts in its place, if any."""
    if given.selection:
        return given.selection
    in_its_place = sheet.setting("no_selection", given.settings, given.semester.ends_on)
    if in_its_place == "hold":
        raise Refusal(RefusalCode.NO_SELECTION, f"{SECTION}(b)(1)", field="selection", semester=given.semester)
    return {in_its_place: WHOLE_PERCENT}


_AVERAGE_IN_WORDS = {
    "month_end": Sentence("mean of the six month-end balances", "promedio de los seis balances de cierre de mes"),
    "month_start": Sentence("mean of the six balances as each month begins", "promedio de los seis balances iniciales"),
    "month_mid": Sentence(
        "mean of each month's middle, halfway from start to end", "promedio del punto medio de cada mes"
    ),
}


def _average(
    semester: Semester,
    opening_cents: int,
    movements: Sequence[Movement],
    settings: Mapping[str, str],
    sheet: Worksheet,
) -> Fraction:
    balances = month_balances_cents(semester, opening_cents, ((each.date, each.amount) for each in movements))
    for month, balance_cents in zip(semester.months, balances[1:], strict=True):
        sheet.money(
            f"{SECTION}(a)(3)",
            Sentence(f"Balance at the end of {month}", f"Balance al cierre de {month}"),
            Sentence("balance before + movements of the month", "balance anterior + movimientos del mes"),
            balance_cents,
        )
    method = sheet.setting("average_balance_method", settings, semester.ends_on)
    average = average_monthly_balance_cents(balances, method)
    sheet.money(
        f"{SECTION}(a)(3)",
        Sentence("Average monthly balance", "Balance mensual promedio"),
        _AVERAGE_IN_WORDS[method],
        average,
    )
    return average


def _percents(given: SemesterYieldGiven, selection: Mapping[str, int], sheet: Worksheet) -> dict[str, Fraction]:
    """The percents of the options selected, with what they rest on written down."""
    semester, settings = given.semester, given.settings
    for option in selection:
        check_figures(semester, option, given.option_yields.get(option))
    selected = {option: given.option_yields[option] for option in selection}
    percents = option_percents(semester, selected, settings)
    for option, figures in selected.items():
        sheet.percent(
            f"{SECTION}{clause_of(option)}",
            Sentence(f"Percent of {option}", f"Por ciento de {option}"),
            _percent_in_words(semester, figures, settings, sheet),
            percents[option],
        )
    return percents


_CONVERSION_IN_WORDS = {
    "half": Sentence("mean of the six monthly Treasury yields ÷ 2", "promedio de los seis rendimientos mensuales ÷ 2"),
    "unhalved": Sentence("mean of the six monthly Treasury yields", "promedio de los seis rendimientos mensuales"),
    "geometric": Sentence(
        "square root of 1 + the mean of the six monthly Treasury yields, less 1",
        "raíz cuadrada de 1 + el promedio de los seis rendimientos mensuales, menos 1",
    ),
}
_FEES_IN_WORDS = {
    "fees_before_share": Sentence("share × (return − management fees)", "parte × (rendimiento − gastos de manejo)"),
    "fees_after_share": Sentence("share × return − management fees", "parte × rendimiento − gastos de manejo"),
}


def _percent_in_words(
    semester: Semester, figures: OptionYield, settings: Mapping[str, str], sheet: Worksheet
) -> Sentence:
    if figures.monthly_percent is not None:
        return _CONVERSION_IN_WORDS[sheet.setting("cmt_semester_conversion", settings, semester.ends_on)]
    if figures.return_percent is not None:
        if figures.share_percent is None:
            sheet.parameter(share_in_force(semester), semester.ends_on)
        return _FEES_IN_WORDS[sheet.setting("portfolio_fee_treatment", settings, semester.ends_on)]
    return Sentence("as the Board resolved for the semester", "según resolvió la Junta para el semestre")


def _yield(
    semester: Semester, average_cents: Fraction, percent: Fraction, settings: Mapping[str, str], sheet: Worksheet
) -> int:
    negative_yield = sheet.setting("negative_yield", settings, semester.ends_on)
    amount = yield_cents(average_cents, percent, negative_yield)
    floored = Sentence(", not below zero", ", no menor que cero") if negative_yield != "post" else Sentence("", "")
    sheet.money(
        f"{SECTION}(a)(3)",
        Sentence("Yield", "Rendimiento"),
        Sentence(
            f"average monthly balance × semester percent ÷ 100, rounded to the cent, half away from zero{floored.en}",
            f"balance mensual promedio × por ciento del semestre ÷ 100, redondeado al centavo{floored.es}",
        ),
        amount,
    )
    if amount < 0:
        sheet.ask(
            Sentence(
                f"A loss of {format_cents(-amount)} is debited for {semester}: the text has no floor, but "
                "(c) vests what was posted before.",
                f"Se debita una pérdida de {format_cents(-amount)} por {semester}: el texto no fija un mínimo, pero el "
                "inciso (c) hace irrevocable lo acreditado antes.",
            )
        )
    return amount
