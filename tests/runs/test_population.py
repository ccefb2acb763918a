"""Chunks: ranges of shards that cover the whole roster once, about equal in accounts."""

import pytest

from retiro.registry import roster
from retiro.registry.roster import Holder, roster_item
from retiro.runs import population
from tests.conftest import Stack
from tests.runs.gifts import Gifts


@pytest.fixture
def ten_shards(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> Stack:
    monkeypatch.setattr(roster, "SHARDS", 10)
    return stack


def enrol(stack: Stack, count: int, holder: Holder = Holder.PARTICIPANT, fund: str = "ERS") -> list[str]:
    ids = [f"{holder[0].upper()}-{fund}-{number:06d}" for number in range(count)]
    for one in ids:
        stack.registry.insert(roster_item(one, fund, holder))
    return ids


@pytest.mark.parametrize(
    ("accounts", "chunk_accounts"), [(0, 7), (1, 7), (40, 1), (40, 7), (40, 39), (40, 40), (40, 5000)]
)
def test_the_chunks_cover_every_shard_once_and_count_what_is_in_them(
    ten_shards: Stack, accounts: int, chunk_accounts: int
) -> None:
    enrol(ten_shards, accounts)
    chunks = list(population.chunks(population.plan(ten_shards.registry, Gifts(), chunk_accounts)))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [shard for chunk in chunks for shard in range(chunk.first_shard, chunk.until_shard)] == list(range(10))
    assert sum(chunk.population for chunk in chunks) == accounts
    assert all(chunk.population >= chunk_accounts for chunk in chunks[:-1])


@pytest.mark.parametrize("entries_max", [1, 3, 100])
def test_a_walk_sees_everybody_of_the_population_once(ten_shards: Stack, entries_max: int) -> None:
    everybody = enrol(ten_shards, 25)
    enrol(ten_shards, 10, Holder.EMPLOYER)
    enrol(ten_shards, 10, fund="JRS")
    seen: list[str] = []
    for planned in population.chunks(population.plan(ten_shards.registry, Gifts(), 7)):
        chunk, ended = planned, False
        while not ended:
            walked = population.walk(ten_shards.registry, Gifts(), chunk, entries_max)
            assert len(walked.entries) <= entries_max
            seen += [entry.passbook_id for entry in walked.entries]
            chunk, ended = type(chunk)(**{**vars(chunk), "shard": walked.shard, "after": walked.after}), walked.ended
    assert sorted(seen) == sorted(everybody)


def test_the_population_counts_only_the_kinds_own(ten_shards: Stack) -> None:
    enrol(ten_shards, 4)
    enrol(ten_shards, 3, Holder.EMPLOYER)
    enrol(ten_shards, 2, fund="JRS")
    assert sum(population.plan(ten_shards.registry, Gifts(), 100)[1::2]) == 4
    assert sum(population.plan(ten_shards.registry, Gifts(fund=None), 100)[1::2]) == 6
