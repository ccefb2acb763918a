"""Findings 5, 6, 9, 11, 13 and 14: each a story that holds, and fails once its protection is taken out of our code.

A protection is taken out as the simulation plants a bug: a few words of a function are changed, and put back.
"""

from collections.abc import Callable, Iterator
from datetime import date

import pytest

from participants import reception
from retiro.ledger import late_credits, lines, passbooks
from retiro.ledger.board import BoardBook
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.late_credits import Late, late_credit
from retiro.ledger.lines import Draft, FundMismatchError, LineError, LineKind, Posting
from retiro.ledger.passbooks import Part, Passbooks
from retiro.ledger.resolutions import RESOLUTION
from retiro.ledger.store import LedgerStore
from retiro.ledger.trial_balance import trial_balance
from retiro.portal import Problem
from retiro.rules import parameters
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.runs import desk
from retiro.runs.desk import ConflictCode, RunConflictError
from semester_yields.context import FiguresMissingError, semester_context
from tests.ledger.makers import ANA, FIGURES, NOW, S2, account_of_readings, posted
from tests.simulation import figures, workloads
from tests.simulation.dynamodb import DynamoDB
from tests.simulation.invariants import LEDGER
from tests.simulation.planted import Bug, planted
from tests.simulation.scheduler import ViolationError
from tests.simulation.world import World, installed

TODAY = date(2025, 7, 10)


def without(where: object, protection: str, instead: str, story: Callable[[], None]) -> None:
    """The story fails where this protection is taken out."""
    bug = Bug("a protection taken out", (where,), ((protection, instead),), frozenset())
    with planted(bug):
        try:
            story()
        except (AssertionError, pytest.fail.Exception, ViolationError):
            return
    raise AssertionError(f"the story holds without {protection!r}: it shows nothing")


@pytest.fixture(autouse=True)
def few_shards() -> Iterator[None]:
    with installed():
        yield


def ledger() -> tuple[DynamoDB, Passbooks]:
    """An empty ledger."""
    tables = DynamoDB((LEDGER,))
    return tables, Passbooks(LedgerStore(tables, LEDGER), lambda: NOW)  # type: ignore[arg-type]


# -- 5. $21.6 million of one system's money spent on another


def money_of_one_fund_on_another() -> None:
    """50.00 from the passbook of one fund to that of another, in one transaction: refused, and nothing is written."""
    tables, books = ledger()
    out = Draft(LineKind.CONTRIBUTION, TODAY, "u-ana", (Posting("cash", -5_000), Posting("paid", 5_000)))
    back = Draft(LineKind.CONTRIBUTION, TODAY, "u-ana", (Posting("cash", 5_000), Posting("taken", -5_000)))
    parts = [Part("P-000001", lambda _: out, "ERS"), Part("P-000002", lambda _: back, "JRS")]
    with pytest.raises(FundMismatchError):
        books.append_together(parts, key=BusinessKey(KeyKind.CORRECTION, "5"), content="5")
    assert tables.items(LEDGER) == {}


def test_5_no_transaction_spends_one_funds_money_on_another():
    money_of_one_fund_on_another()


def test_5_without_its_check_the_money_crosses():
    without(passbooks.Passbooks._decide, "if len(funds :=", "if 0 * len(funds :=", money_of_one_fund_on_another)


def a_line_in_another_fund() -> None:
    """A passbook is of one fund for ever."""
    tables, books = ledger()
    opening = Draft(LineKind.EMPLOYER_OPENING, TODAY, "u-ana")
    books.append("E-001", lambda _: opening, key=BusinessKey(KeyKind.EMPLOYER_OPENING, "1"), content="1", fund="ERS")
    before = tables.items(LEDGER)
    with pytest.raises(FundMismatchError):
        books.append("E-001", lambda _: opening, key=BusinessKey(KeyKind.CORRECTION, "2"), content="2", fund="JRS")
    assert tables.items(LEDGER) == before


def test_5_no_line_is_in_another_fund_than_its_passbook():
    a_line_in_another_fund()


def test_5_without_its_check_a_passbook_changes_its_fund():
    protection = "if previous is not None and previous.fund != fund:"
    without(lines.next_line, protection, "if False:", a_line_in_another_fund)


# -- 6. Accounts never segregated, $1.4 billion to restore


def a_credit_from_nowhere() -> None:
    """A credit of 100.00 with no debit is no line, so that a fund's total is the sum of its accounts: zero."""
    _, books = ledger()
    whole = Draft(LineKind.CONTRIBUTION, TODAY, "u-ana", (Posting("savings", 100), Posting("contributions", -100)))
    half = Draft(LineKind.CONTRIBUTION, TODAY, "u-ana", (Posting("savings", 10_000),))
    books.append("P-000001", lambda _: whole, key=BusinessKey(KeyKind.CORRECTION, "1"), content="1", fund="ERS")
    with pytest.raises(LineError, match="out of balance by 10000 cents"):
        books.append("P-000001", lambda _: half, key=BusinessKey(KeyKind.CORRECTION, "2"), content="2")
    last = books.last("P-000001")
    assert last is not None
    balance = trial_balance([last])
    assert balance.differences_cents() == {}
    assert sum(balance.totals_cents["ERS"].values()) == 0


