"""What a payroll owes a pensioner, told from the passbook's last line alone. Pure."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from retiro.ledger import annuities, hybrid
from retiro.ledger.annuities import Balance, Exit, Payment
from retiro.ledger.lines import SAVINGS, Posting, next_line
from retiro.ledger.savings import Origin, check_yield, contribution, initial_transfer
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal, RefusalCode

EVA = Origin("u-eva via office")
NOW = datetime(2026, 10, 1, 16, tzinfo=UTC)


def written(*drafts):
    lines = []
    for draft in drafts:
        last = lines[-1] if lines else None
        lines.append(next_line(last, draft, passbook="P-000001", fund="JRS", recorded_at=NOW))
    return lines


@pytest.fixture
def retired():
    """636.82 a month from 2026-09-10 on, out of 63,682.00; nothing paid."""
    lines = written(
        hybrid.enrolment(None, date(2010, 1, 4), EVA), initial_transfer(None, 6_368_200, date(2026, 7, 1), EVA)
    )
    leaving = Exit(date(2026, 9, 9), date(2026, 9, 10), date(2026, 9, 10), Balance(6_368_200))
    for draft in annuities.issue(lines[-1], leaving, 63_682, "actual", EVA):
        lines.append(next_line(lines[-1], draft, passbook="P-000001", fund="JRS", recorded_at=NOW))
    return lines


def after(line, draft):
    return next_line(line, draft, passbook="P-000001", fund="JRS", recorded_at=NOW)


def paid_through(line, month):
    payment = annuities.due(line, month)
    return after(line, annuities.payment(payment, month.replace(day=28), 1, EVA))


@pytest.mark.parametrize(
    ("month", "since", "base_cents"),
    [
        (date(2026, 8, 1), None, None),
        (date(2026, 9, 1), date(2026, 9, 1), 44_577),  # 636.82 x 21/30
        (date(2026, 11, 1), date(2026, 9, 1), 44_577 + 2 * 63_682),
    ],
)
def test_everything_through_a_month_is_due_and_nothing_before_the_retirement(retired, month, since, base_cents):
    found = annuities.due(retired[-1], month)

    assert found == (None if since is None else Payment(since, month, base_cents, 0, 0))


def test_a_line_of_a_payment_tells_what_it_paid(retired):
    line = paid_through(retired[-1], date(2026, 11, 1))

    assert annuities.payment_of(line) == Payment(date(2026, 9, 1), date(2026, 11, 1), 44_577 + 2 * 63_682, 0, 0)
    with pytest.raises(Refusal) as refusal:
        annuities.due(line, date(2026, 11, 1))
    assert refusal.value.code is RefusalCode.ALREADY_PAID


def test_a_pensioner_s_death_brings_no_yield_of_the_semester_of_retirement(retired):
    """Its return was paid with the annuity, as of that day. FY2027-S1 ends on 2026-12-31, before the death.

    A judge who died in active service has it.
    """
    semester = Semester.parse("FY2027-S1")
    reported = [
        after(line, hybrid.death_report(line, date(2027, 1, 5), date(2027, 1, 10), EVA))
        for line in (retired[1], retired[-1])
    ]
    check_yield(reported[0], semester)
    with pytest.raises(Refusal) as refusal:
        check_yield(reported[1], semester)
    assert refusal.value.code is RefusalCode.STATUS_FORBIDS


@pytest.mark.parametrize(
    ("death", "month", "code"),
    [
        (date(2026, 10, 1), date(2026, 9, 1), None),
        (date(2026, 10, 1), date(2026, 10, 1), RefusalCode.DEATH_REPORTED),
        (date(2026, 10, 31), date(2026, 10, 1), RefusalCode.DEATH_REPORTED),
        (date(2026, 9, 30), date(2026, 10, 1), RefusalCode.DEATH_REPORTED),
    ],
)
def test_from_the_month_of_a_reported_death_on_nothing_is_due(retired, death, month, code):
    line = after(retired[-1], hybrid.death_report(retired[-1], death, date(2026, 10, 1), EVA))

    if code is None:
        assert annuities.due(line, month) is not None
        return
    with pytest.raises(Refusal) as refusal:
        annuities.due(line, month)
    assert refusal.value.code is code


@pytest.mark.parametrize(
    ("arrears_cents", "gross_cents", "left_cents"),
    [(3_682, 48_259, 0), (-10_000, 34_577, 0), (-44_577, 0, 0), (-50_000, 0, -5_423)],
)
def test_what_a_correction_left_is_settled_and_never_below_nothing(retired, arrears_cents, gross_cents, left_cents):
    line = retired[-1]
    corrected = annuities.Corrected(date(2026, 9, 10), 63_682, "actual", 6_368_200, 0)
    postings = (Posting("annuity_reserve", -arrears_cents), Posting("annuity_arrears", arrears_cents))
    line = after(line, replace(annuities.correction(line, corrected, date(2026, 10, 1), EVA), postings=postings))

    payment = annuities.due(line, date(2026, 9, 1))
    line = after(line, annuities.payment(payment, date(2026, 9, 30), 1, EVA))

    assert payment.gross_cents == line.facts["gross"] == gross_cents
    assert line.balance_cents("annuity_arrears") == left_cents


def test_an_exit_takes_return_of_a_semester_that_was_not_complete_and_adds_that_of_its_months():
    """50,000.00 with 1,200.00 of a semester posted since; 350.00 for its complete months: 49,150.00."""
    balance = Balance(5_000_000, posted_after_cents=120_000, provisional_cents=35_000)

    assert balance.total_cents == 4_915_000
    postings = {one.account: one.amount_cents for one in balance.moved_to("annuity_reserve")}
    assert postings == {SAVINGS: -5_000_000, "yields": 85_000, "annuity_reserve": 4_915_000}
    assert sum(postings.values()) == 0


@pytest.mark.parametrize("return_cents", [120_000, -120_000, 0])
def test_a_correction_moves_what_came_in_and_the_return_that_the_balance_differs_by(retired, return_cents):
    """63,682.00 corrected when 1,000.00 has come in: 64,682.00 and the return, in balance; nothing was paid yet."""
    credited = after(retired[-1], contribution(retired[-1], 100_000, date(2026, 9, 20), EVA))
    corrected = annuities.Corrected(
        date(2026, 9, 10), 65_000, "actual", 6_468_200 + return_cents, return_cents, return_cents
    )

    line = after(credited, annuities.correction(credited, corrected, date(2026, 10, 1), EVA))

    moved = {one.account: one.amount_cents for one in line.postings}
    returned = {"yields": -return_cents} if return_cents else {}
    assert moved == {SAVINGS: -100_000, "annuity_reserve": 100_000 + return_cents} | returned
    assert line.balance_cents("annuity_reserve") == 6_468_200 + return_cents
    assert sum(line.balances.values()) == 0


def test_what_is_taken_back_is_what_was_paid_and_its_month_is_due_again(retired):
    september = paid_through(retired[-1], date(2026, 9, 1))
    draft = annuities.payment_reversal([*retired, september], "2026-09", ("annuity_reversal", "2026-09", 1), EVA)
    line = after(september, draft)

    assert hybrid.payments([*retired, september, line]) == []
    assert annuities.due(line, date(2026, 9, 1)) == annuities.due(retired[-1], date(2026, 9, 1))
    with pytest.raises(Refusal) as refusal:
        annuities.payment_reversal([*retired, september, line], "2026-09", ("annuity_reversal", "2026-09", 2), EVA)
    assert refusal.value.code is RefusalCode.NOT_PAID
