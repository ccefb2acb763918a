"""The trial balance: the carried balances of all passbooks, by fund and account. Each fund's accounts sum to zero."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from retiro.ledger.employers import INSTALLMENTS, open_remittances
from retiro.ledger.lines import Line
from retiro.ledger.savings import CONTRIBUTIONS

CLEARING = "clearing"


@dataclass(slots=True)
class TrialBalance:
    """Cents by fund and account, added up from last lines. All remittances' clearing accounts are one, `clearing`.

    `in_transit_cents` is by fund and employer: deposited, and not passed on to participants yet. `passed_on_cents`, by
    fund and account, is what has been passed on and credited.
    """

    totals_cents: dict[str, dict[str, int]] = field(default_factory=dict)
    in_transit_cents: dict[str, dict[str, int]] = field(default_factory=dict)
    passed_on_cents: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, last: Line) -> None:
        """Add the passbook that ends with this line."""
        self.add_totals(last)
        self.add_passed_on(last)

    def add_passed_on(self, line: Line) -> None:
        """Add what a passbook has of what employers passed on, as of one of its lines.

        Both sides of it are in one transaction and in two passbooks: while credits go on, who reads one after the other
        sees both only as of a moment that is over.
        """
        passed_on = self.passed_on_cents.setdefault(line.fund, {})
        for account in (CONTRIBUTIONS, INSTALLMENTS):
            if cents := line.balances.get(account, 0):
                _add(passed_on, account, cents)

    def add_totals(self, last: Line) -> None:
        """Add the balances of the passbook that ends with this line."""
        totals = self.totals_cents.setdefault(last.fund, {})
        for account, cents in last.balances.items():
            _add(totals, account.partition(":")[0], cents)
        if in_transit := sum(open_remittances(last).values()):
            _add(self.in_transit_cents.setdefault(last.fund, {}), last.passbook, in_transit)

    def merge(self, other: "TrialBalance") -> None:
        """Add another's totals: that of another chunk."""
        for mine, theirs in (
            (self.totals_cents, other.totals_cents),
            (self.in_transit_cents, other.in_transit_cents),
            (self.passed_on_cents, other.passed_on_cents),
        ):
            for fund, amounts in theirs.items():
                for name, cents in amounts.items():
                    _add(mine.setdefault(fund, {}), name, cents)

    def differences_cents(self) -> dict[str, int]:
        """By fund, by how much it is out of balance; empty where all are in balance."""
        sums = {fund: sum(totals.values()) for fund, totals in self.totals_cents.items()}
        return {fund: cents for fund, cents in sums.items() if cents}

    def contributions_cents(self) -> dict[str, int]:
        """By fund, what employers passed on and participants weren't credited, or the reverse; empty where all agree.

        Of contributions, and where those agree of installments. Both halves are posted in one transaction, so that
        anything here is a fault.
        """
        left = {
            fund: totals.get(CONTRIBUTIONS, 0) or totals.get(INSTALLMENTS, 0)
            for fund, totals in self.passed_on_cents.items()
        }
        return {fund: cents for fund, cents in left.items() if cents}

    def to_document(self) -> dict[str, Any]:
        """As plain values, for a chunk's object."""
        return {
            "totals_cents": self.totals_cents,
            "in_transit_cents": self.in_transit_cents,
            "passed_on_cents": self.passed_on_cents,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "TrialBalance":
        """From `to_document`."""
        return cls(document["totals_cents"], document["in_transit_cents"], document["passed_on_cents"])


def trial_balance(last_lines: Iterable[Line]) -> TrialBalance:
    """The trial balance of the passbooks that end with these lines."""
    balance = TrialBalance()
    for line in last_lines:
        balance.add(line)
    return balance


def _add(amounts: dict[str, int], name: str, cents: int) -> None:
    amounts[name] = amounts.get(name, 0) + cents
