"""What is written of measures, and how a pair is timed: on made-up clocks. Nothing here is timed."""

import json

import pytest

from bench.__main__ import figure, table, write
from bench.measures import Measure, at_least, at_most, exactly, interleaved, ratio, seconds

WRITE_UNITS = Measure("posting.write_units", 1.0, "write units", "a posting", exactly(1))


class Clock:
    """Each look at it is as much later as the work since says."""

    def __init__(self):
        self.now = 0.0
        self.done = []

    def __call__(self):
        return self.now

    def work(self, name, lasts):
        def work():
            self.done.append(name)
            self.now += lasts.pop(0)

        return work


def test_a_pair_is_timed_by_turns_and_the_ratio_is_the_median_of_those_of_a_round():
    clock = Clock()
    # The first of each warms up. Ratios by round: 3/2, 8/4, 30/2; the median is 8/4.
    ours, theirs = clock.work("ours", [99, 3, 8, 30]), clock.work("theirs", [77, 2, 4, 2])
    rows = interleaved([ours, theirs], rounds=3, clock=clock)
    assert rows == [[3, 2], [8, 4], [30, 2]]
    assert clock.done == ["ours", "theirs", "ours", "theirs", "theirs", "ours", "ours", "theirs"]
    assert ratio(rows, 0, 1) == 2
    assert seconds(rows, 0) == 8


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (at_most(1.3), 1.3, True),
        (at_most(1.3), 1.31, False),
        (at_least(200_000), 200_000, True),
        (at_least(200_000), 199_999, False),
        (exactly(0), 0, True),
        (exactly(0), 0.5, False),
        (exactly(0.5), 0, False),
    ],
)
def test_a_goal_is_met_on_its_bound_and_not_beyond(goal, value, met):
    assert goal.is_met(value) is met


def test_the_file_lists_four_members_a_measure(tmp_path):
    place = tmp_path / "build" / "bench.json"
    write(place, [WRITE_UNITS])
    assert json.loads(place.read_text()) == [
        {"name": "posting.write_units", "value": 1.0, "unit": "write units", "compared_with": "a posting"}
    ]


def test_a_part_measured_again_replaces_its_own_figures_and_leaves_the_others(tmp_path):
    place = tmp_path / "bench.json"
    write(place, [WRITE_UNITS, Measure("yield.per_second", 250_000, "accounts/s", "a core")])
    write(place, [Measure("posting.write_units", 2.0, "write units", "a posting")])
    assert {one["name"]: one["value"] for one in json.loads(place.read_text())} == {
        "yield.per_second": 250_000,
        "posting.write_units": 2.0,
    }


def test_the_table_says_which_goal_is_missed():
    missed = Measure("posting.cpu_vs_bare", 1.4, "ratio", "a bare put", at_most(1.3))
    assert list(table("posting", [WRITE_UNITS, missed]).columns[2].cells) == ["= 1", "≤ 1.3 missed"]


@pytest.mark.parametrize(("value", "shown"), [(1.0, "1"), (0.5, "0.500"), (1234.5, "1,234"), (200_000, "200,000")])
def test_a_figure_has_the_places_that_it_is_read_with(value, shown):
    assert figure(value) == shown
