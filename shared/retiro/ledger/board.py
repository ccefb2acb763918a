"""The Board's book: a chain of adopted resolutions for each fund, only ever added to.

A resolution is proposed by one person and adopted by another. An entry is inserted where the next one goes, under the
condition that nothing is there; its hash covers the entry before it, so that a changed or a missing one shows.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from retiro.ledger import encoding
from retiro.ledger.encoding import GENESIS, Document, Item, UnreadableError
from retiro.ledger.figures import Entry, Figures
from retiro.ledger.lines import sort_key
from retiro.ledger.resolutions import RESOLUTION, Resolution, hash_of
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore

__all__ = ["BoardBook", "Entry", "Figures", "from_item", "partition", "to_item"]


class BoardBook:
    """The books of all funds, on the ledger's store."""

    def __init__(self, store: LedgerStore) -> None:
        self.store = store

    def adopted(self, fund: str) -> Figures:
        """What the fund's book says now, read consistently."""
        return Figures(fund, list(self.entries(fund)))

    def entries(self, fund: str) -> Iterator[Entry]:
        """The book's entries, in order."""
        for item in self.store.items(partition(fund)):
            yield from_item(item)

    def adopt(
        self, resolution_id: str, resolution: Resolution, *, proposed_by: str, adopted_by: str, now: datetime
    ) -> Entry:
        """Write a resolution into its fund's book, once: one that stands there already is returned as it stands.

        Raises `UnsoundError` where it doesn't go with what stands, `BusyError` after too many lost races.
        """
        for attempt in range(self.store.retries.attempts_max):
            figures = self.adopted(resolution.fund)
            standing = figures.entry_of(resolution_id)
            if standing is not None:
                return standing
            figures.check(resolution)
            last = figures.entries[-1] if figures.entries else None
            entry = _sealed(
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


def to_item(entry: Entry) -> Item:
    """The entry's item: its document and its hash."""
    return encoding.to_item(_document(entry) | {"hash": entry.hash})


def from_item(item: Item) -> Entry:
    """The entry of an item. Raises `UnreadableError` for what isn't one."""
    match encoding.from_item(item):
        case {
            "sk": str(sequence),
            "resolution_id": str(resolution_id),
            "content": str(content),
            "proposed_by": str(proposed_by),
            "adopted_by": str(adopted_by),
            "adopted_at": str(adopted_at),
            "hash": bytes(digest),
        }:
            moment = datetime.fromisoformat(adopted_at).astimezone(UTC)
            resolution = RESOLUTION.validate_json(content)
            return Entry(int(sequence), resolution_id, resolution, proposed_by, adopted_by, moment, digest)
        case _:
            raise UnreadableError("an item that isn't an adopted resolution")


def _document(entry: Entry) -> Document:
    return {
        "pk": partition(entry.resolution.fund),
        "sk": sort_key(entry.sequence),
        "kind": entry.resolution.kind,
        "resolution_id": entry.resolution_id,
        "content": encoding.canonical(RESOLUTION.dump_python(entry.resolution, mode="json")).decode(),
        "content_hash": hash_of(entry.resolution),
        "proposed_by": entry.proposed_by,
        "adopted_by": entry.adopted_by,
        "adopted_at": entry.adopted_at.astimezone(UTC).isoformat(timespec="microseconds"),
    }


def _sealed(entry: Entry, previous_hash: bytes) -> Entry:
    return replace(entry, hash=encoding.chain_hash(previous_hash, _document(entry)))
