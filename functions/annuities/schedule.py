"""The monthly look: prepare the month's payroll, and name what ends soon with nothing adopted after it.

The month is that of the scheduled time, in Puerto Rico, not the clock's. Asked twice, it does nothing twice.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit

from annuities import office
from annuities.payroll import Payrolls
from retiro.rules.calendar import format_month, puerto_rico_date
from retiro.runs.desk import RunConflictError
from retiro.runs.schedules import ScheduledEvent, filled_in

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SCHEDULE = "(schedule)"
"""Who has prepared what nobody asked for. No acting user is written so."""


@cache
def world() -> Payrolls:
    """The office that prepares payrolls."""
    return office.payrolls()


@cache
def _logger() -> Logger:
    return Logger()


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Prepare the month's payroll, and warn of what ends."""
    del context
    payrolls = world()
    asked_for = ScheduledEvent.model_validate(filled_in(event, payrolls.desk.clock, _logger()))
    today = puerto_rico_date(asked_for.scheduled_time)
    month = today.replace(day=1)
    try:
        run: str | None = str(payrolls.prepare_if_new(month, today, SCHEDULE).id)
    except RunConflictError as under_way:
        run = str(under_way.run.id) if under_way.run else None
    endings = payrolls.warnings(today)
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
