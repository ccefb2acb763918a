"""The worker of the annuity payrolls: what the state machine invokes."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from annuities.kinds import AnnuityKind, AnnuityReversalKind
from retiro.ledger.annuities import ANNUITY_REVERSAL_RUN, ANNUITY_RUN
from retiro.runs.worker import handled, workshop
from retiro.runs.workshop import Workshop

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def world() -> Workshop:
    """What the worker has at hand."""
    return workshop(lambda _: {ANNUITY_RUN: AnnuityKind(), ANNUITY_REVERSAL_RUN: AnnuityReversalKind()})


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin a phase, work on a chunk, end a phase, or note a failure."""
    return handled(world(), event, context)
