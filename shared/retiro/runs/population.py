"""The population of a run: the roster's shards, cut into chunks of about one size, and walked a part at a time."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

from retiro.registry import roster
from retiro.registry.roster import RosterEntry
from retiro.registry.runs import Chunk
from retiro.registry.table import Table
from retiro.runs.kinds import RunKind

_COUNTERS = 8


@dataclass(frozen=True)
class Walk:
    """Some entries of a chunk, and the cursor after them: a shard and the id within it. `ended`: there are no more."""

    entries: tuple[RosterEntry, ...]
    shard: int
    after: str
    ended: bool


def plan(table: Table, kind: RunKind, chunk_accounts: int) -> list[int]:
    """Where chunks begin and end: bounds of shard ranges with about so many passbooks each, and the counts in between.

    The answer alternates: bound, count, bound, count, …, bound.
    """
    counts = _counts(table, kind)
    bounds = [0]
    held = 0
    for shard, count in enumerate(counts):
        held += count
        if held >= chunk_accounts:
            bounds += [held, shard + 1]
            held = 0
    if held or len(bounds) == 1:
        bounds += [held, len(counts)]
    elif bounds[-1] != len(counts):
        bounds[-1] = len(counts)
    return bounds


def chunks(bounds: Sequence[int]) -> Iterator[Chunk]:
    """The chunks of a plan."""
    for index, ((first, until), population) in enumerate(zip(pairwise(bounds[::2]), bounds[1::2], strict=True)):
        yield Chunk(index, first, until, population, shard=first)


def walk(table: Table, kind: RunKind, chunk: Chunk, entries_max: int) -> Walk:
    """The next entries of a chunk, from its cursor on: those of the kind's population, out of `entries_max` at most."""
    entries: list[RosterEntry] = []
    shard, after = chunk.shard, chunk.after
    looked = 0
    while shard < chunk.until_shard and looked < entries_max:
        page = table.page(roster.partition(shard), after=after or None, limit=entries_max - looked)
        looked += len(page.items)
        entries += [entry for entry in map(roster.entry, page.items) if belongs(kind, entry)]
        shard, after = (shard, page.after) if page.after is not None else (shard + 1, "")
    return Walk(tuple(entries), shard, after, shard >= chunk.until_shard)


def belongs(kind: RunKind, entry: RosterEntry) -> bool:
    """Whether a passbook is of the kind's population."""
    return entry.holder == kind.holder and kind.fund in {None, entry.fund}


def _counts(table: Table, kind: RunKind) -> list[int]:
    """How many passbooks of the population each shard has."""
    with ThreadPoolExecutor(_COUNTERS) as pool:
        return list(pool.map(lambda shard: _count(table, kind, shard), range(roster.SHARDS)))


def _count(table: Table, kind: RunKind, shard: int) -> int:
    condition = "holder = :holder"
    values = {":pk": {"S": roster.partition(shard)}, ":holder": {"S": str(kind.holder)}}
    if kind.fund is not None:
        condition += " AND fund = :fund"
        values[":fund"] = {"S": kind.fund}
    pages = table.client.get_paginator("query").paginate(
        TableName=table.name,
        KeyConditionExpression="pk = :pk",
        FilterExpression=condition,
        ExpressionAttributeValues=values,
        Select="COUNT",
    )
    return sum(page["Count"] for page in pages)
