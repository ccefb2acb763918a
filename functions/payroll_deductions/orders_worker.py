"""The worker of the deduction orders' runs. Once a chunk is closed, the payers can read its orders, or no longer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import single_metric
from aws_lambda_powertools.metrics import MetricUnit

from payroll_deductions.orders import WITHOUT_ORDER, OrderIndex, OrderKind, OrderReversalKind
from retiro.ledger.plans import ORDER_REVERSAL_RUN, ORDER_RUN
from retiro.registry.runs import Phase
from retiro.runs.machine import WorkerEvent
from retiro.runs.worker import handled, workshop
from retiro.runs.workshop import Workshop

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@dataclass(frozen=True)
class World:
    """What the worker has at hand."""

    shop: Workshop
    index: OrderIndex


@cache
def world() -> World:
    """Built when the first event comes."""
    shop = workshop(lambda registry: {ORDER_RUN: OrderKind(registry), ORDER_REVERSAL_RUN: OrderReversalKind()})
    return World(shop, OrderIndex(shop.book, shop.objects, shop.roster))


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin a phase, work on a chunk, end a phase, or note a failure."""
    shop, index = world().shop, world().index
    asked = WorkerEvent.model_validate(event)
    answered = handled(shop, event, context)
    if asked.op == "work" and asked.phase is Phase.CLOSE and asked.chunk is not None and answered["done"]:
        index.index(asked.run_id, asked.chunk)
    if asked.op == "end" and asked.phase is Phase.PREPARE and asked.kind == ORDER_RUN:
        _count_without_order(shop.book.get(asked.run_id).details.get("exceptions", {}))
    return answered


def _count_without_order(exceptions: Mapping[str, int]) -> None:
    count = sum(exceptions.get(code, 0) for code in WITHOUT_ORDER)
    with single_metric(
        name="InstallmentsWithoutOrder", unit=MetricUnit.Count, value=count, namespace="Retiro"
    ) as metric:
        metric.add_dimension(name="service", value="payroll_deductions")
