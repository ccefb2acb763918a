"""Watches the ledger's stream: keeps a witness of each passbook's last line, and alarms when an item is changed.

The witness (`head` and `head_hash` on the roster) lies outside the ledger table, so a last line that goes missing is
missed by the audit too. It only moves forward: the stream delivers at least once, and may deliver again what is old.
"""

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit
from botocore.exceptions import ClientError

from retiro.ledger.witness import Tampering, Witness, tamperings, witnesses
from retiro.registry import aws, roster
from retiro.registry.environment import Environment
from retiro.registry.table import Below, ChangedError, Table

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

ITEM_CHANGED = "LedgerItemChanged"
"""Counts what must never happen; the template has the alarm."""


@cache
def _logger() -> Logger:
    return Logger(service="ledger_guard")


class NotOnRosterError(Exception):
    """A passbook has a line and no place on the roster, so no run would ever reach it."""


class StreamEnvironment(Environment):
    """What this function reads from its environment."""

    registry_table: str


@cache
def world() -> Table:
    """The registry."""
    return Table(aws.dynamodb(), StreamEnvironment.read().registry_table)


def handler(event: dict[str, Any], _context: "LambdaContext") -> dict[str, Any]:
    """Take a batch of the stream's records, in order; answer with the first that has to be sent again."""
    for record in event["Records"]:
        for tampering in tamperings([record]):
            _report(tampering)
        try:
            for passbook, witness in witnesses([record]).items():
                _bear(passbook, witness)
        except (ClientError, NotOnRosterError):
            sequence_number = record["dynamodb"]["SequenceNumber"]
            _logger().exception("record not taken", extra={"sequence_number": sequence_number})
            return {"batchItemFailures": [{"itemIdentifier": sequence_number}]}
    return {"batchItemFailures": []}


def _bear(passbook: str, witness: Witness) -> None:
    """Move the witness forward to this line; where it stands further on already, leave it."""
    key = (roster.partition(roster.shard_of(passbook)), passbook)
    seen = {"head": witness.head, "head_hash": witness.head_hash}
    try:
        world().update(key, seen, where={"head": Below(witness.head)})
    except ChangedError as unchanged:
        if unchanged.existing is None:
            raise NotOnRosterError(passbook) from unchanged


def _report(tampering: Tampering) -> None:
    """The key is said, never what the item holds."""
    _logger().critical("an item of the ledger was changed", extra=asdict(tampering))
    with single_metric(name=ITEM_CHANGED, unit=MetricUnit.Count, value=1, namespace="Retiro") as metric:
        metric.add_dimension(name="service", value="ledger_guard")
