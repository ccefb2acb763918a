"""CSV that is exported: formulas stay texts, amounts stay numbers, and reading it back gives what was written (PD-13).

https://github.com/woocommerce/woocommerce/issues/53020 · https://github.com/grafana/grafana/pull/17363
https://github.com/mui/mui-x/pull/13888 · https://github.com/Semkoo/niko-table-registry/pull/194
"""

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retiro.portal.spreadsheets import amount, csv_text, original, read_back, safe

ALIVE = ["=cmd|'/C calc'!A0", "+1", "@SUM(A1)", "-García", "\t=1", " =1", "=1+1", "\r=1", "\n@x", "＝1"]


@pytest.mark.parametrize("name", [*ALIVE, "=" + "A" * 40_000])
def test_a_text_that_might_be_a_formula_comes_out_as_a_text_and_back_as_it_was(name):
    assert safe(name) == "'" + name
    assert original(safe(name)) == name


@pytest.mark.parametrize("name", ["García, José", 'He said "no"', "O'Neill", "Ana-María", "", "P-000001"])
def test_a_plain_text_is_left_alone(name):
    assert safe(name) == name


def test_a_negative_amount_stays_a_number_and_the_sum_is_the_same():
    # 100.00 − 89.24 − 0.01 = 10.75
    text = csv_text(
        ["name", "amount"], [(name, amount(cents)) for name, cents in zip(ALIVE, (10000, -8924, -1), strict=False)]
    )
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["amount"] for row in rows] == ["100.00", "-89.24", "-0.01"]
    assert sum(Decimal(row["amount"]) for row in rows) == Decimal("10.75")
    assert all(row["name"].startswith("'") for row in rows)


@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.integers(-(10**12), 10**12)), max_size=5))
def test_reading_an_export_back_gives_every_name_and_amount(rows):
    text = csv_text(["name", "amount"], [(name, amount(cents)) for name, cents in rows])
    assert text.encode().decode() == text
    assert read_back(text) == [["name", "amount"], *([name, str(amount(cents))] for name, cents in rows)]
