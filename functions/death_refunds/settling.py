"""What an outcome writes: who gets what, paid or held and why, and the postings of the one line that settles it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field

from death_refunds.claims import Claim
from death_refunds.gathering import Outcome
from retiro.ledger import hybrid
from retiro.ledger.lines import SAVINGS, Line, Posting
from retiro.ledger.savings import YIELDS
from retiro.rules import judiciary_hybrid
from retiro.rules.forms import Form
from retiro.rules.judiciary_hybrid import HEIRS, Payee
from retiro.rules.money import Amount, parse_cents

ESTATE = "estate"
"""The pensioner's estate, to which the last annuity payments are owed."""

_NOBODYS_NAME = ""
"""The estate is numbered by this: an heir may be called anything but nothing."""

Reason = Literal["heirs_not_declared", "held_by_setting", "minor", "rival_claims", "estate"]


class PayeeRow(Form):
    """A payee of a case. The number is the account's, and stays the payee's."""

    number: int = Field(ge=1)
    name: str
    amount: Amount
    status: Literal["payable", "held"]
    reason: Reason | None = None

    @property
    def account(self) -> str:
        """Where the amount stands."""
        return hybrid.payee_account(self.number, held=self.status == "held")


class Numbers:
    """The numbers of a case's payees, by name; two of one name are told apart by their order.

    A number is given once and stays its person's for the whole case, whoever else comes, goes or comes back: what is
    held or released by number never falls on another.
    """

    def __init__(self, given: Sequence[str] = ()) -> None:
        """`given`: the name of each number from 1 on, as `given` of an earlier step has them."""
        self.given = list(given)
        self._seen = Counter[str]()
        self._numbers = {self._next_of(name): number for number, name in enumerate(given, start=1)}
        self._seen.clear()

    def of(self, name: str) -> int:
        """The payee's number; the next free one for who was never there."""
        key = self._next_of(name)
        if key not in self._numbers:
            self.given.append(name)
            self._numbers[key] = len(self.given)
        return self._numbers[key]

    def _next_of(self, name: str) -> tuple[str, int]:
        self._seen[name] += 1
        return name, self._seen[name]


def payees_of(outcome: Outcome, claim: Claim, numbers: Numbers) -> list[PayeeRow]:
    """The payees of an outcome, in its order, the estate last."""
    rows = []
    for payee in outcome.benefit.payees:
        name = _estate_of(payee.name, claim, outcome)
        number = numbers.of(payee.name)
        reason = _reason(payee, number, claim)
        rows.append(_row(number, name, payee.amount, reason))
    if outcome.unpaid_cents:
        number = numbers.of(_NOBODYS_NAME)
        released = any(one.payee == number for one in claim.releases)
        rows.append(_row(number, ESTATE, outcome.unpaid_cents, None if released else "estate"))
    return rows


def settlement_postings(last: Line, outcome: Outcome, payees: Sequence[PayeeRow]) -> list[Posting]:
    """The balance, or the reserve, to payees, debts collected and what is to be got back. In balance."""
    collected = {row.name: row.collected for row in outcome.benefit.debts}
    from_annuity_cents = collected.pop(judiciary_hybrid.ANNUITY_PAYMENTS, 0) if outcome.is_void else 0
    postings = [Posting(one.account, one.amount) for one in payees]
    postings.append(Posting(hybrid.DEBTS, sum(collected.values())))
    if outcome.payments is None:
        balance_cents = last.balance_cents(SAVINGS)
        postings += [Posting(SAVINGS, -balance_cents), Posting(YIELDS, balance_cents - outcome.gross_cents)]
        return postings
    postings += _cleared(last)
    if outcome.is_void:
        at_retirement_cents = parse_cents(outcome.given["balance_at_retirement"])
        owed_cents = outcome.received_cents - from_annuity_cents
        postings += [
            Posting(hybrid.ANNUITY_RESERVE, from_annuity_cents + owed_cents - at_retirement_cents),
            Posting(YIELDS, at_retirement_cents - outcome.gross_cents),
            Posting(hybrid.ANNUITY_RECEIVABLE, -owed_cents),
        ]
        return postings
    return [
        *postings,
        Posting(hybrid.ANNUITY_RESERVE, outcome.overpaid_cents - outcome.gross_cents - outcome.unpaid_cents),
        Posting(hybrid.ANNUITY_RECEIVABLE, -outcome.overpaid_cents),
    ]


def allocation_postings(standing: Sequence[PayeeRow], payees: Sequence[PayeeRow]) -> list[Posting]:
    """From where each amount stands to where it is to stand."""
    left = [Posting(one.account, -one.amount) for one in standing]
    return left + [Posting(one.account, one.amount) for one in payees]


def merged(postings: Sequence[Posting]) -> dict[str, int]:
    """Cents by account, zeros left out: what two plans are the same by."""
    totals = Counter[str]()
    for one in postings:
        totals[one.account] += one.amount_cents
    return {account: cents for account, cents in totals.items() if cents}


_ESTATE_OF = "estate of "


def _estate_of(name: str, claim: Claim, outcome: Outcome) -> str:
    """Who died after the participant takes through the estate."""
    died_after = any(one.name == name and one.died_on > outcome.death_date for one in claim.beneficiary_deaths)
    return f"{_ESTATE_OF}{name}" if died_after else name


def _reason(payee: Payee, number: int, claim: Claim) -> Reason | None:
    """Why the payee is held; `None` where the amount may be paid."""
    if payee.name == HEIRS and payee.status == "held":
        return "heirs_not_declared"
    return next(_reasons(payee, number, claim), None)


def _reasons(payee: Payee, number: int, claim: Claim) -> Iterator[Reason]:
    """What holds a payee, unless it was released."""
    if any(one.payee == number for one in claim.releases):
        return
    if payee.status == "held":
        yield "held_by_setting"
    if any(heir.name == payee.name and heir.minor for heir in claim.heirs):
        yield "minor"
    for hold in claim.holds:
        if hold.payee == number:
            yield hold.reason


def _row(number: int, name: str, amount_cents: int, reason: Reason | None) -> PayeeRow:
    status: Literal["payable", "held"] = "held" if reason else "payable"
    return PayeeRow(number=number, name=name, amount=amount_cents, status=status, reason=reason)


def _cleared(last: Line) -> list[Posting]:
    """What came late into savings, what came back and what a correction owes, put to the reserve: all is counted."""
    cleared_cents: Mapping[str, int] = {
        account: last.balance_cents(account) for account in (SAVINGS, hybrid.PAYMENTS_RETURNED, hybrid.ANNUITY_ARREARS)
    }
    return [
        *(Posting(account, -cents) for account, cents in cleared_cents.items()),
        Posting(hybrid.ANNUITY_RESERVE, sum(cleared_cents.values())),
    ]
