"""The audit's worker: begin, work and end, as the runs' state machine asks for them."""

from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit

from ledger_guard.audit import AUDIT, Auditor
from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import RunId
from retiro.registry.table import Table
from retiro.runs.jobs import WorkerEvent

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

AUDIT_FINDINGS = "AuditFindings"
"""The metric that the template's alarm looks at."""


@cache
def _logger() -> Logger:
    return Logger(service="ledger_guard")


class WorkerEnvironment(Environment):
    """What this function reads from its environment."""

    ledger_table: str
    registry_table: str
    files_bucket: str
    audit_chunks: int
    invocation_accounts: int


@cache
def world() -> Auditor:
    """The auditor of this stack."""
    environment = WorkerEnvironment.read()
    return Auditor(
        registry=Table(aws.dynamodb(), environment.registry_table),
        ledger=LedgerStore(aws.dynamodb(), environment.ledger_table),
        files=aws.s3(),
        bucket=environment.files_bucket,
        clock=clock.utc_now,
        chunks=environment.audit_chunks,
        invocation_passbooks=environment.invocation_accounts,
    )


def handler(event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Answer the state machine. Raises `ValueError` for an event that isn't the audit's."""
    asked = WorkerEvent.model_validate(event)
    if asked.kind != AUDIT:
        raise ValueError(f"a job of kind {asked.kind}, where {AUDIT} is worked")
    run = RunId(asked.kind, asked.period, asked.attempt)
    match asked.op:
        case "begin":
            return {"chunks": world().begin(run)}
        case "work":
            if asked.chunk is None:
                raise ValueError("work without a chunk")
            return {"done": world().work(run, asked.chunk, context.get_remaining_time_in_millis)}
        case "end":
            _report(world().end(run))
            return {"next": None, "wait": False}
        case "fail":
            world().fail(run)
            return {}


def _report(answer: dict[str, Any]) -> None:
    """Log the answer, and count the findings for the alarm."""
    for finding in answer["named"]:
        _logger().error("audit finding", extra={"finding": finding})
    _logger().info("audit", extra={name: answer[name] for name in ("status", "passbooks", "lines", "findings")})
    with single_metric(
        name=AUDIT_FINDINGS, unit=MetricUnit.Count, value=answer["findings"], namespace="Retiro"
    ) as metric:
        metric.add_dimension(name="service", value="ledger_guard")
