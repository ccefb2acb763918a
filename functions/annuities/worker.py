"""The worker of the annuity payrolls: what the state machine invokes."""

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from annuities.kinds import AnnuityKind, AnnuityReversalKind
from retiro.ledger.annuities import ANNUITY_REVERSAL_RUN, ANNUITY_RUN
from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import RunBook
from retiro.registry.table import Table
from retiro.runs.machine import Invocation, answer
from retiro.runs.objects import RunObjects
from retiro.runs.workshop import Sizes, Workshop

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


class WorkerEnvironment(Environment):
    """What the worker reads from its environment. `invocation_accounts` 0: as many as there is time for."""

    ledger_table: str
    registry_table: str
    files_bucket: str
    chunk_accounts: int = 5000
    invocation_accounts: int = 0


@cache
def world() -> Workshop:
    """What the worker has at hand."""
    environment = WorkerEnvironment.read()
    registry = Table(aws.dynamodb(), environment.registry_table)
    return Workshop(
        kinds={ANNUITY_RUN: AnnuityKind(), ANNUITY_REVERSAL_RUN: AnnuityReversalKind()},
        book=RunBook(registry),
        roster=registry,
        ledger=LedgerStore(aws.dynamodb(), environment.ledger_table),
        objects=RunObjects(aws.s3(), environment.files_bucket),
        clock=clock.utc_now,
        sizes=Sizes(chunk_accounts=environment.chunk_accounts, invocation_accounts=environment.invocation_accounts),
    )


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin a phase, work on a chunk, end a phase, or note a failure."""
    shop = world()
    until = shop.clock() + timedelta(milliseconds=context.get_remaining_time_in_millis())
    return answer(shop, event, Invocation(context.aws_request_id, until))
