"""Each line of a remittance against what the registry and the payer's order say of it. Pure.

What a file's form forbids is a fault, and nothing of the file is taken. What only stands out is a match (exact, short,
over, unknown, missing) or a flag (a contribution outside the statutory rate): noted, and never changed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

from payroll_deductions.edits import ENGLISH, Edit, Fault
from payroll_deductions.file_reading import Row
from retiro.ledger.plans import PENSION_PAYROLL
from retiro.registry.deduction_orders import Order
from retiro.registry.participants import Profile
from retiro.registry.remittances import CONTRIBUTION, INSTALLMENT
from retiro.rules.refusals import Refusal
from retiro.rules.remitting import statutory_contribution_cents

_PLANS_FUND = "ERS"


class Result(StrEnum):
    """How an installment compares with the order: the month's installment and its arrears, together."""

    EXACT = "exact"
    SHORT = "short"
    OVER = "over"
    UNKNOWN = "unknown"
    MISSING = "missing"


class Flag(StrEnum):
    """What stands out of a contribution with a salary."""

    OUTSIDE_RATE = "outside_statutory_rate"
    NO_RATE = "no_rate_in_force"


class Match(NamedTuple):
    """A line and what was found of it. `ordered_cents`: what the order asks; `expected_cents`: what the rate gives.

    A line that is missing from the file has the number 0.
    """

    line: int
    participant_id: str
    result: Result | None = None
    ordered_cents: int | None = None
    flag: Flag | None = None
    expected_cents: int | None = None

    @property
    def document(self) -> list[Any]:
        """As it is stored."""
        return [self.line, self.participant_id, self.result, self.ordered_cents, self.flag, self.expected_cents]

    @classmethod
    def of_document(cls, document: Sequence[Any]) -> "Match":
        """As it was stored."""
        line, participant_id, result, ordered_cents, flag, expected_cents = document
        return cls(
            line,
            participant_id,
            None if result is None else Result(result),
            ordered_cents,
            None if flag is None else Flag(flag),
            expected_cents,
        )


@dataclass(frozen=True)
class Payer:
    """Who remits, for which month, and what it was ordered to withhold, by participant."""

    employer_id: str
    fund: str
    month: date
    orders: Mapping[str, Order]


@dataclass
class Checked:
    """What was found of some lines: faults, and matches of those that are neither plain nor exact."""

    faults: list[Fault] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each result and each flag."""
        return counts(self.matches)


def check(rows: Iterable[Row], first_line: int, payer: Payer, profiles: Mapping[str, Profile]) -> Checked:
    """Check rows, of which the first is line `first_line`. `profiles`: those of their participants who are enrolled.

    A row whose participant or kind can't be read has its fault already.
    """
    checked = Checked()
    for line, row in enumerate(rows, start=first_line):
        if row.participant_id is None or row.kind is None:
            continue
        edit = _edit(row, payer, profiles.get(row.participant_id))
        if edit is not None:
            checked.faults.append(Fault(line, ENGLISH[edit in _OF_THE_KIND], edit))
        elif row.amount_cents is not None:
            checked.matches.append(_match(line, row, payer))
    return checked


def missing(orders: Iterable[Order], remitted: Iterable[str]) -> list[Match]:
    """Those whom a payer's orders name and no installment of the file does, in the orders' order."""
    there = set(remitted)
    return [
        Match(0, order.participant_id, Result.MISSING, order.total_cents)
        for order in orders
        if order.participant_id not in there
    ]


def counts(matches: Iterable[Match]) -> dict[str, int]:
    """How many of each result and each flag; what there is none of is left out."""
    found = Counter(str(one) for match in matches for one in (match.result, match.flag) if one is not None)
    return dict(sorted(found.items()))


_OF_THE_KIND = frozenset({Edit.CONTRIBUTION_BY_PENSIONS, Edit.INSTALLMENT_OF_OTHER_FUND})


def _edit(row: Row, payer: Payer, profile: Profile | None) -> Edit | None:
    """The edit that a line breaks, if any. Who is on the payer's order is the payer's, whoever employs them."""
    if row.kind == CONTRIBUTION and payer.employer_id == PENSION_PAYROLL:
        return Edit.CONTRIBUTION_BY_PENSIONS
    if row.kind == INSTALLMENT and payer.fund != _PLANS_FUND:
        return Edit.INSTALLMENT_OF_OTHER_FUND
    if profile is None:
        return Edit.UNKNOWN_PARTICIPANT
    if row.kind == INSTALLMENT and (row.participant_id in payer.orders or payer.employer_id == PENSION_PAYROLL):
        return None
    if profile.employer_id != payer.employer_id or profile.fund != payer.fund:
        return Edit.OTHER_EMPLOYERS_PARTICIPANT
    return None


def _match(line: int, row: Row, payer: Payer) -> Match:
    participant_id, amount_cents = str(row.participant_id), row.amount_cents or 0
    if row.kind == CONTRIBUTION:
        return Match(line, participant_id, None, None, *_flag(row, payer))
    order = payer.orders.get(participant_id)
    if order is None:
        return Match(line, participant_id, Result.UNKNOWN)
    ordered_cents = order.total_cents
    result = Result.EXACT
    if amount_cents != ordered_cents:
        result = Result.SHORT if amount_cents < ordered_cents else Result.OVER
    return Match(line, participant_id, result, ordered_cents)


def _flag(row: Row, payer: Payer) -> tuple[Flag | None, int | None]:
    """Whether a contribution is what the statutory rate gives on the salary that stands beside it."""
    if row.salary_cents is None:
        return None, None
    try:
        expected_cents = statutory_contribution_cents(payer.fund, row.salary_cents, payer.month)
    except Refusal:
        return Flag.NO_RATE, None
    return (None, None) if row.amount_cents == expected_cents else (Flag.OUTSIDE_RATE, expected_cents)
