"""A DynamoDB in memory, faithful in what our code uses of it; `tests/simulation/client.py` makes it unfaithful.

Items are kept as bytes, so that nothing that a caller holds is ever what the table holds. Of each change the value
before is kept with its moment: an eventually consistent read may be answered as of a while ago. What the local cloud
answers otherwise is listed in docs/simulation.md.
"""

import marshal
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from tests.simulation import expressions
from tests.simulation.expressions import Item

ITEM_BYTES_MAX = 400 * 1024
PAGE_BYTES_MAX = 1024 * 1024
TRANSACTION_ITEMS_MAX = 100
TRANSACTION_BYTES_MAX = 4 * 1024 * 1024
BATCH_GET_MAX = 100
BATCH_GET_BYTES_MAX = 16 * 1024 * 1024
KEY_BYTES_MAX = {"pk": 2048, "sk": 1024}


class ConditionalCheckFailedException(ClientError):  # noqa: N818  # as botocore names it
    """The class that `client.exceptions` has for it."""


class TransactionCanceledException(ClientError):  # noqa: N818  # as botocore names it
    """The class that `client.exceptions` has for it."""


def error(code: str, operation: str, message: str = "", **more: Any) -> ClientError:
    """An error as botocore raises it."""
    kinds = {
        "ConditionalCheckFailedException": ConditionalCheckFailedException,
        "TransactionCanceledException": TransactionCanceledException,
    }
    answer: Any = {"Error": {"Code": code, "Message": message}, **more}
    return kinds.get(code, ClientError)(answer, operation)


@dataclass(frozen=True)
class Commit:
    """One item as it was and as it is, both as the table keeps them; `None`: not there."""

    table: str
    key: tuple[str, str]
    before: bytes | None
    after: bytes | None

    @property
    def item(self) -> Item:
        """The item as it is."""
        return unpacked(self.after) if self.after is not None else {}

    @property
    def old(self) -> Item:
        """The item as it was."""
        return unpacked(self.before) if self.before is not None else {}


@dataclass
class Partition:
    """The items of a partition key by sort key, these in order, and the values before each change, by its moment."""

    items: dict[str, bytes] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    past: list[tuple[float, str, bytes | None]] = field(default_factory=list)

    def as_of(self, moment: float) -> "Partition":
        """The partition as it was."""
        if not self.past or self.past[-1][0] <= moment:
            return self
        items = dict(self.items)
        for changed_at, sort_key, before in reversed(self.past):
            if changed_at <= moment:
                break
            if before is None:
                items.pop(sort_key, None)
            else:
                items[sort_key] = before
        return Partition(items, sorted(items))


_EMPTY = Partition()


