"""The contributions themselves, one by one, for the ledger: kept only where they are posted to one."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import numpy as np
import polars as pl

_KEPT = ("participant", "day", "line", "cents", "employer_id", "pay_period")


class Contribution(NamedTuple):
    """A contribution that was taken."""

    remitted_on: date
    amount_cents: int
    employer_id: str
    pay_period: str


class Movements:
    """Every contribution that was taken: ten million in some three hundred megabytes, twice that while they are sorted.

    Each participant's are in the order of the file.
    """

    def __init__(self, participants: int) -> None:
        self._participants = participants
        self._blocks: list[pl.DataFrame] = []
        self._rows = pl.DataFrame()
        self._starts: list[int] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Keep rows of a block: `participant`, `day`, `cents`, their `line`, and two texts."""
        self._blocks.append(
            rows.select(
                pl.col("participant", "line").cast(pl.UInt32),
                pl.col("day").cast(pl.Int32),
                pl.col("cents"),
                pl.col("employer_id", "pay_period").cast(pl.Categorical),
            ).select(_KEPT)
        )

    def sort(self, *, without_lines: list[int]) -> None:
        """Put them in order, once all are there, without those of the file's lines that stand in it twice."""
        if not self._blocks:
            return
        rows = pl.concat(self._blocks)
        self._blocks.clear()
        if without_lines:
            rows = rows.filter(~pl.col("line").is_in(without_lines))
        self._rows = rows.sort("participant", "line")
        numbers = np.arange(self._participants + 1)
        self._starts = np.searchsorted(self._rows["participant"].to_numpy(), numbers).tolist()

    def of(self, participant: int) -> Iterator[Contribution]:
        """A participant's, in order."""
        if not self._starts:
            return
        first, until = self._starts[participant : participant + 2]
        for _, day, _, cents, employer_id, pay_period in self._rows.slice(first, until - first).iter_rows():
            yield Contribution(date.fromordinal(day), cents, employer_id, pay_period)
