"""One door for money and percents, one rounding, one exact split."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from retiro.rules.money import (
    Amount,
    Money,
    Percent,
    ShownPercent,
    format_cents,
    format_decimal,
    format_percent,
    is_shown_whole,
    parse_cents,
    parse_percent,
    round_half_away,
    round_quotient,
    split_exact,
)

MONEY = TypeAdapter(Money)
PERCENT = TypeAdapter(Percent)

cents = st.integers(min_value=-(10**16), max_value=10**16)
weights = st.lists(st.integers(min_value=0, max_value=10**6), min_size=1, max_size=12).filter(any)


@pytest.mark.parametrize(
    ("text", "amount_cents"),
    [
        ("0.00", 0),
        ("0.01", 1),
        ("-0.01", -1),
        ("214.36", 21436),
        ("-245.78", -24578),
        ("100.10", 10010),
        ("90071992547409.93", 9007199254740993),  # 2^53 + 1: the first that a double can't hold
    ],
)
def test_a_money_text_is_whole_cents_and_comes_out_as_it_went_in(text, amount_cents):
    assert parse_cents(text) == amount_cents
    assert format_cents(amount_cents) == text
    assert MONEY.dump_json(MONEY.validate_python(text)) == f'"{text}"'.encode()


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "1", "1.", ".50", "1.0", "1.000", "1,234.56", "1.234,56", "-950,00", "1355,90", "1e2", "1E+3"),
        *("1_000.00", " 1.00", "1.00 ", "1.00\n", "+1.00", "--1.00", "-0.00", "01.00", "$1.00", "(1.00)", "NaN", "inf"),
        *("８９.24", "١.00", "1٫00", "1.００", "1234567890123456.00"),
    ],
)
def test_any_other_text_is_no_money(text):
    with pytest.raises(ValueError, match="two places"):
        parse_cents(text)
    with pytest.raises(ValidationError):
        MONEY.validate_python(text)


@pytest.mark.parametrize("value", [1, 100, 1.0, 100.10, True, None, Fraction(1), b"1.00", ["1.00"], {}])
def test_what_is_no_text_is_no_money(value):
    with pytest.raises(ValidationError):
        MONEY.validate_python(value)


def test_a_json_number_is_no_money():
    with pytest.raises(ValidationError):
        MONEY.validate_json("214.36")


def test_an_amount_that_goes_out_is_made_of_cents_and_never_of_a_float():
    adapter = TypeAdapter(Amount)
    assert adapter.dump_python(adapter.validate_python(21436)) == "214.36"
    for wrong in (214.36, True):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)


@pytest.mark.parametrize("field", [Money, Amount, Percent, ShownPercent])
def test_a_schema_says_text_with_its_pattern_and_an_example_that_it_takes(field):
    adapter = TypeAdapter(field)
    schema = adapter.json_schema()
    assert schema["type"] == "string"
    assert schema["pattern"].startswith("^")
    for example in schema["examples"]:
        assert adapter.dump_python(adapter.validate_python(example)) == example


@given(cents)
def test_every_amount_is_read_back_as_itself(amount_cents):
    assert parse_cents(format_cents(amount_cents)) == amount_cents


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (Fraction(1, 2), 1),
        (Fraction(-1, 2), -1),
        (Fraction(3, 2), 2),
        (Fraction(5, 2), 3),  # half to even would say 2
        (Fraction(-5, 2), -3),
        (Fraction(101, 2), 51),
        (Fraction(49, 100), 0),
        (Fraction(-49, 100), 0),
        (Fraction(51, 100), 1),
        (Fraction(-51, 100), -1),
    ],
)
def test_half_is_rounded_away_from_zero(value, rounded):
    assert round_half_away(value) == rounded


@given(st.fractions())
def test_a_rounding_is_the_nearest_and_mirrors(value):
    rounded = round_half_away(value)
    assert abs(rounded - value) <= Fraction(1, 2)
    assert round_half_away(-value) == -rounded


@given(st.integers(), st.integers(min_value=1), st.integers(min_value=1, max_value=99))
def test_a_quotient_rounds_as_its_fraction_reduced_or_not(numerator, denominator, factor):
    assert round_quotient(numerator * factor, denominator * factor) == round_half_away(Fraction(numerator, denominator))


@pytest.mark.parametrize(
    ("total", "of", "parts"),
    [
        (1000000, [1, 1, 1], [333334, 333333, 333333]),
        (9999, [75, 25], [7499, 2500]),  # 7499.25 and 2499.75: the larger remainder takes the cent
        (9999, [25, 75], [2500, 7499]),
        (2, [1, 1, 1], [1, 1, 0]),
        (1, [1, 1, 1], [1, 0, 0]),
        (0, [1, 1, 1], [0, 0, 0]),
        (-1000000, [1, 1, 1], [-333334, -333333, -333333]),
        (100, [0, 1], [0, 100]),
        (100, [Fraction(1, 3), Fraction(2, 3)], [33, 67]),
    ],
)
def test_a_split_is_exact_by_largest_remainder(total, of, parts):
    assert split_exact(total, of) == parts


@pytest.mark.parametrize("of", [[], [0, 0], [2, -1]])
def test_a_split_needs_a_weight_and_none_below_zero(of):
    with pytest.raises(ValueError, match="weight"):
        split_exact(100, of)


@given(cents, weights)
def test_a_split_sums_to_its_total_is_fair_to_a_cent_and_mirrors(total, of):
    parts = split_exact(total, of)
    assert sum(parts) == total
    for part, weight in zip(parts, of, strict=True):
        assert abs(part - Fraction(total * weight, sum(of))) < 1
        assert weight or part == 0
    assert split_exact(-total, of) == [-part for part in parts]


@pytest.mark.parametrize(
    ("text", "percent", "exact"),
    [
        ("4.27", Fraction(427, 100), "4.27"),
        ("-4.20", Fraction(-21, 5), "-4.2"),
        ("90", Fraction(90), "90"),
        ("0.5", Fraction(1, 2), "0.5"),
        ("-0.00", Fraction(0), "0"),
        ("2.0033333333333333333333333333333333333333", None, "2.0033333333333333333333333333333333333333"),
    ],
)
def test_a_percent_is_exact_and_comes_out_exact(text, percent, exact):
    parsed = parse_percent(text)
    assert percent is None or parsed == percent
    assert format_decimal(parsed) == exact
    assert PERCENT.validate_python(text) == parsed
    assert PERCENT.dump_python(parsed) == exact


@pytest.mark.parametrize("text", ["", "+1", "1.", ".5", "1e2", "1_0", " 1", "1 ", "４", "NaN", "1/3", "1%", "00.5"])
def test_any_other_text_is_no_percent(text):
    with pytest.raises(ValueError, match="decimal text"):
        parse_percent(text)


@pytest.mark.parametrize("value", [4, 4.27, True, None])
def test_a_number_is_no_percent(value):
    with pytest.raises(ValidationError):
        PERCENT.validate_python(value)


def test_a_percent_whose_decimals_never_end_has_no_exact_text():
    with pytest.raises(ValueError, match="no exact decimal"):
        format_decimal(Fraction(1, 3))


@pytest.mark.parametrize(
    ("percent", "shown"),
    [
        (Fraction(2404, 1200), "2.003333"),
        (Fraction(24, 1), "24.000000"),
        (Fraction(5, 10**7), "0.000001"),
        (Fraction(-5, 10**7), "-0.000001"),
        (Fraction(4, 10**7), "0.000000"),
        (Fraction(-4, 10**7), "0.000000"),
        (Fraction(-106833333, 10**8), "-1.068333"),
    ],
)
def test_a_percent_is_shown_with_six_places_rounded_away(percent, shown):
    assert format_percent(percent) == shown
    assert TypeAdapter(ShownPercent).validate_python(shown) == shown


@pytest.mark.parametrize("text", ["2.00333", "2.0033333", "2", "x"])
def test_a_shown_percent_has_six_places(text):
    with pytest.raises(ValidationError):
        TypeAdapter(ShownPercent).validate_python(text)


@pytest.mark.parametrize(
    ("percent", "whole"),
    [
        (Fraction("2.79"), True),
        (Fraction("2.000001"), True),  # six places, which are all that is shown
        (Fraction("2.0000001"), False),
        (Fraction(2404, 1200), False),  # 2.00333…
    ],
)
def test_a_percent_is_shown_whole_where_six_places_hold_it(percent, whole):
    assert is_shown_whole(percent) is whole
    assert (Fraction(format_percent(percent)) == percent) is whole
