"""An entry of the Board's book as an item of the ledger's table, and its hash."""

from dataclasses import replace
from datetime import UTC, datetime

from retiro.ledger import encoding
from retiro.ledger.board import partition
from retiro.ledger.encoding import Document, Item, UnreadableError
from retiro.ledger.figures import Entry
from retiro.ledger.lines import sort_key
from retiro.ledger.resolutions import RESOLUTION, hash_of


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


def sealed(entry: Entry, previous_hash: bytes) -> Entry:
    """The entry with its hash, which covers the entry before it."""
    return replace(entry, hash=encoding.chain_hash(previous_hash, _document(entry)))
