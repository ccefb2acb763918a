"""Dated list prices as data: cli/data/cost/prices.toml. Exact: a price is a decimal text, and never a float."""

import tomllib
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from importlib.resources import files

from retiro.rules.forms import Sentence


@dataclass(frozen=True)
class Price:
    """Dollars for so many units. `confirmed` is the stored copy that says so; without one, `unconfirmed` says why."""

    name: str
    usd: str
    per: int
    unit: Sentence
    label: Sentence
    source: str
    since: date
    confirmed: str
    unconfirmed: str

    def of(self, units: int) -> Fraction:
        """The dollars for so many units."""
        return Fraction(self.usd) * units / self.per


@cache
def prices() -> dict[str, Price]:
    """All prices, by name."""
    found = tomllib.loads((files("cli") / "data" / "cost" / "prices.toml").read_text())
    return {
        name: Price(
            name,
            row["usd"],
            row["per"],
            Sentence(row["unit"], row["unit_es"]),
            Sentence(row["en"], row["es"]),
            row["source"],
            row["from"],
            row.get("seen", ""),
            row.get("unconfirmed", ""),
        )
        for name, row in found.items()
    }
