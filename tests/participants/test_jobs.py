"""A job's place in the registry: a newer execution fences the older, and nothing is done before its rows are."""

from typing import Any

import pytest

from retiro.registry.jobs import Cursor, FencedError, Jobs, JobStatus, UnfinishedError
from retiro.registry.table import ChangedError, Table


@pytest.fixture
def jobs(stack: Any) -> Jobs:
    """One job of five rows."""
    jobs = Jobs(stack.registry, "file")
    jobs.open("F", rows=5, facts={"digest": "d"})
    return jobs


def status(jobs: Jobs) -> JobStatus:
    job = jobs.get("F")
    assert job is not None
    return job.status


def test_a_job_is_opened_once(jobs: Jobs) -> None:
    there = jobs.open("F", rows=9, facts={"digest": "other"})
    assert (there.rows, there.facts) == (5, {"digest": "d"})


def test_it_isnt_done_before_all_its_rows_are(jobs: Jobs) -> None:
    """https://github.com/spring-projects/spring-batch/issues/2034"""
    number = jobs.next_number("F")
    jobs.begin("F", number, 2)
    jobs.advance("F", 0, number, Cursor(0, ()), Cursor(4, ()))
    with pytest.raises(UnfinishedError):
        jobs.end("F", number)
    assert status(jobs) is JobStatus.WORKING
    jobs.advance("F", 1, number, Cursor(0, ()), Cursor(1, ()))
    jobs.end("F", number)
    assert status(jobs) is JobStatus.DONE
    assert jobs.next_number("F") is None


def test_an_older_execution_can_neither_begin_nor_move_nor_end_nor_fail_it(jobs: Jobs) -> None:
    older, newer = jobs.next_number("F"), jobs.next_number("F")
    jobs.begin("F", newer, 1)
    for act in (
        lambda: jobs.begin("F", older, 1),
        lambda: jobs.advance("F", 0, older, Cursor(0, ()), Cursor(5, ())),
        lambda: jobs.end("F", older),
        lambda: jobs.fail("F", older),
    ):
        with pytest.raises(FencedError):
            act()
    assert jobs.cursors("F") == [Cursor(0, [])]
    assert status(jobs) is JobStatus.WORKING


def test_an_older_execution_that_was_overtaken_while_it_began_takes_no_chunk_back(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newer one begins between the older one's look at the job and its look at the chunk."""
    older = jobs.next_number("F")
    real = Table.insert

    def overtaken(table: Table, item: dict[str, Any]) -> None:
        monkeypatch.setattr(Table, "insert", real)
        newer = jobs.next_number("F")
        jobs.begin("F", newer, 1)
        jobs.advance("F", 0, newer, Cursor(0, ()), Cursor(3, ()))
        real(table, item)

    monkeypatch.setattr(Table, "insert", overtaken)
    with pytest.raises(FencedError):
        jobs.begin("F", older, 1)
    jobs.advance("F", 0, 2, Cursor(3, ()), Cursor(5, ()))
    assert jobs.cursors("F") == [Cursor(5, [])]


def test_an_execution_that_takes_a_chunk_over_and_never_hears_of_it_is_not_fenced(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The update took effect, its answer was lost, and botocore has sent it again: the chunk is ours by then."""
    jobs.begin("F", jobs.next_number("F"), 1)
    newer = jobs.next_number("F")
    real = Table.update

    def sent_twice(table: Table, key: tuple[str, str], *values: Any, **more: Any) -> Any:
        if key[1].startswith("chunk#"):
            real(table, key, *values, **more)
        return real(table, key, *values, **more)

    monkeypatch.setattr(Table, "update", sent_twice)
    jobs.begin("F", newer, 1)
    monkeypatch.setattr(Table, "update", real)
    assert jobs.advance("F", 0, newer, Cursor(0, ()), Cursor(5, ()))


def test_an_end_whose_answer_was_lost_is_an_end(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    number = jobs.next_number("F")
    jobs.begin("F", number, 1)
    jobs.advance("F", 0, number, Cursor(0, ()), Cursor(5, ()))
    real = Table.update

    def sent_twice(table: Table, *values: Any, **more: Any) -> Any:
        real(table, *values, **more)
        return real(table, *values, **more)

    monkeypatch.setattr(Table, "update", sent_twice)
    jobs.end("F", number)
    job = jobs.get("F")
    assert job is not None
    assert job.status == "done"


def test_a_cursor_moves_from_where_it_was_only(jobs: Jobs) -> None:
    number = jobs.next_number("F")
    jobs.begin("F", number, 1)
    assert jobs.advance("F", 0, number, Cursor(0, ()), Cursor(2, ()))
    # The same execution again: its own lost answer, or a second invocation of it. It looks again, and nothing moves.
    assert not jobs.advance("F", 0, number, Cursor(0, ()), Cursor(3, ()))
    assert [cursor.done for cursor in jobs.cursors("F")] == [2]


def test_an_older_execution_moves_no_cursor(jobs: Jobs) -> None:
    older = jobs.next_number("F")
    jobs.begin("F", older, 1)
    newer = jobs.next_number("F")
    jobs.begin("F", newer, 1)
    with pytest.raises(FencedError) as fenced:
        jobs.advance("F", 0, older, Cursor(0, ()), Cursor(2, ()))
    assert isinstance(fenced.value.__cause__, ChangedError)
    assert [cursor.done for cursor in jobs.cursors("F")] == [0]
