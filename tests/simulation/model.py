"""What should come out: a plain model to which nothing ever happens. It knows people, money and days, and no ledger.

§ 786-7(a)(3): a semester's yield is the mean of its six month-end balances times the percent of the selection, rounded
to the cent, half away from zero. A balance has all movements dated up to that month-end, however late they were
recorded, and the yields of the semesters before.
"""

from calendar import monthrange
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from retiro.rules.calendar import Semester
from retiro.rules.savings_accounts import option_percents
from tests.simulation import figures
from tests.simulation.plan_model import PlansModel

SEMESTERS = ("FY2025-S1", "FY2025-S2")
_MONTHS = {
    "FY2025-S1": [(2024, month) for month in range(7, 13)],
    "FY2025-S2": [(2025, month) for month in range(1, 7)],
}


@dataclass
class Member:
    """A participant: the selection, and each movement of the account: day, cents, and where it comes from."""

    employer_id: str
    selection: Mapping[str, int]
    movements: list[tuple[date, int, str]] = field(default_factory=list)
    is_dead: bool = False
    gifts_cents: int = 0

    @property
    def first_semester(self) -> str | None:
        """The semester of the first credit, where it is one of those that are posted."""
        if not self.movements:
            return None
        first = min(day for day, _, _ in self.movements)
        return next((one for one in SEMESTERS if first <= _last_day(*_MONTHS[one][-1])), None)

    def balances(self, posted_through: str | None, left_to_a_person: Mapping[str, int]) -> dict[str, int]:
        """Cents by account, where the semesters through this one are posted.

        `left_to_a_person` is, by semester, what was recorded while it was being posted and belongs to an earlier one.
        """
        found: dict[str, int] = {"savings": 0}
        for _, cents, contra in self.movements:
            found["savings"] += cents
            found[contra] = found.get(contra, 0) - cents
        yields = sum(self.yields(posted_through, left_to_a_person).values())
        found["savings"] += yields
        found["yields"] = -yields
        found |= {"gifts": self.gifts_cents, "gifts_given": -self.gifts_cents}
        return {account: cents for account, cents in found.items() if cents}

    def yields(self, posted_through: str | None, left_to_a_person: Mapping[str, int]) -> dict[str, int]:
        """Cents by semester."""
        found: dict[str, int] = {}
        first = self.first_semester
        if first is None or posted_through is None:
            return found
        for semester in SEMESTERS[SEMESTERS.index(first) : SEMESTERS.index(posted_through) + 1]:
            earlier = sum(found.values()) - left_to_a_person.get(semester, 0)
            month_ends = [
                earlier + sum(cents for day, cents, _ in self.movements if day <= _last_day(*month))
                for month in _MONTHS[semester]
            ]
            exact = Fraction(sum(month_ends), 6) * _percent(semester, tuple(self.selection.items())) / 100
            found[semester] = _half_away(exact)
        return found


class Credited(NamedTuple):
    """What a remittance credited: whose it was, its value date, and cents by participant."""

    employer_id: str
    day: date
    amounts: Mapping[str, int]


@dataclass
class Model:
    """The members, and the money of the employers' remittances: all of it is credited, sooner or later.

    Unless the bank takes a deposit back: then what it credited is gone, and what an account can't give back is owed by
    the employer. `plans` is § 830q's side of it; `rebuilt` what a history left: the selection, and cents.
    """

    members: dict[str, Member] = field(default_factory=dict)
    deposits: dict[str, dict[str, int]] = field(default_factory=dict)
    credited: dict[str, "Credited"] = field(default_factory=dict)
    owed: dict[str, dict[str, int]] = field(default_factory=dict)
    plans: PlansModel = field(default_factory=PlansModel)
    rebuilt: dict[str, tuple[Mapping[str, int], int]] = field(default_factory=dict)

    def credit(self, remittance_id: str, employer_id: str, day: date, amounts: Mapping[str, int]) -> None:
        """A remittance whose deposit was confirmed."""
        self.deposits.setdefault(employer_id, {})[remittance_id] = sum(amounts.values())
        for participant_id, cents in amounts.items():
            self.members[participant_id].movements.append((day, cents, "contributions"))
        self.credited[remittance_id] = Credited(employer_id, day, amounts)

    def take_back(self, remittance_id: str, owed: Container[str]) -> None:
        """A remittance whose deposit the bank took back; these participants' lines stay."""
        employer_id, day, amounts = self.credited[remittance_id]
        stays = {one: cents for one, cents in amounts.items() if one in owed}
        self.deposits[employer_id][remittance_id] = 0
        if stays:
            self.owed.setdefault(employer_id, {})[remittance_id] = sum(stays.values())
        for participant_id, cents in amounts.items():
            if participant_id not in stays:
                self.members[participant_id].movements.append((day, -cents, "contributions"))


@cache
def _percent(semester: str, selection: tuple[tuple[str, int], ...]) -> Fraction:
    percents = option_percents(Semester.parse(semester), figures.option_yields(semester), figures.SETTINGS)
    return sum((percents[option] * percent / 100 for option, percent in selection), Fraction(0))


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _half_away(exact: Fraction) -> int:
    """-0.5 is -1, 0.5 is 1."""
    whole = (2 * abs(exact.numerator) + exact.denominator) // (2 * exact.denominator)
    return whole if exact >= 0 else -whole
