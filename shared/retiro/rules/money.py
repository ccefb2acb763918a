"""Money, percents and the one rounding.

Money is whole cents inside (`int`) and a text with two places outside (`"214.36"`). A percent is an exact `Fraction` of
percent units inside (4.27 percent is `Fraction("4.27")`) and a decimal text outside. No float comes in or goes out.
Everything stays exact until `round_half_away`, which is called once for each amount that is paid or posted.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from retiro.rules.forms import FORMS, TextField

Cents = int

MONEY_PATTERN = r"^-?(0|[1-9][0-9]{0,14})\.[0-9]{2}$"
PERCENT_PATTERN = r"^-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,60})?$"
SHOWN_PERCENT_PATTERN = r"^-?(0|[1-9][0-9]{0,17})\.[0-9]{6}$"
NON_NEGATIVE_MONEY_PATTERN = r"^(0|[1-9][0-9]{0,14})\.[0-9]{2}$"
POSITIVE_MONEY_PATTERN = r"^(0\.(0[1-9]|[1-9][0-9])|[1-9][0-9]{0,14}\.[0-9]{2})$"
NON_NEGATIVE_PERCENT_PATTERN = r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,60})?$"
_MONEY = re.compile(MONEY_PATTERN)
_PERCENT = re.compile(PERCENT_PATTERN)
_SHOWN_PERCENT = re.compile(SHOWN_PERCENT_PATTERN)
_SHOWN_PLACES = 6
_SHOWN_UNITS: int = 10**_SHOWN_PLACES


def parse_cents(text: str) -> int:
    """The cents of a money text: `"214.36"` is 21436.

    ASCII digits, two places, no sign but a leading `-`; no spaces, no grouping, no leading zeros, no `-0.00`.

    Raises:
        ValueError: the text has any other form.
    """
    if not _MONEY.fullmatch(text) or text == "-0.00":
        raise ValueError(FORMS["money"].en)
    return int(text[:-3] + text[-2:])


def format_cents(amount_cents: int) -> str:
    """The money text of whole cents: -24578 is `"-245.78"`."""
    whole, places = divmod(abs(amount_cents), 100)
    return f"{'-' if amount_cents < 0 else ''}{whole:d}.{places:02d}"


def round_half_away(value: Fraction | int) -> int:
    """The one rounding: to a whole number, half away from zero, so that -x rounds to the mirror of x."""
    return round_quotient(value.numerator, value.denominator)


def round_quotient(numerator: int, denominator: int) -> int:
    """`round_half_away` of numerator ÷ denominator, which is above zero. It saves a batch the reducing of fractions."""
    if numerator < 0:
        return -((-2 * numerator + denominator) // (2 * denominator))
    return (2 * numerator + denominator) // (2 * denominator)


def split_exact(total_cents: int, weights: Sequence[int | Fraction]) -> list[int]:
    """Split cents in proportion to weights so that the parts sum to the total, by largest remainder.

    Each part is first cut to the cent; the cents left over go one each to the largest remainders, ties in the order
    given. A weight of nothing gets nothing. A negative total splits as the mirror of the positive one.

    Raises:
        ValueError: a weight is below zero, or none is above it.
    """
    whole = sum(weights, Fraction(0))
    if whole == 0 or any(weight < 0 for weight in weights):
        raise ValueError("no weight may be below zero, and one must be above it")
    sign = -1 if total_cents < 0 else 1
    exact = [abs(total_cents) * Fraction(weight) / whole for weight in weights]
    parts = [share.numerator // share.denominator for share in exact]
    left_over = abs(total_cents) - sum(parts)
    # The sort is stable, so that equal remainders keep the order given.
    by_remainder = sorted(range(len(parts)), key=lambda place: parts[place] - exact[place])
    for place in by_remainder[:left_over]:
        parts[place] += 1
    return [sign * part for part in parts]


def parse_percent(text: str) -> Fraction:
    """The exact percent of a decimal text: `"2.0033"` is 20033/10000 percent.

    ASCII digits, up to 60 places, no sign but a leading `-`, no exponent.

    Raises:
        ValueError: the text has any other form.
    """
    if not _PERCENT.fullmatch(text):
        raise ValueError(FORMS["percent"].en)
    return Fraction(text)


def format_decimal(value: Fraction) -> str:
    """The exact decimal text of a fraction that has one: 427/100 is `"4.27"`, 90 is `"90"`.

    Raises:
        ValueError: its decimals never end (1/3).
    """
    numerator, denominator = value.numerator, value.denominator
    places, scale = 0, 1
    while scale % denominator:
        places += 1
        scale *= 10
        if places > denominator.bit_length():  # 2^n and 5^n both divide 10^n; nothing else ever will
            raise ValueError(f"{value} has no exact decimal text")
    return _decimal_text(numerator * scale // denominator, places)


def format_percent(percent: Fraction) -> str:
    """A percent as it is shown: six places, rounded half away from zero. Never fed back into a calculation."""
    return _decimal_text(round_quotient(percent.numerator * _SHOWN_UNITS, percent.denominator), _SHOWN_PLACES)


def is_shown_whole(percent: Fraction) -> bool:
    """Whether `format_percent` shows all of a percent: 2.79 is, 2404/1200 isn't."""
    return _SHOWN_UNITS % percent.denominator == 0


