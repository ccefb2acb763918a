"""Posting on the real state machine: interrupted, doubled, paused, and with passbooks that move underneath it.

Everybody brings 10,000.00 on the first day of a semester, all in fixed income. So the average of its six month-ends is
10,000.00, and the percent half the average of the Treasury's six months: their sum / 12.
"""

import json
import signal
from datetime import date
from uuid import uuid4

import pytest

from retiro.ledger.lines import LineKind
from tests.cloud.backstage import YIELD_WORKER, Backstage
from tests.cloud.office import Office
from tests.cloud.waiting import until

YIELD_LINE = 3
"""The sequence of the yield after enrolment and initial transfer."""


@pytest.fixture(autouse=True)
def _workers_go_on(behind):
    """Whatever a test has stopped, also where it fails in the middle."""
    yield
    behind.signalled(YIELD_WORKER, signal.SIGCONT)


def people(hundred: int, count: int) -> list[str]:
    return [f"P-{hundred}{number:03d}" for number in range(count)]


def approved_and_frozen(office: Office, semester: str, ids: list[str]) -> dict:
    """Approve the prepared run, and stop its workers' processes where they stand as soon as a line is there.

    They go on by moments from the beginning: at their full speed they would be at the end before anybody looked.
    """
    behind = office.behind
    prepared = office.prepare(semester)
    behind.signalled(YIELD_WORKER, signal.SIGSTOP)
    office.approve(prepared["run"]["hash"], semester)

    def first_lines() -> int:
        behind.stepped(YIELD_WORKER)
        return behind.count_at(ids, YIELD_LINE)

    assert until(first_lines, "the first line") < len(ids), "the run was over before its workers were stopped"
    return prepared


def posted_yields(behind: Backstage, ids: list[str]) -> set[int]:
    """The cents of their yields, each of which has exactly the one line more."""
    histories = [behind.lines(one) for one in ids]
    assert [len(lines) for lines in histories] == [YIELD_LINE] * len(ids)
    return {lines[-1].savings_cents for lines in histories}


def test_a_stopped_execution_and_killed_workers_post_every_account_once_when_resumed(office, behind):
    """1.52 + 1.33 + 0.45 + 0.22 + 0.17 + 0.19 = 3.88; 10,000.00 × 3.88 / 12 % = 32.33."""
    semester, ids = "FY2020-S2", people(101, 40)
    office.enrol(ids, on="2020-01-02")
    prepared = approved_and_frozen(office, semester, ids)
    run = behind.attempts(semester)[-1]
    behind.states.stop_execution(executionArn=behind.execution(run.id, run.number))
    assert behind.signalled(YIELD_WORKER, signal.SIGKILL)

    office.resume(semester)
    standing = office.wait_for("posted", semester)

    assert posted_yields(behind, ids) == {3_233}
    result = standing["run"]["result"]
    assert result == {
        "posted": prepared["run"]["totals"]["lines"],
        "withheld": {},
        "late": 0,
        "total_yield": prepared["run"]["totals"]["total_yield"],
    }
    assert behind.attempts(semester)[-1].number > run.number


def test_two_executions_at_the_same_time_post_every_account_once(office, behind):
    """0.15 + 0.14 + 0.13 + 0.15 + 0.17 + 0.14 = 0.88; 10,000.00 × 0.88 / 12 % = 7.33."""
    semester, ids = "FY2021-S1", people(102, 10)
    office.enrol(ids, on="2020-07-01")
    approved_and_frozen(office, semester, ids)
    run = behind.attempts(semester)[-1]
    first = behind.execution(run.id, run.number)
    same_input = behind.states.describe_execution(executionArn=first)["input"]
    second = behind.states.start_execution(stateMachineArn=behind.machine, name=f"double-{uuid4()}", input=same_input)[
        "executionArn"
    ]
    assert json.loads(same_input)["number"] == run.number

    # The first one's workers go on from the middle, knowing nothing of the second. To wait here for the second one's
    # lines would hang: a frozen process that was idle is taken for a warm one, and is given its work.
    behind.signalled(YIELD_WORKER, signal.SIGCONT)

    office.wait_for("posted", semester)
    for execution in (first, second):
        behind.wait_for_execution(execution)
    assert posted_yields(behind, ids) == {733}
    assert behind.yields(ids, semester) == dict.fromkeys(ids, 1)


