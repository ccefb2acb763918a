"""§ 830q(d): the principal, which is paid in full within the year and in active service, or the plan lapses."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from retiro.rules import parameters
from retiro.rules.calendar import add_months, add_years
from retiro.rules.forms import FieldFault, Sentence
from retiro.rules.frame import Worksheet
from retiro.rules.money import format_cents
from retiro.rules.payment_plans.arithmetic import Repaid, repaid_pieces
from retiro.rules.payment_plans.facts import PaymentPlanGiven
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input

_LAST_YEAR = 2199
"""The calendar's last year: no later day is a `Date`."""

_TERM_YEARS_MAX = 5
"""No term that the Board's or the statute's figures give is longer: sixty months."""


@dataclass(frozen=True, slots=True)
class Term:
    """The later of approval and notice of cost, from which both terms run; the principal's deadline; the last day."""

    starts_on: date
    principal_deadline: date
    ends_on: date


@dataclass(frozen=True, slots=True)
class Principal:
    """What is open of the principal, in cents; by debt, the pieces paid; `paid_on` is None while any is open."""

    outstanding_cents: int
    paid_on: date | None
    pieces: list[list[Repaid]]


def check_days(given: PaymentPlanGiven) -> None:
    """What breaks the form before any clause is asked.

    Nobody pays to a plan that isn't applied for: not before the application, nor before the term, if it is first.

    Raises:
        Refusal: `invalid_input`, such a payment; or a term that would end after the calendar.
    """
    starts_on = _starts_on(given)
    if starts_on.year + _TERM_YEARS_MAX > _LAST_YEAR:
        raise _beyond_calendar("approved_on" if starts_on == given.approved_on else "cost_notified_on")
    for number, payment in enumerate(given.principal_payments):
        if payment.date < min(given.applied_on, starts_on):
            raise invalid_input(f"{SECTION}(d)", f"principal_payments.{number}.date", "before_application")


def _starts_on(given: PaymentPlanGiven) -> date:
    return max(given.approved_on, given.cost_notified_on)


def term_of(given: PaymentPlanGiven, sheet: Worksheet) -> Term:
    """(d), (e): the plan's term, by the anniversaries of the later of approval and notice of cost."""
    years = sheet.parameter(parameters.in_force("plan_principal_years", given.applied_on), given.applied_on)
    months = sheet.parameter(parameters.in_force("plan_term_months", given.applied_on), given.applied_on)
    starts_on = _starts_on(given)
    term = Term(starts_on, add_years(starts_on, int(years)), add_months(starts_on, int(months)))
    sheet.fact(
        f"{SECTION}(d)",
        Sentence("Principal deadline", "Fecha límite del principal"),
        Sentence(
            f"{years} year from {starts_on}, the later of approval and notice of cost",
            f"{years} año desde el {starts_on}, lo que ocurra más tarde: aprobación o notificación del costo",
        ),
        term.principal_deadline,
    )
    sheet.fact(
        f"{SECTION}(e)",
        Sentence("Plan ends on", "El plan termina el"),
        Sentence(f"{months} months from {starts_on}", f"{months} meses desde el {starts_on}"),
        term.ends_on,
    )
    return term


def principal_of(given: PaymentPlanGiven, term: Term, sheet: Worksheet) -> Principal:
    """(d): the principal as it was paid.

    Raises:
        Refusal: `principal_overpaid`, then `principal_late`.
    """
    principal_cents = sum(debt.principal for debt in given.debts)
    paid_cents = sum(payment.amount for payment in given.principal_payments)
    if paid_cents > principal_cents:
        raise Refusal(
            RefusalCode.PRINCIPAL_OVERPAID,
            f"{SECTION}(d)",
            field="principal_payments",
            paid=format_cents(paid_cents),
            principal=format_cents(principal_cents),
        )
    outstanding_cents = principal_cents - paid_cents
    _check_in_time(given, term, outstanding_cents)
    sheet.money(
        f"{SECTION}(d)",
        Sentence("Principal outstanding", "Principal pendiente"),
        Sentence(
            f"{format_cents(principal_cents)} owed − {format_cents(paid_cents)} paid",
            f"{format_cents(principal_cents)} adeudado − {format_cents(paid_cents)} pagado",
        ),
        Fraction(outstanding_cents),
    )
    pieces = repaid_pieces(
        [debt.principal for debt in given.debts],
        [(payment.date, payment.amount) for payment in given.principal_payments],
    )
    return Principal(outstanding_cents, _paid_on(given, term, outstanding_cents, sheet), pieces)


