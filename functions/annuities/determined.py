"""Contracts as they are determined: from the passbook, the Board's book and the request. It writes nothing.

The same request on the same passbook and book gives the same contract, to the byte: that is what a person approves.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from annuities.models import AnnuityQuote, Contract, Correction, FactorSource, FirstMonth, Quoted, Retiring
from annuities.terms import (
    Retirement,
    Terms,
    account_on,
    annuity_terms,
    check_adopted,
    check_periods,
    defaults_of,
    open_semester,
)
from retiro.ledger import annuities, hybrid
from retiro.ledger.annuities import Balance, Corrected
from retiro.ledger.encoding import content_hash
from retiro.ledger.lines import SAVINGS, Line
from retiro.ledger.savings import Status
from retiro.portal import refused
from retiro.registry.participants import Profile
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM, format_age
from retiro.rules.judiciary_hybrid.factors import MONTHS_IN_YEAR
from retiro.rules.money import format_decimal
from retiro.rules.receipts import Receipt
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input

if TYPE_CHECKING:
    from retiro.ledger.figures import Figure, Figures
    from retiro.ledger.resolutions import AnnuityFactors

_ID_DIGITS = 8


@dataclass(frozen=True)
class Facts:
    """What a determination looks at: the passbook up to the line that guards it, the Board's book, and the day."""

    history: list[Line]
    figures: "Figures"
    today: date

    @property
    def last(self) -> Line:
        """The passbook's last line."""
        return self.history[-1]


def annuity_id(asked: Retiring) -> str:
    """The annuity's id, from what was asked: the same again is the same."""
    digest = content_hash(asked.model_dump(mode="json")).hex()
    return f"AN-{asked.participant_id.removeprefix('P-')}-{digest[:_ID_DIGITS]}"


def participant_of(identifier: str) -> str:
    """Whose annuity or refund it is."""
    return f"P-{identifier.split('-')[1]}"


def quoted(asked: AnnuityQuote, profile: Profile, facts: Facts) -> Quoted:
    """What the annuity would be. Raises `Refusal`: what `issued` does, but for periods and settings."""
    annuities.check_may_exit(facts.last)
    _check_dates(asked, facts)
    account = account_on(facts.history, asked.retirement_date, facts.figures)
    bare = asked.factor.model_dump(mode="json") if asked.factor else None
    retirement = Retirement(asked.retirement_date, profile.birth_date, asked.transfer_annuity_elected)
    terms = annuity_terms(facts.history, retirement, facts.figures, account.balance.total_cents, bare)
    receipts = [account.provisional.receipt, terms.annuity.receipt]
    return Quoted(
        participant_id=asked.participant_id,
        retirement_date=asked.retirement_date,
        rests_on_defaults=defaults_of(receipts) + (["factor"] if bare else []),
        open_semester=open_semester(facts.last, asked.retirement_date),
        balance=account.balance.total_cents,
        provisional_return=account.balance.provisional_cents,
        factor_table=None if terms.table is None else _source(terms.table),
        **_shown(terms, receipts),
    )


def issued(asked: Retiring, profile: Profile, facts: Facts) -> tuple[Contract, Balance]:
    """(b)-(d): the first contract, and the balance that it takes.

    Raises `Refusal`: `annuity_exists`, `death_reported`, `status_forbids`, `separation_differs`,
    `retirement_before_separation`, `invalid_input` (a retirement to come), `period_open`, `service_not_credited`,
    `not_in_force`, and what `life_annuity` does.
    """
    annuities.check_may_exit(facts.last)
    _check_dates(asked, facts)
    _check_not_to_come(asked.retirement_date, facts.today)
    check_periods(facts.last, asked.retirement_date)
    account = account_on(facts.history, asked.retirement_date, facts.figures)
    retirement = Retirement(asked.retirement_date, profile.birth_date, asked.transfer_annuity_elected)
    terms = annuity_terms(facts.history, retirement, facts.figures, account.balance.total_cents)
    receipts = [account.provisional.receipt, terms.annuity.receipt]
    check_adopted(receipts, facts.figures)
    contract = Contract(
        annuity_id=annuity_id(asked),
        number=1,
        supersedes=None,
        participant_id=profile.participant_id,
        separated_on=asked.separated_on,
        balance=account.balance.total_cents,
        provisional_return=account.balance.provisional_cents,
        ground=None,
        ground_citation=None,
        reason=None,
        difference=0,
        **_of_contract(terms, retirement, receipts),
    )
    return contract, account.balance


