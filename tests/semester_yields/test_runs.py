"""Semesters prepared, approved and posted through the doors, with the figures worked by hand."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from retiro.ledger import lines as line_items
from retiro.ledger import savings
from retiro.ledger.encoding import size_bytes
from retiro.ledger.lines import LineKind
from retiro.ledger.verify import verify_passbook
from tests.semester_yields.conftest import Yields


def test_the_account_of_the_readings_earns_214_36(yields: Yields) -> None:
    """Month-ends 10,200 … 11,200: average 10,700.00 × 24.04 / 12 % = 214.3567 → 214.36."""
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")

    prepared = yields.prepare_semester("FY2025-S2")
    assert (prepared["status"], prepared["yield_date"], prepared["missing"]) == ("prepared", "2025-06-30", [])
    assert prepared["run"]["totals"] == {"participants": 1, "lines": 1, "total_yield": "214.36"}
    (row,) = yields.rows(yields.yield_run("FY2025-S2"))
    assert row["figures"] == {
        "average_monthly_balance": "10700.00",
        "selection": {"fixed_income": 100},
        "semester_percent": "2.003333",
        "yield": "214.36",
    }

    assert yields.approve_by_hash("FY2025-S2").status == 202
    yields.work_off()
    standing = yields.get("/yield-runs/FY2025-S2").body
    assert standing["status"] == "posted"
    assert standing["run"]["result"] == {"posted": 1, "withheld": {}, "late": 0, "total_yield": "214.36"}
    assert standing["run"]["progress"] == {"participants": 1, "looked_at": 1, "lines": 1, "done": 1}
    assert (standing["run"]["prepared_by"], standing["run"]["approved_by"]) == ("u-ana", "u-luis")

    line = yields.yield_line("P-000001")
    assert (line.kind, line.effective_on, line.savings_cents) == (LineKind.SEMESTER_YIELD, date(2025, 6, 30), 21_436)
    assert line.balances == {
        "savings": 1_141_436,
        "transfers": -1_000_000,
        "contributions": -120_000,
        "yields": -21_436,
    }
    assert line.determination == "yield/FY2025-S2/1"
    evidence = yields.ledger.get_evidence("yield", "FY2025-S2/1")
    assert evidence is not None
    assert evidence.body["settings"]["average_balance_method"] == "month_end"
    assert evidence.body["option_yields"]["fixed_income"] == {
        "monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]
    }
    assert size_bytes(line_items.to_item(line)) < 1024  # one write unit
    items = yields.ledger.items(line_items.partition("P-000001"))
    assert verify_passbook("P-000001", items, None).findings == ()


def test_sy_03_a_second_run_of_a_posted_semester_posts_nothing(yields: Yields) -> None:
    """https://github.com/apache/fineract/pull/5328: interest was posted again when the job ran twice in a period."""
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S2")
    lines = len(yields.passbooks.history("P-000001"))

    second = yields.post_semester("FY2025-S2")

    assert second["run"]["attempt"] == 2
    assert second["run"]["totals"] == {"participants": 1, "lines": 0, "total_yield": "0.00"}
    assert second["run"]["exceptions"] == {"already_posted": 1}
    assert second["run"]["result"]["posted"] == 0
    assert yields.exceptions("FY2025-S2") == {"P-000001": "already_posted"}
    assert yields.savings("P-000001") == 1_141_436  # not 11,628.72
    assert len(yields.passbooks.history("P-000001")) == lines


