"""§ 242b(c)(2): the factor that the Board establishes with its actuaries, bare or by age in a table.

A factor is in years (of annual payments) or in months (of monthly ones). Between two ages of a table it is linear, age
counted in completed months; outside the table's ends there is none. A factor out of its unit's range is refused, since
a mistaken unit is an error of twelve-fold. Interpolation and ranges are this program's choice.
"""

import re
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from retiro.rules.forms import FORMS, Form, Sentence, TextField
from retiro.rules.judiciary_hybrid.section import SECTION
from retiro.rules.money import Percent, format_percent, round_half_away
from retiro.rules.refusals import Refusal, RefusalCode

MONTHS_IN_YEAR = 12
CITATION = f"{SECTION}(c)(2)"

Unit = Literal["years", "months"]

_AGE_PATTERN = r"^(0|[1-9][0-9]{0,2})y([0-9]|1[01])m$"
_AGE = re.compile(_AGE_PATTERN)


def parse_age(text: str) -> int:
    """The completed months of an age `65y0m`.

    Raises:
        ValueError: the text has another form.
    """
    match = _AGE.fullmatch(text)
    if match is None:
        raise ValueError(FORMS["factor_age"].en)
    return int(match[1]) * MONTHS_IN_YEAR + int(match[2])


def format_age(age_months: int) -> str:
    """The text of an age in completed months: 780 is `"65y0m"`."""
    years, months = divmod(age_months, MONTHS_IN_YEAR)
    return f"{years}y{months}m"


AgeInMonths = Annotated[
    int, TextField("factor_age", parse_age, format_age, {"pattern": _AGE_PATTERN, "examples": ["65y0m"]})
]


class Factor(Form):
    """A bare factor, and its unit."""

    value: Percent
    unit: Unit


class FactorTable(Form):
    """Factors by age, in any order, and their unit."""

    unit: Unit
    points: Annotated[dict[AgeInMonths, Percent], Field(min_length=1)]


class _Range(NamedTuple):
    low: int
    high: int
    unit: Sentence


RANGES: dict[Unit, _Range] = {
    "years": _Range(5, 30, Sentence("years", "años")),
    "months": _Range(60, 360, Sentence("months", "meses")),
}


def factor_at(table: FactorTable, age_months: int) -> Fraction:
    """The exact factor of a table at an age in completed months: a point's, or linear between the two around it.

    Raises:
        Refusal: `no_factor_for_age`, the age lies outside the table's ends.
    """
    points = sorted(table.points.items())
    if age_months in table.points:
        return table.points[age_months]
    for (age_before, factor_before), (age_after, factor_after) in pairwise(points):
        if age_before < age_months < age_after:
            part = Fraction(age_months - age_before, age_after - age_before)
            return factor_before + (factor_after - factor_before) * part
    raise Refusal(
        RefusalCode.NO_FACTOR_FOR_AGE,
        CITATION,
        field="factor_table",
        age=format_age(age_months),
        first=format_age(points[0][0]),
        last=format_age(points[-1][0]),
    )


def check_range(factor: Fraction, unit: Unit, *, field: str) -> None:
    """Check that a factor can be of its unit: 5 to 30 years, 60 to 360 months, the ends included.

    Raises:
        Refusal: `factor_out_of_range`.
    """
    low, high, in_words = RANGES[unit]
    if not low <= factor <= high:
        raise Refusal(
            RefusalCode.FACTOR_OUT_OF_RANGE,
            CITATION,
            field=field,
            factor=format_percent(factor),
            unit_en=in_words.en,
            unit_es=in_words.es,
            low=low,
            high=high,
        )


def check_table(table: FactorTable) -> None:
    """Check every point of a table, as the Board files it.

    Raises:
        Refusal: `factor_out_of_range`, naming the first point that is.
    """
    for age_months, factor in sorted(table.points.items()):
        check_range(factor, table.unit, field=f"points.{format_age(age_months)}")


def monthly_annuity_cents(balance_cents: int, factor: Fraction, unit: Unit) -> int:
    """(c): balance ÷ factor, and ÷ 12 where the factor is in years, rounded once."""
    months = factor * MONTHS_IN_YEAR if unit == "years" else factor
    return round_half_away(balance_cents / months)