class DynamoDB:
    """The tables. Every method takes and answers what the client's method of that name does.

    `now` gives the moment; `committed` is told of each write that took effect, its items together.
    """

    def __init__(
        self,
        tables: Sequence[str],
        now: Callable[[], float] = lambda: 0.0,
        committed: Callable[[list[Commit]], None] = lambda _: None,
    ) -> None:
        self.tables: dict[str, dict[str, Partition]] = {name: {} for name in tables}
        self.now = now
        self.committed = committed

    # -- writes

    def put_item(self, **request: Any) -> dict[str, Any]:
        self._write("PutItem", [_Write.put(request)])
        return {}

    def delete_item(self, **request: Any) -> dict[str, Any]:
        self._write("DeleteItem", [_Write.delete(request)])
        return {}

    def update_item(self, **request: Any) -> dict[str, Any]:
        (commit,) = self._write("UpdateItem", [_Write.update(request)])
        return {"Attributes": commit.item} if request.get("ReturnValues") == "ALL_NEW" else {}

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        writes = []
        for one in request["TransactItems"]:
            ((verb, inner),) = one.items()
            writes.append(_VERBS[verb](inner))
        if not 0 < len(writes) <= TRANSACTION_ITEMS_MAX:
            raise _invalid("TransactWriteItems", "between 1 and 100 items")
        if len({(write.table, write.key) for write in writes}) < len(writes):
            raise _invalid("TransactWriteItems", "Transaction request cannot include multiple operations on one item")
        self._write("TransactWriteItems", writes)
        return {}

    # -- reads

    def get_item(self, *, as_of: float | None = None, **request: Any) -> dict[str, Any]:
        pk, sk = _key(request["Key"], "GetItem")
        found = self._partition(request["TableName"], pk, as_of).items.get(sk)
        return {} if found is None else {"Item": unpacked(found)}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        wanted = [(name, _key(key, "BatchGetItem")) for name, one in _asked(request) for key in one["Keys"]]
        if not 0 < len(wanted) <= BATCH_GET_MAX:
            raise _invalid("BatchGetItem", "between 1 and 100 keys")
        if len(set(wanted)) < len(wanted):
            raise _invalid("BatchGetItem", "Provided list of item keys contains duplicates")
        responses: dict[str, list[Item]] = {name: [] for name, _ in _asked(request)}
        left: dict[str, Any] = {}
        size = 0
        for name, (pk, sk) in wanted:
            found = self._partition(name, pk, None).items.get(sk)
            if found is None:
                continue
            size += size_bytes(unpacked(found)) if len(wanted) > 40 else 0
            item = unpacked(found)
            if size > BATCH_GET_BYTES_MAX:
                unread = left.setdefault(name, {**request["RequestItems"][name], "Keys": []})
                unread["Keys"].append({"pk": {"S": pk}, "sk": {"S": sk}})
            else:
                responses[name].append(item)
        return {"Responses": responses, "UnprocessedKeys": left}

    def query(self, *, as_of: float | None = None, page_items_max: int | None = None, **request: Any) -> dict[str, Any]:
        """`page_items_max` ends a page early, as DynamoDB may."""
        names = request.get("ExpressionAttributeNames", {})
        values = request.get("ExpressionAttributeValues", {})
        pk = values[":pk"]["S"]
        partition = self._partition(request["TableName"], pk, as_of)
        wanted = _checked(expressions.condition(request["KeyConditionExpression"]), "Query")
        kept = _checked(expressions.condition(request.get("FilterExpression", "attribute_exists(pk)")), "Query")
        order = list(partition.order)
        if not request.get("ScanIndexForward", True):
            order.reverse()
        if (start := request.get("ExclusiveStartKey")) is not None:
            if not wanted(start, names, values):
                raise _invalid("Query", "The provided starting key is outside query boundaries")
            backward = not request.get("ScanIndexForward", True)
            order = [sk for sk in order if (sk < start["sk"]["S"] if backward else sk > start["sk"]["S"])]
        items: list[Item] = []
        weighty = sum(map(len, partition.items.values())) > PAGE_BYTES_MAX
        evaluated, size, last = 0, 0, ""
        limit = min(request.get("Limit", 2**31), page_items_max or 2**31)
        answer: dict[str, Any] = {}
        for sk in order:
            if not wanted({"pk": {"S": pk}, "sk": {"S": sk}}, names, values):
                continue
            item = unpacked(partition.items[sk])
            size += size_bytes(item) if weighty else 0
            if evaluated == limit or (evaluated and size > PAGE_BYTES_MAX):
                answer["LastEvaluatedKey"] = {"pk": {"S": pk}, "sk": {"S": last}}
                break
            evaluated, last = evaluated + 1, sk
            if kept(item, names, values):
                items.append(item)
        else:
            if evaluated == limit:
                answer["LastEvaluatedKey"] = {"pk": {"S": pk}, "sk": {"S": last}}
        answer |= {"Count": len(items), "ScannedCount": evaluated}
        return answer if request.get("Select") == "COUNT" else {**answer, "Items": items}

    # -- for who looks on

    def items(self, table: str) -> dict[tuple[str, str], bytes]:
        """All that a table holds, as it keeps it."""
        return {(pk, sk): partition.items[sk] for pk, partition in self.tables[table].items() for sk in partition.order}

    def _write(self, operation: str, writes: Sequence["_Write"]) -> list[Commit]:
        """Do all of them, or none where a condition fails."""
        commits = []
        reasons: list[dict[str, Any]] = []
        for write in writes:
            before = self._partition(write.table, write.key[0], None).items.get(write.key[1])
            commit, reason = _outcome(write, before, operation)
            reasons.append(reason)
            commits.append(commit)
        if any(reason["Code"] != "None" for reason in reasons):
            raise _refused(operation, reasons)
        if operation == "TransactWriteItems":
            size = sum(len(commit.after or b"") for commit in commits)
            if size > TRANSACTION_BYTES_MAX and sum(size_bytes(one.item) for one in commits) > TRANSACTION_BYTES_MAX:
                raise _invalid(operation, "a transaction of more than 4 MB")
        for commit in commits:
            self._commit(commit)
        self.committed(commits)
        return commits

    def _commit(self, commit: Commit) -> None:
        pk, sk = commit.key
        partition = self.tables[commit.table].setdefault(pk, Partition())
        partition.past.append((self.now(), sk, commit.before))
        if commit.after is None:
            if commit.before is not None:
                del partition.items[sk]
                del partition.order[bisect_left(partition.order, sk)]
            return
        if commit.before is None:
            insort(partition.order, sk)
        partition.items[sk] = commit.after

    def _partition(self, table: str, pk: str, as_of: float | None) -> Partition:
        if table not in self.tables:
            raise error("ResourceNotFoundException", "any", "Requested resource not found")
        partition = self.tables[table].get(pk, _EMPTY)
        return partition if as_of is None else partition.as_of(as_of)


