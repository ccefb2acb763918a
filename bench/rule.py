"""§ 786-7(a)(3) over many accounts on one core: alone, with its receipt, and beside OpenFisca with the same formula."""

from collections.abc import Mapping, Sequence
from datetime import date
from math import prod

from bench.accounts import MONTHS, PERCENTS, SEMESTER, accounts
from bench.measures import Measure, at_least, exactly, interleaved, seconds
from retiro.rules.savings_accounts import (
    SemesterYieldGiven,
    average_monthly_balance_cents,
    month_balances_cents,
    semester_percent,
    semester_yield,
    yield_cents,
)

ACCOUNTS = 100_000
WITH_RECEIPT = 2_000
ONE_AT_A_TIME = 500


def measure(count: int = ACCOUNTS) -> list[Measure]:
    """Accounts a second, of this process's processor time; and whose cents are off, and by how many."""
    # numpy and OpenFisca are loaded for this part alone.
    from bench.openfisca import Inputs, cents  # noqa: PLC0415

    made = list(accounts(count))
    prepared = [
        (account.opening_cents, list(zip(MONTHS, account.contributed_cents, strict=True)), account.selection)
        for account in made
    ]
    exact = plain_integers(prepared)
    inputs = Inputs(made)
    givens = [account.given for account in made[:WITH_RECEIPT]]
    singles = min(ONE_AT_A_TIME, count)
    rows = interleaved(
        [
            lambda: without_receipt(prepared),
            lambda: with_receipt(givens),
            lambda: plain_integers(prepared),
            lambda: [inputs.yields(place, 1) for place in range(singles)],
            inputs.yields,
        ]
    )
    of_rule = without_receipt(prepared)
    of_receipts = with_receipt(givens)
    differing = sum(ours != theirs for ours, theirs in zip(of_rule, exact, strict=True))
    differing += sum(ours != theirs for ours, theirs in zip(of_receipts, exact[: len(givens)], strict=True))
    off = [abs(int(theirs) - ours) for theirs, ours in zip(cents(inputs.yields()), exact, strict=True)]
    alone = "a core: the facts of an account, to the cents"
    return [
        Measure("yield.per_second", count / seconds(rows, 0), "accounts/s", alone, at_least(200_000)),
        Measure(
            "yield.with_receipt_per_second",
            len(givens) / seconds(rows, 1),
            "accounts/s",
            "a core: the determination, with its receipt",
            at_least(10_000),
        ),
        Measure("yield.plain_integers_per_second", count / seconds(rows, 2), "accounts/s", "the same, written out"),
        Measure(
            "yield.openfisca_per_second",
            singles / seconds(rows, 3),
            "accounts/s",
            "OpenFisca-core, one account a simulation",
        ),
        Measure(
            "yield.openfisca_vectorised_per_second",
            count / seconds(rows, 4),
            "accounts/s",
            f"OpenFisca-core, {count:,} accounts in one simulation",
        ),
        Measure("yield.accounts_off", differing, "accounts", f"the exact cents of {count:,} accounts", exactly(0)),
        Measure("yield.openfisca_accounts_off", sum(map(bool, off)), "accounts", f"the exact cents of {count:,}"),
        Measure("yield.openfisca_cents_off", sum(off), "cents", f"the exact cents of {count:,} accounts, summed"),
        Measure("yield.openfisca_cents_off_most", max(off), "cents", "the exact cents of one account"),
    ]


Prepared = Sequence[tuple[int, Sequence[tuple[date, int]], Mapping[str, int]]]
"""Of each account: the opening cents, the movements, and the selection."""


def without_receipt(prepared: Prepared) -> list[int]:
    """What a run computes of each account: month-ends, average, percent of the selection, cents."""
    return [
        yield_cents(
            average_monthly_balance_cents(month_balances_cents(SEMESTER, opening, movements), "month_end"),
            semester_percent(selection, PERCENTS),
            "post",
        )
        for opening, movements, selection in prepared
    ]


def with_receipt(givens: Sequence[SemesterYieldGiven]) -> list[int]:
    """The determination of each account, whose receipt is made and let go again, as by who writes it out."""
    return [semester_yield(given).yield_amount for given in givens]


def plain_integers(prepared: Prepared) -> list[int]:
    """The same written out in whole numbers over one denominator, without the rule's code: what it is checked by.

    A contribution of the first month is in six month-ends, one of the last month in one. None of them is negative.
    """
    denominator = prod(percent.denominator for percent in PERCENTS.values())
    scaled = {option: percent.numerator * denominator // percent.denominator for option, percent in PERCENTS.items()}
    whole = denominator * 6 * 100 * 100  # six months, a selection in percents, of percents
    found = []
    for opening, movements, selection in prepared:
        percent = sum(weight * scaled[option] for option, weight in selection.items())
        ends = 6 * opening + sum((7 - day.month) * cents for day, cents in movements)
        found.append((2 * ends * percent + whole) // (2 * whole))
    return found