def test_after_paused_nothing_is_written_and_what_lands_meanwhile_changes_no_figure(office, behind):
    """0.98 + 1.44 + 1.91 + 2.54 + 2.62 + 3.00 = 12.49; 10,000.00 × 12.49 / 12 % = 104.08.

    500.00 on 2022-03-15 stands in four of six month-ends: 10,333.33… × 12.49 / 12 % = 107.55, so 3.47 come late.
    """
    semester, ids = "FY2022-S2", people(103, 24)
    office.enrol(ids, on="2022-01-03")
    prepared = approved_and_frozen(office, semester, ids)
    office.pause(semester)
    assert office.standing(semester)["status"] == "pausing"  # its workers have not returned
    behind.signalled(YIELD_WORKER, signal.SIGCONT)

    office.wait_for("paused", semester)
    at_rest = behind.ledger_items()
    run = behind.attempts(semester)[-1]
    assert behind.wait_for_execution(behind.execution(run.id, run.number)) == "SUCCEEDED"
    assert behind.ledger_items() == at_rest
    open_ones = [one for one, count in behind.yields(ids, semester).items() if not count]
    assert 2 <= len(open_ones) < len(ids)

    # Between approval and posting a death is reported, and a credit comes whose date lies in the semester.
    dead, credited = open_ones[:2]
    behind.change_status(dead, LineKind.DEATH_REPORT, date(2022, 7, 5))
    office.contribute(credited, 50_000, "2022-03-15")
    office.resume(semester)
    result = office.wait_for("posted", semester)["run"]["result"]

    assert behind.yields(ids, semester) == dict.fromkeys(ids, 1) | {dead: 0}
    (posted,) = [line for line in behind.lines(credited) if line.kind is LineKind.SEMESTER_YIELD]
    (settling,) = [line for line in behind.lines(credited) if line.kind is LineKind.LATE_CREDIT]
    assert (posted.savings_cents, settling.savings_cents) == (10_408, 347)
    assert settling.differences == {semester: 347}
    named = office.exceptions(semester)
    assert (named[dead]["code"], named[credited]["code"]) == ("status_forbids", "late_line")
    assert (named[credited]["late_lines"], named[credited]["settled_by"]) == ([3], settling.sequence)
    assert (result["withheld"], result["late"]) == ({"status_forbids": 1}, 1)
    assert result["posted"] == prepared["run"]["totals"]["lines"] - 1


def test_what_lands_between_prepare_and_approve_changes_no_figure(office, behind):
    """3.04 + 3.25 + 3.86 + 4.38 + 4.50 + 4.29 = 23.32; 10,000.00 × 23.32 / 12 % = 194.33.

    600.00 on 2022-09-15 stands in four of six month-ends: 10,400.00 × 23.32 / 12 % = 202.11, so 7.78 come late.
    """
    semester, ids = "FY2023-S1", people(104, 8)
    office.enrol(ids, on="2022-07-01")
    prepared = office.prepare(semester)
    dead, late, after = ids[:3]
    behind.change_status(dead, LineKind.DEATH_REPORT, date(2023, 1, 9))
    office.contribute(late, 60_000, "2022-09-15")
    office.contribute(after, 10_000, "2023-01-10")
    office.approve(prepared["run"]["hash"], semester)
    office.wait_for("posted", semester)

    assert behind.yields(ids, semester) == dict.fromkeys(ids, 1) | {dead: 0}
    assert [(line.kind, line.savings_cents) for line in behind.lines(late)[2:]] == [
        (LineKind.CONTRIBUTION, 60_000),
        (LineKind.SEMESTER_YIELD, 19_433),
        (LineKind.LATE_CREDIT, 778),
    ]
    assert [(line.kind, line.savings_cents) for line in behind.lines(after)[2:]] == [
        (LineKind.CONTRIBUTION, 10_000),
        (LineKind.SEMESTER_YIELD, 19_433),
    ]
    named = office.exceptions(semester)
    assert (named[dead]["code"], named[late]["code"]) == ("status_forbids", "late_line")
    assert after not in named
