"""What the doors let in, and what they say where they don't."""

from datetime import datetime
from typing import Any

import pytest

from semester_yields import worker
from tests.conftest import Context, Stack
from tests.semester_yields.conftest import APPROVE, PREPARE, TREASURY, Yields


def runs_of(stack: Stack) -> list[dict[str, Any]]:
    """All items of runs, to see that nothing was changed."""
    return [item for item in stack.registry_items() if item["pk"]["S"].startswith("run#")]


def test_a_run_without_the_june_figure_is_refused_and_the_figure_named(yields: Yields, stack: Stack) -> None:
    yields.adopt_figures(
        "FY2025-S2", {month: value for month, value in TREASURY["FY2025-S2"].items() if month != "2025-06"}
    )
    refused = yields.post("/yield-runs", {"semester": "FY2025-S2"})
    assert (refused.status, refused.code) == (422, "yield_not_in_force")
    assert refused.body["missing"] == ["fixed_income 2025-06"]
    assert "fixed_income 2025-06" in refused.body["detail"]
    assert refused.body["citation"] == "3 L.P.R.A. § 786-7(b)(3)"
    assert runs_of(stack) == []

    standing = yields.get("/yield-runs/FY2025-S2").body
    assert (standing["status"], standing["run"]) == ("open", None)
    assert standing["missing"] == ["fixed_income 2025-06"]

    spanish = yields.post("/yield-runs", {"semester": "FY2025-S2"}, headers={"Accept-Language": "es-PR"})
    assert "no ha adoptado" in spanish.body["detail"]


def test_a_run_without_an_adopted_setting_is_refused_and_the_setting_named(yields: Yields) -> None:
    """The settings take effect on 2000-01-01: FY1999-S2 ended before them."""
    refused = yields.post("/yield-runs", {"semester": "FY1999-S2"})
    assert (refused.status, refused.code) == (422, "yield_not_in_force")
    assert "setting average_balance_method" in refused.body["missing"]


@pytest.mark.parametrize(
    ("now", "status"),
    [
        ("2025-06-30T03:59:59+00:00", 422),  # June 29 in Puerto Rico, the day before
        ("2025-06-30T04:00:00+00:00", 202),  # June 30, the last business day, begins
        ("2025-07-01T04:00:00+00:00", 202),
    ],
)
def test_a_semester_is_prepared_from_its_last_business_day_on_by_puerto_ricos_date(
    yields: Yields, now: str, status: int
) -> None:
    yields.adopt_figures("FY2025-S2")
    yields.clock.now = datetime.fromisoformat(now)
    answer = yields.post("/yield-runs", {"semester": "FY2025-S2"})
    assert answer.status == status
    if status == 422:
        assert answer.code == "semester_not_over"
        assert "2025-06-30" in answer.body["detail"]


def test_a_closure_day_moves_the_yield_date(yields: Yields) -> None:
    act = {
        "kind": "order",
        "body": "Gobernador",
        "number": "2025-1",
        "date": "2025-06-01",
        "document_sha256": "ef" * 32,
    }
    yields.adopt("closure_days", dates=["2025-06-30"], act=act)
    assert yields.get("/yield-runs/FY2025-S2").body["yield_date"] == "2025-06-27"  # June 28 and 29 are a weekend


@pytest.mark.parametrize("semester", ["FY2025-S3", "2025-S2", "FY25-S2", "FY2025-S2 ", 20252, None])
def test_a_semester_of_another_form_is_refused(yields: Yields, semester: object) -> None:
    refused = yields.post("/yield-runs", {"semester": semester})
    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", "semester")