@dataclass(frozen=True)
class _Write:
    """One write: where, under which condition, and from the item before to the one after (`None`: gone)."""

    table: str
    key: tuple[str, str]
    request: Mapping[str, Any]
    after: Callable[[Item | None], Item | None]

    @classmethod
    def put(cls, request: Mapping[str, Any]) -> "_Write":
        return cls(request["TableName"], _key(request["Item"], "PutItem"), request, lambda _: request["Item"])

    @classmethod
    def delete(cls, request: Mapping[str, Any]) -> "_Write":
        return cls(request["TableName"], _key(request["Key"], "DeleteItem"), request, lambda _: None)

    @classmethod
    def update(cls, request: Mapping[str, Any]) -> "_Write":
        change = expressions.update(request["UpdateExpression"])
        names = request.get("ExpressionAttributeNames", {})
        values = request.get("ExpressionAttributeValues", {})
        return cls(
            request["TableName"],
            _key(request["Key"], "UpdateItem"),
            request,
            lambda before: change(before or dict(request["Key"]), names, values),
        )

    @classmethod
    def check(cls, request: Mapping[str, Any]) -> "_Write":
        return cls(request["TableName"], _key(request["Key"], "ConditionCheck"), request, lambda before: before)


_VERBS: Mapping[str, Callable[[Mapping[str, Any]], _Write]] = {
    "Put": _Write.put,
    "Delete": _Write.delete,
    "Update": _Write.update,
    "ConditionCheck": _Write.check,
}


def _outcome(write: _Write, before: bytes | None, operation: str) -> tuple[Commit, dict[str, Any]]:
    """What the write would change, and the reason for which it can't be done (`None`)."""
    there = None if before is None else unpacked(before)
    names = write.request.get("ExpressionAttributeNames", {})
    values = write.request.get("ExpressionAttributeValues", {})
    text = write.request.get("ConditionExpression")
    if text is not None and not _checked(expressions.condition(text), operation)(there or {}, names, values):
        reason: dict[str, Any] = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
        if write.request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and there is not None:
            reason["Item"] = there
        return Commit(write.table, write.key, before, before), reason
    try:
        after = write.after(there)
    except expressions.InvalidExpressionError as invalid:
        raise _invalid(operation, str(invalid)) from invalid
    kept = None if after is None else packed(after)
    # What we keep is longer than what counts, so that most items need no counting.
    if after is not None and kept is not None and len(kept) > ITEM_BYTES_MAX and size_bytes(after) > ITEM_BYTES_MAX:
        raise _invalid(operation, "Item size has exceeded the maximum allowed size")
    return Commit(write.table, write.key, before, kept), {"Code": "None"}


def _refused(operation: str, reasons: list[dict[str, Any]]) -> ClientError:
    if operation == "TransactWriteItems":
        codes = ", ".join(reason["Code"] for reason in reasons)
        message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
        return error("TransactionCanceledException", operation, message, CancellationReasons=reasons)
    there = {"Item": reasons[0]["Item"]} if "Item" in reasons[0] else {}
    return error("ConditionalCheckFailedException", operation, reasons[0]["Message"], **there)


def packed(item: Item) -> bytes:
    """An item as the table keeps it."""
    try:
        return marshal.dumps(item)
    except ValueError:
        return marshal.dumps(_plain(item))


def _plain(value: Any) -> Any:
    """The same of plain types: a text of an enum is a text."""
    match value:
        case str():
            return str.__str__(value)
        case dict():
            return {_plain(name): _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case _:
            return value


def unpacked(kept: bytes) -> Item:
    """An item of its own, of what the table keeps."""
    item: Item = marshal.loads(kept)  # noqa: S302  # our own bytes
    return item


def size_bytes(item: Item) -> int:
    """What DynamoDB counts for an item: names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(attribute: Mapping[str, Any]) -> int:
    ((kind, value),) = attribute.items()
    match kind:
        case "S":
            return len(value.encode())
        case "B":
            return len(value)
        case "N":
            digits = len(value.lstrip("-").strip("0"))
            return (digits + 1) // 2 + 1 + bool(value.startswith("-"))
        case "L":
            return 3 + sum(1 + _value_bytes(one) for one in value)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_bytes(one) for name, one in value.items())
        case "BOOL" | "NULL":
            return 1
        case _:
            raise NotImplementedError(kind)


def _asked(request: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(request["RequestItems"].items())


def _key(holder: Mapping[str, Any], operation: str) -> tuple[str, str]:
    found = []
    for name, bytes_max in KEY_BYTES_MAX.items():
        text = holder.get(name, {}).get("S")
        if not text or len(text.encode()) > bytes_max:
            raise _invalid(operation, f"One or more parameter values were invalid: {name}")
        found.append(text)
    return found[0], found[1]


def _checked(condition: expressions.Condition, operation: str) -> expressions.Condition:
    def checked(item: Item, names: expressions.Values, values: expressions.Values) -> bool:
        try:
            return condition(item, names, values)
        except expressions.InvalidExpressionError as invalid:
            raise _invalid(operation, str(invalid)) from invalid

    return checked


def _invalid(operation: str, message: str) -> ClientError:
    return error("ValidationException", operation, message)
