"""A semester taken back by new lines, the latest first, and posted again."""

from datetime import date

from retiro.ledger import lines as line_items
from retiro.ledger import savings
from retiro.ledger.lines import LineKind
from retiro.ledger.verify import verify_passbook
from tests.semester_yields.conftest import APPROVE, Yields

REASON = {"reason": "The May figure was published wrong."}


def findings(yields: Yields, passbook: str) -> object:
    return verify_passbook(passbook, yields.ledger.items(line_items.partition(passbook)), None).findings


def test_le_09_the_latest_semester_is_reversed_first_and_posting_again_gives_the_same_cents(yields: Yields) -> None:
    """https://github.com/etendosoftware/etendo_core/issues/887: posting to a closed period was blocked, un-posting not.

    10,000.00 without a movement: 204.58, then 10,204.58 → 204.43.
    """
    yields.enrol("P-000001", savings_cents=1_000_000, on="2024-07-01")
    for semester in ("FY2025-S1", "FY2025-S2"):
        yields.adopt_figures(semester)
        yields.post_semester(semester)
    assert yields.savings("P-000001") == 1_000_000 + 20_458 + 20_443

    refused = yields.post("/yield-runs/FY2025-S1/reversal", REASON, scopes=APPROVE)
    assert (refused.status, refused.code) == (409, "later_semester_stands")
    assert "FY2025-S2" in refused.body["detail"]

    reversed_second = yields.reverse_semester("FY2025-S2")
    assert (reversed_second["status"], reversed_second["reversal"]["status"]) == ("reversed", "posted")
    assert reversed_second["reversal"]["result"]["total_yield"] == "-204.43"
    assert yields.savings("P-000001") == 1_020_458
    line = yields.last("P-000001")
    posted = next(one for one in yields.ledger.lines("P-000001") if one.sequence == line.reverses)
    assert (line.kind, line.effective_on) == (LineKind.REVERSAL, posted.effective_on)
    assert (posted.kind, posted.savings_cents) == (LineKind.SEMESTER_YIELD, 20_443)
    evidence = yields.ledger.get_evidence("yield_reversal", "FY2025-S2/1")
    assert evidence is not None
    assert evidence.body["reason"] == REASON["reason"]

    assert yields.reverse_semester("FY2025-S1")["status"] == "reversed"
    assert yields.savings("P-000001") == 1_000_000
    for semester in ("FY2025-S1", "FY2025-S2"):
        standing = yields.post_semester(semester)
        assert [attempt["status"] for attempt in standing["attempts"]] == ["reversed", "posted"]
    assert yields.savings("P-000001") == 1_000_000 + 20_458 + 20_443
    assert findings(yields, "P-000001") == ()


def test_a_later_run_that_never_got_past_its_preparation_does_not_stand_in_the_way(yields: Yields) -> None:
    """Nobody has approved it, so that nothing of it is in the ledger. An approved one that failed stands in the way."""
    yields.enrol("P-000001", savings_cents=1_000_000, on="2024-07-01")
    for semester in ("FY2025-S1", "FY2025-S2"):
        yields.adopt_figures(semester)
    yields.post_semester("FY2025-S1")
    yields.post("/yield-runs", {"semester": "FY2025-S2"})
    yields.executions.waiting.clear()
    yields.fail("FY2025-S2")
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "failed"
    assert yields.reverse_semester("FY2025-S1")["status"] == "reversed"
    assert yields.savings("P-000001") == 1_000_000

    yields.post_semester("FY2025-S1")
    yields.prepare_semester("FY2025-S2")
    yields.approve_by_hash("FY2025-S2")
    yields.executions.waiting.clear()
    yields.fail("FY2025-S2", attempt=2)
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "failed"
    refused = yields.post("/yield-runs/FY2025-S1/reversal", REASON, scopes=APPROVE)
    assert (refused.status, refused.code) == (409, "later_semester_stands")


