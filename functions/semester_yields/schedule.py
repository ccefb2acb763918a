"""The daily look at what is due: from a semester's last business day on, prepare it, or name what is missing.

The day is that of the scheduled time, in Puerto Rico, not the clock's: a retry late in the night is still of its day.
Also asked after each adoption, since it may have brought the last missing figure. Asked twice, it does nothing twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit
from pydantic import AwareDatetime, BaseModel, ConfigDict, model_validator

from retiro.registry.runs import runs_partition
from retiro.registry.table import Table
from retiro.rules.calendar import Semester, puerto_rico_date
from retiro.runs.desk import RunConflictError
from retiro.runs.schedules import filled_in
from semester_yields import world as parts
from semester_yields.context import HYBRID, FiguresMissingError, due_date
from semester_yields.yield_runs import YieldRuns

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from retiro.ledger.figures import Ending

SCHEDULE = "(schedule)"
"""Who has prepared what nobody asked for. No acting user is written so."""

_ASKED = "asked"


class ScheduleEvent(BaseModel):
    """A scheduled time, or the id of a resolution that was adopted. Anything else is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    scheduled_time: AwareDatetime | None = None
    adopted: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "ScheduleEvent":
        if (self.scheduled_time is None) == (self.adopted is None):
            raise ValueError("either a scheduled time or an adopted resolution")
        return self


@dataclass(frozen=True)
class Outcome:
    """What came of a look: the semester, the run that stands, what is missing, and the days on which nobody looked."""

    semester: Semester
    run: str | None = None
    missing: tuple[str, ...] = ()
    missed: tuple[date, ...] = ()

    def document(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "semester": str(self.semester),
            "run": self.run,
            "missing": list(self.missing),
            "missed": [day.isoformat() for day in self.missed],
        }


@cache
def world() -> YieldRuns:
    """The office that prepares runs."""
    return parts.yield_runs()


@cache
def _logger() -> Logger:
    return Logger()


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Prepare what is due, or say what it lacks."""
    del context
    office = world()
    asked_for = ScheduleEvent.model_validate(filled_in(event, office.desk.clock, _logger()))
    outcome = _look(office, asked_for.scheduled_time)
    document = outcome.document()
    missing = len(outcome.missing)
    ending = _ending(office, _day(office, asked_for.scheduled_time))
    document["ending"] = [{"option": one.name, "until": one.until.isoformat()} for one in ending]
    hybrid = office.of(HYBRID)
    if hybrid.figures.entries:  # the Board keeps a book for the hybrid accounts: their return is due too
        of_hybrid = _look(hybrid, asked_for.scheduled_time)
        document["hybrid"] = of_hybrid.document()
        missing += len(of_hybrid.missing)
    _logger().info("yield schedule", extra={**document, "adopted": asked_for.adopted})
    _count("YieldFiguresMissing", missing)
    _count("FiguresEnding", len(ending))
    return document


def _look(office: YieldRuns, scheduled_time: datetime | None) -> Outcome:
    today = _day(office, scheduled_time)
    semester = office.due_semester(today)
    missed = () if scheduled_time is None else _missed(office, semester, today)
    try:
        run = office.prepare_if_new(semester, today, SCHEDULE)
    except FiguresMissingError as lacking:
        return Outcome(semester, None, tuple(lacking.missing), missed)
    except RunConflictError as under_way:
        return Outcome(semester, str(under_way.run.id) if under_way.run else None, (), missed)
    return Outcome(semester, str(run.id), (), missed)


def _missed(office: YieldRuns, semester: Semester, today: date) -> tuple[date, ...]:
    """The days since the yield date on which nobody looked in time: the schedule's own record says when one did."""
    table: Table = office.book.table
    key = (runs_partition(office.program.run, str(semester)), _ASKED)
    item = table.get(*key)
    due_on = due_date(office.figures, semester)
    expected = due_on if item is None else date.fromisoformat(item["asked_on"]) + timedelta(days=1)
    last = today if office.today > today else today - timedelta(days=1)
    if item is None or item["asked_on"] < today.isoformat():
        table.put({"pk": key[0], "sk": key[1], "asked_on": today.isoformat()})
    return tuple(expected + timedelta(days=count) for count in range((last - expected).days + 1))


def _day(office: YieldRuns, scheduled_time: datetime | None) -> date:
    """The day that is looked at: the scheduled one, not the clock's, where a schedule asks."""
    return office.today if scheduled_time is None else puerto_rico_date(scheduled_time)


def _ending(office: YieldRuns, today: date) -> "list[Ending]":
    """The Board's options that end soon with nothing after them: who holds one can't be posted past its end."""
    return office.figures.ending_soon(today)


def _count(name: str, count: int) -> None:
    with single_metric(name=name, unit=MetricUnit.Count, value=count, namespace="Retiro") as metric:
        metric.add_dimension(name="service", value="semester_yields")