def test_who_prepared_a_run_cannot_approve_it_through_another_client(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    told = yields.prepare_semester("FY2025-S2")["run"]
    for client in ("office", "board", "fund"):
        refused = yields.post(
            "/yield-runs/FY2025-S2/approval", {"hash": told["hash"]}, user="U-ANA", client=client, scopes=APPROVE
        )
        assert (refused.status, refused.code) == (403, "same_person")
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "prepared"


def test_a_stale_hash_is_a_conflict(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    stale = yields.prepare_semester("FY2025-S2")["run"]["hash"]
    yields.credit("P-000001", 100, "2025-06-20")
    yields.prepare_semester("FY2025-S2")
    for run_hash in (stale, "0" * 64):
        refused = yields.post("/yield-runs/FY2025-S2/approval", {"hash": run_hash}, user="u-luis", scopes=APPROVE)
        assert (refused.status, refused.code, refused.body["field"]) == (409, "stale_hash", "hash")
    assert yields.savings("P-000001") == 1_120_100


def test_approved_twice_is_the_first_answer_to_the_same_person_and_a_conflict_to_another(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    assert yields.approve_by_hash("FY2025-S2").status == 202
    assert yields.approve_by_hash("FY2025-S2").status == 202
    refused = yields.approve_by_hash("FY2025-S2", user="u-eva")
    assert (refused.status, refused.code, refused.body["field"]) == (409, "already_approved", "hash")
    assert len(yields.executions.waiting) == 1


def test_a_run_is_paused_and_resumed_through_the_doors(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    refused = yields.post("/yield-runs/FY2025-S2/pause")
    assert (refused.status, refused.code, refused.body["field"]) == (409, "not_under_way", "semester")
    yields.approve_by_hash("FY2025-S2")
    assert yields.post("/yield-runs/FY2025-S2/pause").body["status"] == "paused"
    yields.work_off()
    assert yields.savings("P-000001") == 1_120_000
    assert yields.post("/yield-runs/FY2025-S2/resume").status == 202
    yields.work_off()
    assert yields.get("/yield-runs/FY2025-S2").body["status"] == "posted"
    refused = yields.post("/yield-runs/FY2025-S2/resume")
    assert (refused.status, refused.code) == (409, "not_resumable")


@pytest.mark.parametrize("act", ["pause", "resume", "approval"])
def test_what_has_no_run_is_not_found(yields: Yields, act: str) -> None:
    body = {"hash": "0" * 64} if act == "approval" else None
    missing = yields.post(f"/yield-runs/FY2025-S2/{act}", body, scopes=f"{PREPARE} {APPROVE}")
    assert (missing.status, missing.code) == (404, "run_not_found")
    assert yields.get("/yield-runs/FY2025-S2/exceptions").status == 404


@pytest.mark.parametrize("client", ["portal", "employer-001"])
def test_only_the_office_the_fund_and_the_board_have_to_do_with_runs(yields: Yields, client: str) -> None:
    for answer in (
        yields.get("/yield-runs/FY2025-S2", client=client),
        yields.post("/yield-runs", {"semester": "FY2025-S2"}, client=client),
    ):
        assert (answer.status, answer.code) == (403, "party_not_allowed")


@pytest.mark.parametrize(
    ("method", "path", "scopes"),
    [
        ("POST", "/yield-runs", APPROVE),
        ("POST", "/yield-runs/FY2025-S2/approval", PREPARE),
        ("POST", "/yield-runs/FY2025-S2/reversal", PREPARE),
        ("POST", "/yield-runs/FY2025-S2/pause", APPROVE),
        ("POST", "/yield-runs/FY2025-S2/resume", APPROVE),
        ("GET", "/yield-runs/FY2025-S2", "participants.read"),
        ("GET", "/yield-runs/FY2025-S2/exceptions", ""),
    ],
)
def test_each_act_has_its_own_scope(yields: Yields, method: str, path: str, scopes: str) -> None:
    answer = yields.post(path, {}, scopes=scopes) if method == "POST" else yields.get(path, scopes=scopes)
    assert (answer.status, answer.code) == (403, "scope_missing")


def test_the_exceptions_come_in_pages_and_in_the_callers_language(yields: Yields) -> None:
    yields.adopt_figures("FY2025-S2")
    for number in range(1, 6):
        yields.enrol(f"P-{number:06d}", savings_cents=0)
    yields.prepare_semester("FY2025-S2")
    first = yields.get("/yield-runs/FY2025-S2/exceptions", query={"limit": "3"}).body
    second = yields.get(
        "/yield-runs/FY2025-S2/exceptions",
        query={"limit": "3", "cursor": first["next_cursor"]},
        headers={"Accept-Language": "es"},
    ).body
    assert second["next_cursor"] is None
    named = [item["participant_id"] for item in first["items"] + second["items"]]
    assert sorted(named) == [f"P-{number:06d}" for number in range(1, 6)]
    assert second["items"][0]["detail"] != first["items"][0]["detail"]
    faulty = yields.get("/yield-runs/FY2025-S2/exceptions", query={"cursor": "eHl6"})
    assert (faulty.status, faulty.code) == (422, "invalid_cursor")


def test_the_worker_refuses_an_event_that_is_not_the_machines(yields: Yields) -> None:
    with pytest.raises(ValueError, match="validation error"):
        worker.handler({"Items": [1, 2]}, Context())  # type: ignore[arg-type]


def test_a_failed_run_says_why_and_nothing_of_whom(yields: Yields, stack: Stack) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.post("/yield-runs", {"semester": "FY2025-S2"})
    yields.fail("FY2025-S2")
    standing = yields.get("/yield-runs/FY2025-S2").body
    assert standing["status"] == "failed"
    assert standing["run"]["failure"] == {"code": "execution_failed", "detail": "prepare: States.Timeout"}