def test_a_reversal_needs_a_reason_and_a_second_person(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S2")
    for body in ({}, {"reason": ""}, {"reason": "no"}):
        assert yields.post("/yield-runs/FY2025-S2/reversal", body, scopes=APPROVE).status == 422
    assert yields.post("/yield-runs/FY2025-S2/reversal", REASON, user="u-ana", scopes=APPROVE).status == 202
    yields.work_off()
    refused = yields.approve_by_hash("FY2025-S2", user="u-ana", reversal=True)
    assert (refused.status, refused.code) == (403, "same_person")
    assert yields.savings("P-000001") == 1_141_436
    standing = yields.get("/yield-runs/FY2025-S2").body
    assert (standing["status"], standing["reversal"]["status"]) == ("posted", "prepared")


def test_the_run_that_is_reversed_says_so_while_it_is(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S2")
    yields.post("/yield-runs/FY2025-S2/reversal", REASON, scopes=APPROVE)
    yields.work_off()
    yields.approve_by_hash("FY2025-S2", reversal=True)
    event = yields.executions.waiting[0]
    yields.worker({"op": "begin", **{name: event[name] for name in ("kind", "period", "attempt", "number", "phase")}})
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "reversing"
    refused = yields.post("/yield-runs", {"semester": "FY2025-S2"})
    assert (refused.status, refused.code) == (409, "run_under_way")
    yields.work_off()
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "reversed"


def test_later_lines_stay_where_they_are_and_whoever_was_settled_since_is_for_a_person(yields: Yields) -> None:
    yields.enrol_account_of_readings("P-000001")
    yields.enrol_account_of_readings("P-000002")
    yields.enrol_account_of_readings("P-000003")
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S2")
    later = yields.credit("P-000001", 30_000, "2025-07-05")
    closed = date(2025, 7, 9)
    yields.add("P-000002", lambda _: savings.status_change(LineKind.CLOSING, closed, savings.Origin("u-eva")))

    standing = yields.reverse_semester("FY2025-S2")

    assert standing["reversal"]["result"]["posted"] == 2
    assert yields.exceptions("FY2025-S2", kind="yield_reversal") == {"P-000002": "status_forbids"}
    assert yields.savings("P-000001") == 1_120_000 + 30_000
    assert yields.savings("P-000002") == 1_141_436
    assert later in list(yields.ledger.lines("P-000001"))
    again = yields.post_semester("FY2025-S2")
    assert again["run"]["exceptions"] == {"already_posted": 1}
    assert yields.yield_line("P-000001").savings_cents == 21_436
    assert yields.savings("P-000001") == 1_120_000 + 30_000 + 21_436
    assert findings(yields, "P-000001") == ()


def test_the_difference_of_a_late_credit_is_taken_back_with_the_yield_and_comes_again_in_the_figures(
    yields: Yields,
) -> None:
    """600.00 of 2025-03-31 came between: 214.36 and 8.01 are 222.37, and so is the yield of the second attempt."""
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    yields.credit("P-000001", 60_000, "2025-03-31")
    yields.approve_by_hash("FY2025-S2")
    yields.work_off()
    assert yields.savings("P-000001") == 1_120_000 + 60_000 + 22_237

    assert yields.reverse_semester("FY2025-S2")["reversal"]["result"]["total_yield"] == "-222.37"
    assert yields.savings("P-000001") == 1_180_000
    yields.post_semester("FY2025-S2")
    assert yields.yield_line("P-000001").savings_cents == 22_237
    assert yields.savings("P-000001") == 1_180_000 + 22_237
    assert findings(yields, "P-000001") == ()


def test_a_passbook_whose_amount_has_changed_since_the_approval_is_withheld(yields: Yields) -> None:
    """The reversal of 214.36 is approved; then a late credit brings the semester 8.01 more: nobody approved that."""
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.post_semester("FY2025-S2")
    yields.post("/yield-runs/FY2025-S2/reversal", REASON, scopes=APPROVE)
    yields.work_off()
    yields.approve_by_hash("FY2025-S2", reversal=True)
    yields.credit_late("P-000001", 60_000, "2025-03-31")
    yields.work_off()
    standing = yields.get("/yield-runs/FY2025-S2").body
    assert standing["reversal"]["result"]["withheld"] == {"figures_changed": 1}
    assert yields.savings("P-000001") == 1_141_436 + 60_000 + 801


def test_nothing_is_reversed_where_nothing_is_posted(yields: Yields) -> None:
    yields.adopt_figures("FY2025-S2")
    refused = yields.post("/yield-runs/FY2025-S2/reversal", REASON, scopes=APPROVE)
    assert (refused.status, refused.code) == (409, "not_posted")
    yields.enrol_account_of_readings()
    yields.prepare_semester("FY2025-S2")
    refused = yields.post("/yield-runs/FY2025-S2/reversal", REASON, scopes=APPROVE)
    assert (refused.status, refused.code) == (409, "not_posted")
