"""§ 242b(e), (f): the death of a participant in active service, and the death of a pensioner."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from retiro.rules.calendar import Date
from retiro.rules.forms import Sentence
from retiro.rules.frame import Worksheet, determination
from retiro.rules.judiciary_hybrid.annuities import dies_as_in_active_service
from retiro.rules.judiciary_hybrid.payees import (
    ClaimGiven,
    ClaimResult,
    Owed,
    Settlement,
    Takers,
    collect,
    debts_to_system,
    decided,
    leave_uncollected,
    owed,
    takers_of,
    write_split,
)
from retiro.rules.judiciary_hybrid.section import SECTION
from retiro.rules.money import Amount, Money, NonNegativeMoney
from retiro.rules.refusals import Refusal, RefusalCode

ANNUITY_PAYMENTS = "annuity payments"
"""The debt of the payments already made, where the death comes within thirty days of the retirement."""


class ActiveDeathRefundGiven(ClaimGiven):
    """§ 242b(e): a death in active service, the account, and who claims."""

    contributions: NonNegativeMoney
    posted_yield: Money
    provisional_yield: Money = 0
    separated_on: Date | None = None


class ActiveDeathRefund(ClaimResult):
    """§ 242b(e): the refund, before and after the debts."""

    gross_refund: Amount
    net_refund: Amount


class PensionerDeathBenefitGiven(ClaimGiven):
    """§ 242b(f): a pensioner's death, the balance at retirement, the gross of the payments received before it."""

    retirement_date: Date
    balance_at_retirement: NonNegativeMoney
    return_since_retirement: Money = 0
    annuity_payments_total: NonNegativeMoney
    transfer_annuity_due: bool


class PensionerDeathBenefit(ClaimResult):
    """§ 242b(f): which route the death takes, and the benefit before and after the debts."""

    route: Literal["pensioner", "active_service"]
    annuity_void: bool
    gross_benefit: Amount
    net_benefit: Amount
    held: bool


# (e) Death in active service


@determination("active_death_refund", f"{SECTION}(e)", ActiveDeathRefundGiven, ActiveDeathRefund)
def active_death_refund(given: ActiveDeathRefundGiven, sheet: Worksheet) -> ActiveDeathRefund:
    """(e): contributions and their return as of the death, less debts to the System, to those who take."""
    separated = given.separated_on is not None and given.separated_on < given.death_date
    if separated and decided(given, "separated_before_death", "(e)", sheet) is None:
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            f"{SECTION}(e), (f)",
            field="separated_on",
            reason_en="the participant had separated and was not yet a pensioner, which is neither (e) nor (f)",
            reason_es="el participante se había separado y no era aún pensionado, lo que no es ni (e) ni (f)",
        )
    debts = debts_to_system(given, "(e)", sheet)
    takers = takers_of(given, "(e)", sheet)
    gross_cents = _gross(
        given.contributions + given.posted_yield + given.provisional_yield,
        Sentence(
            "contributions + posted yield + provisional yield", "aportaciones + rendimiento acreditado + provisional"
        ),
        "(e)",
        sheet,
    )
    settled = collect(gross_cents, owed(debts), "(e)", sheet)
    payees = takers.split(settled.net_cents)
    write_split(payees, "(e)", sheet)
    return ActiveDeathRefund(
        gross_refund=gross_cents,
        debts=settled.debts,
        debts_collected=settled.collected_cents,
        uncollected_debt=settled.uncollected_cents,
        net_refund=settled.net_cents,
        basis=takers.basis,
        payees=payees,
        receipt=sheet.receipt(),
    )


def _gross(exact_cents: int, formula: Sentence, clause: str, sheet: Worksheet) -> int:
    gross_cents = max(0, exact_cents)
    sheet.money(
        f"{SECTION}{clause}",
        Sentence("Gross", "Bruto"),
        Sentence(f"{formula.en}, never below zero", f"{formula.es}, no menor que cero"),
        Fraction(gross_cents),
    )
    return gross_cents


# (f) Death of a pensioner


