"""Building a factor table: from mortality, interest and a method to points by age, ready for the Board to adopt."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from cli.annuity_factor import Method, Mortality, check_age, lives_of, values
from retiro.rules.calendar import Date
from retiro.rules.forms import Form
from retiro.rules.judiciary_hybrid import SYSTEM, FactorTable, check_table, format_age
from retiro.rules.money import NonNegativePercent, format_decimal

MONTHS = 12

Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Age = Annotated[int, Field(ge=0, le=120)]


class Assumptions(Form):
    """What a table is built on, and what its resolution says beside the figures.

    `payment` is when in a month the annuity is paid. The actuary was consulted on a day, § 242b(c)(2).
    """

    mortality: Mortality
    interest_percent: NonNegativePercent
    method: Method
    first_age: Age
    last_age: Age
    unit: Literal["years", "months"]
    payment: Literal["start", "end"]
    actuary: Text
    consulted_on: Date
    in_force_from: Date


@dataclass(frozen=True, slots=True)
class Point:
    """A whole age: the value once a year in advance, as it is printed, and the factor of the table."""

    age: int
    annual_due: str
    factor: str


def build(assumptions: Assumptions) -> list[Point]:
    """The points of a table, a whole age each. Between them § 242b(c)(2) is read as linear in months of age.

    Raises:
        NoTableError: an SOA table that isn't there, or isn't one of death rates by age.
        Refusal: `no_factor_for_age`, the mortality lacks an age; `factor_out_of_range`, a factor that no annuity could
            be issued on.
    """
    lives = lives_of(assumptions.mortality)
    points = []
    for age in range(assumptions.first_age, assumptions.last_age + 1):
        check_age(lives, age)
        found = values(lives, float(assumptions.interest_percent) / 100, age, MONTHS, assumptions.method)
        # At the month's end each payment comes a month later: the first one, certain, is missing.
        years = found.periodic_due - (1 / MONTHS if assumptions.payment == "end" else 0)
        factor = years if assumptions.unit == "years" else years * MONTHS
        points.append(Point(age, f"{found.annual_due:.4f}", f"{factor:.6f}"))
    check_table(FactorTable.model_validate({"unit": assumptions.unit, "points": _by_age(points)}))
    return points


def proposal(assumptions: Assumptions, points: list[Point], source: str) -> dict[str, Any]:
    """The table as a resolution of the Board proposes it; its act is added when the Board has a number for it."""
    return {
        "kind": "factor_table",
        "fund": SYSTEM,
        "unit": assumptions.unit,
        "points": _by_age(points),
        "mortality": assumptions.mortality.model_dump(mode="json"),
        "interest_percent": format_decimal(assumptions.interest_percent),
        "method": assumptions.method,
        "payment": assumptions.payment,
        "actuary": assumptions.actuary,
        "consulted_on": assumptions.consulted_on.isoformat(),
        "in_force_from": assumptions.in_force_from.isoformat(),
        "source": source,
        "vintage": assumptions.consulted_on.isoformat(),
    }


def _by_age(points: list[Point]) -> dict[str, str]:
    return {format_age(point.age * MONTHS): point.factor for point in points}
