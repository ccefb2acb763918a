"""Yields of passbooks that move in ways which the engine leaves to the kind."""

from datetime import UTC, datetime

from retiro.ledger import lines as line_items
from retiro.ledger.lines import LineKind
from retiro.ledger.verify import verify_passbook
from tests.semester_yields.conftest import TREASURY, Yields


def test_a_line_far_past_the_carried_months_leaves_the_yield_as_it_was_prepared(yields: Yields) -> None:
    """Prepared, then credited nineteen months after the opening: the line is made again from the whole passbook."""
    yields.clock.now = datetime(2026, 8, 10, 16, 0, tzinfo=UTC)
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    yields.credit("P-000001", 500, "2026-08-01")
    yields.approve_by_hash("FY2025-S2")
    yields.work_off()
    assert yields.get("/yield-runs/FY2025-S2").body["run"]["result"]["late"] == 0
    assert yields.yield_line("P-000001").savings_cents == 21_436
    items = yields.ledger.items(line_items.partition("P-000001"))
    assert verify_passbook("P-000001", items, None).findings == ()


def test_a_late_credit_of_an_earlier_semester_that_comes_between_is_named_for_a_person(yields: Yields) -> None:
    """It brought its difference of FY2025-S1; that it raises the next opening is not in the approved figures."""
    yields.enrol("P-000001", savings_cents=1_000_000, on="2024-07-01")
    yields.adopt_figures("FY2025-S1")
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S1")
    yields.prepare_semester("FY2025-S2")
    late = yields.credit_late("P-000001", 60_000, "2024-12-01")
    yields.approve_by_hash("FY2025-S2")
    yields.work_off()
    assert yields.get("/yield-runs/FY2025-S2").body["run"]["result"]["late"] == 1
    (told,) = yields.get("/yield-runs/FY2025-S2/exceptions").body["items"]
    assert (told["code"], told["late_lines"], told["settled_by"]) == ("late_line", [late.sequence], None)
    assert yields.last("P-000001").kind is LineKind.SEMESTER_YIELD
    assert yields.yield_line("P-000001").savings_cents == 20_443


def test_the_schedule_leaves_a_run_that_is_under_way_alone(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    yields.approve_by_hash("FY2025-S2")
    yields.post("/yield-runs/FY2025-S2/pause")
    yields.adopt("treasury_yields", months={"2025-06": TREASURY["FY2025-S2"]["2025-06"]}, vintage="2025-07-08")
    assert yields.scheduled(scheduled_time="2025-07-10T13:00:00Z")["run"] == "yield/FY2025-S2/1"
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "paused"
