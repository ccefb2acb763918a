"""Resolutions of the Board from proposal to adoption: drafts in the registry, adopted ones in the Board's book.

One person proposes, another adopts what the content hash says. The book's entry makes it true; the draft's status
follows, and is put right whenever the adoption is sent again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Self

from retiro.ledger.board import BoardBook
from retiro.ledger.resolution_checks import check
from retiro.ledger.resolutions import RESOLUTION, Kind, Resolution, UnsoundError, hash_of
from retiro.portal import Principal, Problem, conflict, not_found
from retiro.portal.approvals import stale_hash
from retiro.registry.clock import Clock
from retiro.registry.table import AlreadyThereError, Item, Table
from retiro.rules.calendar import puerto_rico_date

_PARTITION = "resolutions"


@dataclass(frozen=True)
class Proposal:
    """A resolution as the registry has it. `proposed_by` and `adopted_by` are acting users."""

    resolution_id: str
    resolution: Resolution
    content_hash: str
    proposed_by: str
    proposed_via: str
    proposed_at: str
    adopted_by: str | None = None
    adopted_at: str | None = None

    @classmethod
    def of_item(cls, item: Item) -> Self:
        """The proposal of a registry item."""
        return cls(
            resolution_id=item["sk"],
            resolution=RESOLUTION.validate_json(item["content"]),
            content_hash=item["content_hash"],
            proposed_by=item["proposed_by"],
            proposed_via=item["proposed_via"],
            proposed_at=item["proposed_at"],
            adopted_by=item.get("adopted_by"),
            adopted_at=item.get("adopted_at"),
        )

    @property
    def status(self) -> str:
        """Proposed or adopted."""
        return "proposed" if self.adopted_at is None else "adopted"


class Proposals:
    """The registry's drafts and the Board's book. `adopted` is called with the id of what was adopted."""

    def __init__(self, table: Table, book: BoardBook, clock: Clock, adopted: Callable[[str], None]) -> None:
        self.table = table
        self.book = book
        self.clock = clock
        self.adopted = adopted

    def propose(self, resolution: Resolution, principal: Principal) -> Proposal:
        """Put a resolution before the Board. Its id comes from its content: the same again is the one that is there."""
        principal.must_reach_fund(resolution.fund)
        content_hash = hash_of(resolution)
        resolution_id = f"RB-{resolution.act.date:%Y%m%d}-{content_hash[:12]}"
        standing = self.table.get(_PARTITION, resolution_id)
        if standing is not None:
            return Proposal.of_item(standing)
        now = self.clock()
        with _sound():
            check(resolution, puerto_rico_date(now))
            self.book.adopted(resolution.fund).check(resolution)
        item: Item = {
            "pk": _PARTITION,
            "sk": resolution_id,
            "kind": resolution.kind,
            "content": RESOLUTION.dump_json(resolution).decode(),
            "content_hash": content_hash,
            "proposed_by": principal.person,
            "proposed_via": principal.client_id,
            "proposed_at": _text(now),
        }
        try:
            self.table.insert(item)
        except AlreadyThereError as there:
            return Proposal.of_item(there.existing)
        return Proposal.of_item(item)

    def adopt(self, resolution_id: str, content_hash: str, principal: Principal) -> Proposal:
        """Adopt the resolution that has this content. Raises 403 for its proposer, 409 for another content."""
        proposal = self.get(resolution_id, principal)
        principal.must_not_be(
            proposal.proposed_by,
            en="Who proposed a resolution can't adopt it, by whatever client.",
            es="Quien propuso una resolución no puede adoptarla, por ningún cliente.",
        )
        if content_hash != proposal.content_hash:
            raise stale_hash()
        with _sound():
            entry = self.book.adopt(
                resolution_id,
                proposal.resolution,
                proposed_by=f"{proposal.proposed_by} via {proposal.proposed_via}",
                adopted_by=principal.label,
                now=self.clock(),
            )
        adopter = entry.adopted_by.split()[0]
        item = self.table.update(
            (_PARTITION, resolution_id), {"adopted_by": adopter, "adopted_at": _text(entry.adopted_at)}
        )
        self.adopted(resolution_id)
        if adopter != principal.person:
            raise conflict(
                "already_adopted",
                en=f"{resolution_id} was adopted already, by another person.",
                es=f"{resolution_id} ya fue adoptada, por otra persona.",
            )
        return Proposal.of_item(item)

    def get(self, resolution_id: str, principal: Principal) -> Proposal:
        """A resolution by its id. Raises 404."""
        item = self.table.get(_PARTITION, resolution_id)
        if item is None:
            raise not_found(
                "resolution_not_found",
                en=f"There is no resolution {resolution_id}.",
                es=f"No existe la resolución {resolution_id}.",
                field="resolution_id",
            )
        proposal = Proposal.of_item(item)
        principal.must_reach_fund(proposal.resolution.fund)
        return proposal

    def page(
        self, principal: Principal, *, kind: Kind | None, after: str | None, limit: int
    ) -> tuple[list[Proposal], str | None]:
        """A page of resolutions, those of the newest acts first, and after which id the next page begins."""
        found: list[Proposal] = []
        while True:
            page = self.table.page(_PARTITION, after=after, limit=limit - len(found), backward=True)
            after = page.after
            found += [
                proposal
                for proposal in map(Proposal.of_item, page.items)
                if kind in {None, proposal.resolution.kind} and principal.fund in {None, proposal.resolution.fund}
            ]
            if after is None or len(found) == limit:
                return found, after


@contextmanager
def _sound() -> Iterator[None]:
    try:
        yield
    except UnsoundError as unsound:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            unsound.code,
            unsound.sentence,
            citation=unsound.citation,
            field=unsound.field,
        ) from None


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
