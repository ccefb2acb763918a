"""What can be told of a resolution from itself, when it is proposed: its form it has, and still it may not stand."""

from datetime import date
from itertools import pairwise

from retiro.ledger.resolutions import (
    STATUTORY_OPTIONS,
    ActKind,
    ActOfTheBoard,
    AnnuityFactors,
    ClosureDays,
    HybridReturn,
    Option,
    OptionSemester,
    PortfolioReturn,
    Resolution,
    SettingAdopted,
    TreasuryYields,
    UnsoundError,
    month_period,
    names_option,
)
from retiro.rules.calendar import Semester
from retiro.rules.forms import Sentence
from retiro.rules.judiciary_hybrid import SECTION as SECTION_242B
from retiro.rules.judiciary_hybrid import check_table, format_age
from retiro.rules.judiciary_hybrid.factors import CITATION as FACTOR_CLAUSE
from retiro.rules.judiciary_hybrid.factors import MONTHS_IN_YEAR
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts.arithmetic import WHOLE_PERCENT
from retiro.rules.settings import SETTINGS


def check(resolution: Resolution, today: date) -> None:
    """Check what can be told from the resolution itself. Raises `UnsoundError`."""
    for field, day in (("act.date", resolution.act.date), ("vintage", resolution.vintage)):
        if day > today:
            raise UnsoundError(
                "date_to_come",
                Sentence(f"{day} is still to come.", f"El {day} está por venir."),
                field=field,
                citation="3 L.P.R.A. § 786-7",
            )
    match resolution:
        case TreasuryYields():
            _check_months(resolution)
        case PortfolioReturn() | OptionSemester():
            _check_over(resolution.semester, resolution.vintage)
        case Option():
            _check_option(resolution)
        case SettingAdopted():
            _check_setting(resolution)
        case ClosureDays():
            _must_be_order(resolution.act, "dates", "Executive order; 3 L.P.R.A. § 786-7(a)(3)")
        case AnnuityFactors():
            _check_factors(resolution)
        case HybridReturn():
            _check_hybrid_return(resolution)


def _check_months(resolution: TreasuryYields) -> None:
    # A month's average is final only after its last day.
    for month in resolution.months:
        if month_period(month)[1] >= resolution.vintage:
            raise UnsoundError(
                "month_not_over",
                Sentence(
                    f"The average of {month} is final only after the month; the vintage is {resolution.vintage}.",
                    f"El promedio de {month} es final solo después del mes; la fecha del dato es {resolution.vintage}.",
                ),
                field=f"months.{month}",
                citation="3 L.P.R.A. § 786-7(b)(3)(A)",
            )


def _check_over(semester: Semester, vintage: date) -> None:
    if vintage <= semester.ends_on:
        raise UnsoundError(
            "semester_not_over",
            Sentence(
                f"The figures of {semester} are final only after {semester.ends_on}; the vintage is {vintage}.",
                f"Las cifras de {semester} son finales después del {semester.ends_on}; la fecha del dato es {vintage}.",
            ),
            field="semester",
            citation="3 L.P.R.A. § 786-7(b)(3)",
        )


def _check_option(resolution: Option) -> None:
    if resolution.code in STATUTORY_OPTIONS:
        raise UnsoundError(
            "option_is_statutory",
            Sentence(
                f"{resolution.code} is created by the statute, not by the Board.",
                f"{resolution.code} la crea la ley, no la Junta.",
            ),
            field="code",
            citation="3 L.P.R.A. § 786-7(b)(3)",
        )
    _check_period(resolution.in_force_from, resolution.until, "3 L.P.R.A. § 786-7(b)(3)(C)")


def _check_period(in_force_from: date, until: date | None, citation: str) -> None:
    if until is not None and until <= in_force_from:
        raise UnsoundError(
            "ends_before_it_begins",
            Sentence("It ends before it begins.", "Termina antes de comenzar."),
            field="until",
            citation=citation,
        )


def _check_factors(resolution: AnnuityFactors) -> None:
    """(c)(2): the ages in order and no more than a year apart, each factor one of its unit, the actuary consulted."""
    _check_period(resolution.in_force_from, resolution.until, FACTOR_CLAUSE)
    if resolution.consulted_on > resolution.act.date:
        raise UnsoundError(
            "consulted_after_the_act",
            Sentence(
                "The Board establishes the factor in consultation with its actuaries: they were consulted after it.",
                "La Junta establece el factor en consulta con sus actuarios: se les consultó después.",
            ),
            field="consulted_on",
            citation=FACTOR_CLAUSE,
        )
    for before, after in pairwise(resolution.points):
        if after < before:
            raise UnsoundError(
                "factor_table_unsorted",
                Sentence(
                    f"{format_age(after)} comes after {format_age(before)}: the ages of a table go in order.",
                    f"{format_age(after)} viene después de {format_age(before)}: las edades de una tabla van en orden.",
                ),
                field=f"points.{format_age(after)}",
                citation=FACTOR_CLAUSE,
            )
        if after - before > MONTHS_IN_YEAR:
            raise UnsoundError(
                "factor_table_gap",
                Sentence(
                    f"Between {format_age(before)} and {format_age(after)} is more than a year without a factor.",
                    f"Entre {format_age(before)} y {format_age(after)} hay más de un año sin factor.",
                ),
                field=f"points.{format_age(after)}",
                citation=FACTOR_CLAUSE,
            )
    try:
        check_table(resolution.table)
    except Refusal as refusal:
        field = refusal.field or "points"
        raise UnsoundError(str(refusal.code), refusal.sentence, field=field, citation=FACTOR_CLAUSE) from refusal


def _check_hybrid_return(resolution: HybridReturn) -> None:
    if resolution.percent < -WHOLE_PERCENT:
        raise UnsoundError(
            "percent_below_minus_100",
            Sentence("No more than 100 percent can be lost.", "No se puede perder más del 100 por ciento."),
            field="percent",
            citation=SECTION_242B,
        )
    last_month = resolution.semester.months[resolution.months_covered - 1]
    over_on = month_period(last_month)[1]
    if resolution.vintage <= over_on:
        raise UnsoundError(
            "semester_not_over",
            Sentence(
                f"A return through {last_month} is final only after {over_on}; the vintage is {resolution.vintage}.",
                f"Un rendimiento hasta {last_month} es final después del {over_on}; la fecha del dato es "
                f"{resolution.vintage}.",
            ),
            field="semester",
            citation=SECTION_242B,
        )


def _check_setting(resolution: SettingAdopted) -> None:
    setting = SETTINGS.get(resolution.name)
    if setting is None:
        raise UnsoundError(
            "unknown_setting",
            Sentence(
                f"There is no setting {resolution.name}.", f"No existe la opción reglamentaria {resolution.name}."
            ),
            field="name",
            citation="Settings of the Board",
        )
    if not setting.admits(resolution.value):
        choices = ", ".join((setting.default, *setting.alternatives))
        raise UnsoundError(
            "unknown_setting_value",
            Sentence(f"{setting.name} may be: {choices}.", f"{setting.name} puede ser: {choices}."),
            field="value",
            citation=setting.citation,
        )
    if names_option(resolution):
        _must_be_order(resolution.act, "value", setting.citation)


def _must_be_order(act: ActOfTheBoard, field: str, citation: str) -> None:
    if act.kind is not ActKind.ORDER:
        raise UnsoundError(
            "act_must_be_order",
            Sentence("This takes an order.", "Esto requiere una orden."),
            field=field,
            citation=citation,
        )
