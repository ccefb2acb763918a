"""The lines of an employer's passbook, as drafts: money of nobody yet, between the deposit and the participants.

A confirmed deposit posts cash against the clearing account of its remittance. Passing on takes from clearing what the
participants are credited in the same transaction, against `contributions`, whose other half stands in their passbooks:
over the whole fund it is zero. A remittance is closed when its clearing is zero.
"""

from datetime import date

from retiro.ledger.lines import Draft, Line, LineError, LineKind, Posting
from retiro.ledger.savings import CONTRIBUTIONS, Origin

CASH = "cash"
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


def passing_on(last: Line, remittance_id: str, amount_cents: int, value_date: date, origin: Origin) -> Draft:
    """What the participants of one transaction are credited, taken from the remittance's clearing.

    Raises `LineError` where the clearing has less: the chunks add up to more than the deposit.
    """
    _check_clearing(last, remittance_id, amount_cents)
    postings = _move(clearing_account(remittance_id), CONTRIBUTIONS, amount_cents)
    return _draft(LineKind.PASSING_ON, value_date, postings, origin)


def deposit_returned(last: Line, remittance_id: str, amount_cents: int, returned_on: date, origin: Origin) -> Draft:
    """Money of a remittance that goes back to the employer, since it can't be credited.

    Raises `LineError` where the clearing has less.
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


def _check_clearing(last: Line, remittance_id: str, amount_cents: int) -> None:
    held_cents = clearing_cents(last, remittance_id)
    if not 0 <= amount_cents <= held_cents:
        msg = f"{amount_cents} cents of remittance {remittance_id}, whose clearing holds {held_cents}"
        raise LineError(msg)


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
