"""§ 242b(b)-(d): the life annuity: who has it, how much a month, and for which months it is paid."""

from datetime import date, timedelta
from fractions import Fraction
from typing import Annotated

from pydantic import ConfigDict, Field

from retiro.rules import parameters
from retiro.rules.calendar import (
    Date,
    Month,
    completed_months,
    format_month,
    last_day_of_month,
)
from retiro.rules.forms import Form, Sentence
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.judiciary_hybrid.factors import (
    MONTHS_IN_YEAR,
    RANGES,
    Factor,
    FactorTable,
    check_range,
    factor_at,
    format_age,
    monthly_annuity_cents,
)
from retiro.rules.judiciary_hybrid.section import SECTION
from retiro.rules.judiciary_hybrid.separations import annuity_birthday, in_words, service_as_judge, years_needed
from retiro.rules.money import Amount, NonNegativeMoney, ShownPercent, format_percent, round_half_away
from retiro.rules.receipts import Act, Receipt
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input
from retiro.rules.service_lengths import ServiceLength

FACTOR_TABLE = "factor_table"
"""The name by which an act that adopted the factor table is given to a determination."""

_DAYS_OF_THIRTY = 30


# What comes in, what goes out


class LifeAnnuityGiven(Given):
    """§ 242b(b)-(d): a retirement, and the factor, bare or in the Board's table."""

    retirement_date: Date
    birth_date: Date
    credited_service: ServiceLength
    service_as_judge: ServiceLength | None = None
    transfer_annuity_elected: bool = False
    balance: NonNegativeMoney
    factor: Factor | None = None
    factor_table: FactorTable | None = None


class Age(Form):
    """Completed years and months."""

    years: int
    months: int


class FirstPayment(Form):
    """§ 242b(d): the fraction of the month of retirement."""

    model_config = ConfigDict(validate_by_name=True)  # `from` is a word of Python

    from_day: Annotated[Date, Field(alias="from")]
    through: Date
    amount: Amount


class LifeAnnuity(Result):
    """§ 242b(c), (d): the age, the factor as it is shown, the monthly annuity and its first payment."""

    age: Age
    factor: ShownPercent
    monthly_annuity: Amount
    first_payment: FirstPayment


class AnnuityPaymentsGiven(Given):
    """§ 242b(d): an annuity, the death if there is one, and the last month already paid."""

    retirement_date: Date
    monthly_annuity: NonNegativeMoney
    death_date: Date | None = None
    paid_through: Month | None = None


class AnnuityPayments(Result):
    """§ 242b(d): what is payable, what was paid, and the difference to one side or the other."""

    last_payable_month: Month | None = None
    total_payable: Amount
    total_paid: Amount
    overpayment: Amount
    underpayment: Amount


# (b), (c) The annuity


@determination("life_annuity", f"{SECTION}(b)-(d)", LifeAnnuityGiven, LifeAnnuity)
def life_annuity(given: LifeAnnuityGiven, sheet: Worksheet) -> LifeAnnuity:
    """(b)-(d): the balance at retirement divided by the factor, a month, and the fraction of the first month."""
    if given.retirement_date < given.birth_date:
        raise invalid_input(f"{SECTION}(b)(2)", "retirement_date", "before_birth")
    factor_or_table = _factor_or_table(given)
    as_judge = service_as_judge(given.credited_service, given.service_as_judge, f"{SECTION}(b)(1)")
    if given.transfer_annuity_elected:
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            f"{SECTION}(c); 4 L.P.R.A. § 237",
            field="transfer_annuity_elected",
            reason_en="an annuity by transfer was elected, so that a reduced one is due",
            reason_es="se eligió una anualidad por traspaso, por lo que corresponde una reducida",
        )
    _check_entitled(given, as_judge, sheet)
    age_months = completed_months(given.birth_date, given.retirement_date)
    sheet.fact(
        f"{SECTION}(c)(2)",
        Sentence("Age", "Edad"),
        Sentence("completed years and months at retirement", "años y meses cumplidos al retiro"),
        format_age(age_months),
    )
    factor = _factor(factor_or_table, age_months, sheet)
    unit = factor_or_table.unit
    monthly_cents = monthly_annuity_cents(given.balance, factor, unit)
    divided = Sentence("", "") if unit == "months" else Sentence(f" ÷ {MONTHS_IN_YEAR}", f" ÷ {MONTHS_IN_YEAR}")
    sheet.money(
        f"{SECTION}(c)",
        Sentence("Monthly annuity", "Anualidad mensual"),
        Sentence(
            f"balance at retirement ÷ factor{divided.en}, rounded to the cent, half away from zero",
            f"balance al retiro ÷ factor{divided.es}, redondeado al centavo",
        ),
        Fraction(monthly_cents),
    )
    years, months = divmod(age_months, MONTHS_IN_YEAR)
    return LifeAnnuity(
        age=Age(years=years, months=months),
        factor=format_percent(factor),
        monthly_annuity=monthly_cents,
        first_payment=FirstPayment(
            from_day=given.retirement_date,
            through=_end_of_month(given.retirement_date),
            amount=_first_payment(monthly_cents, given, sheet),
        ),
        receipt=sheet.receipt(),
    )


