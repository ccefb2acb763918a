"""Deduction orders by payer and month, as payers read them. The lines of the passbooks are the orders; this finds them.

`deduction_order#<payer>#<month>` / participant. It can be rebuilt from the passbooks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from retiro.registry.table import Item, Table


@dataclass(frozen=True)
class Order:
    """What a payer is to withhold from a participant: the month's installment, and apart from it arrears, in cents.

    `sequence`: the line of the passbook that orders it.
    """

    participant_id: str
    installment_cents: int
    arrears_cents: int
    sequence: int

    @property
    def total_cents(self) -> int:
        """All that is to be withheld."""
        return self.installment_cents + self.arrears_cents


def order_item(payer_id: str, month: str, order: Order) -> Item:
    """The order's item. Written again it is the same."""
    return {
        "pk": _partition(payer_id, month),
        "sk": order.participant_id,
        "installment": order.installment_cents,
        "arrears": order.arrears_cents,
        "sequence": order.sequence,
    }


def orders_of(table: Table, payer_id: str, month: str) -> Iterator[Order]:
    """A payer's orders of a month (`2008-11`), by participant."""
    return map(_order, table.items(_partition(payer_id, month)))


def ordered_month_item(payer_id: str, month: str) -> Item:
    """What says that a payer was ordered anything in a month. Written again it is the same."""
    return {"pk": _months(payer_id), "sk": month}


def ordered_months(table: Table, payer_id: str) -> Iterator[str]:
    """The months in which a payer was ordered anything, in their order."""
    return (item["sk"] for item in table.items(_months(payer_id)))


def orders_page(
    table: Table, payer_id: str, month: str, after: str | None, limit: int
) -> tuple[list[Order], str | None]:
    """A page of them, and the participant after whom the next one begins."""
    page = table.page(_partition(payer_id, month), after=after, limit=limit)
    return [_order(item) for item in page.items], page.after


def _months(payer_id: str) -> str:
    return f"ordered_months#{payer_id}"


def _partition(payer_id: str, month: str) -> str:
    return f"deduction_order#{payer_id}#{month}"


def _order(item: Item) -> Order:
    return Order(item["sk"], item["installment"], item["arrears"], item["sequence"])
