"""The lines of an employer's passbook, as drafts: money of nobody yet, between the deposit and the participants.

A confirmed deposit posts cash against the clearing account of its remittance. Passing on takes from clearing what the
participants are credited in the same transaction, against `contributions` and `installments`, whose other halves stand
in their passbooks: over the whole fund each is zero. A remittance is closed when its clearing is zero. Where the bank
takes a deposit back its clearing may be below zero: that is what the employer owes until the credits are taken back.
"""

from datetime import date

from retiro.ledger.lines import Draft, Line, LineError, LineKind, Posting
from retiro.ledger.savings import CONTRIBUTIONS, Origin

CASH = "cash"
INSTALLMENTS = "installments"
"""What was passed on to payment plans, § 830q; its other half is in the participants' passbooks."""

_CLEARING_PREFIX = "clearing:"


def clearing_account(remittance_id: str) -> str:
    """The account that holds a remittance's money until it is passed on."""
    return _CLEARING_PREFIX + remittance_id


def clearing_cents(last: Line | None, remittance_id: str) -> int:
    """What of a remittance's deposit isn't passed on yet, in cents; zero: closed, or not deposited."""
    return last.balance_cents(clearing_account(remittance_id)) if last else 0


def open_remittances(last: Line) -> dict[str, int]:
    """The remittances that have money in clearing, by id, in cents."""
    return {
        account.removeprefix(_CLEARING_PREFIX): cents
        for account, cents in last.balances.items()
        if account.startswith(_CLEARING_PREFIX)
    }


def opening(opened_on: date, origin: Origin) -> Draft:
    """The first line of an employer's passbook; it moves nothing."""
    return _draft(LineKind.EMPLOYER_OPENING, opened_on, (), origin)


def deposit(remittance_id: str, amount_cents: int, value_date: date, origin: Origin) -> Draft:
    """The fund confirms that the remittance's money came, on its value date."""
    return _draft(LineKind.DEPOSIT, value_date, _move(CASH, clearing_account(remittance_id), amount_cents), origin)


def passing_on(  # noqa: PLR0913  # each is named where it is called
    last: Line,
    remittance_id: str,
    amount_cents: int,
    value_date: date,
    origin: Origin,
    *,
    installments_cents: int = 0,
) -> Draft:
    """What the participants of one transaction are credited, taken from the remittance's clearing.

    `amount_cents` in contributions, and `installments_cents` in installments of their plans. Raises
    `ClearingError` where the clearing has less: the chunks add up to more than the deposit, or it was taken back.
    """
    _check_clearing(last, remittance_id, amount_cents + installments_cents)
    postings = _passed_on(remittance_id, amount_cents, installments_cents)
    return _draft(LineKind.PASSING_ON, value_date, postings, origin)


def deposit_returned(last: Line, remittance_id: str, amount_cents: int, returned_on: date, origin: Origin) -> Draft:
    """Money of a remittance that goes back to the employer, since it can't be credited.

    Raises `ClearingError` where the clearing has less.
    """
    _check_clearing(last, remittance_id, amount_cents)
    postings = _move(clearing_account(remittance_id), CASH, amount_cents)
    return _draft(LineKind.DEPOSIT_RETURNED, returned_on, postings, origin)


def taken_back(remittance_id: str, amount_cents: int, taken_on: date, origin: Origin) -> Draft:
    """What a correction has taken from a participant's contributions: it is in the remittance's clearing again.

    It goes into the transaction of that correction, to be passed on rightly, or returned.
    """
    postings = _move(CONTRIBUTIONS, clearing_account(remittance_id), amount_cents)
    return _draft(LineKind.CORRECTION, taken_on, postings, origin)


def deposit_taken_back(remittance_id: str, amount_cents: int, returned_on: date, origin: Origin) -> Draft:
    """The bank takes a whole deposit back, credited or not. What was passed on of it is owed until it is taken back."""
    postings = _move(clearing_account(remittance_id), CASH, amount_cents)
    return _draft(LineKind.DEPOSIT_RETURNED, returned_on, postings, origin)


def passing_on_reversed(
    remittance_id: str, amount_cents: int, installments_cents: int, taken_on: date, origin: Origin
) -> Draft:
    """What the participants of one transaction were credited is in the remittance's clearing again."""
    postings = _passed_on(remittance_id, -amount_cents, -installments_cents)
    return _draft(LineKind.CORRECTION, taken_on, postings, origin)


def _passed_on(remittance_id: str, amount_cents: int, installments_cents: int) -> tuple[Posting, ...]:
    postings = (
        Posting(clearing_account(remittance_id), -(amount_cents + installments_cents)),
        Posting(CONTRIBUTIONS, amount_cents),
        Posting(INSTALLMENTS, installments_cents),
    )
    return tuple(posting for posting in postings if posting.amount_cents)


class ClearingError(LineError):
    """A remittance's clearing has less than is to be taken from it."""


def _check_clearing(last: Line, remittance_id: str, amount_cents: int) -> None:
    held_cents = clearing_cents(last, remittance_id)
    if not 0 <= amount_cents <= held_cents:
        msg = f"{amount_cents} cents of remittance {remittance_id}, whose clearing holds {held_cents}"
        raise ClearingError(msg)


def _move(debited: str, credited: str, amount_cents: int) -> tuple[Posting, ...]:
    return (Posting(debited, -amount_cents), Posting(credited, amount_cents))


def _draft(kind: LineKind, effective_on: date, postings: tuple[Posting, ...], origin: Origin) -> Draft:
    return Draft(
        kind,
        effective_on,
        origin.principal,
        postings=postings,
        determination=origin.determination,
        facts=origin.facts,
    )
