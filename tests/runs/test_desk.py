"""What people may do with a run, and what they may not."""

import pytest

from retiro.registry.runs import RunId, RunStatus
from retiro.runs.desk import ConflictCode, RunConflictError
from tests.runs.conftest import ANA, LUIS, Office
from tests.runs.gifts import CONTEXT
from tests.runs.test_interruptions import PROVED

EVA = "u-eva"


def conflict_of(refused: pytest.ExceptionInfo[RunConflictError]) -> ConflictCode:
    return refused.value.code


def test_the_hash_that_is_approved_covers_every_line_the_totals_and_the_context(office: Office) -> None:
    """Three runs that differ in one thing each have three hashes; the same run has one."""
    first = office.prepared()
    again = office.run(office.request().id)
    office.work_off()
    again = office.run(again.id)
    other_context = office.request(cents=101)
    office.work_off()
    office.credit("P-000005", 1, "2025-02-01")
    other_line = office.request()
    office.work_off()
    hashes = [first, again, office.run(other_context.id), office.run(other_line.id)]
    assert len({run.details["hash"] for run in hashes}) == 4  # the attempt is under the hash too
    assert all(len(run.details["hash"]) == 64 for run in hashes)


def test_who_prepared_a_run_cannot_approve_it(office: Office) -> None:
    run = office.prepared()
    with pytest.raises(RunConflictError) as refused:
        office.approve(run, ANA)
    assert conflict_of(refused) is ConflictCode.SAME_PERSON
    assert office.run().status == "prepared"


def test_a_stale_hash_is_refused_and_changes_nothing(office: Office) -> None:
    run = office.prepared()
    stale = run.details["hash"]
    office.request()
    office.work_off()
    attempts = office.shop.book.attempts("gift", "2025-03")
    assert [one.status for one in attempts] == ["superseded", "prepared"]
    with pytest.raises(RunConflictError) as refused:
        office.desk.approve(attempts, stale, LUIS)
    assert conflict_of(refused) is ConflictCode.STALE_HASH
    with pytest.raises(RunConflictError) as refused:
        office.desk.approve(attempts, "0" * 64, LUIS)
    assert conflict_of(refused) is ConflictCode.STALE_HASH
    assert office.executions.waiting == []


def test_approved_twice_is_the_first_answer_to_the_same_person_and_a_conflict_to_another(office: Office) -> None:
    run = office.prepared()
    first = office.approve(run)
    assert office.approve(run) == first
    with pytest.raises(RunConflictError) as refused:
        office.approve(run, EVA)
    assert conflict_of(refused) is ConflictCode.ALREADY_APPROVED
    assert len(office.executions.waiting) == 1
    office.work_off()
    assert office.approve(run).status == "posted"
    assert office.run().details["result"] == PROVED


def test_an_approval_whose_start_was_lost_starts_when_it_is_given_again(office: Office) -> None:
    run = office.prepared()
    start = office.executions.start_execution

    def unreachable(**_: object) -> None:
        raise ConnectionError

    office.executions.start_execution = unreachable  # type: ignore[method-assign]
    with pytest.raises(ConnectionError):
        office.approve(run)
    office.executions.start_execution = start  # type: ignore[method-assign]
    assert office.run().status == "approved"
    office.approve(run)
    office.work_off()
    assert office.run().details["result"] == PROVED


def test_the_approval_is_evidence_before_the_first_line(office: Office) -> None:
    run = office.posted()
    evidence = office.ledger.get_evidence("approval", "gift/2025-03/1")
    assert evidence is not None
    assert evidence.body == {
        "requested_by": ANA,
        "approved_by": LUIS,
        "approved_at": run.details["approved_at"],
        "hash": run.details["hash"],
        "totals": {"lines": 10, "cents": 1_000, "population": 10},
    }
    assert office.ledger.get_evidence("gift", "2025-03/1") is not None


def test_the_same_request_while_it_is_prepared_is_the_same_run(office: Office) -> None:
    assert office.request().id == office.request().id == RunId("gift", "2025-03", 1)
    assert office.executions.names == ["gift-2025-03-0001-0001"]


def test_another_persons_request_supersedes_what_nobody_has_approved(office: Office) -> None:
    office.request()
    second = office.request(by=LUIS)
    office.work_off()
    assert second.id.attempt == 2
    assert [run.status for run in office.shop.book.attempts("gift", "2025-03")] == ["superseded", "prepared"]
    assert office.chunks(office.run()) == []


def test_a_run_that_is_approved_or_posting_stands_in_the_way_of_another(office: Office) -> None:
    office.approve(office.prepared())
    with pytest.raises(RunConflictError) as refused:
        office.request(by=EVA)
    assert conflict_of(refused) is ConflictCode.RUN_UNDER_WAY


def test_a_paused_posting_stands_in_the_way_of_another_run(office: Office) -> None:
    office.approve(office.prepared())
    office.desk.pause(office.run())
    with pytest.raises(RunConflictError) as refused:
        office.request(by=EVA)
    assert conflict_of(refused) is ConflictCode.RUN_UNDER_WAY


def test_a_second_run_of_a_posted_period_finds_everybody_posted_but_the_straggler(office: Office) -> None:
    office.posted()
    office.enrol("P-000011")
    second = office.request()
    office.work_off()
    second = office.run(second.id)
    assert second.details["totals"] == {"lines": 1, "cents": 100, "population": 11}
    assert second.details["exceptions"] == {"already_posted": 10}
    office.approve(second)
    office.work_off()
    assert set(office.gifts().values()) == {1}


def test_the_clock_asks_only_for_what_no_attempt_says(office: Office) -> None:
    def asked(cents: int = 100) -> RunId:
        run = office.desk.request_if_new("gift", "2025-03", {"on": "2025-03-31", "cents": cents}, "(schedule)")
        office.work_off()
        return run.id

    first = asked()
    assert asked() == first  # prepared from the same figures
    second = asked(cents=200)  # the figures have changed, and nobody has approved
    assert second.attempt == 2
    office.approve(office.run(second))
    office.work_off()
    assert asked(cents=300) == second  # posted: it stands


def test_the_clock_asks_anew_where_what_superseded_an_attempt_was_never_written(office: Office) -> None:
    """The function died between the two writes. Else nothing would ever be prepared again, and nobody told."""
    first = office.prepared()
    office.shop.book.change(first, RunStatus.PREPARED, status=RunStatus.SUPERSEDED)
    assert office.desk.request_if_new("gift", "2025-03", CONTEXT, "(schedule)").id.attempt == 2


def test_the_clock_leaves_what_a_person_has_paused_as_it_is_prepared(office: Office) -> None:
    run = office.request()
    office.desk.pause(run)
    assert office.desk.request_if_new("gift", "2025-03", CONTEXT | {"cents": 300}, "(schedule)").id == run.id
    assert office.run().status == "paused"
