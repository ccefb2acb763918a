"""The daily look at what is due, RU-07: https://github.com/pallets-eco/croniter/issues/70."""

from datetime import datetime
from typing import Any

import pytest

from semester_yields import schedule
from tests.conftest import Context, Stack
from tests.semester_yields.conftest import TREASURY, Yields

FY2026_S2 = {f"2026-{month:02d}": "4.00" for month in range(1, 7)}
FY2028_S1 = {f"2027-{month:02d}": "4.00" for month in range(7, 13)}


def at(yields: Yields, moment: str) -> None:
    yields.clock.now = datetime.fromisoformat(moment)


def adopted(yields: Yields, semester: str, months: dict[str, str]) -> None:
    yields.adopt("treasury_yields", months=months, vintage="2028-01-02")
    yields.adopt(
        "portfolio_return",
        semester=semester,
        return_percent="3.50",
        management_fees_percent="0.40",
        vintage="2028-01-02",
    )


def test_ru_07_late_in_the_evening_of_june_30_it_is_june_30(yields: Yields) -> None:
    adopted(yields, "FY2026-S2", FY2026_S2)
    at(yields, "2026-07-01T02:00:10+00:00")
    outcome = yields.scheduled(scheduled_time="2026-06-30T22:00:00-04:00")
    assert outcome == {"semester": "FY2026-S2", "run": "yield/FY2026-S2/1", "missing": [], "missed": [], "ending": []}
    assert yields.executions.names == ["yield-FY2026-S2-0001-0001"]


@pytest.mark.parametrize(
    ("moment", "semester"),
    [
        ("2027-12-30T09:00:00-04:00", "FY2027-S2"),  # the day before: the last one that has ended
        ("2027-12-31T09:00:00-04:00", "FY2028-S1"),
        ("2028-01-01T09:00:00-04:00", "FY2028-S1"),
    ],
)
def test_ru_07_the_last_business_day_of_2027_is_its_last_day(yields: Yields, moment: str, semester: str) -> None:
    """New Year's Day of 2028 is a Saturday: Puerto Rico doesn't close on the Friday before."""
    at(yields, moment)
    assert yields.scheduled(scheduled_time=moment)["semester"] == semester


def test_ru_07_two_deliveries_a_minute_apart_are_one_run(yields: Yields, stack: Stack) -> None:
    adopted(yields, "FY2028-S1", FY2028_S1)
    for moment in ("2027-12-31T13:00:05+00:00", "2027-12-31T13:01:05+00:00"):
        at(yields, moment)
        outcome = yields.scheduled(scheduled_time="2027-12-31T13:00:00Z")
        assert outcome["run"] == "yield/FY2028-S1/1"
    assert yields.executions.names == ["yield-FY2028-S1-0001-0001"]
    yields.work_off()
    at(yields, "2027-12-31T13:02:05+00:00")
    assert yields.scheduled(scheduled_time="2027-12-31T13:00:00Z")["run"] == "yield/FY2028-S1/1"
    assert len(yields.shop.book.attempts("yield", "FY2028-S1")) == 1


def test_ru_07_delivered_a_day_late_it_says_which_day_was_missed_and_prepares_the_same_run(yields: Yields) -> None:
    adopted(yields, "FY2026-S2", FY2026_S2)
    at(yields, "2026-07-01T13:00:00+00:00")
    outcome = yields.scheduled(scheduled_time="2026-06-30T09:00:00-04:00")
    assert (outcome["run"], outcome["missing"], outcome["missed"]) == ("yield/FY2026-S2/1", [], ["2026-06-30"])


@pytest.mark.parametrize(
    ("looked_on", "ending"),
    [
        ("2025-09-30", []),
        ("2025-10-01", [{"option": "stable", "until": "2026-01-01"}]),  # three months before
        ("2025-12-31", [{"option": "stable", "until": "2026-01-01"}]),
        ("2026-01-01", []),  # it has ended
    ],
)
def test_br_01_an_options_end_is_warned_of_before_it_comes(
    yields: Yields, capsys: pytest.CaptureFixture[str], looked_on: str, ending: list[dict[str, str]]
) -> None:
    """https://github.com/openfisca/openfisca-core/issues/437: past its end it broke production, or was carried on."""
    name = {"en": "Stable", "es": "Estable"}
    yields.adopt("option", code="stable", name=name, in_force_from="2025-01-01", until="2026-01-01")
    at(yields, f"{looked_on}T13:00:00+00:00")
    assert yields.scheduled(scheduled_time=f"{looked_on}T13:00:00Z")["ending"] == ending
    assert f'"FiguresEnding":[{float(len(ending))}]' in capsys.readouterr().out.replace(" ", "")


