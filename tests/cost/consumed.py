"""What requests consume, by DynamoDB's rules, counted at the client: moto and the local cloud count otherwise.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html: a write takes a unit for
each KB of the item, twice that in a transaction; a consistent read one for each 4 KB, an eventual one half of that.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any


def size(value: dict[str, Any]) -> int:
    """Bytes of an attribute's value."""
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "N":
            return (len(inner.lstrip("-")) + 1) // 2 + 1
        case "B":
            return len(inner) * 3 // 4
        case "M":
            return 3 + sum(1 + len(name.encode()) + size(one) for name, one in inner.items())
        case "L":
            return 3 + sum(1 + size(one) for one in inner)
        case _:
            return 1


def item_size(item: dict[str, Any]) -> int:
    return sum(len(name.encode()) + size(value) for name, value in item.items())


def writes(items: list[dict[str, Any]], each: int = 1) -> int:
    return sum(each * max(1, math.ceil(item_size(item) / 1024)) for item in items)


def reads(bytes_read: int, *, consistent: bool) -> Fraction:
    return Fraction(max(1, math.ceil(bytes_read / 4096)), 1 if consistent else 2)


class Consumed:
    """Units by table, `ledger.writes` and `registry.reads`; and those of passbooks, `passbooks.reads`."""

    def __init__(self, tables: dict[str, str]) -> None:
        self.tables = tables
        self.counts: Counter[str] = Counter()

    def __getitem__(self, name: str) -> Any:
        return self.counts[name]

    def note(self, operation: str, asked: dict[str, Any], answer: dict[str, Any]) -> None:
        if operation == "TransactWriteItems":
            for one in asked["TransactItems"]:
                ((kind, request),) = one.items()
                items = [request["Item"]] if kind == "Put" else [request["Key"]]
                self._add(request["TableName"], "writes", writes(items, 2), items[0])
            return
        if operation == "BatchGetItem":
            ((table, keys),) = asked["RequestItems"].items()
            consistent = keys.get("ConsistentRead", False)
            for item in answer["Responses"].get(table, []):
                self._add(table, "reads", reads(item_size(item), consistent=consistent), item)
            return
        table = asked["TableName"]
        consistent = asked.get("ConsistentRead", False)
        match operation:
            case "PutItem":
                self._add(table, "writes", writes([asked["Item"]]), asked["Item"])
            case "UpdateItem" | "DeleteItem":
                self._add(table, "writes", writes([answer.get("Attributes", asked["Key"])]), asked["Key"])
            case "GetItem":
                found = item_size(answer.get("Item", {}))
                self._add(table, "reads", reads(found, consistent=consistent), asked["Key"])
            case "Query":
                found = sum(map(item_size, answer.get("Items", [])))
                key = {"pk": asked["ExpressionAttributeValues"][":pk"]}
                self._add(table, "reads", reads(found, consistent=consistent), key)

    def _add(self, table: str, what: str, amount: Any, key: dict[str, Any]) -> None:
        self.counts[f"{self.tables.get(table, table)}.{what}"] += amount
        if key.get("pk", {}).get("S", "").startswith("passbook#"):
            self.counts[f"passbooks.{what}"] += amount


@contextmanager
def consumed(client: Any, tables: dict[str, str]) -> Iterator[Consumed]:
    """Count what this client's requests consume. `tables`: what each is called here."""
    counted = Consumed(tables)

    def before(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["asked"] = json.loads(params["body"])

    def after(parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        counted.note(model.name, context["asked"], parsed)

    events = client.meta.events
    events.register("before-call.dynamodb", before)
    events.register("after-call.dynamodb", after)
    try:
        yield counted
    finally:
        events.unregister("before-call.dynamodb", before)
        events.unregister("after-call.dynamodb", after)
