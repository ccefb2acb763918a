"""`retiro rebuild DIR --post`: the same lines in a ledger, once, however often it is stopped."""

import random
import shutil
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import stacks
from cli.main import main
from cli.rebuild import approval, entries, posting
from cli.reproduce import reproduced
from retiro.ledger import savings
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import Credits, PostedFigures
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import LineKind, RunMark
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.savings import Origin
from retiro.registry.participants import profile_of
from retiro.registry.runs import RunStatus
from retiro.rules.calendar import Semester
from retiro.rules.determinations import determine
from retiro.rules.money import parse_cents
from tests.rebuild.conftest import NOW, TREASURY_2025_S2, History
from tests.rebuild.ledger import FakeStack, KilledError

OTHER = Origin("u-other")
P1, P2 = "P-000001", "P-000002"


@pytest.fixture
def sample(tmp_path, history):
    """A made-up history of five participants over 27 semesters."""
    folder = tmp_path / "sample"
    assert CliRunner().invoke(main, ["rebuild", "sample", str(folder), "--participants", "5"]).exit_code == 0
    history.folder = folder
    return history


@pytest.fixture
def small(history):
    """One participant: 10,000.00 brought, 200.00 in each of six months, and one semester's figures."""
    history.participant(P1)
    history.add("transfers.csv", f"{P1},2025-01-01,10000.00")
    for month in range(1, 7):
        history.contribution(f"2025-{month:02d}-15", "200.00", P1, pay_period=f"2025-{month:02d}")
    history.treasury()
    history.settings()
    return history


def posted(history):
    """Post without an exception."""
    result = history.post()
    assert (result.exit_code, history.exceptions()) == (0, []), result.output
    return result.output


def offline(history):
    """What is calculated without a ledger: the rows of statements.csv."""
    history.rebuild()
    return (history.folder / "statements.csv").read_text("utf-8").partition("\n")[2]


# The same lines, the same yields


def test_the_statements_of_the_ledger_are_those_calculated_offline(sample, stack):
    calculated = offline(sample)
    assert "5 participants" in posted(sample)
    assert (sample.folder / "statements.csv").read_text("utf-8").partition("\n")[2] == calculated
    assert stack.statements() == calculated
    assert stack.audit().is_clean


def test_a_history_stands_in_the_passbook_as_if_it_had_been_posted_in_its_time(small, stack):
    # 10,700.00 × 24.04 ÷ 12 % = 214.3567 → 214.36. June 30, 2025 is a Monday.
    assert "1 participants, 6 contributions, 1 statements through FY2025-S2, 0 exceptions, 9 lines" in posted(small)
    lines = stack.lines(P1)
    assert [(line.kind, line.effective_on.isoformat(), line.savings_cents) for line in lines] == [
        (LineKind.ENROLMENT, "2025-01-01", 0),
        (LineKind.INITIAL_TRANSFER, "2025-01-01", 1_000_000),
        *((LineKind.CONTRIBUTION, f"2025-{month:02d}-15", 20_000) for month in range(1, 7)),
        (LineKind.SEMESTER_YIELD, "2025-06-30", 21_436),
    ]
    assert lines[-1].balances == {"savings": 1_141_436, "transfers": -1_000_000, "history": -120_000, "yields": -21_436}
    assert {line.principal for line in lines} == {"u-ana"}
    assert lines[2].facts == {"employer": "E-001", "pay_period": "2025-01"}
    assert lines[-1].runs["yield"] == RunMark("FY2025-S2", 1, 9)
    assert [line.runs["rebuild"].attempt for line in lines] == list(range(1, 10))
    profile = profile_of(stack.registry, P1)
    assert (profile.birth_date, profile.employer_id, profile.enrolled_on) == (
        date(1980, 2, 29),
        "E-001",
        date(2025, 1, 1),
    )
    run = stack.run(lines[-1].runs["rebuild"].period)
    assert (run.status, run.details["approved_by"], run.details["result"]) == (
        RunStatus.POSTED, "u-ana", {"lines": 9, "not_taken": {}},
    )  # fmt: skip


