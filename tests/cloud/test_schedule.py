"""The schedule: EventBridge Scheduler fires the function of the template, and a second delivery makes no second run."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from cli.demo import resolutions
from retiro.registry.clock import utc_now
from retiro.registry.runs import RunId
from retiro.rules.calendar import Semester, puerto_rico_date, yield_date
from tests.cloud.backstage import SCHEDULE, Backstage
from tests.cloud.office import Office, enrolment
from tests.cloud.waiting import until

SEMESTER = "FY2020-S1"
EVENING = {"scheduled_time": "2019-12-31T18:00:00-04:00"}
"""Six in the evening in Puerto Rico of the semester's last business day."""

NIGHT = {"scheduled_time": "2020-01-01T02:00:00Z"}
"""Ten in the evening of the same day in Puerto Rico; in UTC a day later already."""


@pytest.fixture(scope="module")
def fired(office: Office, behind: Backstage) -> None:
    """Schedules like the template's own, to the same targets by the same roles, that fire once, for that day."""
    office.preparer.post("/participants", enrolment("P-204001", on="2019-07-01"))
    scheduler = behind.stack.client("scheduler")
    for name, event in (("yields-daily", EVENING), ("audit-nightly", NIGHT)):
        own = scheduler.get_schedule(Name=f"{behind.stack.name}-{name}")
        scheduler.create_schedule(
            Name=f"test-{name}",
            ScheduleExpression="at(2020-01-01T00:00:00)",
            ScheduleExpressionTimezone="America/Puerto_Rico",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={**own["Target"], "Input": json.dumps(event)},
        )


@pytest.mark.usefixtures("fired")
def test_a_schedule_prepares_the_semester_of_its_day_and_delivered_again_prepares_nothing_more(office, behind):
    """RU-07: https://github.com/sidekiq-cron/sidekiq-cron/issues/166."""
    (run,) = until(lambda: behind.attempts(SEMESTER), "the run that the schedule prepares")
    assert run.requested_by == "(schedule)"

    with ThreadPoolExecutor(2) as pool:
        again = list(pool.map(lambda _: behind.invoke(SCHEDULE, EVENING), range(2)))

    assert [outcome["run"] for outcome in again] == [f"yield/{SEMESTER}/1"] * 2
    standing = office.wait_for("prepared", SEMESTER)
    assert standing["attempts"] == [{"attempt": 1, "status": "prepared"}]
    machine = behind.states.list_executions(stateMachineArn=behind.machine)["executions"]
    assert [one["name"] for one in machine if SEMESTER in one["name"]] == [run.id.execution_name(1)]


@pytest.mark.usefixtures("fired")
def test_a_schedule_starts_the_audit_of_its_night_which_finds_nothing(behind):
    """Its date is that of the scheduled time in Puerto Rico, neither the clock's nor that of UTC."""
    key = RunId("audit", "2019-12-31", 1).key

    def answer() -> dict | None:
        item = behind.registry.get(*key)
        return item if item is not None and item["status"] != "running" else None

    answered = until(answer, "the audit's answer")
    assert (answered["status"], answered["named"]) == ("clean", [])
    assert answered["passbooks"] >= 1
    assert answered["lines"] >= 2


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
    if today >= yield_date(Semester.containing(today), []):
        # On these few days it is the semester that ends which is looked for: ask for the one before by its day.
        behind.invoke(SCHEDULE, {"scheduled_time": f"{semester.ends_on}T18:00:00-04:00"})
    standing = office.wait_for("prepared", str(semester))
    assert standing["run"]["prepared_by"] == "(schedule)"
    assert date.fromisoformat(standing["yield_date"]) < today
