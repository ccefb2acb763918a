"""The Board's factor, § 242b(c)(2): the value of one a year for life, once a year and several times, in advance.

It builds tables for the Board at a desk. It alone uses floats, and so it is no part of the layer: what runs in the
cloud divides by the figures that the Board has adopted, and by nothing else.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from cli.mortality import Lives, NoTableError, blended, of_death_rates, of_makeham, soa_death_rates
from retiro.rules.forms import Form, Sentence, form_error
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.money import NonNegativePercent, ShownPercent
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input

CITATION = f"{SECTION}(c)(2)"
Method = Literal["udd", "woolhouse3"]

_WHOLE_PERCENT = 100
_NEGLIGIBLE = 1e-18


# What comes in, what goes out


def _decimal_text(number: Any) -> Any:
    """The decimal text of a number as it was written: 2.7e-06 is `"0.0000027"`."""
    return f"{Decimal(repr(number)):f}" if type(number) in {int, float} else number


def _above(value: Fraction, limit: int) -> Fraction:
    if value <= limit:
        raise form_error("makeham_constant")
    return value


Constant = Annotated[NonNegativePercent, BeforeValidator(_decimal_text)]


class Makeham(Form):
    """Makeham's law: force of mortality A + B·c^x, with A not below zero, B above it, c above one.

    Its constants are no money and no rate, and may be numbers.
    """

    law: Literal["makeham"]
    A: Constant
    B: Annotated[Constant, AfterValidator(lambda value: _above(value, 0))]
    c: Annotated[Constant, AfterValidator(lambda value: _above(value, 1))]


class SoaTable(Form):
    """A table of the Society of Actuaries, by its number."""

    soa_table: Annotated[int, Field(ge=1)]


class BlendedTable(SoaTable):
    """A table and its weight in a blend."""

    weight_percent: NonNegativePercent


def _whole(blend: list[BlendedTable]) -> list[BlendedTable]:
    if sum(part.weight_percent for part in blend) != _WHOLE_PERCENT:
        raise form_error("selection_total")
    return blend


class Blend(Form):
    """Several tables, whose death rates are weighed."""

    blend: Annotated[list[BlendedTable], Field(min_length=1), AfterValidator(_whole)]


def _kind(mortality: Any) -> str | None:
    """Which of the three a mapping or a model is."""
    for kind in ("law", "soa_table", "blend"):
        if kind in mortality if isinstance(mortality, dict) else hasattr(mortality, kind):
            return kind
    return None


Mortality = Annotated[
    Annotated[Makeham, Tag("law")] | Annotated[SoaTable, Tag("soa_table")] | Annotated[Blend, Tag("blend")],
    Discriminator(_kind),
]


class AnnuityFactorGiven(Given):
    """§ 242b(c)(2): mortality, interest, age; how often in a year, and by what method the year is divided."""

    mortality: Mortality
    interest_percent: NonNegativePercent
    age: Annotated[int, Field(ge=0)]
    frequency: Annotated[int, Field(ge=1, le=366)] = 12
    method: Method


class AnnuityFactor(Result):
    """§ 242b(c)(2): the value of one paid once a year, and of the same in `frequency` parts, each in advance."""

    annual_due: str
    periodic_due: ShownPercent


# The arithmetic


class Values(NamedTuple):
    """Present values. `bounded` says that the method's own figure was out of what is possible."""

    annual_due: float
    periodic_due: float
    bounded: bool


def lives_of(mortality: Makeham | SoaTable | Blend) -> Lives:
    """The lives that a mortality describes.

    Raises:
        NoTableError: an SOA table that isn't there, or isn't one of death rates by age.
    """
    match mortality:
        case Makeham():
            return of_makeham(float(mortality.A), float(mortality.B), float(mortality.c))
        case SoaTable():
            return of_death_rates(soa_death_rates(mortality.soa_table))
        case Blend():
            parts = [(soa_death_rates(each.soa_table), float(each.weight_percent) / 100) for each in mortality.blend]
            return of_death_rates(blended(parts))