def test_cents_and_halves_are_the_same_offline_posted_and_determined_rb_03(history, stack):
    # https://github.com/pola-rs/polars/issues/13568: "2.04" was read as 2.4, and conversions round half to even.
    # 2.04 + 0.05 + 10.10 + 1000.01 = 1,012.20. 150.00 × 24.04 ÷ 12 % = 3.005 → 3.01
    history.participant(P1)
    history.participant(P2)
    for amount in ("2.04", "0.05", "10.10", "1000.01"):
        history.contribution("2025-01-15", amount, P1)
    history.contribution("2025-01-31", "150.00", P2)
    history.treasury()
    history.settings()
    posted(history)
    assert stack.lines(P1)[-2].balances["savings"] == 101_220
    found = determine(
        "semester_yield",
        {
            "semester": "FY2025-S2",
            "opening_balance": "0.00",
            "movements": [{"date": "2025-01-31", "amount": "150.00"}],
            "selection": {"fixed_income": 100},
            "option_yields": {"fixed_income": {"monthly_percent": list(TREASURY_2025_S2)}},
        },
    ).model_dump(mode="json")
    assert found["yield"] == history.statements()[1]["yield"] == "3.01"
    assert stack.lines(P2)[-1].savings_cents == 301


def test_before_the_first_credit_there_is_nothing_to_post_and_a_statement_of_nothing(history, stack):
    # Two semesters with nothing, and 100.00 in the third: 100.00 × 24.04 ÷ 12 % = 2.003… → 2.00
    history.participant(P1, enrolled_on="2024-01-01")
    history.contribution("2025-01-31", "100.00", P1)
    history.participant(P2, enrolled_on="2024-07-01")  # and never a credit
    for year, half in ((2024, 2), (2024, 1), (2025, 2)):
        history.treasury(year, half)
    history.settings()
    posted(history)
    assert [(row["semester"], row["yield"], row["closing_balance"]) for row in history.statements()] == [
        ("FY2024-S2", "0.00", "0.00"),
        ("FY2025-S1", "0.00", "0.00"),
        ("FY2025-S2", "2.00", "102.00"),
        ("FY2025-S1", "0.00", "0.00"),
        ("FY2025-S2", "0.00", "0.00"),
    ]
    assert stack.statements() == offline(history)
    assert [line.kind for line in stack.lines(P1)] == ["enrolment", "contribution", "semester_yield"]
    assert [line.kind for line in stack.lines(P2)] == ["enrolment"]
    assert stack.audit().is_clean
    assert " 0 lines posted" in posted(history)


def test_a_history_without_a_contribution_opens_the_passbooks(history, stack):
    history.participant(P1)
    history.treasury()
    history.settings()
    assert ", 1 statements through FY2025-S2, 0 exceptions, 1 lines posted" in posted(history)
    assert [line.kind for line in stack.lines(P1)] == ["enrolment"]


def test_selections_stand_in_the_passbook_from_the_day_that_they_were_asked_for(history, stack):
    # The first is made two months after the enrolment, the change is of FY2025 and in force from July 1, 2025.
    history.participant(P1, enrolled_on="2024-07-01", selection=None)
    history.add("selections.csv", f"{P1},2024-09-01,100,0", f"{P1},2025-06-30,0,100")
    history.contribution("2024-07-31", "100.00", P1)
    history.treasury(2024, 1)
    history.treasury()
    history.treasury(2025, 1)
    for semester in ("FY2025-S1", "FY2025-S2", "FY2026-S1"):
        history.add(
            "yields.csv",
            f"system_portfolio,{semester},return_percent,4.00",
            f"system_portfolio,{semester},management_fees_percent,0.20",
        )
    history.settings()
    posted(history)
    # The portfolio: 90 % of (4.00 − 0.20) = 3.42 %
    assert [row["semester_percent"] for row in history.statements()] == ["2.003333", "2.003333", "3.420000"]
    assert stack.statements() == offline(history)
    selections = [line for line in stack.lines(P1) if line.kind is LineKind.SELECTION]
    assert [(line.facts["requested_on"], line.effective_on.isoformat()) for line in selections] == [
        ("2024-09-01", "2024-09-01"),
        ("2025-06-30", "2025-07-01"),
    ]
    assert stack.audit().is_clean


