"""§ 830q(f): a pensioner dies owing: the death benefit is charged, then the survivors' pension."""

from fractions import Fraction

from retiro.rules.forms import Form, Sentence
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.money import Amount, NonNegativeMoney, format_cents
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import invalid_input


class PlanDeathChargeGiven(Given):
    """§ 830q(f): what is left of the plan, its installment, and the benefits that the death brings."""

    plan_balance: NonNegativeMoney
    installment: NonNegativeMoney
    death_benefit: NonNegativeMoney
    survivor_monthly_pension: NonNegativeMoney = 0


class Discounts(Form):
    """Monthly discounts on the survivors' pension, the last one with the rest."""

    count: int
    amount: Amount
    last_amount: Amount


class PlanDeathCharge(Result):
    """§ 830q(f): what each benefit bears. `discounts` is null where nothing remains, or nothing can bear it."""

    charged_to_death_benefit: Amount
    remaining: Amount
    discounts: Discounts | None
    uncollected: Amount


@determination("plan_death_charge", f"{SECTION}(f)", PlanDeathChargeGiven, PlanDeathCharge)
def plan_death_charge(given: PlanDeathChargeGiven, sheet: Worksheet) -> PlanDeathCharge:
    """(f): charge what a pensioner left unpaid to the death benefit, and the rest to the survivors' pension."""
    charged_cents = min(given.plan_balance, given.death_benefit)
    remaining_cents = given.plan_balance - charged_cents
    if remaining_cents and not given.installment:
        raise invalid_input(f"{SECTION}(f)", "installment", "money_above_zero")
    sheet.money(
        f"{SECTION}(f)",
        Sentence("Charged to the death benefit", "Cargado al beneficio por muerte"),
        Sentence("plan balance, or the benefit, if that is less", "balance del plan, o el beneficio, si es menor"),
        Fraction(charged_cents),
    )
    sheet.money(
        f"{SECTION}(f)",
        Sentence("Remaining", "Remanente"),
        Sentence("plan balance − charged to the death benefit", "balance del plan − cargado al beneficio por muerte"),
        Fraction(remaining_cents),
    )
    discounts = _discounts(remaining_cents, min(given.installment, given.survivor_monthly_pension), sheet)
    uncollected_cents = remaining_cents if discounts is None else 0
    if uncollected_cents:
        sheet.ask(
            Sentence(
                f"No survivors' pension can bear {format_cents(uncollected_cents)}: it is for a person to claim it.",
                f"Ninguna pensión puede cubrir {format_cents(uncollected_cents)}: reclamarlo al caudal lo decide una "
                "persona.",
            )
        )
    return PlanDeathCharge(
        charged_to_death_benefit=charged_cents,
        remaining=remaining_cents,
        discounts=discounts,
        uncollected=uncollected_cents,
        receipt=sheet.receipt(),
    )


def _discounts(remaining_cents: int, discount_cents: int, sheet: Worksheet) -> Discounts | None:
    """As many discounts as clear the rest, the last one no larger than what is left for it."""
    if not remaining_cents or not discount_cents:
        return None
    count = -(-remaining_cents // discount_cents)
    last_cents = remaining_cents - (count - 1) * discount_cents
    sheet.money(
        f"{SECTION}(f)",
        Sentence("Monthly discount", "Descuento mensual"),
        Sentence(
            "the plan's installment, or the pension, if that is less", "el plazo del plan, o la pensión, si es menor"
        ),
        Fraction(discount_cents),
    )
    sheet.fact(
        f"{SECTION}(f)",
        Sentence("Discounts", "Descuentos"),
        Sentence(
            f"until paid: {count - 1} × {format_cents(discount_cents)} and a last one of {format_cents(last_cents)}",
            f"hasta saldar: {count - 1} × {format_cents(discount_cents)} y un último de {format_cents(last_cents)}",
        ),
        count,
    )
    return Discounts(count=count, amount=discount_cents, last_amount=last_cents)
