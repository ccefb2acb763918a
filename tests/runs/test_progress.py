"""What is told of a run while it goes on, and after it was interrupted."""

from dataclasses import replace

import pytest

from retiro.runs.progress import Progress, progress
from retiro.runs.workshop import Sizes
from tests.runs.conftest import Office
from tests.runs.faults import dying_after_write
from tests.runs.states_language import Stopped


def test_ru_03_after_a_crash_the_end_tells_of_all_and_progress_never_goes_back(office: Office) -> None:
    """https://github.com/open-mercato/open-mercato/pull/5610: the summary counted the second attempt only, 40 of 100.

    A hundred participants, parts of forty: of the sixty that are written before the crash, the last twenty are past the
    cursor, and the four of the page under way are told nowhere but in the ledger.
    """
    for number in range(11, 101):
        office.enrol(f"P-{number:06d}")
    sizes = Sizes(chunk_accounts=100, part_accounts=40, page_accounts=4)
    office.shop = replace(office.shop, sizes=sizes)
    office.approve(office.prepared())
    seen: list[Progress] = []
    worker = office.worker

    def watched(event: dict[str, object]) -> dict[str, object]:
        try:
            return worker(event)
        finally:
            seen.append(progress(office.chunks(office.run())))

    office.worker = watched  # type: ignore[method-assign]
    with dying_after_write(office, 60), pytest.raises(Stopped):
        office.work_off()
    told = progress(office.chunks(office.run()))
    assert told.done == 56
    assert len(office.chunks(office.run())[0].results) == 1
    office.resume(office.run())
    office.work_off()

    assert office.run().details["result"] == {"posted": 100, "cents": 10_000, "withheld": {}, "late": 0}
    assert office.run().details["totals"]["lines"] == 100
    assert sorted(office.outcomes(office.run())) == [f"P-{number:06d}" for number in range(1, 101)]
    done = [one.done for one in seen]
    assert done == sorted(done)
    assert done[-1] == 100
    assert {one.prepared for one in seen} == {100}


def test_a_population_that_grows_while_it_is_prepared_never_makes_more_than_the_whole(office: Office) -> None:
    run = office.request()
    office.worker(office.event(run, "begin", run.phase))
    assert progress(office.chunks(run)) == Progress(population=10, looked_at=0, prepared=0, done=0)
    for number in range(11, 21):
        office.enrol(f"P-{number:06d}")
    office.work_off()
    assert progress(office.chunks(run)) == Progress(population=20, looked_at=20, prepared=20, done=0)
