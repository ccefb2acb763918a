"""A worker has several requests in flight: in the items' order, each passbook once, and one wall for all."""

from dataclasses import replace
from threading import Barrier

from retiro.runs.workshop import Hands, Sizes
from tests.runs.conftest import Office
from tests.runs.faults import throttled

AT_ONCE = Sizes(chunk_accounts=10, part_accounts=6, page_accounts=4, at_once=4)


def test_as_many_are_under_way_as_are_asked_for_and_the_order_stays(office: Office) -> None:
    hands = Hands(replace(office.shop, sizes=AT_ONCE))
    met = Barrier(4, timeout=10)

    def work(number: int) -> int:
        met.wait()  # passed by four together, or never
        return number * 10

    assert hands.each(work, range(8)) == [0, 10, 20, 30, 40, 50, 60, 70]


def test_one_at_a_time_needs_no_thread(office: Office) -> None:
    met = Barrier(1)
    assert Hands(office.shop).each(lambda _: met.wait(), "ab") == [0, 0]


def test_a_run_comes_to_the_same_however_many_are_under_way(office: Office) -> None:
    one = office.prepared()
    office.shop = replace(office.shop, sizes=replace(office.shop.sizes, at_once=4))
    office.executions.names.clear()
    four = office.desk.request(office.kind, office.period, {"on": "2025-03-31", "cents": 100, "again": 1}, "u-eva")
    office.work_off()
    rows = [
        [{k: v for k, v in row.items() if k not in {"line", "draft"}} for row in office.rows(r)] for r in (one, four)
    ]
    assert rows[0] == rows[1]
    office.desk.approve([office.run(four.id)], office.run(four.id).details["hash"], "u-luis")
    office.work_off()
    assert office.run(four.id).details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 0}
    assert set(office.gifts().values()) == {1}


def test_who_meets_a_wall_hurries_all(office: Office) -> None:
    office.shop = replace(office.shop, sizes=AT_ONCE)
    hands = Hands(office.shop)
    assert hands.shop.ledger.retries.attempts_max == 8
    hands.hurry()
    hands.hurry()
    assert hands.shop.ledger.retries.attempts_max == 1
    assert office.shop.ledger.retries.attempts_max == 8
    with throttled(office, "Query"):
        run = office.request()
        office.worker(office.event(run, "begin", run.phase))
        office.worker(office.event(run, "work", run.phase, 0))
    stuck = office.chunks(run)[0].stuck
    assert stuck is not None
    assert stuck.counts == {"throttled": 6}
    # At most the four under way try eight times each; the two after them once.
    assert len(office.naps) <= 4 * 8 + 2
