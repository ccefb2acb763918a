"""Deduction orders by payer and month, as payers read them. The lines of the passbooks are the orders; this finds them.

`deduction_order#<payer>#<month>` / participant. It can be rebuilt from the passbooks. Of an order and what takes it
back, the later line's stands, in whatever order they are written here: one that was taken back stays, as withdrawn.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from retiro.registry.batches import items_of
from retiro.registry.table import AlreadyThereError, Below, ChangedError, Item, Table


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


def put_order(table: Table, payer_id: str, month: str, order: Order) -> None:
    """Show the order to its payer, unless a later line has been shown."""
    _put(table, order_item(payer_id, month, order))


def withdraw_order(table: Table, payer_id: str, month: str, participant_id: str, sequence: int) -> None:
    """Show no order of this participant any more: the line of this sequence took it back."""
    taken_back = Order(participant_id, 0, 0, sequence)
    _put(table, order_item(payer_id, month, taken_back) | {"withdrawn": True})


def _put(table: Table, item: Item) -> None:
    try:
        table.insert(item)
    except AlreadyThereError:
        values = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        with suppress(ChangedError):
            table.update(
                (item["pk"], item["sk"]), {"withdrawn": False, **values}, where={"sequence": Below(item["sequence"])}
            )


def orders_of(table: Table, payer_id: str, month: str, *, after: str | None = None) -> Iterator[Order]:
    """A payer's orders of a month (`2008-11`), by participant; those after one."""
    while True:
        found, after = orders_page(table, payer_id, month, after)
        yield from found
        if after is None:
            return


def orders_for(table: Table, payer_id: str, month: str, participant_ids: Iterable[str]) -> dict[str, Order]:
    """A payer's orders of a month for these participants, by participant. Raises `ItemsUnreadError`."""
    partition = _partition(payer_id, month)
    items = items_of(table, ((partition, participant_id) for participant_id in participant_ids))
    return {item["sk"]: _order(item) for item in items if _stands(item)}


def ordered_month_item(payer_id: str, month: str, *, reversed_once: bool = False) -> Item:
    """What says that a payer was ordered anything in a month; and whether any of it was ever taken back."""
    return {"pk": _months(payer_id), "sk": month, "reversed": reversed_once}


def note_month(table: Table, payer_id: str, month: str, *, is_reversal: bool) -> None:
    """Note that a payer was ordered something in a month, or that something of it was taken back: that stays noted."""
    if is_reversal:
        table.put(ordered_month_item(payer_id, month, reversed_once=True))
        return
    with suppress(AlreadyThereError):
        table.insert(ordered_month_item(payer_id, month))


def ordered_months(table: Table, payer_id: str) -> Iterator[str]:
    """The months in which something is ordered of a payer, in their order."""
    for item in table.items(_months(payer_id)):
        month = item["sk"]
        if not item.get("reversed", False) or next(orders_of(table, payer_id, month), None) is not None:
            yield month


def orders_page(
    table: Table, payer_id: str, month: str, after: str | None, limit: int | None = None
) -> tuple[list[Order], str | None]:
    """A page of them, which may have fewer than the limit, and the participant after whom the next one begins."""
    page = table.page(_partition(payer_id, month), after=after, limit=limit)
    return [_order(item) for item in page.items if _stands(item)], page.after


def _months(payer_id: str) -> str:
    return f"ordered_months#{payer_id}"


def _partition(payer_id: str, month: str) -> str:
    return f"deduction_order#{payer_id}#{month}"


def _stands(item: Item) -> bool:
    return not item.get("withdrawn", False)


def _order(item: Item) -> Order:
    return Order(item["sk"], item["installment"], item["arrears"], item["sequence"])
