"""The Board's book: a chain of adopted resolutions for each fund, only ever added to.

A resolution is proposed by one person and adopted by another. An entry is inserted where the next one goes, under the
condition that nothing is there; its hash covers the entry before it, so that a changed or a missing one shows.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from retiro.ledger.encoding import GENESIS
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore

if TYPE_CHECKING:
    from retiro.ledger.figures import Entry, Figures
    from retiro.ledger.resolutions import Resolution


class BoardBook:
    """The books of all funds, on the ledger's store."""

    def __init__(self, store: LedgerStore) -> None:
        self.store = store

    def adopted(self, fund: str) -> "Figures":
        """What the fund's book says now, read consistently."""
        from retiro.ledger.figures import Figures  # noqa: PLC0415  # many a function never looks into a book

        return Figures(fund, list(self.entries(fund)))

    def entries(self, fund: str) -> Iterator["Entry"]:
        """The book's entries, in order."""
        from retiro.ledger.board_entries import from_item  # noqa: PLC0415

        for item in self.store.items(partition(fund)):
            yield from_item(item)

    def adopt(
        self, resolution_id: str, resolution: "Resolution", *, proposed_by: str, adopted_by: str, now: datetime
    ) -> "Entry":
        """Write a resolution into its fund's book, once: one that stands there already is returned as it stands.

        Raises `UnsoundError` where it doesn't go with what stands, `BusyError` after too many lost races.
        """
        from retiro.ledger.board_entries import sealed, to_item  # noqa: PLC0415
        from retiro.ledger.figures import Entry  # noqa: PLC0415

        for attempt in range(self.store.retries.attempts_max):
            figures = self.adopted(resolution.fund)
            standing = figures.entry_of(resolution_id)
            if standing is not None:
                return standing
            figures.check(resolution)
            last = figures.entries[-1] if figures.entries else None
            entry = sealed(
                Entry(
                    sequence=last.sequence + 1 if last else 1,
                    resolution_id=resolution_id,
                    resolution=resolution,
                    proposed_by=proposed_by,
                    adopted_by=adopted_by,
                    adopted_at=max(now, last.adopted_at) if last else now,
                    hash=b"",
                ),
                last.hash if last else GENESIS,
            )
            item = to_item(entry)
            existing = self.store.insert(item)
            if existing is None or existing == item:
                return entry
            self.store.retries.pause(attempt)
        raise BusyError(f"{resolution_id} wasn't taken in {self.store.retries.attempts_max} attempts")


def partition(fund: str) -> str:
    """The partition key of a fund's book."""
    return f"board#{fund}"
