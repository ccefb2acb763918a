"""RU-09: what the rules refuse and what the table can't take are never confused.

https://github.com/aws-powertools/powertools-lambda-python/issues/4349: when every record of a batch failed, an
exception took the place of the report.
"""

from dataclasses import replace

import pytest

from retiro.runs.exceptions import exceptions_page
from retiro.runs.workshop import Sizes
from tests.conftest import Stack, StoppedClock
from tests.runs.conftest import Office, make_office
from tests.runs.faults import throttled
from tests.runs.gifts import Gifts
from tests.runs.states_language import ExecutionFailedError

ONE_CHUNK = Sizes(chunk_accounts=25, part_accounts=25, page_accounts=25)


@pytest.fixture
def crowd(stack: Stack, clock: StoppedClock, few_shards: None) -> Office:
    """Twenty-five participants in one chunk."""
    office = make_office(stack, clock, {"gift": Gifts()}, ONE_CHUNK)
    for number in range(1, 26):
        office.enrol(f"P-{number:06d}")
    return office


def codes(office: Office) -> dict[str, str]:
    found, _ = exceptions_page(office.shop.objects, office.chunks(office.run()), None, 100)
    return {one.passbook: one.code for one in found}


def test_ru_09_a_chunk_of_25_that_the_rules_refuse_is_done_with_25_exceptions(crowd: Office) -> None:
    for number in range(1, 26):
        crowd.report_death(f"P-{number:06d}")
    run = crowd.prepared()
    assert run.status == "prepared"
    assert run.details["exceptions"] == {"status_forbids": 25}
    assert codes(crowd) == {f"P-{number:06d}": "status_forbids" for number in range(1, 26)}
    # No storm: begin, one work and end; nobody waited for anything.
    assert crowd.invocations == 3
    assert crowd.naps == []


def test_ru_09_a_chunk_of_25_that_is_throttled_fails_the_run_and_lists_25_as_not_posted(crowd: Office) -> None:
    crowd.approve(crowd.prepared())
    of_lines = {"when": lambda body: "passbook#" in body["Item"]["pk"]["S"]}
    with throttled(crowd, "PutItem", **of_lines) as met, pytest.raises(ExecutionFailedError):
        crowd.work_off()

    run = crowd.run()
    assert run.status == "failed"
    assert run.details["failure"] == {"code": "throttled", "detail": "25 accounts were not done for want of capacity."}
    assert codes(crowd) == {f"P-{number:06d}": "throttled" for number in range(1, 26)}
    assert sum(crowd.gifts().values()) == 0
    # Bounded: the first line in eight attempts, each of the others in one, and a pause for each of these.
    assert len(met) == 8 + 24
    assert len(crowd.naps) == 8 + 24

    crowd.resume(run)
    crowd.work_off()
    assert crowd.run().details["result"] == {"posted": 25, "cents": 2_500, "withheld": {}, "late": 0}
    assert codes(crowd) == {}


def test_a_line_that_is_throttled_a_few_times_is_posted_after_all(crowd: Office) -> None:
    crowd.approve(crowd.prepared())
    left = iter(range(3))
    with throttled(
        crowd, "PutItem", when=lambda body: "passbook#" in str(body["Item"]["pk"]) and next(left, None) is not None
    ):
        crowd.work_off()
    assert crowd.run().details["result"]["posted"] == 25
    assert crowd.naps == [0.025, 0.05, 0.1]  # half of 50, 100 and 200 ms


def test_ru_09_a_throttled_read_while_preparing_fails_the_run_and_is_no_exception_of_the_participant(
    crowd: Office,
) -> None:
    crowd.request()
    with throttled(crowd, "Query"), pytest.raises(ExecutionFailedError):
        crowd.work_off()
    run = crowd.run()
    assert (run.status, run.details["failure"]["code"]) == ("failed", "throttled")
    assert codes(crowd) == {f"P-{number:06d}": "throttled" for number in range(1, 26)}

    crowd.resume(run)
    crowd.work_off()
    assert crowd.run().status == "prepared"
    assert crowd.run().details["totals"]["lines"] == 25


def test_some_refused_and_some_throttled_are_told_apart(crowd: Office) -> None:
    crowd.approve(crowd.prepared())
    crowd.report_death("P-000001")
    of_one = {"when": lambda body: body["Item"]["pk"]["S"] == "passbook#P-000002"}
    with throttled(crowd, "PutItem", **of_one), pytest.raises(ExecutionFailedError):
        crowd.work_off()
    assert codes(crowd) == {"P-000002": "throttled"}
    crowd.resume(crowd.run())
    crowd.work_off()
    assert codes(crowd) == {"P-000001": "status_forbids"}
    assert crowd.run().details["result"] == {
        "posted": 24,
        "cents": 2_400,
        "withheld": {"status_forbids": 1},
        "late": 0,
    }


def test_a_rules_refusal_inside_a_kind_is_that_participants_exception(crowd: Office) -> None:
    crowd.enrol("P-000026", refused=1)
    run = crowd.prepared()
    assert run.details["exceptions"] == {"no_selection": 1}
    assert run.details["totals"] == {"lines": 25, "cents": 2_500, "population": 26}


def test_a_draft_that_can_be_no_line_is_that_participants_exception(crowd: Office) -> None:
    class Unbalanced(Gifts):
        def prepare(self, passbook, run):  # type: ignore[no-untyped-def]
            prepared = super().prepare(passbook, run)
            if passbook.id == "P-000009":
                draft = replace(prepared.draft, postings=prepared.draft.postings[:1])
                return replace(prepared, draft=draft)
            return prepared

    crowd.shop = replace(crowd.shop, kinds={"gift": Unbalanced()})
    run = crowd.prepared()
    assert run.details["exceptions"] == {"line_not_possible": 1}
    assert codes(crowd) == {"P-000009": "line_not_possible"}


@pytest.mark.parametrize(("padding", "lines"), [(0, 26), (1024, 25)])
def test_a_line_that_would_take_two_write_units_is_named_before_anybody_approves(
    crowd: Office, padding: int, lines: int
) -> None:
    crowd.enrol("P-000026", carried="x" * padding)
    run = crowd.prepared()
    assert run.details["totals"]["lines"] == lines
    assert run.details["exceptions"] == ({"line_too_large": 1} if padding else {})
