"""The employers that the system knows: agencies whose people participate, and which remit."""

from collections.abc import Iterator
from dataclasses import dataclass

from retiro.registry.table import AlreadyThereError, Item, Table


@dataclass(frozen=True)
class Employer:
    """An agency, by its id (`E-001`) and the fund that its remittances belong to."""

    employer_id: str
    fund: str


_ALL = "employers"


class OtherEmployerError(Exception):
    """An employer of this id is registered already, in another fund."""


def register(table: Table, employer: Employer) -> None:
    """Make the employer known. Doing it again changes nothing; another fund raises `OtherEmployerError`."""
    item: Item = {"pk": f"employer#{employer.employer_id}", "sk": "profile", "fund": employer.fund}
    try:
        table.insert(item)
    except AlreadyThereError as there:
        if there.existing != item:
            raise OtherEmployerError(employer.employer_id) from there
    table.put({"pk": _ALL, "sk": employer.employer_id, "fund": employer.fund})


def all_employers(table: Table) -> Iterator[Employer]:
    """Every employer that is registered, in the order of the ids."""
    return (Employer(item["sk"], item["fund"]) for item in table.items(_ALL))


def employer_of(table: Table, employer_id: str) -> Employer | None:
    """The employer, or `None` where none of this id is known."""
    item = table.get(f"employer#{employer_id}", "profile")
    return None if item is None else Employer(employer_id, item["fund"])