def values(lives: Lives, interest: float, age: int, frequency: int, method: Method) -> Values:
    """The values of a life annuity-due of one a year at an age that the lives have. `interest` is a year's: 0.05.

    `udd` spreads each year's deaths evenly over it. `woolhouse3` corrects the annual value by the first three terms of
    Woolhouse's formula.
    """
    annual = _annual_due(lives, interest, age)
    if frequency == 1:
        return Values(annual, annual, bounded=False)
    if method == "udd":
        periodic = _by_udd(annual, interest, frequency)
    else:
        force = math.log1p(interest) + lives.force(age)
        periodic = annual - (frequency - 1) / (2 * frequency) - (frequency**2 - 1) / (12 * frequency**2) * force
    # Each payment but a year's first comes before the year's end: no method may fall below that.
    least = annual - (frequency - 1) / frequency
    return Values(annual, max(periodic, least), bounded=periodic < least)


def _annual_due(lives: Lives, interest: float, age: int) -> float:
    discount = 1 / (1 + interest)
    total, alive = 0.0, 1.0
    for each in range(age, lives.last_age + 1):
        total += alive
        alive *= discount * lives.survival(each)
        if alive < _NEGLIGIBLE:
            break
    return total


def _by_udd(annual: float, interest: float, frequency: int) -> float:
    if interest == 0:
        return annual - (frequency - 1) / (2 * frequency)
    nominal_interest = frequency * math.expm1(math.log1p(interest) / frequency)
    nominal_discount = -frequency * math.expm1(-math.log1p(interest) / frequency)
    discount = interest / (1 + interest)
    alpha = interest * discount / (nominal_interest * nominal_discount)
    beta = (interest - nominal_interest) / (nominal_interest * nominal_discount)
    return alpha * annual - beta


# The determination


@determination("annuity_factor", CITATION, AnnuityFactorGiven, AnnuityFactor)
def annuity_factor(given: AnnuityFactorGiven, sheet: Worksheet) -> AnnuityFactor:
    """(c)(2): an annuity factor of a mortality, an interest rate and an age, for a table that the Board may adopt."""
    try:
        lives = lives_of(given.mortality)
    except NoTableError:
        raise invalid_input(CITATION, "mortality", "soa_table") from None
    check_age(lives, given.age)
    found = values(lives, float(given.interest_percent) / 100, given.age, given.frequency, given.method)
    annual_due, periodic_due = f"{found.annual_due:.4f}", f"{found.periodic_due:.6f}"
    sheet.fact(
        CITATION,
        Sentence("Annual annuity-due", "Anualidad anticipada anual"),
        Sentence(
            "sum over the years of discount × chance to be alive",
            "suma, por año, de descuento × probabilidad de vivir",
        ),
        annual_due,
    )
    sheet.fact(
        CITATION,
        Sentence(f"Paid {given.frequency} times a year", f"Pagada {given.frequency} veces al año"),
        IN_WORDS[given.method],
        periodic_due,
    )
    if found.bounded:
        sheet.ask(
            Sentence(
                "Woolhouse's formula fails at this age; the least that is possible stands in its place.",
                "La fórmula de Woolhouse falla a esta edad; en su lugar queda el mínimo posible.",
            )
        )
    return AnnuityFactor(annual_due=annual_due, periodic_due=periodic_due, receipt=sheet.receipt())


def check_age(lives: Lives, age: int) -> None:
    """Check that the lives have an age.

    Raises:
        Refusal: `no_factor_for_age`.
    """
    if not lives.first_age <= age <= lives.last_age:
        raise Refusal(
            RefusalCode.NO_FACTOR_FOR_AGE,
            CITATION,
            field="age",
            age=age,
            first=lives.first_age,
            last=lives.last_age,
        )


IN_WORDS: dict[Method, Sentence] = {
    "udd": Sentence(
        "α(m) × annual − β(m), each year's deaths spread evenly over it; α = i·d ÷ (i(m)·d(m)), "
        "β = (i − i(m)) ÷ (i(m)·d(m))",
        "α(m) × anual − β(m), con las muertes de cada año repartidas por igual; α = i·d ÷ (i(m)·d(m)), "
        "β = (i − i(m)) ÷ (i(m)·d(m))",
    ),
    "woolhouse3": Sentence(
        "annual − (m − 1) ÷ 2m − (m² − 1) ÷ 12m² × (δ + μ), Woolhouse's first three terms",
        "anual − (m − 1) ÷ 2m − (m² − 1) ÷ 12m² × (δ + μ), los tres primeros términos de Woolhouse",
    ),
}
