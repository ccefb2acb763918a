"""The monthly look: prepare the month's payroll, and name what ends soon with nothing adopted after it.

The month is that of the scheduled time, in Puerto Rico, not the clock's. Asked twice, it does nothing twice.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit
from pydantic import BaseModel, ConfigDict, field_validator

from annuities import world as parts
from annuities.payroll import Payrolls
from retiro.rules.calendar import format_month, puerto_rico_date
from retiro.runs.desk import RunConflictError

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SCHEDULE = "(schedule)"
"""Who has prepared what nobody asked for. No acting user is written so."""

_UNFILLED = "<aws.scheduler.scheduled-time>"


class ScheduleEvent(BaseModel):
    """A scheduled time. Anything else is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scheduled_time: datetime

    @field_validator("scheduled_time")
    @classmethod
    def _with_its_zone(cls, moment: datetime) -> datetime:
        if moment.tzinfo is None:
            raise ValueError("a scheduled time without its zone")
        return moment


@cache
def world() -> Payrolls:
    """The office that prepares payrolls."""
    return parts.payrolls()


@cache
def _logger() -> Logger:
    return Logger()


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Prepare the month's payroll, and warn of what ends."""
    del context
    office = world()
    if event.get("scheduled_time") == _UNFILLED:
        # An emulator's scheduler leaves the placeholder as it is. AWS fills it in.
        _logger().warning("the scheduled time was not filled in: the clock's is taken")
        event = {"scheduled_time": office.desk.clock()}
    today = puerto_rico_date(ScheduleEvent.model_validate(event).scheduled_time)
    month = today.replace(day=1)
    try:
        run: str | None = str(office.prepare_if_new(month, today, SCHEDULE).id)
    except RunConflictError as under_way:
        run = str(under_way.run.id) if under_way.run else None
    endings = office.warnings(today)
    outcome = {
        "period": format_month(month),
        "run": run,
        "warnings": [{"name": one.name, "until": one.until.isoformat()} for one in endings],
    }
    if endings:
        _logger().warning("what ends soon has nothing after it", extra=outcome)
    _logger().info("annuity schedule", extra=outcome)
    with single_metric(name="FiguresEnding", unit=MetricUnit.Count, value=len(endings), namespace="Retiro") as metric:
        metric.add_dimension(name="service", value="annuities")
    return outcome
