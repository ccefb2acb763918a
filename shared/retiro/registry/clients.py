"""Which party a client of the API acts for. A client that is bound to none reaches nothing."""

from dataclasses import dataclass
from enum import StrEnum

from retiro.registry.table import AlreadyThereError, Item, Table


class Party(StrEnum):
    """Who a client belongs to."""

    PORTAL = "portal"
    EMPLOYER = "employer"
    FUND = "fund"
    BOARD = "board"
    OFFICE = "office"


@dataclass(frozen=True)
class Binding:
    """A client's party; for an employer's client, which employer; for a fund's client, which fund."""

    client_id: str
    party: Party
    employer_id: str | None = None
    fund: str | None = None

    def __post_init__(self) -> None:
        if (self.party is Party.EMPLOYER) != (self.employer_id is not None):
            raise ValueError("an employer's client, and no other, is bound to an employer")
        if self.party is Party.FUND and self.fund is None:
            raise ValueError("a fund's client is bound to its fund")


class OtherBindingError(Exception):
    """The client is bound already, and otherwise."""


def binding_of(table: Table, client_id: str) -> Binding | None:
    """The client's binding, or `None` where it has none."""
    item = table.get(f"client#{client_id}", "binding")
    if item is None:
        return None
    return Binding(client_id, Party(item["party"]), item.get("employer_id"), item.get("fund"))


def bind(table: Table, binding: Binding) -> None:
    """Bind a client. Doing it again changes nothing; another binding of the same client raises `OtherBindingError`."""
    item: Item = {"pk": f"client#{binding.client_id}", "sk": "binding", "party": str(binding.party)}
    if binding.employer_id is not None:
        item["employer_id"] = binding.employer_id
    if binding.fund is not None:
        item["fund"] = binding.fund
    try:
        table.insert(item)
    except AlreadyThereError as there:
        if there.existing != item:
            raise OtherBindingError(binding.client_id) from there
