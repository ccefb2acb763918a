"""The roster: who has a passbook, in many small partitions: a population is read by shards and never scanned."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

from retiro.registry.table import Item, Table

SHARDS = 1024


class Holder(StrEnum):
    """Who holds a passbook."""

    PARTICIPANT = "participant"
    EMPLOYER = "employer"


@dataclass(frozen=True)
class RosterEntry:
    """A passbook on the roster. `head` and `head_hash` are the guard's witness of its last line, once there is one."""

    passbook_id: str
    fund: str
    holder: Holder
    head: int | None = None
    head_hash: bytes | None = None


def shard_of(passbook_id: str) -> int:
    """The shard of a passbook: CRC-32 of its id, modulo 1024."""
    return crc32(passbook_id.encode()) % SHARDS


def roster_item(passbook_id: str, fund: str, holder: Holder) -> Item:
    """The item to be inserted in the transaction that opens the passbook."""
    return {"pk": partition(shard_of(passbook_id)), "sk": passbook_id, "fund": fund, "holder": str(holder)}


def partition(shard: int) -> str:
    """The partition key of a shard."""
    return f"roster#{shard:04d}"


def entries(table: Table, shard: int) -> Iterator[RosterEntry]:
    """All passbooks of a shard, in the order of their ids."""
    for item in table.items(partition(shard)):
        yield entry(item)


def entry(item: Item) -> RosterEntry:
    """A roster item as an entry."""
    return RosterEntry(item["sk"], item["fund"], Holder(item["holder"]), item.get("head"), item.get("head_hash"))
