"""Workers that die, executions that are stopped, two at once: each account once, and the whole told at the end."""

import pytest

from retiro.registry.runs import Phase
from tests.runs.conftest import Office
from tests.runs.faults import before_write, dying_after_write, dying_at_cursor
from tests.runs.states_language import Killed, Stopped, execute

EACH_ONCE = {f"P-{number:06d}": 1 for number in range(1, 11)}
PROVED = {"posted": 10, "cents": 1_000, "withheld": {}, "late": 0}


def interrupted(office: Office) -> None:
    """Run until the planted fault ends the execution."""
    with pytest.raises(Stopped):
        office.work_off()


def finished_by_resuming(office: Office) -> None:
    office.resume(office.run())
    office.work_off()
    run = office.run()
    assert run.status == "posted"
    assert run.details["result"] == PROVED
    assert office.gifts() == EACH_ONCE
    assert office.last("P-000004").balance_cents("savings") == 10_100


@pytest.mark.parametrize("writes", range(1, 11))
def test_ru_01_a_worker_that_dies_after_any_write_leaves_each_account_to_be_posted_once(
    office: Office, writes: int
) -> None:
    """https://github.com/sidekiq/sidekiq/pull/6405: the cursor was saved before the work, and the rest was lost."""
    office.approve(office.prepared())
    with dying_after_write(office, writes):
        interrupted(office)
    assert sum(office.gifts().values()) == writes
    assert office.run().status == "posting"
    finished_by_resuming(office)


@pytest.mark.parametrize("moved", [False, True])
def test_ru_01_a_worker_that_dies_beside_the_cursor_leaves_each_account_to_be_posted_once(
    office: Office,
    moved: bool,  # noqa: FBT001
) -> None:
    """https://github.com/spring-projects/spring-batch/issues/1740: the cursor stood past what had been undone."""
    office.approve(office.prepared())
    with dying_at_cursor(office, moved=moved):
        interrupted(office)
    finished_by_resuming(office)


def test_a_killed_invocation_is_done_again_by_the_machine_itself(office: Office) -> None:
    office.approve(office.prepared())
    with dying_after_write(office, 5, error=Killed):
        office.work_off()
    assert office.run().details["result"] == PROVED
    assert office.gifts() == EACH_ONCE


def test_an_execution_stopped_while_preparing_goes_on_and_prepares_each_account_once(office: Office) -> None:
    office.request()
    with dying_at_cursor(office, moved=True):
        interrupted(office)
    office.resume(office.run())
    office.work_off()
    assert office.run().status == "prepared"
    assert sorted(row["passbook"] for row in office.rows(office.run())) == sorted(EACH_ONCE)


def test_two_executions_at_the_same_time_post_each_account_once(office: Office) -> None:
    run = office.approve(office.prepared())
    first = office.executions.waiting.pop()

    def second_overtakes() -> None:
        office.resume(office.run())
        execute(office.worker, office.executions.waiting.pop())

    with before_write(office, 3, second_overtakes):
        execute(office.worker, first)

    assert office.run().number == run.number + 1
    assert office.run().details["result"] == PROVED
    assert office.gifts() == EACH_ONCE


def test_two_workers_on_the_same_chunk_post_each_account_once(office: Office) -> None:
    run = office.approve(office.prepared())
    begun = office.worker(office.event(run, "begin", Phase.POST))
    work = office.event(run, "work", Phase.POST, begun["chunks"][0])
    with before_write(office, 2, lambda: office.worker(work)):
        assert office.worker(work) == {"done": False}  # the other has moved the cursor: look again
    assert office.worker(work) == {"done": True}
    office.work_off()
    assert office.run().details["result"] == PROVED
    assert office.gifts() == EACH_ONCE


def test_a_worker_with_an_older_number_writes_nothing(office: Office) -> None:
    old = office.approve(office.prepared())
    office.worker(office.event(old, "begin", Phase.POST))
    office.resume(office.run())

    assert office.worker(office.event(old, "work", Phase.POST, 0)) == {"done": True}
    assert office.worker(office.event(old, "begin", Phase.POST)) == {"chunks": []}
    assert office.worker(office.event(old, "end", Phase.POST)) == {"next": None, "wait": False}
    office.worker(office.event(old, "fail", Phase.POST) | {"error": "States.Timeout"})

    assert sum(office.gifts().values()) == 0
    assert office.run().status == "posting"


def test_a_worker_overtaken_in_the_middle_of_a_part_stops_at_its_next_page(office: Office) -> None:
    office.approve(office.prepared())
    with before_write(office, 2, lambda: office.resume(office.run())):
        execute(office.worker, office.executions.waiting.pop(0))
    # Pages are of one: the second write was on its way, the third looked first.
    assert sum(office.gifts().values()) == 2
    office.work_off()
    assert office.gifts() == EACH_ONCE


def test_every_ask_of_the_machine_may_come_twice(office: Office) -> None:
    run = office.request()
    for _ in range(2):
        begun = office.worker(office.event(run, "begin", Phase.PREPARE))
    for chunk in [*begun["chunks"], *begun["chunks"]]:
        assert office.worker(office.event(run, "work", Phase.PREPARE, chunk)) == {"done": True}
    for _ in range(2):
        assert office.worker(office.event(run, "end", Phase.PREPARE)) == {"next": None, "wait": False}
    assert office.run().details["totals"] == {"lines": 10, "cents": 1_000, "population": 10}
    office.executions.waiting.clear()

    run = office.approve(run)
    for phase in (Phase.POST, Phase.CLOSE):
        for _ in range(2):
            office.worker(office.event(run, "begin", phase))
        for chunk in [*begun["chunks"], *begun["chunks"]]:
            assert office.worker(office.event(run, "work", phase, chunk)) == {"done": True}
        for _ in range(2):
            office.worker(office.event(run, "end", phase))
    assert office.run().details["result"] == PROVED
    assert office.gifts() == EACH_ONCE


def test_a_failure_of_the_machine_fails_the_run_and_names_the_error(office: Office) -> None:
    run = office.approve(office.prepared())
    office.worker(office.event(run, "begin", Phase.POST))
    office.worker(office.event(run, "fail", Phase.POST) | {"error": "States.ExceedToleratedFailureThreshold"})
    assert office.run().status == "failed"
    assert office.run().details["failure"] == {
        "code": "execution_failed",
        "detail": "post: States.ExceedToleratedFailureThreshold",
    }
    finished_by_resuming(office)
    assert "failure" not in office.run().details


@pytest.mark.parametrize(
    "change",
    [
        {"op": "redo"},
        {"chunk": "0"},
        {"number": 0},
        {"Items": [{"chunk": 0}]},  # what an ItemBatcher sends
        {"phase": "pray"},
        {"op": "begin", "chunk": 0},
        {"op": "work", "chunk": None},
    ],
    ids=str,
)
def test_an_event_of_another_shape_is_refused(office: Office, change: dict[str, object]) -> None:
    run = office.request()
    event = office.event(run, "work", Phase.PREPARE, 0)
    with pytest.raises(ValueError, match=r"\w"):
        office.worker(event | change)
