"""One DynamoDB table of plain items, read consistently and written under conditions that are named.

Items hold strings, whole numbers, booleans, bytes, lists and maps. Never a float, never `None`: what is absent is
absent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from retiro.ledger.encoding import whole_number

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

Item = dict[str, Any]


class AlreadyThereError(Exception):
    """An insert met an item with the same key. `existing` is that item."""

    def __init__(self, existing: Item) -> None:
        super().__init__("an item with this key is already there")
        self.existing = existing


class ChangedError(Exception):
    """A conditional write met an item that is not as expected: `existing`, or none at all (`None`)."""

    def __init__(self, existing: Item | None) -> None:
        super().__init__("the item is not as expected")
        self.existing = existing

    def stands(self, assigned: Mapping[str, Any], removed: Sequence[str] = ()) -> bool:
        """Whether the item is as the write would have left it: ours, whose answer was lost, or another's like it."""
        item = self.existing
        if item is None or any(name in item for name in removed):
            return False
        return all(item.get(name) == value for name, value in assigned.items())


@dataclass(frozen=True)
class OneOf:
    """A condition: the attribute is one of these."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class Below:
    """A condition: the attribute is less than this, or is not there."""

    bound: int


@dataclass(frozen=True)
class Page:
    """A page of a query, and the sort key after which the next page begins, or `None` at the end."""

    items: list[Item]
    after: str | None


class Table:
    """A table with the string keys `pk` and `sk`."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self.client = client
        self.name = name

    def get(self, pk: str, sk: str) -> Item | None:
        """The item with this key, read consistently; `None` where there is none."""
        answer = self.client.get_item(TableName=self.name, Key=_key(pk, sk), ConsistentRead=True)
        return from_attributes(answer["Item"]) if "Item" in answer else None

    def put(self, item: Item) -> None:
        """Write the item, whatever was there."""
        self.client.put_item(TableName=self.name, Item=to_attributes(item))

    def insert(self, item: Item) -> None:
        """Write the item where there is none. Raises `AlreadyThereError` with the one that is."""
        try:
            self.client.put_item(
                TableName=self.name,
                Item=to_attributes(item),
                ConditionExpression="attribute_not_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self.client.exceptions.ConditionalCheckFailedException as failed:
            raise AlreadyThereError(_existing(failed) or item) from failed

    def update(
        self,
        key: tuple[str, str],
        assign: Mapping[str, Any],
        *,
        add: Mapping[str, int] | None = None,
        remove: Sequence[str] = (),
        where: Mapping[str, Any] | None = None,
    ) -> Item:
        """Change attributes of the item (key: pk, sk) if it is as `where` says. Returns the whole item as it is then.

        `where` maps an attribute to the value it must have, to `None` (it must be absent), `OneOf(…)` or `Below(…)`.
        Raises `ChangedError` where the item is missing or not so.
        """
        named = _Placeholders()
        request: dict[str, Any] = {
            "TableName": self.name,
            "Key": _key(*key),
            "UpdateExpression": named.changes(assign, add or {}, remove),
            "ConditionExpression": named.conditions(where or {}),
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        try:
            answer = self.client.update_item(**request | named.attributes())
        except self.client.exceptions.ConditionalCheckFailedException as failed:
            raise ChangedError(_existing(failed)) from failed
        return from_attributes(answer["Attributes"])

    def page(
        self, pk: str, *, prefix: str = "", after: str | None = None, limit: int | None = None, backward: bool = False
    ) -> Page:
        """A page of a partition's items in the order of their sort keys, read consistently."""
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeyConditionExpression": "pk = :pk" + (" AND begins_with(sk, :prefix)" if prefix else ""),
            "ExpressionAttributeValues": {":pk": {"S": pk}} | ({":prefix": {"S": prefix}} if prefix else {}),
            "ConsistentRead": True,
            "ScanIndexForward": not backward,
        }
        if after is not None:
            request["ExclusiveStartKey"] = _key(pk, after)
        if limit is not None:
            request["Limit"] = limit
        answer = self.client.query(**request)
        last = answer.get("LastEvaluatedKey")
        return Page([from_attributes(item) for item in answer["Items"]], last["sk"]["S"] if last else None)

    def items(self, pk: str, *, prefix: str = "") -> Iterator[Item]:
        """All items of a partition, in the order of their sort keys, page by page."""
        after = None
        while True:
            page = self.page(pk, prefix=prefix, after=after)
            yield from page.items
            if page.after is None:
                return
            after = page.after

    def insertion(self, item: Item) -> "TransactWriteItemTypeDef":
        """The same as `insert`, as one part of a transaction, which another table's write may be in too."""
        return {
            "Put": {
                "TableName": self.name,
                "Item": to_attributes(item),
                "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }


class _Placeholders:
    """The names and values of an expression, each behind a placeholder, since any name may be a reserved word."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def changes(self, assign: Mapping[str, Any], add: Mapping[str, int], remove: Sequence[str]) -> str:
        clauses = {
            "SET": [f"{self._name(key)} = {self._value(content)}" for key, content in assign.items()],
            "ADD": [f"{self._name(key)} {self._value(amount)}" for key, amount in add.items()],
            "REMOVE": [self._name(key) for key in remove],
        }
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)

    def conditions(self, where: Mapping[str, Any]) -> str:
        return " AND ".join(["attribute_exists(pk)", *(self._condition(*one) for one in where.items())])

    def attributes(self) -> dict[str, Any]:
        names = {placeholder: name for name, placeholder in self.names.items()}
        return ({"ExpressionAttributeNames": names} if names else {}) | (
            {"ExpressionAttributeValues": self.values} if self.values else {}
        )

    def _condition(self, attribute: str, wanted: Any) -> str:
        name = self._name(attribute)
        match wanted:
            case None:
                return f"attribute_not_exists({name})"
            case OneOf():
                return f"{name} IN ({', '.join(self._value(choice) for choice in wanted.values)})"
            case Below():
                return f"(attribute_not_exists({name}) OR {name} < {self._value(wanted.bound)})"
            case _:
                return f"{name} = {self._value(wanted)}"

    def _name(self, attribute: str) -> str:
        return self.names.setdefault(attribute, f"#n{len(self.names)}")

    def _value(self, content: Any) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = _to_attribute(content)
        return placeholder


def to_attributes(item: Item) -> dict[str, Any]:
    """An item as DynamoDB's typed attributes. Raises `TypeError` for what no item holds."""
    return {name: _to_attribute(value) for name, value in item.items()}


def from_attributes(attributes: Mapping[str, Any]) -> Item:
    """DynamoDB's typed attributes as an item; every number is an `int`. Raises `TypeError` for what no item holds."""
    return {name: _from_attribute(value) for name, value in attributes.items()}


def _to_attribute(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, dict):
        return {"M": to_attributes(value)}
    if isinstance(value, list | tuple):
        return {"L": [_to_attribute(one) for one in value]}
    if isinstance(value, bytes):
        return {"B": value}
    msg = f"an item holds no {type(value).__name__}"
    raise TypeError(msg)


# Not boto3's deserializer: of all that a worker computes it took a quarter, and it makes a `Decimal` of each number.
def _from_attribute(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    if kind in {"S", "BOOL"}:
        return value
    if kind == "N":
        return whole_number(value)
    if kind == "M":
        return from_attributes(value)
    if kind == "L":
        return [_from_attribute(one) for one in value]
    if kind == "B":
        return bytes(value)
    msg = f"an item holds no attribute of type {kind}"
    raise TypeError(msg)


def _key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _existing(failed: ClientError) -> Item | None:
    attributes: Mapping[str, Any] | None = failed.response.get("Item")  # type: ignore[assignment]
    return from_attributes(attributes) if attributes else None