def test_contributions_stand_by_their_days_and_those_of_a_day_as_in_the_file(history, stack):
    history.participant(P1)
    for remitted_on, amount in (("2025-03-10", "3.00"), ("2025-02-10", "2.00"), ("2025-02-10", "1.00")):
        history.contribution(remitted_on, amount, P1)
    history.treasury()
    history.settings()
    posted(history)
    assert [line.savings_cents for line in stack.lines(P1)[1:-1]] == [200, 100, 300]


def test_the_settings_of_the_history_are_those_of_the_ledger(history, stack):
    # 600.00 of June 30 and the balance at the middle of each month: (0 + … + 300.00) ÷ 6 = 50.00, at 24.04 ÷ 6 =
    # 4.006667 %: 2.00. By the defaults it would be 100.00 and 2.00.
    history.participant(P1)
    history.contribution("2025-06-30", "600.00", P1)
    history.treasury()
    history.settings(average_balance_method="month_mid", cmt_semester_conversion="unhalved")
    posted(history)
    [row] = history.statements()
    assert (row["average_monthly_balance"], row["semester_percent"], row["yield"]) == ("50.00", "4.006667", "2.00")
    assert stack.statements() == offline(history)


def test_what_comes_after_an_account_has_stopped_is_credited_and_earns_nothing(history, stack):
    # Nothing is selected: no yield of FY2025-S1. What was remitted then and later is the participant's all the same.
    history.participant(P1, enrolled_on="2024-07-01", selection=None)
    history.contribution("2024-07-31", "100.00", P1)
    history.contribution("2025-09-30", "50.00", P1)
    history.treasury(2024, 1)
    history.treasury()
    history.settings()
    assert history.post().exit_code == 1
    assert history.exceptions() == [(P1, "FY2025-S1", "no_selection")]
    assert history.statements() == []
    assert stack.lines(P1)[-1].balances == {"savings": 15_000, "history": -15_000}
    assert stack.statements() == ""
    assert stack.audit().is_clean


def test_a_row_that_was_not_taken_is_not_posted_either(small, stack):
    # The last contribution stands in the file twice, one is dated before the enrolment.
    small.contribution("2025-06-15", "200.00", P1, pay_period="2025-06")
    small.contribution("2024-12-31", "77.00", P1)
    assert small.post().exit_code == 1
    assert [code for _, _, code in small.exceptions()] == ["duplicate_row", "invalid_input"]
    assert stack.lines(P1)[-1].balances["history"] == -120_000
    assert stack.statements() == offline(small)


# Two persons


def test_who_prepares_a_history_posts_nothing_of_it_however_often(small, stack):
    for _ in range(2):
        result = small.prepare()
        assert (result.exit_code, stack.line_items()) == (0, {})
        assert "1 statements through FY2025-S2, 0 exceptions\n" in result.output
        assert "Nothing is posted yet: u-eva has prepared the history" in result.output
    [(_, _, attempt)] = stack.items()  # the run, and not even evidence
    assert attempt == "attempt#0001"


def test_another_person_approves_the_history_and_both_are_on_the_record(small, stack):
    posted(small)
    history = stack.lines(P1)[-1].runs["rebuild"].period
    run = stack.run(history)
    assert (run.requested_by, run.details["approved_by"], run.details["hash"]) == ("u-eva", "u-ana", history)
    body = stack.store.get_evidence("rebuild", history).body
    assert (body["prepared_by"], body["approved_by"]) == ("u-eva", "u-ana")


def test_once_approved_anybody_goes_on_with_it(small, stack, monkeypatch):
    killed_after_its_first_transaction(small, stack, monkeypatch)
    assert ", 7 lines posted" in small.prepare().output
    assert [line.principal for line in stack.lines(P1)] == ["u-ana"] * 2 + ["u-eva"] * 7
    assert stack.run(stack.lines(P1)[-1].runs["rebuild"].period).details["approved_by"] == "u-ana"
    assert stack.audit().is_clean


