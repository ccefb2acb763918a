"""The ledger's table: insert and read back. There is no update, no delete and no overwrite here.

Every put has the condition that nothing is there yet, and asks for what is. So a lost answer is told from a lost race
by the item itself, never by a client's token.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError

from retiro.ledger import evidence as evidence_items
from retiro.ledger import keys as key_items
from retiro.ledger import lines as line_items
from retiro.ledger.encoding import Item
from retiro.ledger.evidence import Evidence, EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyRecord
from retiro.ledger.lines import Line
from retiro.ledger.retries import BusyError, Retries

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        BatchGetItemOutputTypeDef,
    )
    from mypy_boto3_dynamodb.type_defs import (
        TransactWriteItemTypeDef as TransactItem,
    )

T = TypeVar("T")

_BATCH_GET_MAX = 100
TRANSACTION_ITEMS_MAX = 100

_TRANSIENT_CODES = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


class MovedError(Exception):
    """Another line stands where this one was to go: `existing`. Read the passbook again and decide again."""

    def __init__(self, existing: Line) -> None:
        super().__init__(f"{existing.passbook} has moved: there is a {existing.kind} line {existing.sequence}")
        self.existing = existing


class UnansweredError(Exception):
    """A transaction was throttled, or its answer never came: it may or may not have been done."""


class Outcome(StrEnum):
    """What became of one item of a cancelled transaction."""

    NONE = "none"
    CONDITION_FAILED = "condition_failed"
    CONFLICT = "conflict"
    THROTTLED = "throttled"
    INVALID = "invalid"


_OUTCOMES = {
    "None": Outcome.NONE,
    "ConditionalCheckFailed": Outcome.CONDITION_FAILED,
    "TransactionConflict": Outcome.CONFLICT,
    "ProvisionedThroughputExceeded": Outcome.THROTTLED,
    "ThrottlingError": Outcome.THROTTLED,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one item of a transaction was cancelled, and the item that was there instead, if it was a condition."""

    outcome: Outcome
    existing: Item | None = None
    message: str = ""