def _beyond_calendar(field: str) -> Refusal:
    rule = Sentence(
        f"must leave the plan's term within the calendar, which ends with {_LAST_YEAR}",
        f"debe dejar el término del plan dentro del calendario, que termina con {_LAST_YEAR}",
    )
    faults = [FieldFault(field, rule)]
    return Refusal(
        RefusalCode.INVALID_INPUT, f"{SECTION}(e)", field=field, faults=faults, rule_en=rule.en, rule_es=rule.es
    )


def _check_in_time(given: PaymentPlanGiven, term: Term, outstanding_cents: int) -> None:
    for payment in given.principal_payments:
        if payment.date > term.principal_deadline:
            raise _late(
                f"principal was paid on {payment.date}, after the deadline of {term.principal_deadline}",
                f"se pagó principal el {payment.date}, después de la fecha límite del {term.principal_deadline}",
            )
        if given.separated_on is not None and payment.date > given.separated_on:
            raise _late(
                f"principal was paid on {payment.date}, after the separation of {given.separated_on}",
                f"se pagó principal el {payment.date}, después de la separación del {given.separated_on}",
            )
        if given.pension_starts_on is not None and payment.date >= given.pension_starts_on:
            raise _late(
                f"principal was paid on {payment.date}, not before the pension of {given.pension_starts_on}",
                f"se pagó principal el {payment.date}, no antes de la pensión del {given.pension_starts_on}",
            )
    if outstanding_cents and given.as_of is not None and given.as_of > term.principal_deadline:
        raise _late(
            f"{format_cents(outstanding_cents)} of principal was open after {term.principal_deadline}",
            f"quedaban {format_cents(outstanding_cents)} de principal después del {term.principal_deadline}",
        )


def _late(reason_en: str, reason_es: str) -> Refusal:
    return Refusal(
        RefusalCode.PRINCIPAL_LATE,
        f"{SECTION}(d)",
        field="principal_payments",
        reason_en=reason_en,
        reason_es=reason_es,
    )


def _paid_on(given: PaymentPlanGiven, term: Term, outstanding_cents: int, sheet: Worksheet) -> date | None:
    """The day of the payment that left nothing open. Where nothing was owed it is the day from which the terms run."""
    if outstanding_cents:
        _ask_about_the_open_principal(given, sheet)
        return None
    if given.principal_payments:
        paid_on = max(payment.date for payment in given.principal_payments)
        formula = Sentence("the day of the last payment to the principal", "el día del último pago al principal")
    else:
        paid_on = term.starts_on
        formula = Sentence("no principal is owed: the later of approval and notice", "no se adeuda principal")
        sheet.ask(
            Sentence(
                "No principal is owed, and the text says nothing of that case: it counts as paid when the plan begins.",
                "No se adeuda principal, y el texto no prevé el caso: cuenta como pagado al comenzar el plan.",
            )
        )
    sheet.fact(f"{SECTION}(d)", Sentence("Principal paid on", "Principal pagado el"), formula, paid_on)
    return paid_on


def _ask_about_the_open_principal(given: PaymentPlanGiven, sheet: Worksheet) -> None:
    if given.separated_on is not None or given.pension_starts_on is not None:
        sheet.ask(
            Sentence(
                "Principal is open and the active service ends or has ended: without full payment before, the plan "
                "lapses that day.",
                "Queda principal pendiente y el servicio activo termina o terminó: sin el pago total antes, el plan "
                "caduca ese día.",
            )
        )