def test_an_approval_is_of_the_files_as_they_were_prepared(small, stack):
    small.prepare()
    small.contribution("2025-06-16", "1.00", P1)
    assert "Nothing is posted yet: u-ana has prepared" in small.rebuild("--post", "--acting-user", "u-ana").output
    assert stack.line_items() == {}


def test_an_approval_is_of_the_rules_that_it_was_prepared_by(small, stack, monkeypatch):
    small.prepare()
    monkeypatch.setattr(approval, "RULES_VERSION", "another")
    assert "Nothing is posted yet: u-ana has prepared" in small.rebuild("--post", "--acting-user", "u-ana").output
    assert stack.line_items() == {}
    assert ", 9 lines posted" in small.prepare().output


def test_one_person_is_one_spelling(small, stack):
    small.prepare()
    result = small.rebuild("--post", "--acting-user", "U-EVA")
    assert "Nothing is posted yet: u-eva has prepared" in result.output
    assert stack.line_items() == {}


def test_what_is_posted_in_part_goes_on_by_the_rules_that_began_it(small, stack, monkeypatch):
    killed_after_its_first_transaction(small, stack, monkeypatch)
    before = stack.items()
    with monkeypatch.context() as upgraded:
        upgraded.setattr(approval, "RULES_VERSION", "another")
        result = small.prepare()
    assert (result.exit_code, stack.items()) == (2, before)
    assert "is posted in part by the rules 1.0.0; these are another" in result.output
    assert ", 7 lines posted" in posted(small)


def test_an_approval_lapses_with_the_rules_that_it_was_given_under(small, stack, monkeypatch):
    """Approved, and nothing posted: the process died between the two."""
    small.prepare()
    [(_, partition, attempt)] = stack.items()
    stack.dynamodb.dies(2, "update_item", undone=True)  # the second is the one to `posting`
    with pytest.raises(KilledError):
        small.rebuild("--post", "--acting-user", "u-ana")
    stack.dynamodb.lives()
    assert stack.registry.get(partition, attempt)["status"] == "approved"
    monkeypatch.setattr(approval, "RULES_VERSION", "another")
    assert "Nothing is posted yet: u-leo has prepared" in small.rebuild("--post", "--acting-user", "u-leo").output
    assert ", 9 lines posted" in small.rebuild("--post", "--acting-user", "u-ana").output
    run = stack.run(partition.rpartition("#")[2])
    assert (run.requested_by, run.details["approved_by"]) == ("u-leo", "u-ana")
    body = stack.store.get_evidence("rebuild", run.id.period).body
    assert (body["prepared_by"], body["approved_by"]) == ("u-leo", "u-ana")


def test_once_it_is_under_way_neither_persons_nor_rules_change(small, stack, monkeypatch):
    """Stopped before its evidence is there, which names both."""
    small.prepare()
    stack.dynamodb.dies(2, "put_item", undone=True)  # after the run's own, which is there
    with pytest.raises(KilledError):
        small.rebuild("--post", "--acting-user", "u-ana")
    stack.dynamodb.lives()
    with monkeypatch.context() as upgraded:
        upgraded.setattr(approval, "RULES_VERSION", "another")
        assert small.rebuild("--post", "--acting-user", "u-leo").exit_code == 2
    assert ", 9 lines posted" in small.rebuild("--post", "--acting-user", "u-leo").output
    run = stack.run(stack.lines(P1)[-1].runs["rebuild"].period)
    assert (run.requested_by, run.details["approved_by"]) == ("u-eva", "u-ana")


# Only onto an empty passbook, only as it was begun


def test_a_second_posting_adds_nothing(sample, stack):
    posted(sample)
    before = stack.line_items()
    calls = stack.dynamodb.calls["transact_write_items"]
    assert ", 0 lines posted" in posted(sample)
    assert stack.line_items() == before
    assert stack.dynamodb.calls["transact_write_items"] == calls