def _factor_or_table(given: LifeAnnuityGiven) -> Factor | FactorTable:
    if given.factor is not None and given.factor_table is None:
        return given.factor
    if given.factor is None and given.factor_table is not None:
        return given.factor_table
    raise invalid_input(f"{SECTION}(c)(2)", "factor", "factor_or_table")


def _check_entitled(given: LifeAnnuityGiven, as_judge: ServiceLength, sheet: Worksheet) -> None:
    """(b): twelve years as a judge, then 65 years of age, each on the retirement date."""
    needed = years_needed(sheet, given.retirement_date)
    if not as_judge.reaches(needed):
        service = in_words(as_judge)
        raise Refusal(
            RefusalCode.INSUFFICIENT_SERVICE,
            f"{SECTION}(b)(1)",
            field="service_as_judge" if given.service_as_judge else "credited_service",
            needed=needed,
            service_en=service.en,
            service_es=service.es,
        )
    birthday = annuity_birthday(given.birth_date, sheet, given.retirement_date)
    if given.retirement_date < birthday:
        raise Refusal(
            RefusalCode.UNDER_AGE_65,
            f"{SECTION}(b)(2)",
            field="retirement_date",
            needed=birthday.year - given.birth_date.year,
            birthday=birthday,
            retirement_date=given.retirement_date,
        )


def _factor(factor_or_table: Factor | FactorTable, age_months: int, sheet: Worksheet) -> Fraction:
    """(c)(2): the factor at work, in its range, with where it comes from written down."""
    if isinstance(factor_or_table, FactorTable):
        factor, field = factor_at(factor_or_table, age_months), "factor_table"
        formula = Sentence(
            f"the table's at {format_age(age_months)}, linear between its ages",
            f"el de la tabla a {format_age(age_months)}, lineal entre sus edades",
        )
    else:
        factor, field = factor_or_table.value, "factor"
        formula = Sentence("a bare factor", "un factor suelto")
    check_range(factor, factor_or_table.unit, field=field)
    in_unit = RANGES[factor_or_table.unit].unit
    sheet.fact(
        f"{SECTION}(c)(2)",
        SOURCE_OF_FACTOR,
        Sentence("the act that adopted it", "el acto que lo adoptó"),
        _source(sheet.acts.get(FACTOR_TABLE)),
    )
    sheet.percent(
        f"{SECTION}(c)(2)",
        Sentence(f"Factor in {in_unit.en}", f"Factor en {in_unit.es}"),
        formula,
        factor,
    )
    return factor


SOURCE_OF_FACTOR = Sentence("Source of the factor", "Fuente del factor")
_NO_ACT = "given with the case; no act of the Board / dado con el caso; sin acto de la Junta"


def _source(act: Act | None) -> str:
    return _NO_ACT if act is None else f"{act.source}, {act.in_force_from}"


def act_of_factor(receipt: Receipt) -> Act | None:
    """The act that adopted the factor table of a life annuity, as its receipt names it; `None`: a bare factor."""
    for step in receipt.steps:
        if step.label == SOURCE_OF_FACTOR and step.value != _NO_ACT:
            source, _, in_force_from = step.value.rpartition(", ")
            return Act(source, date.fromisoformat(in_force_from))
    return None


# (d) The payments


def first_month_fraction(retirement_date: date, first_payment_days: str) -> Fraction:
    """(d): the part of the month of retirement that is paid for, the retirement date included.

    `actual` counts the month's own days, `thirty` a month of thirty in which the 31st is the 30th.

    Raises:
        ValueError: the setting has no such value.
    """
    if first_payment_days == "actual":
        days = last_day_of_month(retirement_date.year, retirement_date.month)
        return Fraction(days - retirement_date.day + 1, days)
    if first_payment_days == "thirty":
        return Fraction(_DAYS_OF_THIRTY - min(retirement_date.day, _DAYS_OF_THIRTY) + 1, _DAYS_OF_THIRTY)
    raise ValueError(f"no first payment days {first_payment_days!r}")


def payment_cents(monthly_cents: int, retirement_date: date, month: date, first_payment_days: str) -> int:
    """(d): what one month's payment is, deaths aside: nothing before the retirement, its fraction, then the whole.

    `month` is any day of the month paid for.
    """
    months = _months_between(retirement_date, month)
    if months < 0:
        return 0
    if months > 0:
        return monthly_cents
    return round_half_away(monthly_cents * first_month_fraction(retirement_date, first_payment_days))


