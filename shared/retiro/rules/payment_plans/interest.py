"""§ 830q(c): the interest of each debt, by the Board's settings `plan_interest_base` and `day_count`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from retiro.rules.forms import Sentence
from retiro.rules.frame import Worksheet
from retiro.rules.money import format_cents, format_decimal, round_half_away
from retiro.rules.payment_plans.arithmetic import Repaid, liquidation_interest_cents, simple_interest_cents
from retiro.rules.payment_plans.day_counts import time_in_words
from retiro.rules.payment_plans.facts import Debt, PaymentPlanGiven
from retiro.rules.payment_plans.section import KIND_IN_WORDS, SECTION
from retiro.rules.refusals import invalid_input


@dataclass(frozen=True, slots=True)
class Liquidation:
    """When the interest is liquidated: from the day that the principal was paid, in equal parts on these days.

    `parts_due_on` is None where there is no schedule yet.
    """

    principal_paid_on: date
    parts_due_on: Sequence[date] | None


@dataclass(frozen=True, slots=True)
class PaidDebt:
    """A debt whose principal is paid, its simple rate in percent a year, and the pieces in which it was paid."""

    debt: Debt
    rate_percent: Fraction
    pieces: Sequence[Repaid]


@dataclass(frozen=True, slots=True)
class InterestRule:
    """The Board's two settings for interest, and the day of the application, from which one of the bases counts."""

    base: str
    day_count: str
    applied_on: date


def interest_rule(given: PaymentPlanGiven, sheet: Worksheet) -> InterestRule:
    """The settings in force for an application, once each debt has the facts that its base takes.

    Raises:
        Refusal: `invalid_input`, a debt has no accrued interest where that is its base.
    """
    base = sheet.setting("plan_interest_base", given.settings, given.applied_on)
    for number, debt in enumerate(given.debts):
        if base == "from_application" and debt.accrued_interest is None:
            raise invalid_input(f"{SECTION}(c)", f"debts.{number}.accrued_interest", "missing")
        if base != "from_application" and debt.accrued_interest is not None:
            sheet.ask(
                Sentence(
                    "Accrued interest is given, and wasn't used: it counts with the base from_application alone.",
                    "Se indica interés acumulado y no se usó: cuenta solo con la base de interés from_application.",
                )
            )
    return InterestRule(base, sheet.setting("day_count", given.settings, given.applied_on), given.applied_on)


def debt_interest_cents(paid: PaidDebt, liquidation: Liquidation, rule: InterestRule, sheet: Worksheet) -> int:
    """The interest of a debt whose principal is paid, in cents, rounded once."""
    exact_cents = _until_paid(paid, rule, sheet)
    if rule.base == "balance_until_liquidated":
        exact_cents += _until_liquidated(paid, exact_cents, liquidation, rule, sheet)
    rounded_cents = round_half_away(exact_cents)
    in_words = KIND_IN_WORDS[paid.debt.kind]
    sheet.money(
        f"{SECTION}(c)",
        Sentence(f"Interest, {in_words.en}", f"Interés, {in_words.es}"),
        Sentence(
            "sum of the debt's interest, rounded to the cent, half away from zero",
            "suma del interés de la deuda, redondeada al centavo",
        ),
        Fraction(rounded_cents),
    )
    return rounded_cents


def _until_paid(paid: PaidDebt, rule: InterestRule, sheet: Worksheet) -> Fraction:
    """Each repaid piece of principal bears interest until the day it was paid, from the day that its base has."""
    exact_cents = Fraction(0)
    start = paid.debt.owed_from
    if rule.base == "from_application":
        start = rule.applied_on
        exact_cents += _accrued(paid.debt, sheet)
    in_words = KIND_IN_WORDS[paid.debt.kind]
    rate = format_decimal(paid.rate_percent)
    for piece in paid.pieces:
        of_piece = simple_interest_cents(
            Fraction(piece.amount_cents), paid.rate_percent, start, piece.on, rule.day_count
        )
        time = time_in_words(start, piece.on, rule.day_count)
        principal = format_cents(piece.amount_cents)
        sheet.money(
            f"{SECTION}(c)",
            Sentence(
                f"Interest on {principal} of {in_words.en} from {start} to {piece.on}",
                f"Interés de {principal} por {in_words.es} del {start} al {piece.on}",
            ),
            Sentence(f"{principal} × {rate} % × {time.en}", f"{principal} × {rate} % × {time.es}"),
            of_piece,
        )
        exact_cents += of_piece
    return exact_cents


def _accrued(debt: Debt, sheet: Worksheet) -> Fraction:
    accrued_cents = Fraction(debt.accrued_interest or 0)
    sheet.money(
        f"{SECTION}(c)",
        Sentence("Interest accrued until the application", "Interés acumulado hasta la solicitud"),
        Sentence("as given, at the ordinary rate", "según se indica, a la tasa ordinaria"),
        accrued_cents,
    )
    return accrued_cents


def _until_liquidated(
    paid: PaidDebt, interest_cents: Fraction, liquidation: Liquidation, rule: InterestRule, sheet: Worksheet
) -> Fraction:
    """What the interest itself bears until each equal part of it is liquidated. Nothing before there is a schedule."""
    if liquidation.parts_due_on is None:
        sheet.ask(
            Sentence(
                "There is no schedule yet: what the interest bears until it is liquidated comes with the pension.",
                "Aún no hay plan de plazos: lo que devengue el interés hasta liquidarse vendrá con la pensión.",
            )
        )
        return Fraction(0)
    borne_cents = liquidation_interest_cents(
        interest_cents, paid.rate_percent, liquidation.principal_paid_on, liquidation.parts_due_on, rule.day_count
    )
    in_words = KIND_IN_WORDS[paid.debt.kind]
    parts = len(liquidation.parts_due_on)
    rate = format_decimal(paid.rate_percent)
    sheet.money(
        f"{SECTION}(c)",
        Sentence(
            f"Interest on the interest of {in_words.en} until it is liquidated",
            f"Interés sobre el interés de {in_words.es} hasta liquidarse",
        ),
        Sentence(
            f"{parts} equal parts, each × {rate} % × its time from {liquidation.principal_paid_on} to its month-end",
            f"{parts} partes iguales, cada una × {rate} % × su tiempo desde el {liquidation.principal_paid_on}",
        ),
        borne_cents,
    )
    return borne_cents
