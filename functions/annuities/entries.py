"""What one person enters and another approves: kept in the registry until then, and posted only as it was shown.

The content is the request and all that was determined of it. Entered again it takes the place of what waits; approved,
it is determined again on the passbook as it stands, and must come out the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retiro.ledger.encoding import canonical, content_hash
from retiro.portal import Principal, not_found
from retiro.portal.approvals import already_approved, stale_hash
from retiro.registry.clock import Clock
from retiro.registry.table import Item, Table

_DRAFT = "draft"


@dataclass(frozen=True)
class Entry:
    """Something entered. `entered_by` is an acting user."""

    id: str
    request: Mapping[str, Any]
    content: Mapping[str, Any]
    content_hash: str
    entered_by: str
    entered_via: str

    @property
    def label(self) -> str:
        """Person and client in one text."""
        return f"{self.entered_by} via {self.entered_via}"


@dataclass(frozen=True)
class Entries:
    """The registry's drafts of this domain."""

    table: Table
    clock: Clock

    def enter(
        self, identifier: str, request: Mapping[str, Any], content: Mapping[str, Any], principal: Principal
    ) -> Entry:
        """Keep what is entered until another person approves it."""
        entry = Entry(identifier, request, content, hash_of(content), principal.person, principal.client_id)
        item: Item = {
            "pk": _partition(identifier),
            "sk": _DRAFT,
            "request": canonical(dict(request)).decode(),
            "content": canonical(dict(content)).decode(),
            "content_hash": entry.content_hash,
            "entered_by": entry.entered_by,
            "entered_via": entry.entered_via,
            "entered_at": self.clock().isoformat(timespec="seconds"),
        }
        self.table.put(item)
        return entry

    def get(self, identifier: str) -> Entry:
        """What was entered under this id. Raises 404."""
        entry = self.find(identifier)
        if entry is None:
            raise not_found(
                "not_entered", en=f"Nothing was entered as {identifier}.", es=f"No se ha presentado {identifier}."
            )
        return entry

    def find(self, identifier: str) -> Entry | None:
        """What was entered under this id."""
        item = self.table.get(_partition(identifier), _DRAFT)
        if item is None:
            return None
        return Entry(
            identifier,
            json.loads(item["request"]),
            json.loads(item["content"]),
            item["content_hash"],
            item["entered_by"],
            item["entered_via"],
        )

    def to_approve(self, identifier: str, approved_hash: str, principal: Principal) -> Entry:
        """What this principal approves. Raises 404; 403 for who entered it; 409 for another content."""
        entry = self.get(identifier)
        principal.must_not_be(
            entry.entered_by,
            en="Who entered it can't approve it, by whatever client.",
            es="Quien lo presentó no puede aprobarlo, por ningún cliente.",
        )
        if entry.content_hash != approved_hash:
            raise stale_hash()
        return entry


def hash_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a content in its canonical form, as hexadecimal digits."""
    return content_hash(dict(content)).hex()


def checked_same(content: Mapping[str, Any], entry: Entry) -> None:
    """Raises 409 where what would be posted now isn't what was entered: the passbook or the Board's book has moved."""
    if hash_of(content) != entry.content_hash:
        raise stale_hash()


def check_approved_by(person: str | None, principal: Principal) -> None:
    """Raises 409 where another person was first: one wins, and the other is told."""
    if person != principal.person:
        raise already_approved()


def _partition(identifier: str) -> str:
    return f"annuity_entry#{identifier}"
