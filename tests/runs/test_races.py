"""Who comes between a look and a write: each time one of the two stands, and nothing is done twice."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from retiro.registry.runs import Chunk, Phase, Run, RunBook, RunChangedError, RunId, RunStatus
from retiro.registry.table import Table
from retiro.runs import machine
from retiro.runs.desk import ConflictCode, RunConflictError
from tests.runs.conftest import CONTEXT, LUIS, Office
from tests.runs.test_interruptions import EACH_ONCE, PROVED


class Interposed(RunBook):
    """Something happens right before the first write of this name."""

    def __init__(self, office: Office, name: str, happens: Any) -> None:
        super().__init__(office.shop.book.table)
        self.name = name
        self.happens = happens

    def _first(self, name: str) -> None:
        if self.name == name:
            self.name = ""
            self.happens()

    def insert(self, run: Run) -> None:
        self._first("insert")
        super().insert(run)

    def change(self, run: Run, *statuses: RunStatus, **changes: Any) -> Run:
        self._first("change")
        return super().change(run, *statuses, **changes)

    def move(self, run_id: RunId, chunk: Chunk, **changes: Any) -> Chunk | None:
        self._first("move")
        return super().move(run_id, chunk, **changes)

    def fix(self, run: Run, **details: Any) -> Run:
        self._first("fix")
        return super().fix(run, **details)


def interpose(office: Office, name: str, happens: Any) -> None:
    office.shop = replace(office.shop, book=Interposed(office, name, happens))


class Repeated(RunBook):
    """Every change loses its first answer, and the client makes the call again."""

    def change(self, run: Run, *statuses: RunStatus, **changes: Any) -> Run:
        super().change(run, *statuses, **changes)
        return super().change(run, *statuses, **changes)


def test_a_command_whose_answer_was_lost_is_done_and_not_refused(office: Office) -> None:
    """A resumption has its execution started, too: else it would stand as posting, and nothing would go on."""
    book = Repeated(office.shop.book.table)
    desk = replace(office.desk, book=book)
    run = desk.approve([office.prepared()], office.run().details["hash"], LUIS)
    assert desk.pause(run).status == "paused"
    resumed = desk.resume(office.run())
    assert (resumed.status, resumed.number) == ("posting", run.number + 1)
    assert office.executions.names[-1] == resumed.id.execution_name(resumed.number)
    shop = replace(office.shop, book=book)
    assert str(machine.failed(shop, resumed, "throttled", "Two accounts.")).endswith("throttled. Two accounts.")
    assert office.run().details["failure"] == {"code": "throttled", "detail": "Two accounts."}


def test_a_superseding_whose_answer_was_lost_is_done(office: Office) -> None:
    desk = replace(office.desk, book=Repeated(office.shop.book.table))
    first = office.prepared()
    assert desk.request("gift", "2025-03", CONTEXT, LUIS).id.attempt == 2
    assert office.run(first.id).status == "superseded"


def test_a_change_to_what_stands_already_by_another_number_is_refused(office: Office) -> None:
    run = office.approve(office.prepared())
    desk, book = office.desk, office.shop.book
    desk.resume(desk.pause(run))
    with pytest.raises(RunChangedError):
        book.change(run, RunStatus.APPROVED, status=RunStatus.POSTING)


def test_a_pause_that_somebody_ends_by_resuming_answers_as_the_run_stands(office: Office) -> None:
    run = office.approve(office.prepared())
    desk = office.desk
    desk.book.lease(run.id, "a worker", office.clock() + timedelta(seconds=60))
    pausing = desk.pause(run)
    assert pausing.status == "pausing"
    office.clock.now += timedelta(seconds=61)
    late = replace(desk, book=Interposed(office, "change", lambda: desk.resume(desk.book.get(run.id))))
    assert late.pause(pausing).status == "posting"


def test_two_workers_that_prepare_one_chunk_prepare_each_account_once(office: Office) -> None:
    run = office.request()
    begun = office.worker(office.event(run, "begin", Phase.PREPARE))
    work = office.event(run, "work", Phase.PREPARE, begun["chunks"][0])
    interpose(office, "move", lambda: office.worker(work))
    assert office.worker(work) == {"done": False}  # the other has moved the cursor: look again
    office.work_off()
    assert sorted(row["passbook"] for row in office.rows(office.run())) == sorted(EACH_ONCE)


def test_two_begins_that_count_at_once_make_one_plan(office: Office) -> None:
    run = office.request()
    begin = office.event(run, "begin", Phase.PREPARE)

    def another_counts_then_somebody_enrols() -> None:
        office.worker(begin)
        for number in range(11, 31):
            office.enrol(f"P-{number:06d}")

    interpose(office, "fix", another_counts_then_somebody_enrols)
    office.worker(begin)
    chunks = office.chunks(run)
    assert [shard for chunk in chunks for shard in range(chunk.first_shard, chunk.until_shard)] == list(range(10))
    assert sum(chunk.population for chunk in chunks) == 10


def test_two_begins_that_write_their_plan_at_once_write_one(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have seen that no chunk is planned yet."""
    run = office.request()
    begin = office.event(run, "begin", Phase.PREPARE)
    real = Table.insert

    def overtaken(table: Table, item: dict[str, Any]) -> None:
        monkeypatch.setattr(Table, "insert", real)
        office.worker(begin)
        real(table, item)

    monkeypatch.setattr(Table, "insert", overtaken)
    begun = office.worker(begin)
    assert begun["chunks"] == [chunk.index for chunk in office.chunks(run)]
    office.work_off()
    assert sorted(row["passbook"] for row in office.rows(office.run())) == sorted(EACH_ONCE)


