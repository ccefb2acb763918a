"""The worker of the yields' runs: what the state machine invokes."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from retiro.registry import clock
from retiro.registry.table import Table
from retiro.runs.kinds import RunKind
from retiro.runs.worker import handled, workshop
from retiro.runs.workshop import Workshop
from semester_yields.context import PROGRAMS
from semester_yields.kinds import YieldKind, YieldReversalKind

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def world() -> Workshop:
    """What the worker has at hand."""
    return workshop(_kinds)


def _kinds(_: Table) -> Mapping[str, RunKind]:
    """A yield and its reversal for each program."""
    kinds: dict[str, RunKind] = {}
    for program in PROGRAMS.values():
        kinds[program.run] = YieldKind(clock.utc_now, fund=program.fund)
        kinds[program.reversal] = YieldReversalKind(fund=program.fund)
    return kinds


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin a phase, work on a chunk, end a phase, or note a failure."""
    return handled(world(), event, context)
