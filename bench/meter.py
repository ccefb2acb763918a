"""The capacity that a client's requests use, as the answers say it, each checked against DynamoDB's published rules.

Those are: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retiro.ledger.encoding import Item, size_bytes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_READS = frozenset({"GetItem", "BatchGetItem", "Query"})
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"})
_WRITE_UNIT_BYTES = 1024
_READ_UNIT_BYTES = 4096


Units = defaultdict[tuple[str, str, str], float]


class Meter:
    """Adds up the units of a client's requests, reads and writes apart, by table and by the first word of the key.

    `units["ledger", "passbook", "write"]` are those of lines. A request for a line whose answer says other units than
    the rules give for what went over the wire raises `ValueError`: the answers aren't to be relied on then. MiniStack
    says nothing of a `BatchGetItem`, so these are by the rules alone, under the word `""`.
    """

    def __init__(self, client: "DynamoDBClient") -> None:
        self.units: Units = defaultdict(float)
        client.meta.events.register("provide-client-params.dynamodb", self._ask)
        client.meta.events.register("after-call.dynamodb", self._count)

    def taken(self) -> Units:
        """The units since this was last asked."""
        taken, self.units = self.units, defaultdict(float)
        return taken

    def _ask(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if model.name in _READS | _WRITES:
            params["ReturnConsumedCapacity"] = "TOTAL"
            context["bench.request"] = params

    def _count(self, parsed: Mapping[str, Any], model: Any, context: Mapping[str, Any], **_: Any) -> None:
        request = context.get("bench.request")
        if request is None or "Error" in parsed:
            return  # a refused condition says nothing of its capacity
        verb = "read" if model.name in _READS else "write"
        if model.name == "BatchGetItem":
            for table, asked in request["RequestItems"].items():
                self.units[table, "", verb] += units_of_batch(asked, parsed["Responses"].get(table, []))
            return
        said = parsed["ConsumedCapacity"]
        for one in said if isinstance(said, list) else [said]:
            self.units[one["TableName"], _first_word(request), verb] += one["CapacityUnits"]
        by_rule = units_of(model.name, request, parsed) if _first_word(request) == "passbook" else None
        if by_rule is not None and by_rule != said["CapacityUnits"]:
            raise ValueError(f"{model.name} says {said['CapacityUnits']} units, where the rules make it {by_rule}")


def _first_word(request: Mapping[str, Any]) -> str:
    """What the key's text begins with: `passbook` of `passbook#P-000001`. Empty where there are many keys."""
    item = request.get("Item") or request.get("Key")
    text: str = item["pk"]["S"] if item else request.get("ExpressionAttributeValues", {}).get(":pk", {}).get("S", "")
    return text.split("#", maxsplit=1)[0]


def units_of(operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> float | None:
    """The units of a put of a new item, and of a query for one; `None` of what a request doesn't show enough of."""
    if operation == "PutItem":
        return _started(size_bytes(request["Item"]), _WRITE_UNIT_BYTES)
    if operation == "Query" and request.get("Limit") == 1:
        units = _started(sum(size_bytes(item) for item in answer["Items"]), _READ_UNIT_BYTES)
        return units if request.get("ConsistentRead") else units / 2
    return None


def units_of_batch(asked: Mapping[str, Any], found: Sequence[Item]) -> float:
    """The units of a batch of gets from one table: each item by itself, and one that isn't there as the smallest."""
    units = sum(_started(size_bytes(item), _READ_UNIT_BYTES) for item in found) + len(asked["Keys"]) - len(found)
    return units if asked.get("ConsistentRead") else units / 2


def _started(size: int, unit: int) -> int:
    return max(1, -(-size // unit))
