"""Made-up accounts of one semester: what the rule, and what is held beside it, are given. Always the same ones."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from retiro.rules.calendar import Semester
from retiro.rules.money import format_cents
from retiro.rules.savings_accounts import (
    FIXED_INCOME,
    SYSTEM_PORTFOLIO,
    Movement,
    OptionYield,
    SemesterYieldGiven,
    month_balances_cents,
    option_percents,
)

SEMESTER = Semester.parse("FY2025-S2")
MONTHS = [date.fromisoformat(f"{month}-15") for month in SEMESTER.months]
FIGURES: Mapping[str, Mapping[str, object]] = {
    # The Two-Year Treasury averages of January to June 2025 (Federal Reserve H.15).
    FIXED_INCOME: {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]},
    SYSTEM_PORTFOLIO: {"return_percent": "5.125", "management_fees_percent": "0.31"},  # made up
}
PERCENTS: Mapping[str, Fraction] = option_percents(SEMESTER, FIGURES, {})
SELECTIONS: tuple[Mapping[str, int], ...] = (
    {FIXED_INCOME: 100},
    {SYSTEM_PORTFOLIO: 100},
    {FIXED_INCOME: 60, SYSTEM_PORTFOLIO: 40},
)


@dataclass(frozen=True, slots=True)
class Account:
    """An opening balance, a contribution in each month, and a selection."""

    opening_cents: int
    contributed_cents: tuple[int, ...]
    selection: Mapping[str, int]

    @property
    def month_ends_cents(self) -> list[int]:
        """The opening balance and the six month-ends."""
        return month_balances_cents(SEMESTER, self.opening_cents, zip(MONTHS, self.contributed_cents, strict=True))

    @property
    def given(self) -> SemesterYieldGiven:
        """What the determination is asked with."""
        return SemesterYieldGiven(
            semester=SEMESTER,
            opening_balance=format_cents(self.opening_cents),  # type: ignore[arg-type]  # a form takes texts
            movements=[
                Movement(date=day, amount=format_cents(cents))  # type: ignore[arg-type]
                for day, cents in zip(MONTHS, self.contributed_cents, strict=True)
            ],
            selection=dict(self.selection),
            option_yields={option: OptionYield.model_validate(figures) for option, figures in FIGURES.items()},
        )


def accounts(count: int) -> Iterator[Account]:
    """So many of them: up to 250,000.00 as the semester opens, 40.00 to 640.00 a month, the selections by turns."""
    chance = random.Random(2025)  # noqa: S311  # nothing secret
    for number in range(count):
        yield Account(
            chance.randrange(25_000_000),
            tuple(chance.randrange(4_000, 64_000) for _ in MONTHS),
            SELECTIONS[number % len(SELECTIONS)],
        )
