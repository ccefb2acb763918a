"""A passbook as CSV (PD-13): amounts stay numbers, texts never come alive, and it can be read back.

https://github.com/woocommerce/woocommerce/issues/53020 · https://github.com/grafana/grafana/pull/17363
"""

import csv
import io
from dataclasses import replace
from decimal import Decimal

from cli.audit import passbook_csv
from retiro.portal.spreadsheets import read_back
from tests.ledger.makers import account_of_readings, enrolled


def test_every_posting_is_a_row_and_a_spreadsheet_sums_them_to_nothing():
    history = account_of_readings()
    rows = list(csv.DictReader(io.StringIO(passbook_csv(history), newline="")))
    assert len(rows) == sum(max(1, len(line.postings)) for line in history)
    amounts = [Decimal(row["amount"]) for row in rows if row["amount"]]
    # Double entry: every credit has its debit, and a negative amount is a number and no text.
    assert sum(amounts) == 0
    assert min(amounts) < 0
    assert rows[0] == rows[0] | {"line": "1", "kind": "enrolment", "account": "", "amount": ""}


def test_a_principal_that_looks_like_a_formula_comes_out_as_a_text_and_back_as_it_was():
    line = replace(enrolled()[-1], principal="=cmd|'/C calc'!A0")
    text = passbook_csv([line])
    assert ",'=cmd|" in text
    assert read_back(text)[1][6] == line.principal
