"""The schedule: EventBridge Scheduler fires the function of the template, and a second delivery makes no second run."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import date

from cli.demo import resolutions
from retiro.registry.clock import utc_now
from retiro.rules.calendar import Semester, puerto_rico_date
from tests.cloud.backstage import Backstage
from tests.cloud.waiting import until

SCHEDULE = "SemesterYieldsSchedule"
SEMESTER = "FY2020-S1"
SCHEDULED = {"scheduled_time": "2019-12-31T18:00:00-04:00"}
"""Six in the evening in Puerto Rico of the semester's last business day."""


def fire_once(behind: Backstage, name: str) -> None:
    """A schedule like the template's own, to the same target by the same role, that fires once, for that day."""
    scheduler = behind.stack.client("scheduler")
    daily = scheduler.get_schedule(Name=f"{behind.stack.name}-yields-daily")
    scheduler.create_schedule(
        Name=name,
        ScheduleExpression="at(2019-12-31T18:00:00)",
        ScheduleExpressionTimezone="America/Puerto_Rico",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={**daily["Target"], "Input": json.dumps(SCHEDULED)},
    )


def test_a_schedule_prepares_the_semester_of_its_day_and_delivered_again_prepares_nothing_more(office, behind):
    """RU-07: https://github.com/sidekiq-cron/sidekiq-cron/issues/166."""
    fire_once(behind, "test-yields-once")
    (run,) = until(lambda: behind.attempts(SEMESTER), "the run that the schedule prepares")
    assert run.requested_by == "(schedule)"

    with ThreadPoolExecutor(2) as pool:
        again = list(pool.map(lambda _: behind.invoke(SCHEDULE, SCHEDULED), range(2)))

    assert [outcome["run"] for outcome in again] == [f"yield/{SEMESTER}/1"] * 2
    standing = office.wait_for("prepared", SEMESTER)
    assert standing["attempts"] == [{"attempt": 1, "status": "prepared"}]
    machine = behind.states.list_executions(stateMachineArn=behind.machine)["executions"]
    assert [one["name"] for one in machine if SEMESTER in one["name"]] == [run.id.execution_name(1)]


def test_a_semester_is_prepared_when_its_last_figure_is_adopted(office, behind):
    """The figures of the semester that is due on this day are made up. The last one adopted is the portfolio's."""
    today = puerto_rico_date(utc_now())
    semester = Semester.containing(today).previous()
    treasury = resolutions.treasury_yields() | {
        "months": dict.fromkeys(semester.months, "3.00"),
        "source": "made up for a test",
        "vintage": today.isoformat(),
    }
    portfolio = resolutions.portfolio_return() | {"semester": str(semester), "vintage": today.isoformat()}
    office.adopt(treasury)
    assert office.standing(str(semester))["missing"] == [f"system_portfolio {semester}"]
    assert behind.attempts(str(semester)) == []
    office.adopt(portfolio)
    standing = office.wait_for("prepared", str(semester))
    assert standing["run"]["prepared_by"] == "(schedule)"
    assert date.fromisoformat(standing["yield_date"]) < today
