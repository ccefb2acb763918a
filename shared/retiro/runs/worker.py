"""A Lambda that works runs: its environment, what it has at hand, an invocation. The kinds are its function's own."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import RunBook
from retiro.registry.table import Table
from retiro.runs.kinds import RunKind
from retiro.runs.machine import Invocation, answer
from retiro.runs.objects import RunObjects
from retiro.runs.workshop import Sizes, Workshop

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


AT_ONCE = 8
"""Requests in flight: as many as keep one processor busy, and fewer than the ten connections of botocore's pool."""


class WorkerEnvironment(Environment):
    """What a worker reads from its environment. `invocation_accounts` 0: as many as there is time for."""

    ledger_table: str
    registry_table: str
    files_bucket: str
    chunk_accounts: int = 5000
    invocation_accounts: int = 0


def workshop(kinds: Callable[[Table], Mapping[str, RunKind]]) -> Workshop:
    """What a worker has at hand: what its environment names, and the kinds, made with the registry."""
    environment = WorkerEnvironment.read()
    registry = Table(aws.dynamodb(), environment.registry_table)
    return Workshop(
        kinds=kinds(registry),
        book=RunBook(registry),
        roster=registry,
        ledger=LedgerStore(aws.dynamodb(), environment.ledger_table),
        objects=RunObjects(aws.s3(), environment.files_bucket),
        clock=clock.utc_now,
        sizes=Sizes(
            chunk_accounts=environment.chunk_accounts,
            invocation_accounts=environment.invocation_accounts,
            at_once=AT_ONCE,
        ),
    )


def handled(shop: Workshop, event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin a phase, work on a chunk, end a phase, or note a failure, in the time that is left."""
    until = shop.clock() + timedelta(milliseconds=context.get_remaining_time_in_millis())
    return answer(shop, event, Invocation(context.aws_request_id, until))
