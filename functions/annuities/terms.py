"""From a passbook and the Board's book to what an exit comes to, 4 L.P.R.A. § 242b(a)-(d). It writes nothing.

The account is closed at the end of the day before: semesters complete by then must be posted, and the semester under
way gives the return of its complete months.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from retiro.ledger import exits, hybrid
from retiro.ledger.annuities import Balance
from retiro.ledger.figures import FACTOR_TABLE, Figure, Figures, act_of
from retiro.ledger.lines import Line
from retiro.ledger.resolutions import AnnuityFactors
from retiro.rules.judiciary_hybrid import (
    SECTION,
    LifeAnnuity,
    ProvisionalYield,
    life_annuity,
    provisional_yield,
)
from retiro.rules.money import format_cents
from retiro.rules.receipts import Receipt
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.settings import value_of

FIRST_PAYMENT_DAYS = "first_payment_days"


@dataclass(frozen=True)
class Account:
    """An account on the day of an exit, and how the return of the semester under way was found."""

    balance: Balance
    provisional: ProvisionalYield


@dataclass(frozen=True)
class Terms:
    """An annuity as it was determined, and the table that it rests on; `None`: a bare factor, at a quote."""

    annuity: LifeAnnuity
    table: Figure[AnnuityFactors] | None
    first_payment_days: str
    service: hybrid.Service


@dataclass(frozen=True)
class Retirement:
    """The facts of a retirement that the passbook doesn't have."""

    retirement_date: date
    birth_date: date
    transfer_annuity_elected: bool = False


def account_on(history: Sequence[Line], exit_on: date, figures: Figures) -> Account:
    """The account at the end of the day before an exit; one that stands already, and its corrections, aren't in it.

    Raises `Refusal` `not_in_force` (the Board's percent).
    """
    as_of = exit_on - timedelta(days=1)
    adopted = exits.adopted(figures, exits.RETURN_SETTINGS, as_of)
    given = exits.provisional_given(history, exits.semester_under_way(as_of), as_of, figures, adopted.settings)
    found = provisional_yield(provisional_yield.parse(given), acts=adopted.acts)
    balance = Balance(exits.savings_cents(history), exits.return_posted_after_cents(history, as_of), found.yield_amount)
    return Account(balance, found)


def check_periods(last: Line, exit_on: date) -> None:
    """Raises `Refusal` `period_open` unless every semester that was complete before the exit is posted."""
    exits.check_periods(last, exit_on - timedelta(days=1))


def open_semester(last: Line, exit_on: date) -> str | None:
    """The semester that must be posted before the exit can be; `None`: none."""
    try:
        check_periods(last, exit_on)
    except Refusal:
        return str(last.month_ends.oldest_open) if last.month_ends else None
    return None


def annuity_terms(
    history: Sequence[Line],
    retirement: Retirement,
    figures: Figures,
    balance_cents: int,
    bare_factor: Mapping[str, Any] | None = None,
) -> Terms:
    """The annuity that a balance gives, by the Board's table, or at a quote by a bare factor.

    Raises `Refusal`: `service_not_credited`, `not_in_force` (the factor table), and what `life_annuity` does.
    """
    service = credited(history)
    adopted = exits.adopted(figures, (FIRST_PAYMENT_DAYS,), retirement.retirement_date)
    table = None if bare_factor else figures.factor_table(retirement.retirement_date)
    given = {
        "retirement_date": retirement.retirement_date.isoformat(),
        "birth_date": retirement.birth_date.isoformat(),
        "credited_service": service.credited.model_dump(),
        "service_as_judge": service.as_judge.model_dump(),
        "transfer_annuity_elected": retirement.transfer_annuity_elected,
        "balance": format_cents(balance_cents),
        "settings": dict(adopted.settings),
        **({"factor": dict(bare_factor)} if bare_factor else {}),
        **({"factor_table": table.value.table.model_dump(mode="json")} if table else {}),
    }
    acts = {**adopted.acts, **({FACTOR_TABLE: act_of(table)} if table else {})}
    annuity = life_annuity(life_annuity.parse(given), acts=acts)
    return Terms(annuity, table, value_of(FIRST_PAYMENT_DAYS, adopted.settings), service)


def credited(history: Sequence[Line]) -> hybrid.Service:
    """The service credited. Raises `Refusal` `service_not_credited`."""
    service = hybrid.service_of(history)
    if service is None:
        raise Refusal(RefusalCode.SERVICE_NOT_CREDITED, f"{SECTION}(a), (b)", field="participant_id")
    return service


def check_adopted(receipts: Sequence[Receipt], figures: Figures) -> None:
    """No live stack posts on a default. Raises `Refusal` `not_in_force`."""
    for receipt in receipts:
        exits.check_adopted(receipt, figures)


def defaults_of(receipts: Sequence[Receipt]) -> list[str]:
    """The settings that no act has adopted, by name: what a quote rests on."""
    names = [used.name for receipt in receipts for used in receipt.settings if used.in_force_from is None]
    return list(dict.fromkeys(names))
