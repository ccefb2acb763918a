"""§ 830q(c): the arithmetic of simple interest alone, exact in cents; each debt's is rounded once, by the caller."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from operator import itemgetter

from retiro.rules.payment_plans.day_counts import years_between


@dataclass(frozen=True, slots=True)
class Repaid:
    """A piece of a debt's principal, in cents, and the day on which it was paid."""

    amount_cents: int
    on: date


def repaid_pieces(principals_cents: Sequence[int], payments: Iterable[tuple[date, int]]) -> list[list[Repaid]]:
    """Which piece of which debt each payment repaid: payments by date, debts in the order listed.

    What is paid above all the principals goes to no debt.
    """
    pieces: list[list[Repaid]] = [[] for _ in principals_cents]
    left_cents = list(principals_cents)
    for paid_on, amount_cents in sorted(payments, key=itemgetter(0)):
        to_place_cents = amount_cents
        for debt, of_debt in enumerate(pieces):
            piece_cents = min(to_place_cents, left_cents[debt])
            if piece_cents:
                of_debt.append(Repaid(piece_cents, paid_on))
                left_cents[debt] -= piece_cents
                to_place_cents -= piece_cents
    return pieces


def simple_interest_cents(
    amount_cents: Fraction, rate_percent: Fraction, start: date, end: date, day_count: str
) -> Fraction:
    """Simple interest from a day to another, in exact cents; none where the end isn't after the start."""
    return amount_cents * rate_percent / 100 * years_between(start, end, day_count)


def liquidation_interest_cents(
    interest_cents: Fraction, rate_percent: Fraction, start: date, parts_due_on: Sequence[date], day_count: str
) -> Fraction:
    """What a debt's interest bears until it is liquidated in equal parts, each from the start to its own day."""
    part_cents = interest_cents / len(parts_due_on)
    return sum(
        (simple_interest_cents(part_cents, rate_percent, start, due_on, day_count) for due_on in parts_due_on),
        Fraction(0),
    )
