"""What a worker has at hand, and when it has to stop."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from retiro.ledger.store import LedgerStore
from retiro.registry.clock import Clock
from retiro.registry.runs import Phase, Run, RunBook, RunId, RunStatus
from retiro.registry.table import Table
from retiro.runs.kinds import RunKind
from retiro.runs.objects import RunObjects

_RESERVE = timedelta(seconds=10)
"""What a worker keeps of its time: longer than a part takes."""

WORKING = {
    Phase.PREPARE: frozenset({RunStatus.PREPARING}),
    Phase.POST: frozenset({RunStatus.POSTING}),
    Phase.CLOSE: frozenset({RunStatus.POSTING}),
}
"""The statuses in which a phase's workers may work."""


@dataclass(frozen=True)
class Sizes:
    """How much is done at a time. `invocation_accounts` 0: as many as there is time for."""

    chunk_accounts: int = 5000
    part_accounts: int = 500
    page_accounts: int = 25
    invocation_accounts: int = 0


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
        return self.shop.clock() < self.until - _RESERVE and (not allowed or self.accounts < allowed)

    def part_accounts(self) -> int:
        """How many accounts the next part may have."""
        sizes = self.shop.sizes
        if not sizes.invocation_accounts:
            return sizes.part_accounts
        return min(sizes.part_accounts, sizes.invocation_accounts - self.accounts)
