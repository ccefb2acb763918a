"""What a worker has at hand, and when it has to stop."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from retiro.ledger.store import LedgerStore
from retiro.registry.clock import Clock
from retiro.registry.runs import Phase, Run, RunBook, RunId, RunStatus
from retiro.registry.table import Table
from retiro.runs.kinds import RunKind
from retiro.runs.objects import RunObjects

T = TypeVar("T")
R = TypeVar("R")

RESERVE = timedelta(seconds=20)
"""What a worker keeps of its time: longer than a part takes, also where 64 workers share a new table's 4,000 writes."""

WORKING = {
    Phase.PREPARE: frozenset({RunStatus.PREPARING}),
    Phase.POST: frozenset({RunStatus.POSTING}),
    Phase.CLOSE: frozenset({RunStatus.POSTING}),
}
"""The statuses in which a phase's workers may work."""


@dataclass(frozen=True)
class Sizes:
    """How much is done at a time. `invocation_accounts` 0: as many as there is time for.

    `at_once` is how many requests a worker has in flight. A page lies between two looks at the run: half a part, since
    each look reads the run's item and each tale of progress writes the chunk's, all in one partition.
    """

    chunk_accounts: int = 5000
    part_accounts: int = 1000
    page_accounts: int = 500
    invocation_accounts: int = 0
    at_once: int = 1


@dataclass(frozen=True)
class Workshop:
    """The tables, the bucket, the clock and the kinds that a worker knows."""

    kinds: Mapping[str, RunKind]
    book: RunBook
    roster: Table
    ledger: LedgerStore
    objects: RunObjects
    clock: Clock
    sizes: Sizes = Sizes()

    def hurried(self) -> "Workshop":
        """The same with a single attempt a request: for the rest of an invocation that has met a wall already."""
        ledger = self.ledger
        once = replace(ledger.retries, attempts_max=1)
        return replace(self, ledger=LedgerStore(ledger.client, ledger.table_name, retries=once))


class Hands:
    """Who does a part's accounts, several at a time: most of an account's time is waiting for the table.

    A chunk has each passbook once, so that none waits for another. Who meets a wall hurries all.
    """

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop

    def hurry(self) -> None:
        """From now on a single attempt a request."""
        self.shop = self.shop.hurried()

    def each(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """What the work gives for each item, in the items' order."""
        at_once = self.shop.sizes.at_once
        if at_once == 1:
            return [work(item) for item in items]
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(work, items))


@dataclass
class Watch:
    """Whether a worker of this number may go on: asked once a page, of the run's item, consistently."""

    shop: Workshop
    run_id: RunId
    number: int
    phase: Phase
    until: datetime
    accounts: int = 0

    def may_work(self) -> Run | None:
        """The run, if its number is ours still and its status lets us; else `None`: return at once."""
        run = self.shop.book.get(self.run_id)
        return run if run.number == self.number and run.status in WORKING[self.phase] else None

    def has_time(self) -> bool:
        """Whether there is time, and allowance, for another part."""
        allowed = self.shop.sizes.invocation_accounts
        return self.shop.clock() < self.until - RESERVE and (not allowed or self.accounts < allowed)

    def part_accounts(self) -> int:
        """How many accounts the next part may have."""
        sizes = self.shop.sizes
        if not sizes.invocation_accounts:
            return sizes.part_accounts
        return min(sizes.part_accounts, sizes.invocation_accounts - self.accounts)