def corrected(standing: Contract, asked: Correction, facts: Facts) -> Contract:
    """(d): the contract that supersedes the one in force. What has come into the account since is in its balance.

    (c)(1): the balance is that of the date of retirement. Where the date is another, or something has come in, the
    account is taken again as for a contract that is the first. Raises `Refusal`: `death_reported`, `no_annuity`,
    `correction_changes_nothing`, and what `issued` does.
    """
    in_force = annuities.annuity_in_force(facts.last)
    retirement = Retirement(asked.retirement_date or standing.retirement_date, asked.birth_date or standing.birth_date)
    _check_after_separation(standing.separated_on, retirement.retirement_date)
    _check_not_to_come(retirement.retirement_date, facts.today)
    balance_cents, return_cents, receipts = standing.balance, standing.provisional_return, []
    if retirement.retirement_date != standing.retirement_date or facts.last.balance_cents(SAVINGS):
        check_periods(facts.last, retirement.retirement_date)
        account = account_on(facts.history, retirement.retirement_date, facts.figures)
        balance_cents, return_cents = account.balance.total_cents, account.balance.provisional_cents
        receipts = [account.provisional.receipt]
    terms = annuity_terms(facts.history, retirement, facts.figures, balance_cents)
    receipts = [*receipts, terms.annuity.receipt]
    check_adopted(receipts, facts.figures)
    contract = Contract(
        annuity_id=standing.annuity_id,
        number=standing.number + 1,
        supersedes=standing.number,
        participant_id=standing.participant_id,
        separated_on=standing.separated_on,
        balance=balance_cents,
        provisional_return=return_cents,
        ground=asked.ground,
        ground_citation=asked.citation,
        reason=asked.reason,
        difference=0,
        **_of_contract(terms, retirement, receipts),
    )
    if _essence(contract) == _essence(standing):
        raise Refusal(RefusalCode.CORRECTION_CHANGES_NOTHING, f"{SECTION}(d)")
    difference_cents = annuities.difference_cents(facts.last, in_force, correction_of(contract, standing, facts))
    return contract.model_copy(update={"difference": difference_cents})


def correction_of(contract: Contract, standing: Contract, facts: Facts) -> Corrected:
    """What the ledger writes of a contract that corrects the one that stands."""
    received_cents = facts.last.balance_cents(SAVINGS)
    return Corrected(
        contract.retirement_date,
        contract.monthly_annuity,
        contract.first_payment_days,
        contract.balance,
        contract.provisional_return,
        contract.balance - standing.balance - received_cents,
    )


def _check_dates(asked: Retiring, facts: Facts) -> None:
    """(b): the annuity begins after the separation, and the separation is the one on record."""
    check_separation(asked.separated_on, facts)
    _check_after_separation(asked.separated_on, asked.retirement_date)


def check_separation(separated_on: date, facts: Facts) -> None:
    """Raises `Refusal` `separation_differs` where the passbook has another separation."""
    recorded = hybrid.separated_on(facts.history)
    if facts.last.state["status"] == Status.SEPARATED and recorded != separated_on:
        raise Refusal(RefusalCode.SEPARATION_DIFFERS, f"{SECTION}(a), (b)", field="separated_on", separated_on=recorded)


def _check_after_separation(separated_on: date, retirement_date: date) -> None:
    first = separated_on + timedelta(days=1)
    if retirement_date < first:
        raise Refusal(
            RefusalCode.RETIREMENT_BEFORE_SEPARATION,
            f"{SECTION}(b)",
            field="retirement_date",
            retirement_date=retirement_date,
            first=first,
        )


def _check_not_to_come(retirement_date: date, today: date) -> None:
    if retirement_date > today:
        raise invalid_input(f"{SECTION}(b)", "retirement_date", "in_the_future")


def check_ground(asked: Correction) -> None:
    """(d): never changed, save by an error or an express provision, cited. Raises 422."""
    if asked.ground is None or asked.citation is None:
        raise refused(
            "correction_without_ground",
            en="An annuity is changed for an error, or by an express provision, alone: name which, and cite it.",
            es="Una anualidad solo se cambia por un error o por disposición expresa: indique cuál, y cítelo.",
            citation=f"{SECTION}(d)",
            field="ground" if asked.ground is None else "citation",
        )


def _shown(terms: Terms, receipts: list[Receipt]) -> dict[str, Any]:
    """What quote and contract both say."""
    annuity = terms.annuity
    return {
        "age": format_age(annuity.age.years * MONTHS_IN_YEAR + annuity.age.months),
        "factor": annuity.factor,
        "monthly_annuity": annuity.monthly_annuity,
        "first_payment": FirstMonth(
            from_day=annuity.first_payment.from_day,
            through=annuity.first_payment.through,
            amount=annuity.first_payment.amount,
        ),
        "citations": [receipt.citation for receipt in receipts],
        "receipts": [receipt.model_dump(mode="json") for receipt in receipts],
    }


def _of_contract(terms: Terms, retirement: Retirement, receipts: list[Receipt]) -> dict[str, Any]:
    if terms.table is None:
        raise LookupError("a contract rests on an adopted table")
    return {
        "fund": SYSTEM,
        "retirement_date": retirement.retirement_date,
        "birth_date": retirement.birth_date,
        "credited_service": terms.service.credited,
        "service_as_judge": terms.service.as_judge,
        "first_payment_days": terms.first_payment_days,
        "factor_table": _source(terms.table),
        **_shown(terms, receipts),
    }


def _source(table: "Figure[AnnuityFactors]") -> FactorSource:
    adopted = table.value
    return FactorSource(
        resolution_id=table.entry.resolution_id,
        act=str(adopted.act),
        in_force_from=table.in_force_from,
        unit=adopted.unit,
        interest_percent=format_decimal(adopted.interest_percent),
        payment=adopted.payment,
        actuary=adopted.actuary,
        consulted_on=adopted.consulted_on,
    )


def _essence(contract: Contract) -> tuple[Any, ...]:
    """What makes two contracts the same annuity."""
    return (
        contract.retirement_date,
        contract.birth_date,
        contract.balance,
        contract.factor,
        contract.monthly_annuity,
        contract.first_payment_days,
    )