def test_6_a_funds_total_is_the_sum_of_its_accounts():
    a_credit_from_nowhere()


def test_6_without_double_entry_the_fund_is_out_of_balance():
    protection = "if total := sum(posting.amount_cents for posting in draft.postings):"
    without(lines.next_line, protection, "if total := 0:", a_credit_from_nowhere)


# -- 9. None of 40 recalculations could be reproduced


def a_yield_that_its_figures_dont_give() -> None:
    """10,700.00 × 24.04 / 12 % is 214.36; where 214.37 stands, nothing further is computed on it: a person decides."""
    stands_wrong = posted(account_of_readings(), S2, 21_437)
    late = Late(20_000, date(2025, 6, 20), TODAY)
    with pytest.raises(Refusal) as refused:
        late_credit(stands_wrong, late, FIGURES, ANA)
    assert refused.value.code is RefusalCode.NEEDS_DECISION
    _, result = late_credit(posted(account_of_readings(), S2, 21_436), late, FIGURES, ANA)
    assert result.receipt is not None


def test_9_a_stored_yield_that_its_figures_dont_reproduce_is_found_before_anything_rests_on_it():
    a_yield_that_its_figures_dont_give()


def test_9_without_the_check_a_difference_is_computed_on_it():
    protection = "if stands_cents != again_cents:"
    without(late_credits._check_reproduced, protection, "if False:", a_yield_that_its_figures_dont_give)


# -- 11. 13.7 percent of lump sums short, mostly a wrong interest rate


def adopted(*resolutions: str) -> BoardBook:
    """A Board's book in which these stand."""
    book = BoardBook(ledger()[1].store)
    for number, body in enumerate(resolutions):
        resolution = RESOLUTION.validate_json(body)
        book.adopt(f"RB-{number}", resolution, proposed_by="u-eva", adopted_by="u-leo", now=NOW)
    return book


def a_rate_outside_its_dates() -> None:
    """The Treasury's months to December are adopted: those of January to June are not the nearest ones, but missing."""
    settings_and_autumn = [one for one in figures.RESOLUTIONS if "2025-01" not in one and "FY2025-S2" not in one]
    found = adopted(*settings_and_autumn).adopted("ERS")
    with pytest.raises(Refusal) as refused:
        found.treasury_percent("2025-01")
    assert refused.value.code is RefusalCode.NOT_IN_FORCE
    assert "2024-12-31" in refused.value.sentence.en
    with pytest.raises(FiguresMissingError) as lacking:
        semester_context(found, S2, TODAY)
    assert "fixed_income 2025-01" in lacking.value.missing


def test_11_no_rate_is_used_outside_its_dates():
    a_rate_outside_its_dates()


def test_11_without_the_end_of_a_period_the_last_rate_is_carried_on():
    protection = "if period.in_force_from <= on and (period.until is None or on < period.until):"
    without(parameters.pick, protection, "if period.in_force_from <= on:", a_rate_outside_its_dates)


# -- 13. Eight pay periods wrong after re-keying


def a_file_that_isnt_its_totals() -> None:
    """A file of one participant with 500.00, whose control says 500.01: refused, and nobody of it is enrolled."""
    world = World(13)
    row = workloads.enrolment_body(world, "P-000001", 50_000)
    body = {"reference": "F-13", "control": {"count": 1, "transfers_total": "500.01"}, "participants": [row]}
    before = world.tables.items(LEDGER)
    with pytest.raises(Problem) as refused:
        workloads._received_file(world.hosts[0], body)
    assert refused.value.code == "file_refused"
    world.scheduler.settle()
    assert world.tables.items(LEDGER) == before
    assert world.hosts[0].file_jobs.get("office_F-13") is None


def test_13_a_file_whose_totals_dont_match_its_lines_is_taken_in_no_part():
    a_file_that_isnt_its_totals()


def test_13_without_the_control_it_is_taken():
    protection = "if control.transfers_total != total_cents:"
    without(reception._control_errors, protection, "if False:", a_file_that_isnt_its_totals)


# -- 14. $264,000 between book and bank: the same staff ran and checked


def a_run_that_its_preparer_approves() -> None:
    """Whoever prepared a run can't approve it; another person can."""
    world = World(14)
    workloads.enrol(world, "P-000001", 100_000)
    host = world.hosts[0]
    run = host.desk.request("gift", "2025-06", {"on": "2025-06-28", "cents": 100}, "u-ana")
    world.scheduler.settle()
    run = host.book.get(run.id)
    assert run.status == "prepared"
    before = world.tables.items(LEDGER)
    with pytest.raises(RunConflictError) as refused:
        host.desk.approve([run], run.details["hash"], "u-ana")
    assert refused.value.code is ConflictCode.SAME_PERSON
    world.scheduler.settle()
    assert world.tables.items(LEDGER) == before
    host.desk.approve([run], run.details["hash"], "u-luis")
    world.scheduler.settle()
    assert host.book.get(run.id).status == "posted"


def test_14_no_run_is_approved_by_who_prepared_it():
    a_run_that_its_preparer_approves()


def test_14_without_two_persons_one_runs_and_checks():
    without(desk.Desk.approve, "if run.requested_by == by:", "if False:", a_run_that_its_preparer_approves)