@determination("pensioner_death_benefit", f"{SECTION}(f)", PensionerDeathBenefitGiven, PensionerDeathBenefit)
def pensioner_death_benefit(given: PensionerDeathBenefitGiven, sheet: Worksheet) -> PensionerDeathBenefit:
    """(f): what the annuity had not paid of the balance at retirement; through the thirtieth day as under (e)."""
    as_in_service = dies_as_in_active_service(given.retirement_date, given.death_date, sheet)
    debts = owed(debts_to_system(given, "(f)", sheet))
    takers = takers_of(given, "(f)", sheet)
    return (_as_in_active_service if as_in_service else _as_pensioner)(given, debts, takers, sheet)


def _as_in_active_service(
    given: PensionerDeathBenefitGiven, debts: Sequence[Owed], takers: Takers, sheet: Worksheet
) -> PensionerDeathBenefit:
    """(f), last sentence: the annuity is void, and what it paid is the first debt."""
    gross_cents = _gross(
        given.balance_at_retirement + given.return_since_retirement,
        Sentence("balance at retirement + return since", "balance al retiro + rendimiento desde entonces"),
        "(f)",
        sheet,
    )
    payments_made = (ANNUITY_PAYMENTS, given.annuity_payments_total)
    settled = collect(gross_cents, [payments_made, *debts], "(f)", sheet)
    return _result(takers, settled, sheet, void=True, held=False)


def _as_pensioner(
    given: PensionerDeathBenefitGiven, debts: Sequence[Owed], takers: Takers, sheet: Worksheet
) -> PensionerDeathBenefit:
    """(f): the excess of the balance at retirement over the gross of the payments received before death."""
    lump_sum: str = sheet.setting("lump_sum_with_transfer_annuity", given.settings, given.death_date)
    if lump_sum == "hold" and given.transfer_annuity_due:
        lump_sum = decided(given, "lump_sum_with_transfer_annuity", "(f)", sheet) or lump_sum
    if lump_sum == "pay":
        sheet.ask(_LUMP_SUM_QUESTION)
    excess_cents = _gross(
        given.balance_at_retirement - given.annuity_payments_total,
        Sentence(
            "balance at retirement − gross of the annuity payments received before death",
            "balance al retiro − bruto de los pagos de anualidad recibidos antes de la muerte",
        ),
        "(f)",
        sheet,
    )
    if given.transfer_annuity_due and lump_sum == "none":
        sheet.money(
            f"{SECTION}(f)",
            Sentence("Benefit", "Beneficio"),
            Sentence("none, since an annuity by transfer is due", "ninguno, pues corresponde anualidad por traspaso"),
            Fraction(0),
        )
        settled = leave_uncollected(0, debts)
        return _result(takers, settled, sheet, void=False, held=False)
    holds_for_debts = (
        any(cents for _, cents in debts)
        and sheet.setting("pensioner_debts", given.settings, given.death_date) == "hold"
        and decided(given, "pensioner_debts", "(f)", sheet) is None
    )
    settled = leave_uncollected(excess_cents, debts) if holds_for_debts else collect(excess_cents, debts, "(f)", sheet)
    holds = holds_for_debts or (given.transfer_annuity_due and lump_sum == "hold")
    # Where nothing is due there is nothing to hold.
    return _result(takers, settled, sheet, void=False, held=holds and settled.net_cents > 0)


_LUMP_SUM_QUESTION = Sentence(
    "The published text pays the lump sum when an annuity by transfer is due; § 237 pays no death benefit beside one, "
    "and 3 L.P.R.A. § 773 pays unless one is payable. It is paid here whether or not one is due.",
    "El texto publicado concede el pago global cuando corresponde una anualidad por traspaso; § 237 no paga beneficio "
    "por muerte junto a ella, y 3 L.P.R.A. § 773 lo paga salvo que una sea pagadera. Aquí se paga en ambos casos.",
)


def _result(takers: Takers, settled: Settlement, sheet: Worksheet, *, void: bool, held: bool) -> PensionerDeathBenefit:
    payees = takers.split(settled.net_cents)
    if held:
        payees = [payee.model_copy(update={"status": "held"}) for payee in payees]
    write_split(payees, "(f)", sheet)
    return PensionerDeathBenefit(
        route="active_service" if void else "pensioner",
        annuity_void=void,
        gross_benefit=settled.gross_cents,
        debts=settled.debts,
        debts_collected=settled.collected_cents,
        uncollected_debt=settled.uncollected_cents,
        net_benefit=settled.net_cents,
        basis=takers.basis,
        payees=payees,
        held=held,
        receipt=sheet.receipt(),
    )
