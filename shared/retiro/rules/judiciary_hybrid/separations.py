"""§ 242b(a), (b): what a separation from the program gives: the balance, or an annuity now or later."""

from datetime import date, timedelta
from fractions import Fraction
from typing import Literal

from retiro.rules import parameters
from retiro.rules.calendar import Date, add_years
from retiro.rules.forms import Sentence
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.judiciary_hybrid.section import SECTION
from retiro.rules.money import Amount, NonNegativeMoney
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input
from retiro.rules.service_lengths import ServiceLength

Cause = Literal["voluntary", "retirement", "removal", "total_permanent_disability", "death"]
Benefit = Literal["refund", "life_annuity", "deferred"]

# "Destitution" is removal from office, the Spanish text's "destitución", and not poverty.
_CAUSES_EXCLUDED = {
    "removal": Sentence("removal from office", "destitución del cargo"),
    "total_permanent_disability": Sentence("total and permanent disability", "incapacidad total y permanente"),
    "death": Sentence("death", "muerte"),
}


class SeparationBenefitGiven(Given):
    """§ 242b(a), (b): a separation. Service as a judge that is left out is the same as the credited service."""

    separated_on: Date
    birth_date: Date
    cause: Cause
    credited_service: ServiceLength
    service_as_judge: ServiceLength | None = None
    permanent: bool = True
    open_debt: bool = False
    balance: NonNegativeMoney


class SeparationBenefit(Result):
    """§ 242b(a), (b): the benefit; the amount of a refund; the first day for which an annuity is payable."""

    benefit: Benefit
    amount: Amount | None = None
    payable_from: Date | None = None


def service_as_judge(credited: ServiceLength, as_judge: ServiceLength | None, citation: str) -> ServiceLength:
    """(b)(1): the years that count for the annuity: those as a judge, which are credited years.

    Raises:
        Refusal: `invalid_input`, there are more as a judge than there are credited.
    """
    if as_judge is None:
        return credited
    if (as_judge.years, as_judge.months, as_judge.days) > (credited.years, credited.months, credited.days):
        raise invalid_input(citation, "service_as_judge", "more_than_credited")
    return as_judge


def in_words(service: ServiceLength) -> Sentence:
    """A service length as a person reads it."""
    return Sentence(
        f"{service.years} years, {service.months} months and {service.days} days",
        f"{service.years} años, {service.months} meses y {service.days} días",
    )


def years_needed(sheet: Worksheet, on: date) -> int:
    """(a), (b)(1): the years of service that part the refund from the annuity."""
    return int(sheet.parameter(parameters.in_force("judge_service_years", on), on))


def annuity_birthday(birth_date: date, sheet: Worksheet, on: date) -> date:
    """(b)(2): the birthday from which an annuity is due. That of a February 29 falls on February 28."""
    age = int(sheet.parameter(parameters.in_force("judge_annuity_age_years", on), on))
    birthday = add_years(birth_date, age)
    sheet.fact(
        f"{SECTION}(b)(2)",
        Sentence("Birthday that the annuity takes", "Cumpleaños que requiere la anualidad"),
        Sentence(f"birth date + {age} years", f"fecha de nacimiento + {age} años"),
        birthday,
    )
    return birthday


@determination("separation_benefit", f"{SECTION}(a), (b)", SeparationBenefitGiven, SeparationBenefit)
def separation_benefit(given: SeparationBenefitGiven, sheet: Worksheet) -> SeparationBenefit:
    """(a), (b): the balance under twelve years of credited service; from twelve as a judge on an annuity, at 65."""
    if given.separated_on < given.birth_date:
        raise invalid_input(f"{SECTION}(b)(2)", "separated_on", "before_birth")
    as_judge = service_as_judge(given.credited_service, given.service_as_judge, f"{SECTION}(b)(1)")
    if given.cause in _CAUSES_EXCLUDED:
        cause = _CAUSES_EXCLUDED[given.cause]
        raise Refusal(
            RefusalCode.CAUSE_EXCLUDED, f"{SECTION}(a), (b)(1)", field="cause", cause_en=cause.en, cause_es=cause.es
        )
    _check_settled(given)
    needed = years_needed(sheet, given.separated_on)
    if not given.credited_service.reaches(needed):
        return _refund(given, needed, sheet)
    if not as_judge.reaches(needed):
        raise _for_a_person(
            "service_as_judge",
            f"{SECTION}(a), (b)(1)",
            Sentence(
                f"{needed} years are credited, and fewer as a judge, which is neither (a) nor (b)",
                f"hay {needed} años acreditados, y menos como juez, lo que no es ni (a) ni (b)",
            ),
        )
    return _annuity(given, sheet)


def _check_settled(given: SeparationBenefitGiven) -> None:
    """(a): a separation is permanent, and nothing is owed."""
    if not given.permanent:
        raise _for_a_person(
            "permanent", f"{SECTION}(a)", Sentence("the separation isn't permanent", "la separación no es permanente")
        )
    if given.open_debt:
        raise _for_a_person(
            "open_debt",
            f"{SECTION}(a)",
            Sentence("a debt to the System is open", "hay una deuda pendiente con el Sistema"),
        )


def _for_a_person(field: str, citation: str, reason: Sentence) -> Refusal:
    return Refusal(RefusalCode.NEEDS_DECISION, citation, field=field, reason_en=reason.en, reason_es=reason.es)


def _refund(given: SeparationBenefitGiven, needed: int, sheet: Worksheet) -> SeparationBenefit:
    service = in_words(given.credited_service)
    sheet.money(
        f"{SECTION}(a)",
        Sentence("Refund", "Reembolso"),
        Sentence(
            f"balance of the account; credited service of {service.en}, under {needed} years",
            f"balance de la cuenta; servicios acreditados de {service.es}, menos de {needed} años",
        ),
        Fraction(given.balance),
    )
    return SeparationBenefit(benefit="refund", amount=given.balance, receipt=sheet.receipt())


def _annuity(given: SeparationBenefitGiven, sheet: Worksheet) -> SeparationBenefit:
    birthday = annuity_birthday(given.birth_date, sheet, given.separated_on)
    benefit: Benefit
    if birthday <= given.separated_on:
        benefit, payable_from = "life_annuity", given.separated_on + timedelta(days=1)
        formula = Sentence("the day after the separation", "el día después de la separación")
    else:
        benefit, payable_from = "deferred", birthday
        formula = Sentence("the birthday, still to come at separation", "el cumpleaños, por llegar al separarse")
    sheet.fact(f"{SECTION}(b)", Sentence("Payable from", "Pagadera desde"), formula, payable_from)
    return SeparationBenefit(benefit=benefit, payable_from=payable_from, receipt=sheet.receipt())