def test_ru_05_whoever_has_an_earlier_semester_open_waits_for_it(yields: Yields) -> None:
    """https://github.com/apache/fineract/pull/2777: accounts whose last dates differed were caught up out of order.

    P-000002 has no selection when FY2025-S1 is posted, so that semester stays open for it.
    """
    for passbook in ("P-000001", "P-000002"):
        yields.enrol(passbook, savings_cents=1_000_000, on="2024-07-01")
    yields.add("P-000002", _without_selection)
    yields.adopt_figures("FY2025-S1")
    yields.adopt_figures("FY2025-S2")
    first = yields.post_semester("FY2025-S1")
    assert first["run"]["exceptions"] == {"no_selection": 1}

    yields.prepare_semester("FY2025-S2")
    (out_of_order,) = yields.get("/yield-runs/FY2025-S2/exceptions").body["items"]
    assert (out_of_order["participant_id"], out_of_order["code"]) == ("P-000002", "semester_out_of_order")
    assert "FY2025-S1" in out_of_order["detail"]
    assert yields.approve_by_hash("FY2025-S2").status == 202
    yields.work_off()
    assert "yield" not in yields.last("P-000002").runs
    # 10,000.00 × 24.55 / 12 % = 204.58; 10,204.58 × 24.04 / 12 % = 204.4318 → 204.43.
    assert yields.savings("P-000001") == 1_000_000 + 20_458 + 20_443

    def chosen_at_last(last: Any) -> Any:
        day, origin = date(2024, 7, 1), savings.Origin("u-eva")
        return savings.selection(last, {"fixed_income": 100}, requested_on=day, effective_on=day, origin=origin)

    yields.add("P-000002", chosen_at_last)
    assert yields.post_semester("FY2025-S1")["run"]["result"]["posted"] == 1
    assert yields.post_semester("FY2025-S2")["run"]["result"]["posted"] == 1
    assert yields.savings("P-000002") == yields.savings("P-000001")
    assert yields.post_semester("FY2025-S2")["run"]["exceptions"] == {"already_posted": 2}


def _without_selection(last: Any) -> Any:
    line = savings.status_change(LineKind.SEPARATION, date(2024, 7, 1), savings.Origin("u-eva"))
    return replace(line, state={"status": "active", "selections": {}})


def test_every_exception_has_its_code_and_each_participant_is_counted(yields: Yields) -> None:
    yields.adopt_figures("FY2025-S2")
    yields.enrol_account_of_readings("P-000001")
    yields.enrol("P-000002", savings_cents=0)  # enrolled, and nothing credited
    yields.enrol("P-000003", savings_cents=1_000, on="2025-07-01")  # its first semester is the next one
    yields.enrol("P-000004", savings_cents=1_000, selections=None)
    yields.enrol("P-000005", savings_cents=1_000, selections={"2025-01-01": {"OLD": 100}})
    yields.enrol("P-000006", savings_cents=1_000)
    yields.report_death("P-000006")
    yields.enrol("P-000007", savings_cents=1_000, on="2024-12-31")
    standing = yields.post_semester("FY2025-S2")
    assert yields.exceptions("FY2025-S2") == {
        "P-000002": "no_credit_yet",
        "P-000003": "no_credit_yet",
        "P-000004": "no_selection",
        "P-000005": "yield_not_in_force",
        "P-000006": "status_forbids",
        "P-000007": "semester_out_of_order",
    }
    run = standing["run"]
    assert run["totals"]["participants"] == 7
    assert sum(run["exceptions"].values()) + run["totals"]["lines"] == 7


def test_the_administrators_order_stands_in_the_place_of_a_selection(yields: Yields) -> None:
    """1,000.00 through the whole semester, fixed income by order: 1,000.00 × 24.04 / 12 % = 20.0333 → 20.03."""
    order = {**_act(), "kind": "order"}
    yields.adopt("setting", name="no_selection", value="fixed_income", in_force_from="2024-01-01", act=order)
    yields.adopt_figures("FY2025-S2")
    yields.enrol("P-000001", savings_cents=100_000, selections=None)
    yields.post_semester("FY2025-S2")
    assert yields.savings("P-000001") == 102_003


def _act() -> dict[str, str]:
    return {"kind": "order", "body": "Administrador", "number": "1", "date": "2024-01-01", "document_sha256": "cd" * 32}


def test_sy_09_a_loss_is_debited_as_the_total_of_the_participant(yields: Yields) -> None:
    """https://github.com/openMF/community-app/issues/1845.

    Half at 24.04 / 12 %, half at 0.9 × (−4.20 − 0.40) = −4.14 %: −1.068333 % of 10,700.00 = −114.31.
    """
    yields.adopt_figures("FY2025-S2", return_percent="-4.20", management_fees_percent="0.40")
    half = {"2025-01-01": {"fixed_income": 50, "system_portfolio": 50}}
    yields.enrol("P-000001", savings_cents=1_000_000, selections=half)
    for month in range(1, 7):
        yields.credit("P-000001", 20_000, f"2025-{month:02d}-15")
    standing = yields.post_semester("FY2025-S2")
    assert standing["run"]["result"]["total_yield"] == "-114.31"
    assert yields.savings("P-000001") == 1_108_569


