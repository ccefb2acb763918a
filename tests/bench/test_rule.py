"""The rule's measures on a few accounts: which there are, and that all ways come to the same cents."""

from datetime import date

from bench.accounts import MONTHS, accounts
from bench.rule import measure, plain_integers, with_receipt, without_receipt

FIXED = {"fixed_income": 100}


def test_the_ways_that_are_timed_come_to_the_same_cents():
    # 10,000.00, and 200.00 on the 15th of each month: 10,700.00 on average. 24.04 / 12 = 2.003333 %: 214.36.
    movements = [(date(2025, month, 15), 20_000) for month in range(1, 7)]
    account = [(1_000_000, movements, FIXED)]
    assert without_receipt(account) == plain_integers(account) == [21_436]
    made = list(accounts(30))
    facts = [(one.opening_cents, list(zip(MONTHS, one.contributed_cents, strict=True)), one.selection) for one in made]
    assert without_receipt(facts) == plain_integers(facts) == with_receipt([one.given for one in made])


def test_there_is_a_measure_for_each_way_and_nobody_is_off_but_for_floats():
    measures = {one.name: one for one in measure(60)}
    assert list(measures) == [
        "yield.per_second",
        "yield.with_receipt_per_second",
        "yield.plain_integers_per_second",
        "yield.openfisca_per_second",
        "yield.openfisca_vectorised_per_second",
        "yield.accounts_off",
        "yield.openfisca_accounts_off",
        "yield.openfisca_cents_off",
        "yield.openfisca_cents_off_most",
    ]
    assert measures["yield.accounts_off"].value == 0
