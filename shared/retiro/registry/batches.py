"""Items by their keys, read consistently, as many as a batch may have at once."""

from collections.abc import Iterable, Iterator, Sequence

from retiro.registry.table import Item, Table, from_attributes

_BATCH = 100
_ATTEMPTS = 5


class ItemsUnreadError(Exception):
    """The table kept some items back, more often than a caller should wait for."""


def items_of(table: Table, keys: Iterable[tuple[str, str]]) -> Iterator[Item]:
    """The items that are there of these keys (pk, sk), in no order. Raises `ItemsUnreadError`."""
    wanted = sorted(set(keys))
    for start in range(0, len(wanted), _BATCH):
        yield from _batch(table, wanted[start : start + _BATCH])


def _batch(table: Table, keys: Sequence[tuple[str, str]]) -> Iterator[Item]:
    asked = {table.name: {"Keys": [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in keys], "ConsistentRead": True}}
    for _ in range(_ATTEMPTS):
        answer = table.client.batch_get_item(RequestItems=asked)  # type: ignore[arg-type]  # the stubs' union is wider
        yield from (from_attributes(item) for item in answer["Responses"].get(table.name, []))
        asked = answer["UnprocessedKeys"]  # type: ignore[assignment]  # the same shape comes back
        if not asked:
            return
    raise ItemsUnreadError
