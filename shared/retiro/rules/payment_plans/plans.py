"""§ 830q(a)–(e): the payment plan, from the application to its last installment."""

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Literal

from retiro.rules.calendar import Date
from retiro.rules.forms import Form, Sentence
from retiro.rules.frame import Result, Worksheet, determination
from retiro.rules.money import Amount, format_cents
from retiro.rules.payment_plans.admission import admitted_rates
from retiro.rules.payment_plans.facts import PaymentPlanGiven
from retiro.rules.payment_plans.installments import month_ends, schedule
from retiro.rules.payment_plans.interest import Liquidation, PaidDebt, debt_interest_cents, interest_rule
from retiro.rules.payment_plans.principal import Principal, Term, check_days, principal_of, term_of
from retiro.rules.payment_plans.section import SECTION, DebtKind

Payer = Literal["payroll", "annuity", "none"]


class DebtInterest(Form):
    """The interest of one debt."""

    kind: DebtKind
    amount: Amount


class Installments(Form):
    """The schedule: equal installments on month-ends, the last one with the rest."""

    count: int
    amount: Amount
    last_amount: Amount
    first_due_on: Date
    last_due_on: Date


class PaymentPlan(Result):
    """§ 830q(c)–(e): the plan's dates, its interest and its installments.

    While principal is open all from `principal_paid_on` on is null. Without a schedule the last two are.
    """

    principal_deadline: Date
    plan_ends_on: Date
    principal_outstanding: Amount
    principal_paid_on: Date | None = None
    interest: list[DebtInterest] | None = None
    total_interest: Amount | None = None
    installments: Installments | None = None
    deducted_from: Payer | None = None


@determination("payment_plan", f"{SECTION}(a)-(e)", PaymentPlanGiven, PaymentPlan)
def payment_plan(given: PaymentPlanGiven, sheet: Worksheet) -> PaymentPlan:
    """(a)–(e): whether the plan is granted, what its interest comes to, and by which installments it is paid."""
    check_days(given)
    rule = interest_rule(given, sheet)
    rates = admitted_rates(given, sheet)
    term = term_of(given, sheet)
    principal = principal_of(given, term, sheet)
    if principal.paid_on is None:
        return _plan(term, principal, sheet)
    due_on = _month_ends_left(given, term, principal.paid_on, sheet)
    liquidation = Liquidation(principal.paid_on, due_on if due_on is None else due_on or [term.ends_on])
    interest = [
        DebtInterest(kind=debt.kind, amount=debt_interest_cents(PaidDebt(debt, rate, pieces), liquidation, rule, sheet))
        for debt, rate, pieces in zip(given.debts, rates, principal.pieces, strict=True)
    ]
    total_cents = _total_cents(interest, sheet)
    installments = None if due_on is None else _installments(total_cents, due_on, term, sheet)
    payer = None if installments is None else _payer(given, installments.first_due_on, sheet)
    return _plan(
        term,
        principal,
        sheet,
        principal_paid_on=principal.paid_on,
        interest=interest,
        total_interest=total_cents,
        installments=installments,
        deducted_from=payer,
    )


def _plan(term: Term, principal: Principal, sheet: Worksheet, **once_paid: object) -> PaymentPlan:
    return PaymentPlan.model_validate(
        {
            "principal_deadline": term.principal_deadline,
            "plan_ends_on": term.ends_on,
            "principal_outstanding": principal.outstanding_cents,
            "receipt": sheet.receipt(),
            **once_paid,
        }
    )


def _month_ends_left(given: PaymentPlanGiven, term: Term, paid_on: date, sheet: Worksheet) -> list[date] | None:
    """(e): the month-ends after the principal was paid, or from the pension on; None where the pension has no date yet.

    The text has installments begin with the pension, and has them deducted from the payroll before it. Where the
    principal was paid ahead of the approval, those that lie between fall due too.
    """
    first = paid_on + timedelta(days=1)
    if sheet.setting("installments_start", given.settings, given.applied_on) == "with_pension":
        if given.pension_starts_on is None:
            return None
        first = max(first, given.pension_starts_on)
    return month_ends(first, term.ends_on)


def _total_cents(interest: Sequence[DebtInterest], sheet: Worksheet) -> int:
    total_cents = sum(of_debt.amount for of_debt in interest)
    sheet.money(
        f"{SECTION}(c)",
        Sentence("Total interest", "Interés total"),
        Sentence("sum of the debts' interest", "suma del interés de las deudas"),
        Fraction(total_cents),
    )
    return total_cents


def _installments(total_cents: int, due_on: Sequence[date], term: Term, sheet: Worksheet) -> Installments | None:
    """(e): the schedule of the total, or None where there is nothing to pay."""
    planned = schedule(total_cents, due_on, term.ends_on)
    if planned is None:
        return None
    count = len(planned.due_on)
    if not due_on:
        sheet.ask(
            Sentence(
                f"No month-end is left through {term.ends_on}: the whole falls due on that day, in one installment.",
                f"No queda cierre de mes hasta el {term.ends_on}: todo vence ese día, en un solo plazo.",
            )
        )
    sheet.fact(
        f"{SECTION}(e)",
        Sentence("Installments", "Plazos"),
        Sentence(
            f"month-ends from {planned.due_on[0]} through {planned.due_on[-1]}, no installment below a cent",
            f"cierres de mes del {planned.due_on[0]} al {planned.due_on[-1]}, ningún plazo menor de un centavo",
        ),
        count,
    )
    sheet.money(
        f"{SECTION}(e)",
        Sentence("Installment", "Plazo"),
        Sentence(f"total interest ÷ {count}, cut to the cent", f"interés total ÷ {count}, cortado al centavo"),
        Fraction(planned.amount_cents),
    )
    sheet.money(
        f"{SECTION}(e)",
        Sentence("Last installment", "Último plazo"),
        Sentence(
            f"total interest − {count - 1} × {format_cents(planned.amount_cents)}",
            f"interés total − {count - 1} × {format_cents(planned.amount_cents)}",
        ),
        Fraction(planned.last_amount_cents),
    )
    return Installments(
        count=count,
        amount=planned.amount_cents,
        last_amount=planned.last_amount_cents,
        first_due_on=planned.due_on[0],
        last_due_on=planned.due_on[-1],
    )


def _payer(given: PaymentPlanGiven, first_due_on: date, sheet: Worksheet) -> Payer:
    """(e): what the first installment is taken from."""
    payer: Payer = "payroll"
    if given.pension_starts_on is not None and given.pension_starts_on <= first_due_on:
        payer = "annuity"
    elif given.separated_on is not None and given.separated_on <= first_due_on:
        payer = "none"
        sheet.ask(
            Sentence(
                "When the first installment falls due the participant is separated, with no pension: who deducts?",
                "El participante está separado y sin pensión al vencer el primer plazo: nadie lo descuenta.",
            )
        )
    sheet.fact(
        f"{SECTION}(e)",
        Sentence("Deducted from", "Se descuenta de"),
        Sentence(f"who pays the participant on {first_due_on}", f"quien paga al participante el {first_due_on}"),
        payer,
    )
    return payer