def test_a_passbook_that_has_lines_of_its_own_is_an_exception_and_stays_as_it_is(small, stack):
    enrolled_elsewhere(stack)
    before = stack.line_items()
    small.participant(P2)
    assert small.post().exit_code == 1
    assert small.exceptions() == [(P1, "ledger", "passbook_not_empty")]
    assert {key: item for key, item in stack.line_items().items() if P1 in key[0]} == before
    assert [line.kind for line in stack.lines(P2)] == ["enrolment"]  # the others are none the worse


def enrolled_elsewhere(stack):
    """Somebody enrols the participant."""
    Passbooks(stack.store, lambda: NOW).append(
        P1,
        lambda last: savings.enrolment(last, date(2025, 1, 1), None, OTHER),
        fund="ERS",
        key=BusinessKey(KeyKind.ENROLMENT, P1),
        content={},
    )


def test_who_is_enrolled_while_the_history_is_read_is_an_exception(small, stack):
    stack.dynamodb.before_transaction = lambda: enrolled_elsewhere(stack)
    assert small.post().exit_code == 1
    assert small.exceptions() == [(P1, "ledger", "passbook_not_empty")]
    assert [line.principal for line in stack.lines(P1)] == ["u-other"]


def test_two_postings_at_the_same_time_post_each_line_once(tmp_path, small, stack, monkeypatch):
    monkeypatch.setattr(posting, "TRANSACTION_ITEMS", 5)
    copy = History(Path(shutil.copytree(small.folder, tmp_path / "copy")), begun=True)
    stack.dynamodb.before_transaction = lambda: posted(copy)
    posted(small)
    assert [line.runs["rebuild"].attempt for line in stack.lines(P1)] == list(range(1, 10))
    assert stack.audit().is_clean


def test_another_history_is_refused_where_a_first_one_has_begun(small, stack):
    posted(small)
    before = stack.line_items()
    first = stack.lines(P1)[-1].runs["rebuild"].period
    small.contribution("2025-06-16", "1.00", P1)
    assert small.post().exit_code == 1
    assert small.exceptions() == [(P1, "ledger", "other_history")]
    assert first in (small.folder / "exceptions.csv").read_text("utf-8")
    assert stack.line_items() == before


def test_a_passbook_that_moved_before_its_history_was_at_its_end_is_for_a_person(small, stack, monkeypatch):
    killed_after_its_first_transaction(small, stack, monkeypatch)
    in_between(stack)
    before = stack.line_items()
    assert small.post().exit_code == 1
    assert small.exceptions() == [(P1, "ledger", "passbook_moved")]
    assert stack.line_items() == before


def killed_after_its_first_transaction(history, stack, monkeypatch):
    """Three items open the passbook, so that of five two are lines."""
    monkeypatch.setattr(posting, "TRANSACTION_ITEMS", 5)
    stack.dynamodb.dies(1, "transact_write_items")
    with pytest.raises(KilledError):
        history.post()
    stack.dynamodb.lives()
    assert len(stack.lines(P1)) == 2
    assert stack.statements() == ""  # the semester has money by now, and no yield yet


def in_between(stack):
    """Somebody changes the selection."""
    Passbooks(stack.store, lambda: NOW).append(
        P1,
        lambda last: savings.selection(
            last, {"fixed_income": 100}, requested_on=NOW.date(), effective_on=date(2027, 7, 1), origin=OTHER
        ),
        key=BusinessKey(KeyKind.SELECTION, P1),
        content={},
    )


def test_what_happens_to_an_account_after_its_rebuild_changes_nothing_of_it(small, stack):
    posted(small)
    in_between(stack)
    before = stack.line_items()
    assert ", 0 lines posted" in posted(small)
    assert stack.line_items() == before
    assert stack.statements() == offline(small)


# Stopped, and begun again


def test_a_transaction_that_lost_its_answer_is_found_and_not_done_again(small, stack, monkeypatch):
    monkeypatch.setattr(posting, "TRANSACTION_ITEMS", 5)
    stack.dynamodb.loses = 2
    posted(small)
    assert [line.runs["rebuild"].attempt for line in stack.lines(P1)] == list(range(1, 10))
    assert stack.audit().is_clean


