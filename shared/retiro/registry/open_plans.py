"""Which participants have a payment plan whose principal is open: whom the daily look at deadlines goes through.

An index in few partitions. An entry comes in the transaction that approves a plan, names that plan by the line of its
application, and goes once its principal is no longer open. It can be rebuilt from the passbooks.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from zlib import crc32

from retiro.registry.table import Table, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef as TransactItem

SHARDS = 16


def opened(table: Table, participant_id: str, line: int) -> "TransactItem":
    """The entry of a plan, as a part of a transaction; that of the participant's plan before is written over."""
    item = {"pk": _partition(_shard(participant_id)), "sk": participant_id, "line": line}
    return {"Put": {"TableName": table.name, "Item": to_attributes(item)}}


def closed(table: Table, participant_id: str, line: int) -> None:
    """Take a plan's entry away; that of a plan that was approved since stays."""
    with suppress(table.client.exceptions.ConditionalCheckFailedException):
        table.client.delete_item(
            TableName=table.name,
            Key={"pk": {"S": _partition(_shard(participant_id))}, "sk": {"S": participant_id}},
            ConditionExpression="#line = :line",
            ExpressionAttributeNames={"#line": "line"},
            ExpressionAttributeValues={":line": {"N": str(line)}},
        )


def plans(table: Table) -> Iterator[tuple[str, int]]:
    """All of them: the participant, and the line of the plan's application."""
    for shard in range(SHARDS):
        for item in table.items(_partition(shard)):
            yield item["sk"], item["line"]


def _shard(participant_id: str) -> int:
    return crc32(participant_id.encode()) % SHARDS


def _partition(shard: int) -> str:
    return f"open_plans#{shard:02d}"
