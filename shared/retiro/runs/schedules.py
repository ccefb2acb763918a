"""What EventBridge Scheduler sends: the time at which it was to fire. A schedule's day is that one's alone."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger
from pydantic import AwareDatetime, BaseModel, ConfigDict

from retiro.registry.clock import Clock

_UNFILLED = "<aws.scheduler.scheduled-time>"


class ScheduledEvent(BaseModel):
    """A scheduled time, with its zone. Anything else is refused: the scheduler's own default is the text `{}`."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    scheduled_time: AwareDatetime


def filled_in(event: Any, clock: Clock, logger: Logger) -> Any:
    """The event, with the clock's time where an emulator has left the placeholder as it is. AWS fills it in."""
    if isinstance(event, Mapping) and event.get("scheduled_time") == _UNFILLED:
        logger.warning("the scheduled time was not filled in: the clock's is taken")
        return {**event, "scheduled_time": clock()}
    return event