def test_a_pause_between_the_machines_look_and_its_step_is_heeded(office: Office) -> None:
    run = office.approve(office.prepared())
    desk = office.desk
    interpose(office, "change", lambda: desk.pause(desk.book.get(run.id)))
    assert office.worker(office.event(run, "begin", Phase.POST)) == {"chunks": []}
    office.work_off()
    assert office.run().status == "paused"
    office.resume(office.run())
    begun = office.worker(office.event(office.run(), "begin", Phase.POST))
    for chunk in begun["chunks"]:
        office.worker(office.event(office.run(), "work", Phase.POST, chunk))
    interpose(office, "change", lambda: desk.pause(desk.book.get(run.id)))
    assert office.worker(office.event(office.run(), "end", Phase.POST)) == {"next": None, "wait": True}
    assert office.worker(office.event(office.run(), "end", Phase.POST)) == {"next": None, "wait": False}
    assert office.run().status == "paused"
    office.resume(office.run())
    office.work_off()
    assert office.run().details["result"] == PROVED


def test_a_failure_that_comes_as_somebody_resumes_does_not_undo_the_resuming(office: Office) -> None:
    run = office.approve(office.prepared())
    office.worker(office.event(run, "begin", Phase.POST))
    desk = office.desk
    interpose(office, "change", lambda: desk.resume(desk.book.get(run.id)))
    assert office.worker(office.event(run, "fail", Phase.POST) | {"error": "States.Timeout"}) == {}
    assert (office.run().status, office.run().number) == ("posting", run.number + 1)


def test_two_requests_at_once_are_one_run_to_the_same_person_and_a_conflict_to_another(office: Office) -> None:
    desk = office.desk
    same = replace(desk, book=Interposed(office, "insert", lambda: desk.request("gift", "2025-03", CONTEXT, "u-ana")))
    assert same.request("gift", "2025-03", CONTEXT, "u-ana").id.attempt == 1
    assert office.executions.names == ["gift-2025-03-0001-0001"]

    other = replace(desk, book=Interposed(office, "insert", lambda: desk.request("gift", "2025-04", CONTEXT, "u-ana")))
    with pytest.raises(RunConflictError) as refused:
        other.request("gift", "2025-04", CONTEXT, LUIS)
    assert refused.value.code is ConflictCode.RUN_UNDER_WAY


def test_two_approvals_at_once_are_one(office: Office) -> None:
    run = office.prepared()
    desk = office.desk

    def luis_approves() -> None:
        desk.approve([desk.book.get(run.id)], run.details["hash"], LUIS)

    late = replace(desk, book=Interposed(office, "change", luis_approves))
    with pytest.raises(RunConflictError) as refused:
        late.approve([run], run.details["hash"], "u-eva")
    assert refused.value.code is ConflictCode.ALREADY_APPROVED
    assert office.run().details["approved_by"] == LUIS


def test_an_approval_that_comes_before_a_superseding_request_stands(office: Office) -> None:
    run = office.prepared()
    desk = office.desk

    def luis_approves() -> None:
        desk.approve([desk.book.get(run.id)], run.details["hash"], LUIS)

    late = replace(desk, book=Interposed(office, "change", luis_approves))
    with pytest.raises(RunConflictError) as refused:
        late.request("gift", "2025-03", CONTEXT, "u-eva")
    assert refused.value.code is ConflictCode.RUN_UNDER_WAY
    assert office.run().status == "approved"


def test_a_superseded_run_is_prepared_no_further(office: Office) -> None:
    first = office.request()
    begun = office.worker(office.event(first, "begin", Phase.PREPARE))
    office.request(by=LUIS)
    assert office.worker(office.event(first, "work", Phase.PREPARE, begun["chunks"][0])) == {"done": True}
    assert office.worker(office.event(first, "end", Phase.PREPARE)) == {"next": None, "wait": False}
    assert office.rows(office.run(first.id)) == []


def test_a_check_that_an_older_execution_began_is_begun_again(office: Office) -> None:
    run = office.approve(office.prepared())
    begun = office.worker(office.event(run, "begin", Phase.POST))
    for chunk in begun["chunks"]:
        office.worker(office.event(run, "work", Phase.POST, chunk))
    office.worker(office.event(run, "end", Phase.POST))
    office.worker(office.event(run, "work", Phase.CLOSE, begun["chunks"][0]))
    office.resume(office.run())
    assert office.worker(office.event(run, "work", Phase.CLOSE, begun["chunks"][1])) == {"done": True}
    office.work_off()
    assert office.run().details["result"] == PROVED