class LedgerStore:
    """The ledger's table through DynamoDB's client. Decisions read consistently; so do all reads here by default."""

    def __init__(self, client: "DynamoDBClient", table_name: str, *, retries: Retries | None = None) -> None:
        self.client = client
        self.table_name = table_name
        self.retries = retries or Retries()

    def put_line(self, line: Line) -> None:
        """Insert a line. Done already by us (a lost answer) is done; raises `MovedError` where another line stands.

        Raises `BusyError` when throttled or unanswered through all attempts.
        """
        item = line_items.to_item(line)
        existing = self.insert(item)
        if existing is not None and existing.get("hash") != item["hash"]:
            raise MovedError(line_items.from_item(existing))

    def put_evidence(self, evidence: Evidence, *, also: Sequence["TransactItem"] = ()) -> None:
        """Insert evidence, and in the same transaction what finds it: writes without a condition of their own.

        The same body there already is done; raises `EvidenceConflictError` for another, and then nothing was written.
        """
        item = evidence_items.to_item(evidence)
        existing = self._insert_with(item, also) if also else self.insert(item)
        if existing is not None:
            there = evidence_items.from_item(existing)
            if there.content_hash != evidence.content_hash:
                raise EvidenceConflictError(there)

    def _insert_with(self, item: Item, also: Sequence["TransactItem"]) -> Item | None:
        """`insert`, with more in the same transaction."""
        for attempt in range(self.retries.attempts_max):
            with suppress(UnansweredError):
                reasons = self.transact([self.insertion(item), *also])
                if not reasons:
                    return None
                if any(reason.outcome is Outcome.INVALID for reason in reasons):
                    raise ValueError("; ".join(reason.message for reason in reasons))
                if reasons[0].outcome is Outcome.CONDITION_FAILED:
                    return reasons[0].existing
            self.retries.pause(attempt)
        raise self._not_taken(item)

    def insert(self, item: Item) -> Item | None:
        """Put an item where there is none: `None` is done, else the item that stands there (perhaps our own)."""
        for attempt in range(self.retries.attempts_max):
            try:
                self.client.put_item(
                    TableName=self.table_name,
                    Item=item,
                    ConditionExpression="attribute_not_exists(pk)",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except (ClientError, HTTPClientError, UnreachableError) as error:
                if _code(error) == "ConditionalCheckFailedException":
                    return _existing(error)
                if not _is_transient(error):
                    raise
                self.retries.pause(attempt)
            else:
                return None
        raise self._not_taken(item)

    def _not_taken(self, item: Item) -> BusyError:
        return BusyError(f"{item['pk']['S']} {item['sk']['S']} wasn't taken in {self.retries.attempts_max} attempts")

    def transact(self, items: Sequence["TransactItem"]) -> tuple[Reason, ...]:
        """Do all or nothing: `()` is done; else a reason for each item, in the order of the request.

        Raises `UnansweredError` where it isn't known. Whoever asks again must be able to tell by the items themselves.
        """
        if len(items) > TRANSACTION_ITEMS_MAX:
            msg = f"a transaction of {len(items)} items, {TRANSACTION_ITEMS_MAX} at most"
            raise ValueError(msg)
        try:
            self.client.transact_write_items(TransactItems=items)
        except (ClientError, HTTPClientError, UnreachableError) as error:
            if _code(error) == "TransactionCanceledException":
                return _reasons(error)
            if _is_transient(error):
                raise UnansweredError(str(error)) from error
            raise
        return ()

    def insertion(self, item: Item) -> "TransactItem":
        """The put of an item where there is none, as a part of a transaction."""
        return {
            "Put": {
                "TableName": self.table_name,
                "Item": item,
                "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def last_line(self, passbook: str, *, consistent: bool = True) -> Line | None:
        """The last line of a passbook; `None` where there is none."""
        item = self.last_item(line_items.partition(passbook), consistent=consistent)
        return None if item is None else line_items.from_item(item)

    def last_item(self, partition: str, *, consistent: bool = True) -> Item | None:
        """The item with the highest sort key of a partition."""
        answer = self._asked(
            lambda: self.client.query(
                TableName=self.table_name,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": partition}},
                ScanIndexForward=False,
                Limit=1,
                ConsistentRead=consistent,
            )
        )
        return answer["Items"][0] if answer["Items"] else None

    def lines(self, passbook: str, *, first: int = 1, consistent: bool = True) -> Iterator[Line]:
        """The lines of a passbook in order, from the sequence `first` on."""
        for item in self.items(line_items.partition(passbook), first=first, consistent=consistent):
            yield line_items.from_item(item)

    def through(self, last: Line, *, first: int = 1) -> list[Line]:
        """The lines of a passbook through this one, in order: all that a decision on it may know.

        Others may have come after it. They are left out: what is decided on it is then refused its place, and is
        decided again on the newest line.
        """
        return [line for line in self.lines(last.passbook, first=first) if line.sequence <= last.sequence]

    def items(self, partition: str, *, first: int = 1, consistent: bool = True) -> Iterator[Item]:
        """The items of a chain as they stand, for who checks them; from the sequence `first` on."""
        request: dict[str, Any] = {
            "TableName": self.table_name,
            "KeyConditionExpression": "pk = :pk AND sk >= :first",
            "ExpressionAttributeValues": {":pk": {"S": partition}, ":first": {"S": line_items.sort_key(first)}},
            "ConsistentRead": consistent,
        }
        while True:
            page = self._asked(lambda: self.client.query(**request))
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def get_lines(self, wanted: Iterable[tuple[str, int]], *, consistent: bool = True) -> dict[tuple[str, int], Line]:
        """The lines of these passbooks and sequences; one that isn't there is left out.

        Raises `BusyError` when some stay unread through all attempts.
        """
        keys = [
            {"pk": {"S": line_items.partition(passbook)}, "sk": {"S": line_items.sort_key(sequence)}}
            for passbook, sequence in dict.fromkeys(wanted)
        ]
        found: dict[tuple[str, int], Line] = {}
        for start in range(0, len(keys), _BATCH_GET_MAX):
            for item in self._get_batch(keys[start : start + _BATCH_GET_MAX], consistent=consistent):
                line = line_items.from_item(item)
                found[line.passbook, line.sequence] = line
        return found

    def get_key(self, key: BusinessKey) -> KeyRecord | None:
        """What a business key was used for, read consistently; `None` where it is free."""
        item = self._get(key.partition, key_items.SORT_KEY)
        return None if item is None else key_items.from_item(item)

    def get_evidence(self, kind: str, identifier: str) -> Evidence | None:
        """The evidence of this type and id, read consistently; `None` where there is none."""
        item = self._get(evidence_items.partition(kind, identifier), evidence_items.SORT_KEY)
        return None if item is None else evidence_items.from_item(item)

    def _get(self, pk: str, sk: str) -> Item | None:
        answer = self._asked(
            lambda: self.client.get_item(
                TableName=self.table_name, Key={"pk": {"S": pk}, "sk": {"S": sk}}, ConsistentRead=True
            )
        )
        return answer.get("Item")

    def _asked(self, ask: Callable[[], T]) -> T:
        """The answer to a read, asked again where the table is busy. Raises `BusyError`."""
        for attempt in range(self.retries.attempts_max):
            try:
                return ask()
            except (ClientError, HTTPClientError, UnreachableError) as error:
                if not _is_transient(error):
                    raise
                self.retries.pause(attempt)
        msg = f"a read wasn't answered in {self.retries.attempts_max} attempts"
        raise BusyError(msg)

    def _batch_answer(self, keys: Sequence[Mapping[str, Any]], *, consistent: bool) -> "BatchGetItemOutputTypeDef":
        asked: dict[str, Any] = {self.table_name: {"Keys": keys, "ConsistentRead": consistent}}
        return self._asked(lambda: self.client.batch_get_item(RequestItems=asked))

    def _get_batch(self, keys: Sequence[Mapping[str, Any]], *, consistent: bool) -> Iterator[Item]:
        for attempt in range(self.retries.attempts_max):
            answer = self._batch_answer(keys, consistent=consistent)
            yield from answer["Responses"].get(self.table_name, [])
            left = answer.get("UnprocessedKeys", {}).get(self.table_name)
            if not left:
                return
            keys = left["Keys"]
            self.retries.pause(attempt)
        msg = f"{len(keys)} lines stayed unread in {self.retries.attempts_max} attempts"
        raise BusyError(msg)


def _code(error: Exception) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""


def _is_transient(error: Exception) -> bool:
    """A throttle, a conflict, a fault of the service; or no answer, in which case it may have been done."""
    return not isinstance(error, ClientError) or _code(error) in _TRANSIENT_CODES


def _existing(error: Exception) -> Item:
    """The item that stood in the way; botocore gives it beside the error."""
    return error.response["Item"]  # type: ignore[attr-defined, no-any-return]


def _reasons(error: Exception) -> tuple[Reason, ...]:
    given: list[dict[str, Any]] = error.response["CancellationReasons"]  # type: ignore[attr-defined]
    return tuple(
        Reason(_OUTCOMES.get(one["Code"], Outcome.INVALID), one.get("Item"), f"{one['Code']}: {one.get('Message', '')}")
        for one in given
    )
