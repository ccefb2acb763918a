"""What each kind of line takes in the table at the worst, by DynamoDB's rules of sizes; and what its page says."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from retiro.ledger import encoding, hybrid, plans, savings
from retiro.ledger.lines import Draft, Line, LineKind, Posting, RunMark, document_of, next_line, to_item
from retiro.ledger.month_ends import MonthEnds
from retiro.ledger.passbooks import LINE_BYTES_MAX, RUN_LINE_BYTES_MAX, LineTooLargeError, check_size
from retiro.rules.calendar import Semester
from tests.ledger.makers import NOW, S2, account_of_readings, day, posted

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"

LARGE = 9_999_999_999_999  # 99,999,999,999.99: thirteen digits
PARTICIPANT, EMPLOYER = "P-000000001", "E-000001"
REFERENCE = "R" * 40
REMITTANCE = f"{EMPLOYER}_{REFERENCE}"
USER = "u" * 36  # a UUID
PRINCIPAL = f"{USER} via {'c' * 26}"
ON = day("2026-06-30")
WRITTEN_BY_RUNS = {
    LineKind.SEMESTER_YIELD, LineKind.REVERSAL, LineKind.ANNUITY_PAYMENT, LineKind.DEDUCTION_ORDER,
    LineKind.INSTALLMENT, LineKind.PAYMENT_REVERSED, LineKind.ORDER_REVERSED,
}  # fmt: skip

# Both of the statute's options and one of the Board's, in each selection that the open semesters may need.
OPTIONS = {"fixed_income": 20, "system_portfolio": 30, "stable_value_reserve": 50}
STATE = {
    "status": "death_reported",
    "selections": dict.fromkeys(("2024-07-01", "2025-07-01", "2026-07-01"), OPTIONS),
}
MONTH_ENDS = MonthEnds("2024-12", tuple(-LARGE + month for month in range(18)), complete=False)
MARKS = {
    "yield": RunMark("FY2024-S2", 999, 99_999_999),
    "yield_reversal": RunMark("FY2024-S2", 999, 99_999_999),
}
ACCOUNTS = {"savings": LARGE, "transfers": -LARGE, "contributions": -LARGE, "yields": LARGE}
# A judge's passbook: an annuity, debts, and all the payees, as long as they may be.
JUDGE_STATE: dict[str, Any] = {
    "status": "retired",
    "selections": {"2024-07-01": {"hybrid_return": 100}},
    "designation": 99_999_998,
    "service": 99_999_998,
    "installment": LARGE,
    "annuity": hybrid.Annuity(99_999_998, ON, LARGE, "actual").state,
}
DEATH_STATE = {"death": "2026-06-30", "report": 99_999_998, "confirmed": 99_999_998}
CASE = {"id": 99_999_998, "entered": 99_999_998, "settled": 99_999_998}
JUDGE_ACCOUNTS = {
    "transfers": -LARGE, "contributions": -LARGE, "yields": -LARGE, "annuity_reserve": -LARGE, "cash": LARGE,
    "payments_returned": LARGE, "annuity_arrears": LARGE, "debts": -LARGE, "debts_stated": LARGE,
}  # fmt: skip
PAYEES = [hybrid.payee_account(number, held=True) for number in range(1, hybrid.PAYEES_MAX + 1)]
JUDGES = {*hybrid.STATE_KEYS, LineKind.FILED, LineKind.SEPARATION_REFUND, LineKind.ANNUITY_PAYMENT,
          LineKind.PAYMENT_RETURNED, LineKind.PAYMENT_REISSUED}  # fmt: skip
# A participant with a plan of as many debts as may be, a pension, and a savings account's status.
PLAN_STATE: dict[str, Any] = {
    "status": "death_reported",
    "pension": {"from": "2026-06-30", "monthly": LARGE},
    "left": "2026-06-30",
    "plan": {
        "line": 99_999_998, "status": "principal", "debts": plans.DEBTS_MAX, "principal": LARGE, "warned": 60,
        "deadline": "2026-06-30", "death": "2026-06-30", "terms": [LARGE, LARGE, 60, "2026-06-30"],
    },
}  # fmt: skip
PLAN_ACCOUNTS = {plans.debt_account(number): -LARGE for number in range(1, plans.DEBTS_MAX + 1)} | {
    "plan_stated": LARGE, "installments": -LARGE, "cash": -LARGE, "death_benefit": -LARGE, "plan_held": LARGE,
    "plan_payable": LARGE,
}  # fmt: skip
PLANS = {*plans.STATE_KEYS, LineKind.HELD_PLACED, LineKind.DEDUCTION_ORDER, LineKind.ORDER_REVERSED}
DETERMINATION = f"late_credit/{PARTICIPANT}/99999999/FY2025-S2"
SEMESTERS = [Semester(2000 + number // 2, number % 2 + 1) for number in range(34)]


def large_postings(*accounts: str) -> tuple[Posting, ...]:
    """Pairs of thirteen-digit amounts."""
    return tuple(Posting(account, LARGE * (-1) ** index) for index, account in enumerate(accounts))


def worst_draft(kind: LineKind) -> Draft:  # noqa: PLR0911  # a case a kind
    """A draft of the kind with all that it may have, as long as it may be."""
    match kind:
        case LineKind.SEMESTER_YIELD:
            return Draft(
                kind, ON, USER, large_postings("savings", "yields"), run=("yield", "FY2025-S2", 999),
                determination="yield/FY2025-S2/999", facts={"through": 99_999_998}, month_ends=MONTH_ENDS,
            )  # fmt: skip
        case LineKind.REVERSAL:
            return Draft(
                kind, ON, USER, large_postings("savings", "yields"), run=("yield_reversal", "FY2025-S2", 999),
                restores=("yield", MARKS["yield"]), determination="yield_reversal/FY2025-S2/999",
                reverses=99_999_998, belongs_on=ON, differences={"FY2025-S2": LARGE}, month_ends=MONTH_ENDS,
            )  # fmt: skip
        case LineKind.LATE_CREDIT | LineKind.CORRECTION:
            return Draft(
                kind, ON, PRINCIPAL, large_postings("savings", "contributions", "savings", "yields"),
                determination=DETERMINATION, reverses=99_999_998, belongs_on=ON,
                differences={str(semester): LARGE for semester in SEMESTERS}, facts={"remittance": REMITTANCE},
            )  # fmt: skip
        case LineKind.DEPOSIT | LineKind.DEPOSIT_RETURNED:
            postings = large_postings("cash", f"clearing:{REMITTANCE}")
            return Draft(
                kind, ON, PRINCIPAL, postings, determination=f"deposit/{REMITTANCE}", facts={"reference": REFERENCE}
            )
        case LineKind.PASSING_ON:
            postings = large_postings(f"clearing:{REMITTANCE}", "contributions")
            return Draft(kind, ON, PRINCIPAL, postings, determination=DETERMINATION, facts={"remittance": REMITTANCE})
        case LineKind.CONTRIBUTION | LineKind.INITIAL_TRANSFER:
            postings = large_postings("savings", "contributions")
            return Draft(kind, ON, PRINCIPAL, postings, determination=DETERMINATION, facts={"remittance": REMITTANCE})
        case LineKind.ANNUITY_PAYMENT:
            postings = large_postings("annuity_reserve", "annuity_arrears", "debts", "cash")
            return Draft(
                kind, ON, USER, postings, run=("annuity", "2026-06", 999), determination="annuity/2026-06/999",
                facts={"gross": LARGE, "through": "2026-06"},
            )  # fmt: skip
        case LineKind.SETTLEMENT | LineKind.SETTLEMENT_REVERSED | LineKind.ALLOCATION:
            accounts = [*JUDGE_ACCOUNTS, "receivable:annuity", *PAYEES]
            postings = large_postings(*accounts, *["yields"] * (len(accounts) % 2))
            return Draft(
                kind, ON, PRINCIPAL, postings, determination=DETERMINATION, state=DEATH_STATE | {"case": CASE},
                reverses=99_999_998,
            )  # fmt: skip
        case _ if kind in JUDGES:
            postings = large_postings("annuity_reserve", "cash")
            return Draft(
                kind, ON, PRINCIPAL, postings, determination=DETERMINATION, state=DEATH_STATE | {"case": CASE},
                facts={"reference": REFERENCE}, reverses=99_999_998,
            )  # fmt: skip
        case _:
            facts = {"requested_on": "2026-06-30"} if kind is LineKind.SELECTION else {}
            return Draft(kind, ON, PRINCIPAL, determination=DETERMINATION, state=STATE, facts=facts)


def worst_draft_of_a_plan(kind: LineKind) -> Draft:
    match kind:
        case LineKind.DEDUCTION_ORDER:
            return Draft(
                kind, ON, USER, run=("deduction_order", "2026-06", 999), determination="deduction_order/2026-06/999",
                facts={"payer": EMPLOYER, "installment": LARGE, "arrears": LARGE},
            )  # fmt: skip
        case LineKind.ORDER_REVERSED:
            return Draft(
                kind, ON, USER, run=("deduction_order_reversal", "2026-06", 999), reverses=99_999_998,
                restores=("deduction_order", RunMark("2026-05", 999, 99_999_997)),
                determination="deduction_order_reversal/2026-06/999", facts={"payer": EMPLOYER},
            )  # fmt: skip
        case LineKind.PLAN_ENDED:
            postings = large_postings("plan_debt:1", "plan_debt:2", "plan_debt:3", "receivable:estate")
            return Draft(
                kind, ON, PRINCIPAL, postings, state=PLAN_STATE,
                determination=f"plan_decision/{PARTICIPANT}_99999999/charge_death_benefit",
            )  # fmt: skip
        case LineKind.INSTALLMENT:
            postings = large_postings("plan_debt:1", "installments")
            facts = {"through": "2026-06-30", "arrears": LARGE, "remittance": REMITTANCE}
            return Draft(kind, ON, USER, postings, determination=f"crediting/{REMITTANCE}/9999", facts=facts)
        case _:
            return Draft(
                kind, ON, PRINCIPAL, large_postings(*PLAN_ACCOUNTS), state=PLAN_STATE,
                determination=f"payment_plan/{PARTICIPANT}/99999999", facts={"reference": REFERENCE, "days_left": 60},
            )  # fmt: skip


def worst_line(kind: LineKind) -> Line:
    employers = {
        LineKind.EMPLOYER_OPENING, LineKind.DEPOSIT, LineKind.DEPOSIT_RETURNED, LineKind.PASSING_ON,
    }  # fmt: skip
    passbook = EMPLOYER if kind in employers else PARTICIPANT
    # Twenty remittances open at once, in an employer's passbook.
    clearing = {f"clearing:{EMPLOYER}_{'R' * 38}{number}": LARGE for number in range(10, 30)}
    if kind in JUDGES:
        return of_a_judge(kind)
    if kind in PLANS:
        return of_a_plan(kind)
    before = Line(
        passbook=passbook,
        sequence=99_999_998,
        kind=LineKind.CONTRIBUTION,
        fund="ERS",
        effective_on=ON,
        recorded_at=NOW,
        principal=PRINCIPAL,
        postings=(),
        balances=clearing | {"cash": -LARGE} if kind in employers else ACCOUNTS,
        state={} if kind in employers else STATE,
        runs={} if kind in employers else MARKS,
        month_ends=None if kind in employers else MONTH_ENDS,
        hash=bytes(32),
    )
    return next_line(before, worst_draft(kind), passbook=passbook, fund="ERS", recorded_at=NOW)


def of_a_judge(kind: LineKind) -> Line:
    before = Line(
        passbook=PARTICIPANT,
        sequence=99_999_998,
        kind=LineKind.CONTRIBUTION,
        fund="JRS",
        effective_on=ON,
        recorded_at=NOW,
        principal=PRINCIPAL,
        postings=(),
        balances=JUDGE_ACCOUNTS | (dict.fromkeys(PAYEES, LARGE) if kind is LineKind.ALLOCATION else {}),
        state=JUDGE_STATE,
        runs=MARKS | {"annuity": RunMark("2026-06", 999, 99_999_998)},
        month_ends=MonthEnds("2026-06", (LARGE,)),
        hash=bytes(32),
    )
    return next_line(before, worst_draft(kind), passbook=PARTICIPANT, fund="JRS", recorded_at=NOW)


def of_a_plan(kind: LineKind) -> Line:
    before = Line(
        passbook=PARTICIPANT,
        sequence=99_999_998,
        kind=LineKind.PLAN_APPROVED,
        fund="ERS",
        effective_on=ON,
        recorded_at=NOW,
        principal=PRINCIPAL,
        postings=(),
        balances=PLAN_ACCOUNTS,
        state=PLAN_STATE,
        runs={
            "deduction_order": RunMark("2026-06", 999, 99_999_998),
            "deduction_order_reversal": RunMark("2026-06", 999, 99_999_998),
        },
        hash=bytes(32),
    )
    return next_line(before, worst_draft_of_a_plan(kind), passbook=PARTICIPANT, fund="ERS", recorded_at=NOW)


def size_of(kind: LineKind) -> int:
    return encoding.size_bytes(to_item(worst_line(kind)))


@pytest.mark.parametrize("kind", LineKind)
def test_a_line_stays_under_its_size_at_the_worst(kind: LineKind) -> None:
    size_max = RUN_LINE_BYTES_MAX if kind in WRITTEN_BY_RUNS else LINE_BYTES_MAX
    check_size(worst_line(kind), size_max)
    assert size_of(kind) < size_max


@pytest.mark.parametrize("kind", [LineKind.SEMESTER_YIELD, LineKind.REVERSAL])
def test_a_line_of_a_rebuilt_passbook_stays_in_a_write_unit(monkeypatch: pytest.MonkeyPatch, kind: LineKind) -> None:
    """With the mark and the account of its history, and all amounts of ten digits: 99,999,999.99."""
    large = 9_999_999_999
    monkeypatch.setattr(f"{__name__}.LARGE", large)
    carried = tuple(-large + month for month in range(18))
    monkeypatch.setattr(f"{__name__}.MONTH_ENDS", MonthEnds("2024-12", carried, complete=False))
    monkeypatch.setattr(f"{__name__}.ACCOUNTS", dict.fromkeys((*ACCOUNTS, "history"), -large))
    monkeypatch.setitem(MARKS, "rebuild", RunMark("f" * 32, 9_999, 9_999))
    assert size_of(kind) <= RUN_LINE_BYTES_MAX


def test_a_line_over_its_size_is_refused() -> None:
    line = worst_line(LineKind.LATE_CREDIT)
    size = encoding.size_bytes(to_item(line))
    check_size(line, size)
    with pytest.raises(LineTooLargeError):
        check_size(line, size - 1)


def of_readings() -> Line:
    """The yield of FY2025-S2 of P-000001, the example of the readings."""
    return posted(account_of_readings(), S2, 21_436)[-1]


def test_the_page_shows_a_line_as_it_is() -> None:
    [shown] = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    line = of_readings()
    assert json.loads(shown) == document_of(line) | {"hash": line.hash.hex()}


def test_the_page_gives_the_sizes_that_are_measured() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    given = {kind: int(size.replace(",", "")) for kind, size in rows}
    assert given == {kind.value: size_of(kind) for kind in LineKind}


def test_an_ordinary_yield_line_takes_about_half_a_unit() -> None:
    size = encoding.size_bytes(to_item(of_readings()))
    assert f"The line above takes {size} bytes" in PAGE.read_text("utf-8")
    assert savings.semester_figures(account_of_readings()[-1], S2)[0] == 0
    assert of_readings().effective_on == date(2025, 6, 30)
