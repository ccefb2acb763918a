"""Pause and resume: from the moment a run is `paused`, nothing is written."""

import pytest

from retiro.registry.runs import Phase
from retiro.runs.desk import ConflictCode, RunConflictError
from tests.conftest import Stack
from tests.runs.conftest import Office
from tests.runs.faults import before_write
from tests.runs.states_language import execute
from tests.runs.test_interruptions import EACH_ONCE, PROVED


def test_a_pause_in_the_middle_stops_the_workers_and_nothing_is_written_after_paused(
    office: Office, stack: Stack
) -> None:
    office.approve(office.prepared())
    with before_write(office, 4, lambda: office.desk.pause(office.run())):
        office.work_off()

    assert office.run().status == "paused"
    written = stack.ledger_items()
    assert sum(office.gifts().values()) == 4
    for op, phase in (("begin", Phase.POST), ("end", Phase.POST)):
        office.worker(office.event(office.run(), op, phase))
    for chunk in range(4):
        office.worker(office.event(office.run(), "work", Phase.POST, chunk))
    assert stack.ledger_items() == written

    office.resume(office.run())
    office.work_off()
    assert office.run().details["result"] == PROVED
    assert office.gifts() == EACH_ONCE


def test_a_run_is_not_paused_before_its_last_worker_has_returned(office: Office) -> None:
    statuses: list[str] = []

    def pause_while_this_worker_writes() -> None:
        statuses.append(office.desk.pause(office.run()).status)
        # The machine's end may come while the worker is still there: another chunk's failure, or a lost answer.
        statuses.append(str(office.worker(office.event(office.run(), "end", Phase.POST))["wait"]))

    office.approve(office.prepared())
    with before_write(office, 1, pause_while_this_worker_writes):
        office.work_off()
    assert statuses == ["pausing", "True"]
    assert office.run().status == "paused"
    assert sum(office.gifts().values()) == 1


def test_a_worker_that_was_killed_holds_the_pause_up_until_its_time_is_over(office: Office) -> None:
    run = office.approve(office.prepared())
    office.worker(office.event(run, "begin", Phase.POST))
    # It was killed, so it never gave its lease back; its invocation could have lasted a minute.
    office.shop.book.lease(run.id, "0000#0002#killed", office.clock())
    office.clock.advance(seconds=-1)
    assert office.desk.pause(office.run()).status == "pausing"

    execution = office.executions.waiting.pop(0)
    waits: list[int] = []

    def a_while() -> None:
        waits.append(1)
        office.clock.advance(seconds=1)

    execute(office.worker, execution, on_wait=a_while)
    assert waits == [1]
    assert office.run().status == "paused"
    assert sum(office.gifts().values()) == 0


def test_a_worker_that_comes_after_the_pause_was_asked_for_writes_nothing(office: Office) -> None:
    run = office.approve(office.prepared())
    office.worker(office.event(run, "begin", Phase.POST))
    assert office.desk.pause(office.run()).status == "paused"
    assert office.worker(office.event(run, "work", Phase.POST, 0)) == {"done": True}
    assert sum(office.gifts().values()) == 0
    assert list(office.shop.book.leases(run.id)) == []


def test_preparing_can_be_paused_and_resumed_too(office: Office) -> None:
    run = office.request()
    office.desk.pause(run)
    office.work_off()
    assert (office.run().status, office.run().phase) == ("paused", "prepare")
    office.resume(office.run())
    office.work_off()
    assert office.run().status == "prepared"
    assert office.run().details["totals"]["lines"] == 10


def test_a_pause_between_the_approval_and_the_first_line_writes_no_line(office: Office) -> None:
    office.approve(office.prepared())
    office.desk.pause(office.run())
    office.work_off()
    assert office.run().status == "paused"
    assert sum(office.gifts().values()) == 0
    office.resume(office.run())
    office.work_off()
    assert office.run().details["result"] == PROVED


def test_a_pause_that_comes_while_the_machine_ends_a_phase_is_heeded(office: Office) -> None:
    run = office.approve(office.prepared())
    begun = office.worker(office.event(run, "begin", Phase.POST))
    for chunk in begun["chunks"]:
        office.worker(office.event(run, "work", Phase.POST, chunk))
    office.desk.pause(office.run())
    assert office.worker(office.event(run, "end", Phase.POST)) == {"next": None, "wait": False}
    assert office.run().status == "paused"
    office.resume(office.run())
    office.work_off()
    assert office.run().details["result"] == PROVED


def test_pausing_what_is_paused_is_the_same_answer(office: Office) -> None:
    run = office.request()
    assert office.desk.pause(run).status == "paused"
    assert office.desk.pause(office.run()).status == "paused"


def test_what_is_not_under_way_cannot_be_paused(office: Office) -> None:
    run = office.prepared()
    with pytest.raises(RunConflictError) as refused:
        office.desk.pause(run)
    assert refused.value.code is ConflictCode.NOT_UNDER_WAY


def test_what_is_posted_cannot_be_resumed(office: Office) -> None:
    run = office.posted()
    with pytest.raises(RunConflictError) as refused:
        office.resume(run)
    assert refused.value.code is ConflictCode.NOT_RESUMABLE
