"""The simulation of a run at scale, on cases worked by hand."""

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import simpy

from bench import scale
from bench.scale import Scenario, Simulation, Throughput, ideal_seconds, limit, new_table, simulate, warm_table
from cli.cost.units import unit
from retiro.registry import roster
from retiro.runs.worker import AT_ONCE
from retiro.runs.workshop import Sizes

LIMITS = Path(scale.__file__).parent / "limits.toml"


@pytest.mark.parametrize(
    ("units", "at_start", "quota", "doubles_after", "seconds"),
    [
        (8_000, 4_000, 40_000, math.inf, 2),
        (8_000, 4_000, 2_000, math.inf, 4),
        (10_000_000, 4_000, 40_000, 1800, 1800 + 350),  # 7,200,000 in half an hour; the rest at 8,000
        (7_200_000, 4_000, 40_000, 1800, 1800),
        (1_000_000, 40_000, 40_000, math.inf, 25),
        (3_000, 1_000, 2_500, 1, 2),  # 1,000, then 2,000 in the second second
        (6_000, 1_000, 2_500, 1, 3.2),  # then 2,500 a second, not 4,000
    ],
)
def test_what_a_limit_alone_allows(
    units: float, at_start: float, quota: float, doubles_after: float, seconds: float
) -> None:
    assert ideal_seconds(units, at_start, quota, doubles_after) == seconds


def drained(env: simpy.Environment, pool: Throughput, units: float) -> float:
    """When so many units were taken by who asks ten times a second."""
    while units > 1e-6:
        env.run(env.now + 0.1)
        units -= pool.take(units)
    return env.now


def test_eight_thousand_units_at_four_thousand_a_second_take_two_seconds() -> None:
    env = simpy.Environment()
    pool = Throughput(env, 4_000, 40_000, math.inf)
    assert drained(env, pool, 8_000) == pytest.approx(2)
    assert pool.used == pytest.approx(8_000)


def test_a_table_doubles_some_time_after_it_was_used_to_the_full() -> None:
    env = simpy.Environment()
    pool = Throughput(env, 4_000, 10_000, 10)
    assert drained(env, pool, 40_000 + 80_000) == pytest.approx(20, abs=0.2)
    assert pool.per_second == 8_000
    assert drained(env, pool, 100_000) == pytest.approx(30, abs=0.4)
    assert pool.per_second == 10_000  # the quota


def test_no_more_than_a_second_is_kept() -> None:
    env = simpy.Environment()
    pool = Throughput(env, 4_000, 40_000, math.inf)
    env.run(60)
    assert pool.take(10_000) == 4_000


def test_chunks_are_of_whole_shards_as_the_engine_cuts_them() -> None:
    """A million: 976.6 a shard, six shards reach 5,000, 171 chunks. Ten million: a shard each."""
    assert len(new_table(1_000_000).chunks) == 171
    assert len(new_table(10_000_000).chunks) == 1024
    assert len(new_table(64_482).chunks) == 13  # 62.97 a shard, eighty shards reach 5,000
    assert sum(new_table(64_482).chunks) == 64_482
    assert roster.SHARDS == 1024


def small(**changed: float) -> Scenario:
    """A thousand accounts, one worker, one part, on a table that never says no."""
    sizes = Sizes(chunk_accounts=1000, part_accounts=1000, page_accounts=500)
    whole = Scenario(1000, 1e9, 1e9, math.inf, 5, concurrency=1, quantum=1, sizes=sizes)
    return replace(whole, **changed)


def test_one_worker_with_one_request_at_a_time_waits_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 × (5 ms of waiting + 4 ms of processor) are 9 seconds; with eight in flight the processor's 4 are left.

    Besides: the object and the states, less than 0.6 seconds; the cold start was before.
    """
    monkeypatch.setattr(scale, "limit", lambda name: 1e9 if name.endswith("_quota") else limit(name))
    monkeypatch.setattr(scale, "unit", lambda name: 4 if name.endswith("cpu_ms") else unit(name))
    for at_once, seconds in ((1, 9.0), (8, 4.0)):
        post = simulate(small(at_once=at_once)).phases[1]
        assert seconds < post.seconds < seconds + 0.6
        assert post.refused == 0


def test_a_small_table_makes_the_run_wait_for_it_and_nothing_is_given_up() -> None:
    """20,000 lines at 1,000 a second are 20 seconds; eight workers would be done in four."""
    scenario = Scenario(20_000, 1_000, 1e6, math.inf, 5, AT_ONCE, concurrency=8, quantum=5)
    post = Simulation(scenario).run().post
    assert post.ideal_seconds == 20
    assert 20 < post.seconds < 20 * 1.2
    assert post.binds == "the table's writes"
    assert post.refused > 0
    assert post.stuck == 0


def test_looks_and_moves_go_to_one_partition() -> None:
    """Pages of 25 with the chunk told after each: what the engine did before, on a warmed table."""
    sizes = Sizes(part_accounts=500, page_accounts=25)
    before = simulate(replace(warm_table(200_000), sizes=sizes)).post
    now = simulate(warm_table(200_000)).post
    partition = "writes of the run's partition"
    assert before.used[partition] > 5 * now.used[partition]


def test_a_run_over_two_hundred_thousand_stays_within_the_goal_on_a_new_table() -> None:
    result = simulate(new_table(200_000))
    assert result.post.seconds / result.post.ideal_seconds <= 1.2
    assert [phase.stuck for phase in result.phases] == [0, 0, 0]


def test_every_limit_has_its_page_and_its_day() -> None:
    for name, row in tomllib.loads(LIMITS.read_text()).items():
        assert row["value"] > 0, name
        assert row["source"].startswith("https://"), name
        assert row["on"].year == 2026, name
        assert row["unit"], name
