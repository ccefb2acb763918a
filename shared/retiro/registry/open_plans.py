"""Which participants have a payment plan whose principal is open: whom the daily look at deadlines goes through.

An index in few partitions. An entry comes in the transaction that approves a plan and goes once the principal is no
longer open. It can be rebuilt from the passbooks.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from zlib import crc32

from retiro.registry.table import Table, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef as TransactItem

SHARDS = 16


def opened(table: Table, participant_id: str) -> "TransactItem":
    """The entry, as a part of a transaction; one that is there is written over with the same."""
    item = {"pk": _partition(_shard(participant_id)), "sk": participant_id}
    return {"Put": {"TableName": table.name, "Item": to_attributes(item)}}


def closed(table: Table, participant_id: str) -> None:
    """Take the entry away."""
    key = {"pk": {"S": _partition(_shard(participant_id))}, "sk": {"S": participant_id}}
    table.client.delete_item(TableName=table.name, Key=key)


def participants(table: Table) -> Iterator[str]:
    """All of them."""
    for shard in range(SHARDS):
        for item in table.items(_partition(shard)):
            yield item["sk"]


def _shard(participant_id: str) -> int:
    return crc32(participant_id.encode()) % SHARDS


def _partition(shard: int) -> str:
    return f"open_plans#{shard:02d}"