def test_the_days_on_which_nobody_looked_are_named_once(yields: Yields) -> None:
    adopted(yields, "FY2026-S2", FY2026_S2)
    missed = []
    for day in ("2026-07-02", "2026-07-03", "2026-07-06"):
        at(yields, f"{day}T13:00:00+00:00")
        missed.append(yields.scheduled(scheduled_time=f"{day}T09:00:00-04:00")["missed"])
    assert missed == [["2026-06-30", "2026-07-01"], [], ["2026-07-04", "2026-07-05"]]


def test_what_is_missing_is_named_each_day_until_it_is_adopted(
    yields: Yields, capsys: pytest.CaptureFixture[str]
) -> None:
    first_five = {month: value for month, value in TREASURY["FY2025-S2"].items() if month != "2025-06"}
    yields.adopt_figures("FY2025-S2", first_five)
    at(yields, "2025-07-01T13:00:00+00:00")
    outcome = yields.scheduled(scheduled_time="2025-07-01T13:00:00Z")
    assert outcome["run"] is None
    assert outcome["missing"] == ["fixed_income 2025-06"]
    assert yields.executions.names == []
    assert '"YieldFiguresMissing":[1.0]' in capsys.readouterr().out.replace(" ", "")

    yields.adopt("treasury_yields", months={"2025-06": "3.89"})
    assert yields.scheduled(adopted="RB-20250701-0123456789ab")["run"] == "yield/FY2025-S2/1"
    assert yields.executions.names == ["yield-FY2025-S2-0001-0001"]


def test_a_semester_that_is_posted_is_left_alone_and_the_one_after_it_is_due(yields: Yields) -> None:
    yields.enrol("P-000001", savings_cents=1_000_000, on="2024-07-01")
    yields.adopt_figures("FY2025-S1")
    yields.post_semester("FY2025-S1")
    yields.adopt_figures("FY2025-S2")
    assert yields.scheduled(scheduled_time="2025-07-10T13:00:00Z")["semester"] == "FY2025-S2"
    yields.work_off()
    assert yields.approve_by_hash("FY2025-S2").status == 202  # nobody prepared it in person
    yields.work_off()
    outcome = yields.scheduled(scheduled_time="2025-07-10T13:00:00Z")
    assert (outcome["semester"], outcome["run"]) == ("FY2025-S2", "yield/FY2025-S2/1")
    assert yields.executions.waiting == []


def test_an_adoption_that_changes_the_figures_of_a_prepared_run_prepares_it_again(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.scheduled(adopted="RB-1")
    yields.work_off()
    assert yields.scheduled(adopted="RB-1")["run"] == "yield/FY2025-S2/1"  # nothing has changed
    yields.adopt("treasury_yields", months={"2025-06": "3.95"}, vintage="2025-07-08")
    assert yields.scheduled(adopted="RB-2")["run"] == "yield/FY2025-S2/2"
    yields.work_off()
    # 24.10 / 12 % of 10,700.00 = 214.8917 → 214.89.
    assert yields.get("/yield-runs/FY2025-S2").body["run"]["totals"]["total_yield"] == "214.89"


def test_a_run_that_somebody_has_approved_is_left_alone_by_an_adoption(yields: Yields) -> None:
    yields.enrol_account_of_readings()
    yields.adopt_figures("FY2025-S2")
    yields.prepare_semester("FY2025-S2")
    yields.approve_by_hash("FY2025-S2")
    yields.adopt("treasury_yields", months={"2025-06": "3.95"}, vintage="2025-07-08")
    assert yields.scheduled(adopted="RB-2")["run"] == "yield/FY2025-S2/1"
    assert len(yields.executions.waiting) == 1


def test_a_scheduled_time_that_was_not_filled_in_is_the_clocks_with_a_warning(
    yields: Yields, caplog: pytest.LogCaptureFixture
) -> None:
    assert yields.scheduled(scheduled_time="<aws.scheduler.scheduled-time>")["semester"] == "FY2025-S2"
    assert [record.levelname for record in caplog.records if "filled in" in record.message] == ["WARNING"]


def test_the_schedulers_own_default_payload_is_refused(yields: Yields) -> None:
    """https://github.com/aws-powertools/powertools-lambda-python/pull/6134: it is the text `{}`, not an object."""
    with pytest.raises(ValueError, match="validation error"):
        schedule.handler("{}", Context())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"scheduled_time": "2025-06-30T09:00:00"},  # no zone
        {"scheduled_time": "yesterday"},
        {"scheduled_time": "2025-06-30T09:00:00Z", "adopted": "RB-1"},
        {"source": "aws.events"},
    ],
    ids=str,
)
def test_an_event_of_another_shape_is_refused(yields: Yields, event: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        yields.scheduled(**event)
