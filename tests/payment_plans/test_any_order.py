"""Any order of remittances, deposits, payments and deaths keeps every debt at principal + interest − paid.

None goes below zero, and a plan's payments sum to its total, to the cent. The use cases are the real ones, over the
simulated tables in peace; after each write they are held against the plain model (`tests/simulation/plan_watch.py`),
and at the end the sums are taken again from the passbooks' postings alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.simulation import plan_lives, remitting
from tests.simulation.plan_lives import LATE, PAYERS, PAYS, PAYS_OFF, RETIRES
from tests.simulation.plan_model import PENSIONS, Debt, Payment, Row
from tests.simulation.world import World, installed

DEBTORS = (PAYS, RETIRES, LATE)
MONTHS = ("2008-10", "2008-11", "2008-12", "2009-03", "2012-01")

debtors = st.sampled_from(DEBTORS)
acts = st.one_of(
    st.tuples(st.just("file"), st.sampled_from(MONTHS), st.lists(st.tuples(debtors, st.integers(1, 40_000)), min_size=1, max_size=3)),
    st.tuples(st.just("deposit"), st.integers(0, 5), st.none()),
    st.tuples(st.just("take back"), st.integers(0, 5), st.none()),
    st.tuples(st.just("place"), st.integers(0, 5), st.none()),
    st.tuples(st.just("pay principal"), debtors, st.integers(1, 60_000)),
    st.tuples(st.just("pay all principal"), debtors, st.none()),
    st.tuples(st.just("pay off"), debtors, st.none()),
    st.tuples(st.just("retire"), debtors, st.none()),
    st.tuples(st.just("die"), debtors, st.integers(0, 60_000)),
    st.tuples(st.just("survive"), debtors, st.integers(1, 60_000)),
    st.tuples(st.just("lapse"), st.none(), st.none()),
)  # fmt: skip


@dataclass
class Office:
    """What people ask for, one thing after the other; what the law refuses is refused, and changes nothing."""

    world: World
    filed: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)
"""
"""
