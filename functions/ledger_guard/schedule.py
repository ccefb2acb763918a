"""Starts the nightly audit. A second delivery of the same night starts nothing."""

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from pydantic import AwareDatetime, BaseModel, ConfigDict

from ledger_guard.audit import AUDIT, PHASE
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import RunId
from retiro.rules.calendar import puerto_rico_date
from retiro.runs.start import start_execution

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_UNFILLED = "<aws.scheduler.scheduled-time>"


@cache
def _logger() -> Logger:
    return Logger(service="ledger_guard")


class ScheduleEnvironment(Environment):
    """What this function reads from its environment."""

    audit_worker_arn: str
    runs_state_machine_arn: str


class ScheduledEvent(BaseModel):
    """What EventBridge Scheduler sends: the time that it was to fire at, not the clock's."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    scheduled_time: AwareDatetime


@cache
def world() -> ScheduleEnvironment:
    """Where the audit is worked."""
    return ScheduleEnvironment.read()


def handler(event: dict[str, Any], _context: "LambdaContext") -> dict[str, str]:
    """Start the audit of the scheduled day."""
    if event.get("scheduled_time") == _UNFILLED:
        # An emulator's scheduler leaves the placeholder as it is. AWS fills it in.
        _logger().warning("the scheduled time was not filled in: the clock's is taken")
        event = event | {"scheduled_time": clock.utc_now()}
    scheduled: datetime = ScheduledEvent.model_validate(event).scheduled_time
    run = RunId(AUDIT, puerto_rico_date(scheduled).isoformat(), 1)
    start_execution(
        aws.stepfunctions(),
        state_machine_arn=world().runs_state_machine_arn,
        worker_arn=world().audit_worker_arn,
        run=run,
        number=1,
        phase=PHASE,
    )
    return {"audit": run.period}
