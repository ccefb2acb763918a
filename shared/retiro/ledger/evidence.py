"""Evidence: what a line rests on (a determination with its receipt, a contract, an approval). Insert-only too."""

import json
from dataclasses import dataclass
from typing import Any

from retiro.ledger import encoding
from retiro.ledger.encoding import Item, UnreadableError

SORT_KEY = "evidence"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A type, an id that is unique within it, and a body of plain JSON values (money as texts, never a float)."""

    type: str
    id: str
    body: Any

    @property
    def partition(self) -> str:
        """The partition key of its item."""
        return partition(self.type, self.id)

    @property
    def content_hash(self) -> bytes:
        """SHA-256 of the body's canonical text."""
        return encoding.content_hash(self.body)


class EvidenceConflictError(Exception):
    """Evidence of this type and id is there already, with another body."""

    def __init__(self, existing: Evidence) -> None:
        super().__init__(f"evidence {existing.type} {existing.id} is there with another body")
        self.existing = existing


def partition(kind: str, identifier: str) -> str:
    """The partition key of the evidence of this type and id."""
    return f"evidence#{kind}#{identifier}"


def to_item(evidence: Evidence) -> Item:
    """The item: the body as its canonical text, so that it comes back as it was, byte for byte."""
    return encoding.to_item(
        {
            "pk": evidence.partition,
            "sk": SORT_KEY,
            "body": encoding.canonical(evidence.body).decode(),
            "content": evidence.content_hash,
        }
    )


def from_item(item: Item) -> Evidence:
    """The evidence of an item. Raises `UnreadableError` where its body isn't what its hash says."""
    match encoding.from_item(item):
        case {"pk": str(pk), "body": str(body), "content": bytes(content_hash)}:
            _, kind, identifier = pk.split("#", 2)
            evidence = Evidence(kind, identifier, json.loads(body))
            if evidence.content_hash != content_hash:
                msg = f"evidence {kind} {identifier} was changed"
                raise UnreadableError(msg)
            return evidence
        case _:
            raise UnreadableError("an item that isn't evidence")