def test_a_participant_whose_yield_is_nothing_has_the_semester_posted_all_the_same(yields: Yields) -> None:
    """0.01 through the semester × 2.003333 % = 0.0002 → 0.00: the line moves nothing, and the next semester is open."""
    yields.adopt_figures("FY2025-S2")
    yields.enrol("P-000001", savings_cents=1)
    yields.post_semester("FY2025-S2")
    line = yields.last("P-000001")
    assert (line.kind, line.postings) == (LineKind.SEMESTER_YIELD, ())
    assert line.runs["yield"].period == "FY2025-S2"


def test_an_account_whose_months_are_not_all_carried_is_computed_from_its_history(yields: Yields) -> None:
    """A credit nineteen months after the opening is past what a line carries; the semester reaches to the seventh."""
    yields.clock.now = datetime(2026, 8, 10, 16, 0, tzinfo=UTC)
    yields.adopt_figures("FY2025-S2")
    yields.enrol("P-000001", savings_cents=1_000_000)
    yields.credit("P-000001", 500, "2026-08-01")
    for month in range(1, 7):
        yields.credit("P-000001", 20_000, f"2025-{month:02d}-15")
    yields.post_semester("FY2025-S2")
    assert yields.yield_line("P-000001").savings_cents == 21_436
    items = yields.ledger.items(line_items.partition("P-000001"))
    assert verify_passbook("P-000001", items, None).findings == ()


def test_a_credit_between_prepare_and_post_gets_its_yield_at_once_in_a_line_of_its_own(yields: Yields) -> None:
    """The run posts 214.36 as approved. 600.00 on 2025-03-31 is in four of six month-ends: 400.00 more on average.

    11,100.00 × 24.04 / 12 % = 222.37; less 214.36 is 8.01.
    """
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    late = yields.credit("P-000001", 60_000, "2025-03-31")
    yields.approve_by_hash("FY2025-S2")
    yields.work_off()

    standing = yields.get("/yield-runs/FY2025-S2").body
    assert standing["run"]["result"] == {"posted": 1, "withheld": {}, "late": 1, "total_yield": "214.36"}
    posted, settling = list(yields.ledger.lines("P-000001"))[-2:]
    assert (posted.kind, posted.savings_cents) == (LineKind.SEMESTER_YIELD, 21_436)
    assert (settling.kind, settling.savings_cents) == (LineKind.LATE_CREDIT, 801)
    assert settling.differences == {"FY2025-S2": 801}
    assert yields.savings("P-000001") == 1_120_000 + 60_000 + 21_436 + 801
    (told,) = yields.get("/yield-runs/FY2025-S2/exceptions").body["items"]
    assert (told["code"], told["late_lines"], told["settled_by"]) == (
        "late_line",
        [late.sequence],
        settling.sequence,
    )
    items = yields.ledger.items(line_items.partition("P-000001"))
    assert verify_passbook("P-000001", items, None).findings == ()


def test_a_death_that_is_reported_between_approve_and_post_withholds_the_yield(yields: Yields) -> None:
    yields.enrol_account_of_readings("P-000001")
    yields.enrol_account_of_readings("P-000002")
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    yields.approve_by_hash("FY2025-S2")
    yields.report_death("P-000002")
    yields.work_off()
    standing = yields.get("/yield-runs/FY2025-S2").body
    assert standing["run"]["result"] == {
        "posted": 1,
        "withheld": {"status_forbids": 1},
        "late": 0,
        "total_yield": "214.36",
    }
    assert yields.savings("P-000002") == 1_120_000


@pytest.mark.parametrize(("method", "cents"), [("month_start", 17_696), ("month_mid", 19_566)])
def test_the_setting_that_is_adopted_is_the_one_that_counts(yields: Yields, method: str, cents: int) -> None:
    """The account of the readings was empty when January began: its six starts sum up to 53,000.00.

    month_start: 8,833.33… × 24.04 / 12 % = 176.9611 → 176.96.
    month_mid: halfway to the ends' 10,700.00 is 9,766.66…: 195.6589 → 195.66.
    """
    yields.adopt_settings(average_balance_method=method)
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S2")
    assert yields.yield_line("P-000001").savings_cents == cents
