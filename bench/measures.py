"""A measure, and how two things are timed against each other so that what else the machine does hits both."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

ROUNDS = 7
"""How often a pair is timed: the median of these is the measure."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class Goal:
    """What a measure should come to."""

    words: str
    at_least: float = float("-inf")
    at_most: float = float("inf")

    def is_met(self, value: float) -> bool:
        """Whether a value is within it."""
        return self.at_least <= value <= self.at_most


def at_most(limit: float) -> Goal:
    """Not above this."""
    return Goal(f"≤ {limit:,g}", at_most=limit)


def at_least(limit: float) -> Goal:
    """Not below this."""
    return Goal(f"≥ {limit:,g}", at_least=limit)


def exactly(value: float) -> Goal:
    """This, and nothing else: a count, not a time."""
    return Goal(f"= {value:,g}", at_least=value, at_most=value)


@dataclass(frozen=True)
class Measure:
    """A figure in its unit, and in words what it is held against. Ratios have the unit `ratio`."""

    name: str
    value: float
    unit: str
    compared_with: str
    goal: Goal | None = None

    def document(self) -> dict[str, Any]:
        """The measure as it stands in build/bench.json."""
        return {
            "name": self.name,
            "value": round(self.value, 6),
            "unit": self.unit,
            "compared_with": self.compared_with,
        }


def timed(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Seconds that the work takes, of this process's processor time, with the garbage collected before."""
    gc.collect()
    start = clock()
    work()
    return clock() - start


def interleaved(
    works: Sequence[Callable[[], object]], rounds: int = ROUNDS, clock: Clock = time.process_time
) -> list[list[float]]:
    """The seconds of several works, a row a round: forwards and backwards by turns. A first round warms up, uncounted.

    A ratio of two is taken within each round, and the median of these is the measure: `ratio`.
    """
    for work in works:
        work()
    rows = []
    for number in range(rounds):
        order = range(len(works)) if number % 2 == 0 else reversed(range(len(works)))
        row = [0.0] * len(works)
        for place in order:
            row[place] = timed(works[place], clock)
        rows.append(row)
    return rows


def ratio(rows: Sequence[Sequence[float]], ours: int, theirs: int) -> float:
    """The median over the rounds of one work's seconds by another's of the same round."""
    return median(row[ours] / row[theirs] for row in rows)


def seconds(rows: Sequence[Sequence[float]], which: int) -> float:
    """The median over the rounds of a work's seconds."""
    return median(row[which] for row in rows)
