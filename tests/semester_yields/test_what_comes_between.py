"""Yields of passbooks that move in ways which the engine leaves to the kind."""

from datetime import UTC, date, datetime

from retiro.ledger import lines as line_items
from retiro.ledger import savings
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import Credits, PostedFigures
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.savings import Origin
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


def test_what_is_left_to_a_person_keeps_no_other_late_line_waiting(yields: Yields) -> None:
    """600.00 of FY2025-S1 is a person's. 500.00 of March 2025 is not: it has its yield of FY2025-S2 at once.

    10,204.58 × 24.04 / 1200 = 204.43; with 500.00 in four of six months (10,204.58 + 333.33…) × 24.04 / 1200 = 211.11.
    """
    yields.enrol("P-000001", savings_cents=1_000_000, on="2024-07-01")
    yields.adopt_figures("FY2025-S1")
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S1")
    yields.prepare_semester("FY2025-S2")
    of_a_person = yields.credit_late("P-000001", 60_000, "2024-12-01")
    of_the_semester = yields.credit("P-000001", 50_000, "2025-03-15")
    yields.approve_by_hash("FY2025-S2")
    yields.work_off()
    assert yields.yield_line("P-000001").savings_cents == 20_443
    settled = yields.last("P-000001")
    assert (settled.kind, settled.savings_cents) == (LineKind.LATE_CREDIT, 668)
    (told,) = yields.get("/yield-runs/FY2025-S2/exceptions").body["items"]
    late = [of_a_person.sequence, of_the_semester.sequence]
    assert (told["code"], told["late_lines"], told["settled_by"]) == ("late_line", late, None)


def test_a_semester_that_opens_and_is_posted_in_between_withholds_the_next_ones_line(yields: Yields) -> None:
    """Whose first credit is of January 2025 has no FY2025-S1, until 600.00 of December come while S2 is approved.

    FY2025-S1: 600.00 in one month of six, 100.00 × 24.55 / 1200 = 2.05. It is in the opening of FY2025-S2, which was
    approved at 10,000.00 × 24.04 / 1200 = 200.33, and taken again is 10,602.05 × 24.04 / 1200 = 212.39.
    """
    yields.enrol("P-000001", savings_cents=0, on="2024-07-01")
    yields.credit("P-000001", 1_000_000, "2025-01-01")
    yields.adopt_figures("FY2025-S1")
    yields.adopt_figures("FY2025-S2")
    assert yields.prepare_semester("FY2025-S2")["run"]["totals"]["total_yield"] == "200.33"
    yields.approve_by_hash("FY2025-S2")
    under_way = yields.executions.waiting.pop()
    yields.credit("P-000001", 60_000, "2024-12-01")
    yields.post_semester("FY2025-S1")
    assert yields.yield_line("P-000001").savings_cents == 205
    yields.executions.waiting.append(under_way)
    yields.work_off()
    assert yields.get("/yield-runs/FY2025-S2").body["run"]["result"]["withheld"] == {"figures_changed": 1}
    assert yields.savings("P-000001") == 1_000_000 + 60_000 + 205
    yields.post_semester("FY2025-S2")
    assert yields.yield_line("P-000001").savings_cents == 21_239


def test_a_selection_that_comes_in_between_withholds_the_line_until_it_is_in_the_figures(yields: Yields) -> None:
    """10,000.00 in fixed income by the Administrator's order: 200.33. Then all in the portfolio, from 2025-06-20 on.

    0.9 × (3.50 − 0.40) = 2.79 %: 279.00, as the next attempt has it. A credit that stands beside it is none the worse.
    """
    yields.adopt("setting", name="no_selection", value="fixed_income", in_force_from="2024-01-01")
    yields.adopt_figures("FY2025-S2")
    yields.enrol("P-000001", savings_cents=1_000_000, selections=None)
    assert yields.prepare_semester("FY2025-S2")["run"]["totals"]["total_yield"] == "200.33"
    yields.add("P-000001", _all_in_the_portfolio)
    yields.approve_by_hash("FY2025-S2")
    yields.work_off()
    assert yields.get("/yield-runs/FY2025-S2").body["run"]["result"]["withheld"] == {"figures_changed": 1}
    assert yields.savings("P-000001") == 1_000_000
    yields.post_semester("FY2025-S2")
    assert yields.yield_line("P-000001").savings_cents == 27_900


def _all_in_the_portfolio(last: Line) -> Draft:
    day = date(2025, 6, 20)
    return savings.selection(
        last, {"system_portfolio": 100}, requested_on=day, effective_on=day, origin=Origin("u-eva")
    )


def test_the_schedule_leaves_a_run_that_is_under_way_alone(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    yields.approve_by_hash("FY2025-S2")
    yields.post("/yield-runs/FY2025-S2/pause")
    yields.adopt("treasury_yields", months={"2025-06": TREASURY["FY2025-S2"]["2025-06"]}, vintage="2025-07-08")
    assert yields.scheduled(scheduled_time="2025-07-10T13:00:00Z")["run"] == "yield/FY2025-S2/1"
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "paused"


def test_a_credit_is_decided_on_the_passbook_as_one_line_left_it(yields: Yields) -> None:
    """Its last line was read with FY2025-S1 posted, which is reversed before the rest is read.

    It is a late credit still, of 600.00 and 100.00 × 24.55 / 1200 = 2.05; its place is taken, so it is decided again,
    and is then a credit of an open semester.
    """
    yields.enrol("P-000001", savings_cents=1_000_000, on="2024-07-01")
    yields.adopt_figures("FY2025-S1")
    yields.post_semester("FY2025-S1")
    posted = yields.last("P-000001")
    yields.reverse_semester("FY2025-S1")
    reversed_ = yields.last("P-000001")
    assert reversed_.kind is LineKind.REVERSAL
    credits_ = Credits(yields.ledger, PostedFigures(yields.ledger, BoardBook(yields.ledger)), date(2025, 7, 10))
    decided = [
        credits_.contribution(last, "P-000001", 60_000, date(2024, 12, 1), Origin("u-eva")).drafts[0]
        for last in (posted, reversed_)
    ]
    cents = [sum(one.amount_cents for one in draft.postings if one.account == "savings") for draft in decided]
    assert [(draft.kind, amount) for draft, amount in zip(decided, cents, strict=True)] == [
        (LineKind.LATE_CREDIT, 60_205),
        (LineKind.CONTRIBUTION, 60_000),
    ]
