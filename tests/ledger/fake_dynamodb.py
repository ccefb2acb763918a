"""As much of DynamoDB as passbooks use, in a dictionary: for tests of many events, where moto takes too long.

It takes conditional puts alone, all of a transaction or nothing, and refuses whatever else it is asked.
"""

from copy import deepcopy
from typing import Any

from botocore.exceptions import ClientError, ReadTimeoutError

from tests.ledger.makers import TABLE

CONDITION = "attribute_not_exists(pk)"


class FakeDynamoDB:
    """The client, and its one table. `lose_next` is to do the next transaction and lose its answer."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], dict[str, Any]] = {}
        self.lose_next = False

    def snapshot(self) -> dict[tuple[str, str], dict[str, Any]]:
        """All that is stored. Items are never changed in place, so that a copy of the index will do."""
        return dict(self.items)

    def of_partition(self, partition: str) -> list[dict[str, Any]]:
        return [item for (pk, _), item in sorted(self.items.items()) if pk == partition]

    def get_item(self, *, TableName: str, Key: dict[str, Any], ConsistentRead: bool) -> dict[str, Any]:  # noqa: N803
        assert (TableName, ConsistentRead) == (TABLE, True)
        found = self.items.get(_key_of(Key))
        return {"Item": deepcopy(found)} if found else {}

    def query(self, **request: Any) -> dict[str, Any]:
        assert (request["KeyConditionExpression"], request["ConsistentRead"]) == ("pk = :pk", True)
        assert (request["ScanIndexForward"], request["Limit"]) == (False, 1)
        return {"Items": deepcopy(self.of_partition(request["ExpressionAttributeValues"][":pk"]["S"])[-1:])}

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        [(table, request)] = RequestItems.items()
        assert request["ConsistentRead"]
        found = [self.items[key] for key in map(_key_of, request["Keys"]) if key in self.items]
        return {"Responses": {table: deepcopy(found)}, "UnprocessedKeys": {}}

    def transact_write_items(self, *, TransactItems: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        puts = [part["Put"] for part in TransactItems]
        assert all(put["ConditionExpression"] == CONDITION for put in puts)
        reasons = [self._reason(put) for put in puts]
        if any(reason["Code"] != "None" for reason in reasons):
            error = {"Error": {"Code": "TransactionCanceledException", "Message": ""}, "CancellationReasons": reasons}
            raise ClientError(error, "TransactWriteItems")
        for put in puts:
            self.items[_key_of(put["Item"])] = deepcopy(put["Item"])
        if self.lose_next:
            self.lose_next = False
            raise ReadTimeoutError(endpoint_url="https://dynamodb.example")
        return {}

    def _reason(self, put: dict[str, Any]) -> dict[str, Any]:
        existing = self.items.get(_key_of(put["Item"]))
        return {"Code": "ConditionalCheckFailed", "Item": deepcopy(existing)} if existing else {"Code": "None"}


def _key_of(item: dict[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]