def test_a_ledger_that_takes_no_more_is_said_and_the_next_run_goes_on(small, stack, monkeypatch):
    monkeypatch.setattr(posting, "TRANSACTION_ITEMS", 5)
    small.prepare()
    before = {place.name: place.read_bytes() for place in small.folder.iterdir()}
    stack.dynamodb.refuses = 100
    result = small.post()
    assert result.exit_code == 1
    assert "the ledger takes no more for now" in result.output
    assert {place.name: place.read_bytes() for place in small.folder.iterdir()} == before
    stack.dynamodb.refuses = 0
    assert ", 9 lines posted" in posted(small)


def thousand(history):
    """A thousand participants over two semesters: transfers, contributions, changes of selection, some with nothing."""
    chance = random.Random(2000)  # noqa: S311
    for number in range(1, 1001):
        one = f"P-{number:06d}"
        history.participant(one, enrolled_on="2024-07-01", selection=chance.choice(["100,0", "0,100", "30,70"]))
        if number % 5 == 0:
            history.add("transfers.csv", f"{one},2024-07-01,{chance.randrange(1, 10**7) / 100:.2f}")
        if number % 7 == 0:
            history.add("selections.csv", f"{one},2024-09-01,50,50")
        for month in sorted(chance.sample(range(1, 7), chance.randrange(4))):
            history.contribution(f"2025-{month:02d}-15", f"{chance.randrange(1, 10**5)}.{month:02d}", one)
    history.treasury(2024, 1)
    history.treasury()
    for semester in ("FY2025-S1", "FY2025-S2"):
        history.add(
            "yields.csv",
            f"system_portfolio,{semester},return_percent,-4.00",
            f"system_portfolio,{semester},management_fees_percent,0.20",
        )
    history.settings()


def without_moments(lines):
    """Lines as they would be whenever they had been recorded."""
    return [(line.sequence, line.kind, line.effective_on, line.postings, line.balances, line.runs) for line in lines]