def payments_through_cents(monthly_cents: int, retirement_date: date, through: date, first_payment_days: str) -> int:
    """(d): all payments from the first through the month that a day lies in; nothing if that is before the first."""
    months = _months_between(retirement_date, through)
    if months < 0:
        return 0
    return payment_cents(monthly_cents, retirement_date, retirement_date, first_payment_days) + months * monthly_cents


def dies_as_in_active_service(retirement_date: date, death_date: date, sheet: Worksheet) -> bool:
    """(f): whether the death comes on or before the thirtieth day after the retirement date: the annuity is void then.

    Raises:
        Refusal: `invalid_input`, the death comes before the retirement.
    """
    if death_date < retirement_date:
        raise invalid_input(f"{SECTION}(f)", "death_date", "before_retirement")
    days = int(sheet.parameter(parameters.in_force("judge_death_as_in_service_days", death_date), death_date))
    last_day = retirement_date + timedelta(days=days)
    sheet.fact(
        f"{SECTION}(f)",
        Sentence("Last day that counts as active service", "Último día que cuenta como servicio activo"),
        Sentence(f"retirement date + {days} days", f"fecha de retiro + {days} días"),
        last_day,
    )
    return death_date <= last_day


@determination("annuity_payments", f"{SECTION}(d), (f)", AnnuityPaymentsGiven, AnnuityPayments)
def annuity_payments(given: AnnuityPaymentsGiven, sheet: Worksheet) -> AnnuityPayments:
    """(d): the payments due through the whole month of death, against those made. A void annuity owes nothing."""
    if given.paid_through is not None and _months_between(given.retirement_date, given.paid_through) < 0:
        raise invalid_input(f"{SECTION}(d)", "paid_through", "before_retirement")
    void = given.death_date is not None and dies_as_in_active_service(given.retirement_date, given.death_date, sheet)
    payable_through = None if void else given.death_date or given.paid_through
    paid_cents = _total(given, given.paid_through, _PAID, sheet)
    payable_cents = _total(given, payable_through, _PAYABLE, sheet)
    over_cents = max(0, paid_cents - payable_cents)
    under_cents = max(0, payable_cents - paid_cents)
    sheet.money(
        f"{SECTION}(d)",
        Sentence("Overpayment", "Pago en exceso"),
        Sentence("total paid − total payable, never below zero", "total pagado − total pagadero, no menor que cero"),
        Fraction(over_cents),
    )
    sheet.money(
        f"{SECTION}(d)",
        Sentence("Underpayment", "Pago de menos"),
        Sentence("total payable − total paid, never below zero", "total pagadero − total pagado, no menor que cero"),
        Fraction(under_cents),
    )
    return AnnuityPayments(
        last_payable_month=None if void or given.death_date is None else given.death_date.replace(day=1),
        total_payable=payable_cents,
        total_paid=paid_cents,
        overpayment=over_cents,
        underpayment=under_cents,
        receipt=sheet.receipt(),
    )


_PAID = Sentence("Total paid", "Total pagado")
_PAYABLE = Sentence("Total payable", "Total pagadero")


def _total(given: AnnuityPaymentsGiven, through: date | None, label: Sentence, sheet: Worksheet) -> int:
    """The payments from the first through a month, with the step written down; None is none."""
    if through is None:
        sheet.money(f"{SECTION}(d)", label, Sentence("no month", "ningún mes"), Fraction(0))
        return 0
    first_payment_days = sheet.setting("first_payment_days", given.settings, given.retirement_date)
    total_cents = payments_through_cents(given.monthly_annuity, given.retirement_date, through, first_payment_days)
    months = _months_between(given.retirement_date, through)
    sheet.money(
        f"{SECTION}(d)",
        label,
        Sentence(
            f"first payment + {months} × monthly annuity, through {format_month(through)}",
            f"primer pago + {months} × anualidad mensual, hasta {format_month(through)}",
        ),
        Fraction(total_cents),
    )
    return total_cents


def _first_payment(monthly_cents: int, given: LifeAnnuityGiven, sheet: Worksheet) -> int:
    first_payment_days = sheet.setting("first_payment_days", given.settings, given.retirement_date)
    amount = payment_cents(monthly_cents, given.retirement_date, given.retirement_date, first_payment_days)
    fraction = first_month_fraction(given.retirement_date, first_payment_days)
    sheet.money(
        f"{SECTION}(d)",
        Sentence("First payment", "Primer pago"),
        Sentence(
            f"monthly annuity × {fraction} of the month, rounded to the cent, half away from zero",
            f"anualidad mensual × {fraction} del mes, redondeado al centavo",
        ),
        Fraction(amount),
    )
    return amount


def _end_of_month(day: date) -> date:
    return day.replace(day=last_day_of_month(day.year, day.month))


def _months_between(start: date, end: date) -> int:
    """How many months' ends lie between the months of two days."""
    return (end.year - start.year) * MONTHS_IN_YEAR + end.month - start.month