def _decimal_text(scaled: int, places: int) -> str:
    digits = str(abs(scaled)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def _parse_non_negative_cents(text: str) -> int:
    amount_cents = parse_cents(text)
    if amount_cents < 0:
        raise ValueError(FORMS["money_not_below_zero"].en)
    return amount_cents


def _parse_positive_cents(text: str) -> int:
    amount_cents = parse_cents(text)
    if amount_cents <= 0:
        raise ValueError(FORMS["money_above_zero"].en)
    return amount_cents


def _parse_non_negative_percent(text: str) -> Fraction:
    percent = parse_percent(text)
    if text.startswith("-"):
        raise ValueError(FORMS["percent_not_below_zero"].en)
    return percent


def _parse_shown_percent(text: str) -> str:
    if not _SHOWN_PERCENT.fullmatch(text):
        raise ValueError(FORMS["shown_percent"].en)
    return text


Money = Annotated[
    int, TextField("money", parse_cents, format_cents, {"pattern": MONEY_PATTERN, "examples": ["214.36"]})
]
"""A pydantic field of what comes in: it takes a money text and nothing else, holds cents, serialises to the text."""

NonNegativeMoney = Annotated[
    int,
    TextField(
        "money_not_below_zero",
        _parse_non_negative_cents,
        format_cents,
        {"pattern": NON_NEGATIVE_MONEY_PATTERN, "examples": ["214.36"]},
    ),
]
"""A `Money` that can't be below zero: a debt, a benefit."""

PositiveMoney = Annotated[
    int,
    TextField(
        "money_above_zero",
        _parse_positive_cents,
        format_cents,
        {"pattern": POSITIVE_MONEY_PATTERN, "examples": ["214.36"]},
    ),
]
"""A `Money` of a cent or more: a payment."""

Amount = Annotated[
    int, TextField("money", parse_cents, format_cents, {"pattern": MONEY_PATTERN, "examples": ["214.36"]}, int)
]
"""A pydantic field of what goes out: it is made of whole cents too, and serialises to the text."""

Percent = Annotated[
    Fraction,
    TextField("percent", parse_percent, format_decimal, {"pattern": PERCENT_PATTERN, "examples": ["4.27"]}, Fraction),
]
"""A pydantic field that takes a decimal text, holds the exact percent, and serialises to an exact decimal text."""

NonNegativePercent = Annotated[
    Fraction,
    TextField(
        "percent_not_below_zero",
        _parse_non_negative_percent,
        format_decimal,
        {"pattern": NON_NEGATIVE_PERCENT_PATTERN, "examples": ["6"]},
        Fraction,
    ),
]
"""A `Percent` that can't be below zero: a rate of interest."""

ShownPercent = Annotated[
    str,
    TextField("shown_percent", _parse_shown_percent, str, {"pattern": SHOWN_PERCENT_PATTERN, "examples": ["2.003333"]}),
]
"""A pydantic field of what `format_percent` gives: a text with six places, for reading and not for calculating."""
