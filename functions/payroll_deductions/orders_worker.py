"""The worker of the deduction orders' runs. Once a chunk is closed, the payers can read its orders."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import single_metric
from aws_lambda_powertools.metrics import MetricUnit

from payroll_deductions.orders import WITHOUT_ORDER, OrderIndex, OrderKind
from retiro.ledger.plans import ORDER_RUN
from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import Phase, RunBook
from retiro.registry.table import Table
from retiro.runs.machine import Invocation, WorkerEvent, answer
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


@dataclass(frozen=True)
class World:
    """What the worker has at hand."""

    shop: Workshop
    index: OrderIndex


@cache
def world() -> World:
    """Built when the first event comes."""
    environment = WorkerEnvironment.read()
    registry = Table(aws.dynamodb(), environment.registry_table)
    book = RunBook(registry)
    objects = RunObjects(aws.s3(), environment.files_bucket)
    shop = Workshop(
        kinds={ORDER_RUN: OrderKind(registry)},
        book=book,
        roster=registry,
        ledger=LedgerStore(aws.dynamodb(), environment.ledger_table),
        objects=objects,
        clock=clock.utc_now,
        sizes=Sizes(chunk_accounts=environment.chunk_accounts, invocation_accounts=environment.invocation_accounts),
    )
    return World(shop, OrderIndex(book, objects, registry))


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin a phase, work on a chunk, end a phase, or note a failure."""
    shop, index = world().shop, world().index
    asked = WorkerEvent.model_validate(event)
    until = shop.clock() + timedelta(milliseconds=context.get_remaining_time_in_millis())
    answered = answer(shop, event, Invocation(context.aws_request_id, until))
    if asked.op == "work" and asked.phase is Phase.CLOSE and asked.chunk is not None and answered["done"]:
        index.index(asked.run_id, asked.chunk)
    if asked.op == "end" and asked.phase is Phase.PREPARE:
        _count_without_order(shop.book.get(asked.run_id).details.get("exceptions", {}))
    return answered


def _count_without_order(exceptions: Mapping[str, int]) -> None:
    count = sum(exceptions.get(code, 0) for code in WITHOUT_ORDER)
    with single_metric(
        name="InstallmentsWithoutOrder", unit=MetricUnit.Count, value=count, namespace="Retiro"
    ) as metric:
        metric.add_dimension(name="service", value="payroll_deductions")