def test_killed_at_ten_points_it_goes_on_and_posts_each_line_once_rb_07(history, stack, monkeypatch):
    # https://github.com/spring-projects/spring-batch/issues/1444: a restart after skips began at the wrong place.
    monkeypatch.setattr(posting, "TRANSACTION_ITEMS", 6)  # so that most passbooks take several
    thousand(history)
    chance = random.Random(7)  # noqa: S311
    whole = FakeStack()
    with monkeypatch.context() as never_killed:
        never_killed.setattr(stacks, "_stack", lambda *_names: whole)
        posted(history)
    # Of the transactions that it takes in all: five sixths of them in the mean of ten.
    transactions = whole.dynamodb.calls["transact_write_items"]
    history.prepare()
    for _ in range(10):
        at = chance.randrange(1, transactions // 6)
        stack.dynamodb.dies(at, "transact_write_items", undone=chance.random() < 0.5)
        with pytest.raises(KilledError):
            history.post()
        stack.dynamodb.lives()
    assert 0 < len(stack.line_items()) < len(whole.line_items())
    posted(history)

    assert len(stack.passbooks()) == 1000
    for one in whole.passbooks():
        assert without_moments(stack.lines(one)) == without_moments(whole.lines(one))
    statements = history.statements()
    totals = stack.audit().trial_balance.totals_cents["ERS"]
    assert totals["savings"] == sum(
        parse_cents(row["closing_balance"]) for row in statements if row["semester"] == "FY2025-S2"
    )
    assert totals["yields"] == -sum(parse_cents(row["yield"]) for row in statements)
    assert totals["transfers"] + totals["history"] == -sum(parse_cents(row["credits"]) for row in statements)
    assert totals["history"] == -sum(
        parse_cents(line.split(",")[2]) for line in (history.folder / "contributions.csv").read_text().splitlines()[1:]
    )
    assert stack.statements() == (history.folder / "statements.csv").read_text("utf-8").partition("\n")[2]
    assert stack.audit().is_clean
    assert ", 0 lines posted" in posted(history)


# What is proved, and what follows


def test_statements_that_differ_from_the_calculated_ones_fail_the_run(small, stack, monkeypatch):
    monkeypatch.setattr(entries, "yield_cents", lambda *_given: 21_437)
    assert small.post().exit_code == 1
    assert small.exceptions() == [(P1, "ledger", "not_proved")]
    assert stack.run(stack.lines(P1)[-1].runs["rebuild"].period).status is RunStatus.FAILED


def test_a_line_that_the_ledger_cannot_take_is_an_exception(small, stack, monkeypatch):
    monkeypatch.setattr(posting, "RUN_LINE_BYTES_MAX", 300)
    assert small.post().exit_code == 1
    assert small.exceptions() == [(P1, "ledger", "line_too_large")]
    assert stack.line_items() == {}


def test_a_late_credit_finds_the_figures_that_a_rebuilt_semester_was_posted_on(small, stack):
    # 600.00 of January 15: in all six month-ends: 600.00 × 24.04 ÷ 12 % = 12.02. Of 11,300.00 in all: 226.3766…, which
    # is 226.38, less 214.36.
    posted(small)
    credits_ = Credits(stack.store, PostedFigures(stack.store, BoardBook(stack.store)), NOW.date())
    appended = Passbooks(stack.store, lambda: NOW).append(
        P1,
        lambda last: credits_.contribution(last, P1, 60_000, date(2025, 1, 15), OTHER),
        key=BusinessKey(KeyKind.LATE_CREDIT, "R-1"),
        content={},
    )
    assert appended.lines[-1].differences == {"FY2025-S2": 1_202}
    [found] = reproduced(stack.store, f"{P1}/9")
    assert found.differences == ()


def test_the_semester_after_is_the_next_to_be_posted(small, stack):
    posted(small)
    last = stack.lines(P1)[-1]
    assert savings.semester_figures(last, Semester.parse("FY2026-S1")) == (1_141_436,) * 7


# What is refused before anything is written


OF_LEDGER = "where it is posted to a ledger"
ON_A_DEFAULT = "average_balance_method is not in force on 2025-06-30, and nothing is posted to a ledger on a default"
NO_LEDGER_TAKES = {
    "no settings": (lambda history: (history.folder / "settings.csv").unlink(), f"settings.csv: {ON_A_DEFAULT}"),
    "settings a day late": (lambda history: history.settings("2025-07-01"), f"settings.csv: {ON_A_DEFAULT}"),
    "an employer's passbook": (
        lambda history: history.participant("E-001"),
        f"participants.csv, line 3, column participant_id: must be P- and six to nine digits, {OF_LEDGER}",
    ),
    "an employer's name": (
        lambda history: history.add("participants.csv", f"{P2},1980-01-01,Agency,2025-01-01"),
        f"participants.csv, line 3, column employer_id: must be E- and three to six digits, {OF_LEDGER}",
    ),
    # July to December 2026 aren't over on August 3. December 31 is a Thursday.
    "not over": (lambda history: history.treasury(2026, 1), "yields.csv: FY2027-S1 is posted from 2026-12-31 on"),
}


@pytest.mark.parametrize(("change", "fault"), NO_LEDGER_TAKES.values(), ids=NO_LEDGER_TAKES)
def test_what_no_ledger_takes_is_refused_with_nothing_written(small, stack, change, fault):
    change(small)
    before = {place.name: place.read_bytes() for place in small.folder.iterdir()}
    result = small.post()
    assert (result.exit_code, result.output.strip()) == (2, fault)
    assert {place.name: place.read_bytes() for place in small.folder.iterdir()} == before
    assert stack.items() == {}


@pytest.mark.parametrize("options", [(), ("--acting-user", "585-11-1234")], ids=["nobody", "a number"])
def test_who_posts_has_to_be_named(small, stack, options):
    result = small.rebuild("--post", *options)
    assert result.exit_code == 2
    assert "--acting-user" in result.output
    assert stack.items() == {}


def test_without_post_no_stack_is_looked_for(small, stack, monkeypatch):
    def looked_for(*_names):
        raise AssertionError

    monkeypatch.setattr(stacks, "_stack", looked_for)
    assert small.rebuild().exit_code == 0
    assert stack.dynamodb.calls == {}
