"""Passbooks that move after a run was prepared: the same figures on a new sequence, or withheld, or something late."""

from dataclasses import replace
from typing import Any

from retiro.ledger.lines import document_of
from retiro.registry.runs import Phase, RunId, RunStatus
from retiro.runs.exceptions import exceptions_page
from retiro.runs.workshop import Sizes
from tests.runs.conftest import CONTEXT, Office
from tests.runs.faults import before_write


def named(office: Office) -> list[tuple[str, str, tuple[int, ...]]]:
    """The exceptions as they are told: passbook, code, late lines."""
    found, after = exceptions_page(office.shop.objects, office.chunks(office.run()), None, 100)
    assert after is None
    return [(one.passbook, one.code, one.late) for one in found]


def test_a_passbook_that_has_not_moved_is_one_conditional_put_and_no_read(office: Office) -> None:
    run = office.approve(office.prepared())
    office.worker(office.event(run, "begin", Phase.POST))
    asked: list[str] = []

    def told(params: dict[str, Any], model: Any, **_: Any) -> None:
        if office.ledger.table_name in params["body"].decode():
            asked.append(model.name)

    events = office.ledger.client.meta.events
    events.register("before-call.dynamodb", told)
    office.worker(office.event(run, "work", Phase.POST, 0))
    events.unregister("before-call.dynamodb", told)
    assert asked == ["PutItem"] * sum(office.gifts().values())
    assert asked


def test_a_line_between_prepare_and_approve_gives_the_same_figures_on_the_next_sequence(office: Office) -> None:
    run = office.prepared()
    late = office.credit("P-000003", 500, "2025-03-10")
    office.approve(run)
    office.work_off()

    assert office.run().details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 1}
    line = office.last("P-000003")
    assert (line.sequence, line.savings_cents) == (late.sequence + 1, 100)
    assert line.balance_cents("savings") == 10_000 + 500 + 100
    assert office.outcomes(run)["P-000003"] == {
        "passbook": "P-000003",
        "outcome": "posted",
        "sequence": line.sequence,
        "late": [late.sequence],
    }
    assert named(office) == [("P-000003", "late_line", (late.sequence,))]


def test_a_line_of_a_later_date_moves_the_sequence_and_is_not_late(office: Office) -> None:
    run = office.prepared()
    office.credit("P-000003", 500, "2025-04-01")
    office.approve(run)
    office.work_off()
    assert office.run().details["result"]["late"] == 0
    assert office.last("P-000003").balance_cents("savings") == 10_600
    assert named(office) == []


def test_a_line_between_approve_and_post_gives_the_same_figures_on_the_next_sequence(office: Office) -> None:
    office.approve(office.prepared())
    office.credit("P-000007", 500, "2025-03-31")
    office.work_off()
    assert office.run().details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 1}
    assert office.last("P-000007").balance_cents("savings") == 10_600


def test_a_line_that_lands_while_the_line_is_made_again_is_overtaken_in_turn(office: Office) -> None:
    office.approve(office.prepared())
    first = office.rows(office.run())[0]["passbook"]
    office.credit(first, 1, "2025-03-01")
    # The first write fails on the line above; the second, remade, on this one; the third stands.
    with before_write(office, 2, lambda: office.credit(first, 2, "2025-03-02")):
        office.work_off()
    assert office.run().details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 1}
    assert office.last(first).balance_cents("savings") == 10_103


def test_a_state_line_makes_posting_withhold_and_the_close_names_it(office: Office) -> None:
    office.approve(office.prepared())
    office.report_death("P-000002")
    office.work_off()

    run = office.run()
    assert run.status == "posted"
    assert run.details["totals"]["lines"] == 10
    # 10 prepared = 9 posted + 1 withheld; 10.00 = 9.00 + 1.00.
    assert run.details["result"] == {"posted": 9, "cents": 900, "withheld": {"status_forbids": 1}, "late": 0}
    assert office.last("P-000002").balance_cents("savings") == 10_000
    assert named(office) == [("P-000002", "status_forbids", ())]


def test_a_line_that_another_attempt_at_the_period_has_posted_is_withheld(office: Office) -> None:
    """Two attempts prepared side by side can't come of requests: the ledger's order holds without that too."""
    first = office.prepared()
    office.shop.book.change(first, RunStatus.PREPARED, status=RunStatus.REVERSED)
    second = office.desk.request("gift", "2025-03", CONTEXT, "u-ana")
    office.work_off()
    office.shop.book.change(first_again := office.run(first.id), RunStatus.REVERSED, status=RunStatus.PREPARED)
    for run in (first_again, second):
        office.approve(run)
        office.work_off()
    assert office.run(RunId("gift", "2025-03", 2)).details["result"] == {
        "posted": 0,
        "cents": 0,
        "withheld": {"already_posted": 10},
        "late": 0,
    }
    assert set(office.gifts().values()) == {1}


def test_posting_again_after_a_lost_answer_finds_the_runs_own_line(office: Office) -> None:
    """The write was done, its answer was lost, and the passbook has moved on since."""
    run = office.approve(office.prepared())
    office.worker(office.event(run, "begin", Phase.POST))
    row = office.rows(run)[0]
    office.worker(office.event(run, "work", Phase.POST, 0))
    office.credit(row["passbook"], 700, "2025-08-01")
    chunk = office.shop.book.chunk(run.id, 0)
    office.shop.book.move(run.id, chunk, results=())  # as if the cursor had never moved
    office.work_off()
    assert office.run().details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 0}
    assert set(office.gifts().values()) == {1}
    assert office.last(row["passbook"]).balance_cents("savings") == 10_800


def test_prepared_lines_are_the_very_lines_that_are_written(office: Office) -> None:
    run = office.prepared()
    rows = {row["passbook"]: row for row in office.rows(run)}
    office.clock.advance(hours=3)
    office.approve(run)  # at noon and three hours in Puerto Rico
    office.work_off()
    for passbook, row in rows.items():
        line = office.last(passbook)
        written = dict(document_of(line))
        assert written.pop("recorded_at") == "2025-07-10T19:00:00.000000Z"
        assert written == row["line"]


def test_the_smallest_sizes_cross_every_seam_and_post_each_account_once(office: Office) -> None:
    sizes = Sizes(chunk_accounts=7, part_accounts=500, page_accounts=2, invocation_accounts=3)
    office.shop = replace(office.shop, sizes=sizes)
    office.posted()
    assert office.run().details["result"]["posted"] == 10
    assert set(office.gifts().values()) == {1}
    assert all(part.counts["lines"] <= 3 for chunk in office.chunks(office.run()) for part in chunk.parts)
