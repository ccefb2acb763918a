"""Posting on the real state machine: interrupted, doubled, paused, and with passbooks that move underneath it.

Each test has a semester and participants of its own: whoever began in another semester is an exception in this one.
"""

import os
import signal
import subprocess
from datetime import date
from uuid import uuid4

import pytest

from retiro.ledger.lines import LineKind
from retiro.registry.runs import RunId
from tests.cloud.office import Office, until

# Semester → first day, and the percent of fixed income, worked from the Treasury's series: sum of the six / 12.
STARTS = {"FY2024-S1": "2023-07-01", "FY2024-S2": "2024-01-01", "FY2025-S1": "2024-07-01", "FY2025-S2": "2025-01-01"}


@pytest.fixture(scope="module")
def office(open_office) -> Office:
    office = open_office("posting")
    office.adopt_all(*STARTS)
    return office


def people(thousand: int, count: int = 20) -> list[str]:
    return [f"P-{thousand}{number:03d}" for number in range(count)]


def workers_of(office: Office, function: str) -> list[int]:
    """The processes of a function of this stack: those whose folder has its name in it."""
    listed = subprocess.run(["ps", "-eww", "-o", "pid=,command="], capture_output=True, text=True, check=True).stdout
    here = f"retiro-test-{os.getpid()}-"
    name = f"ministack-lambda-{office.stack.name}-{function}"
    return [int(line.split()[0]) for line in listed.splitlines() if here in line and name in line]


def posting_has_begun(office: Office, semester: str) -> bool | None:
    return office.standing(semester)["run"]["progress"]["done"] > 0 or None


def test_a_worker_killed_in_the_middle_posts_every_account_once(office):
    ids = people(101)
    office.enrol(ids, on=STARTS["FY2024-S1"])
    prepared = office.prepare("FY2024-S1")
    office.approve(prepared["run"]["hash"], "FY2024-S1")
    until(lambda: posting_has_begun(office, "FY2024-S1"), "the first posted account")
    killed = workers_of(office, "SemesterYieldsWorker")
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert killed
    ended = until(lambda: _ended(office, "FY2024-S1"), "the execution's end")
    if ended["status"] == "failed":
        office.preparer.post("/yield-runs/FY2024-S1/resume", key=str(uuid4()))
    standing = office.wait_for("posted", "FY2024-S1")
    assert office.yields(ids, "FY2024-S1") == dict.fromkeys(ids, 1)
    assert standing["run"]["result"]["posted"] == standing["run"]["totals"]["lines"]


def _ended(office: Office, semester: str) -> dict | None:
    standing = office.standing(semester)
    return standing if standing["status"] in {"posted", "failed"} else None


def test_two_executions_at_the_same_time_post_every_account_once(office):
    ids = people(102)
    office.enrol(ids, on=STARTS["FY2024-S2"])
    prepared = office.prepare("FY2024-S2")
    run = RunId("yield", "FY2024-S2", prepared["run"]["attempt"])
    office.approve(prepared["run"]["hash"], "FY2024-S2")
    machine = office.stack.client("stepfunctions")
    arn = office.stack.outputs["RunsStateMachineArn"]
    first = until(lambda: _input_of_posting(machine, arn, run), "the first execution")
    machine.start_execution(stateMachineArn=arn, name=f"double-{uuid4()}", input=first)
    office.wait_for("posted", "FY2024-S2")
    assert office.yields(ids, "FY2024-S2") == dict.fromkeys(ids, 1)


def _input_of_posting(machine, arn: str, run: RunId) -> str | None:
    for one in machine.list_executions(stateMachineArn=arn)["executions"]:
        if one["name"].startswith(f"{run.kind}-{run.period}-{run.attempt:04d}-"):
            said = machine.describe_execution(executionArn=one["executionArn"])["input"]
            if '"post"' in said:
                return said
    return None


def test_nothing_is_written_after_paused_and_resuming_posts_the_rest(office):
    ids = people(103)
    office.enrol(ids, on=STARTS["FY2025-S1"])
    prepared = office.prepare("FY2025-S1")
    office.approve(prepared["run"]["hash"], "FY2025-S1")
    office.preparer.post("/yield-runs/FY2025-S1/pause", key=str(uuid4()))
    office.wait_for("paused", "FY2025-S1")
    at_rest = office.ledger_items()
    posted = office.yields(ids, "FY2025-S1")
    assert sum(posted.values()) < len(ids)

    # A line lands between approval and posting: 500.00 credited within the semester, to one who isn't posted yet.
    (moved, *_) = [one for one, count in posted.items() if not count]
    assert office.ledger_items() == at_rest
    office.contribute(moved, 50_000, "2024-09-15", "between-approval-and-posting")

    office.preparer.post("/yield-runs/FY2025-S1/resume", key=str(uuid4()))
    office.wait_for("posted", "FY2025-S1")
    assert office.yields(ids, "FY2025-S1") == dict.fromkeys(ids, 1)
    # The prepared figure stands: 10,000.00 × 24.55 / 12 % = 204.58. What came late is credited apart:
    # 500.00 counts in four of six month-ends, so 333.33… × 24.55 / 12 % = 6.8194… → 211.40 in all, 6.82 more.
    (own,) = [line for line in office.lines(moved) if line.kind is LineKind.SEMESTER_YIELD]
    assert own.savings_cents == 20_458
    assert office.exceptions("FY2025-S1")[moved]
    (late,) = [line for line in office.lines(moved) if line.kind is LineKind.LATE_CREDIT]
    assert late.savings_cents == 682


def test_lines_that_land_between_prepare_and_approve(office):
    ids = people(104, 10)
    office.enrol(ids, on=STARTS["FY2025-S2"])
    prepared = office.prepare("FY2025-S2")
    dead, credited = ids[0], ids[1]
    office.change_status(dead, LineKind.DEATH_REPORT, date(2025, 7, 2))
    office.contribute(credited, 50_000, "2025-07-10", "after-the-semester")
    office.approve(prepared["run"]["hash"], "FY2025-S2")
    result = office.wait_for("posted", "FY2025-S2")["run"]["result"]

    # 10,000.00 × 24.04 / 12 % = 200.33, on the line that came in between; nothing to the one whose death was reported.
    assert office.yields(ids, "FY2025-S2") == dict.fromkeys(ids, 1) | {dead: 0}
    (own,) = [line for line in office.lines(credited) if line.kind is LineKind.SEMESTER_YIELD]
    assert (own.sequence, own.savings_cents, own.balance_cents("savings")) == (4, 20_033, 1_070_033)
    assert sum(result["withheld"].values()) == 1
    assert dead in office.exceptions("FY2025-S2")
    assert office.audit()["status"] == "clean"
