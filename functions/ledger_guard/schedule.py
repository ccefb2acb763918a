"""Starts the nightly audit. A second delivery of the same night starts nothing."""

from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from ledger_guard.audit import AUDIT, PHASE
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import RunId
from retiro.rules.calendar import puerto_rico_date
from retiro.runs.schedules import ScheduledEvent, filled_in
from retiro.runs.start import start_execution

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def _logger() -> Logger:
    return Logger(service="ledger_guard")


class ScheduleEnvironment(Environment):
    """What this function reads from its environment."""

    audit_worker_arn: str
    runs_state_machine_arn: str


@cache
def world() -> ScheduleEnvironment:
    """Where the audit is worked."""
    return ScheduleEnvironment.read()


def handler(event: dict[str, Any], _context: "LambdaContext") -> dict[str, str]:
    """Start the audit of the scheduled day."""
    scheduled = ScheduledEvent.model_validate(filled_in(event, clock.utc_now, _logger()))
    run = RunId(AUDIT, puerto_rico_date(scheduled.scheduled_time).isoformat(), 1)
    start_execution(
        aws.stepfunctions(),
        state_machine_arn=world().runs_state_machine_arn,
        worker_arn=world().audit_worker_arn,
        run=run,
        number=1,
        phase=PHASE,
    )
    return {"audit": run.period}
