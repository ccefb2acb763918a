"""Printed life-annuity values, worked out again: what a built factor table rests on."""

import csv
from dataclasses import dataclass
from importlib.resources import files

from cli.annuity_factor import AnnuityFactorGiven, annuity_factor


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A printed value and our own, to the same places."""

    table: str
    age: str
    value: str
    printed: str
    found: str

    @property
    def same(self) -> bool:
        """Whether every printed place agrees."""
        return self.printed == self.found


def recomputed() -> list[Recomputed]:
    """Every value of `data/published_annuity_values.csv`, beside what this program finds."""
    found = []
    text = files("cli").joinpath("data/published_annuity_values.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        factor = annuity_factor(
            AnnuityFactorGiven.model_validate(
                {
                    "mortality": {"law": row["law"], "A": row["A"], "B": row["B"], "c": row["c"]},
                    "interest_percent": row["interest_percent"],
                    "age": int(row["age"]),
                    "method": "udd",
                }
            )
        )
        found.append(Recomputed(row["table"], row["age"], "annual", row["annual_due"], factor.annual_due))
        if row["monthly_due_udd"]:
            monthly = row["monthly_due_udd"]
            found.append(Recomputed(row["table"], row["age"], "monthly", monthly, factor.periodic_due))
    return found
