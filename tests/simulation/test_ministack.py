"""The same 5,000 random operations on the simulated DynamoDB and on the local cloud: the same answers.

Where the local cloud differs, docs/simulation.md says how, and `_told_alike` says it in code.
"""

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli.cloud import Cloud
from tests.simulation.dynamodb import DynamoDB

pytestmark = [pytest.mark.cloud, pytest.mark.xdist_group("cloud")]

OPERATIONS = 5_000
TABLE = "simulated"
KEYS = [(f"p{pk}", f"s{sk}") for pk in range(4) for sk in range(6)]
NAMES = ("colour", "count", "status", "done")


@pytest.fixture(scope="module")
def real() -> Iterator[Any]:
    """A table of the local cloud, through boto3's client."""
    cloud = Cloud(f"simulation-{os.getpid()}")
    cloud.start()
    client = cloud.client("dynamodb")
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    )
    yield client
    cloud.stop()


def test_five_thousand_random_operations_are_answered_alike(real):
    simulated = DynamoDB((TABLE,))
    chance = random.Random(20_250_710)  # noqa: S311
    met: dict[str, int] = {}
    for number in range(OPERATIONS):
        operation, request = chance.choice(_MAKERS)(chance)
        mine = _answered(simulated, operation, request)
        theirs = _answered(real, operation, request)
        assert mine == theirs, f"operation {number}: {operation} {request}"
        met[f"{operation} {mine[0]}"] = met.get(f"{operation} {mine[0]}", 0) + 1
    # Each kind of answer was met, many times.
    for kind in (
        "put_item done", "put_item ConditionalCheckFailedException", "update_item done",
        "update_item ConditionalCheckFailedException", "delete_item done", "get_item done", "query done",
        "batch_get_item done", "transact_write_items done", "transact_write_items TransactionCanceledException",
    ):  # fmt: skip
        assert met.get(kind, 0) > 50, met


def test_the_bounds_are_where_the_local_cloud_has_them(real):
    simulated = DynamoDB((TABLE,))
    for size, outcome in ((409_500, "done"), (410_000, "ValidationException")):
        item = {"pk": {"S": "large"}, "sk": {"S": "x"}, "text": {"S": "a" * size}}
        request = {"TableName": TABLE, "Item": item}
        assert _answered(simulated, "put_item", request)[0] == outcome
        assert _answered(real, "put_item", request)[0] == outcome
    for index in range(5):
        item = {"pk": {"S": "page"}, "sk": {"S": f"{index}"}, "text": {"S": "a" * 300_000}}
        for client in (simulated, real):
            client.put_item(TableName=TABLE, Item=item)
    request = {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "page"}},
    }
    pages = [client.query(**request) for client in (simulated, real)]
    assert [page["Count"] for page in pages] == [3, 3]
    assert [page["LastEvaluatedKey"]["sk"]["S"] for page in pages] == ["2", "2"]


def _answered(client: Any, operation: str, request: dict[str, Any]) -> tuple[str, Any]:
    """`done` and the answer, or the error's code and what stood in the way."""
    try:
        answer = getattr(client, operation)(**request)
    except ClientError as error:
        response: Any = error.response
        reasons = [(one["Code"], one.get("Item")) for one in response.get("CancellationReasons", [])]
        return response["Error"]["Code"], reasons or response.get("Item")
    return "done", _told_alike(answer)


def _told_alike(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what says nothing of the tables."""
    told = {name: value for name, value in answer.items() if name not in {"ResponseMetadata", "ConsumedCapacity"}}
    if "Responses" in told:
        found = [item for items in told["Responses"].values() for item in items]
        told["Responses"] = sorted(found, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
    return told


def _key(chance: random.Random) -> dict[str, Any]:
    pk, sk = chance.choice(KEYS)
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _value(chance: random.Random, name: str) -> dict[str, Any]:
    match name:
        case "count":
            return {"N": str(chance.randrange(-3, 12))}
        case "done":
            return {"BOOL": chance.random() < 0.5}
        case "status":
            return {"S": chance.choice(["preparing", "posting", "posted"])}
        case _:
            return chance.choice([{"S": "red"}, {"L": [{"N": "1"}, {"S": "x"}]}, {"M": {"a": {"B": b"\x00\x01"}}}])


def _item(chance: random.Random) -> dict[str, Any]:
    names = [name for name in NAMES if chance.random() < 0.6]
    return _key(chance) | {name: _value(chance, name) for name in names}


def _condition(chance: random.Random) -> dict[str, Any]:
    """None, or one of those that our code writes; asking for the old item, or not."""
    wanted: list[dict[str, Any]] = [
        {},
        {"ConditionExpression": "attribute_not_exists(pk)"},
        {"ConditionExpression": "attribute_exists(pk)"},
        {
            "ConditionExpression": "attribute_exists(pk) AND #c0 IN (:c0, :c1)",
            "ExpressionAttributeNames": {"#c0": "status"},
            "ExpressionAttributeValues": {":c0": {"S": "posting"}, ":c1": {"S": "posted"}},
        },
        {
            "ConditionExpression": "(attribute_not_exists(#c0) OR #c0 < :c0)",
            "ExpressionAttributeNames": {"#c0": "count"},
            "ExpressionAttributeValues": {":c0": {"N": str(chance.randrange(10))}},
        },
        {
            "ConditionExpression": "#c0 = :c0 AND attribute_not_exists(#c1)",
            "ExpressionAttributeNames": {"#c0": "count", "#c1": "colour"},
            "ExpressionAttributeValues": {":c0": {"N": str(chance.randrange(10))}},
        },
    ]
    found = chance.choice(wanted)
    if "ConditionExpression" in found and chance.random() < 0.8:
        found["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return found


def _put(chance: random.Random) -> tuple[str, dict[str, Any]]:
    return "put_item", {"TableName": TABLE, "Item": _item(chance), **_condition(chance)}


def _delete(chance: random.Random) -> tuple[str, dict[str, Any]]:
    return "delete_item", {"TableName": TABLE, "Key": _key(chance), **_condition(chance)}


def _update(chance: random.Random) -> tuple[str, dict[str, Any]]:
    request = {"TableName": TABLE, "Key": _key(chance), "ReturnValues": "ALL_NEW", **_condition(chance)}
    names = {"#u0": "status", "#u1": "count", "#u2": "colour"}
    values = {":u0": _value(chance, "status"), ":u1": {"N": "1"}}
    clauses = {
        "SET #u0 = :u0": ({"#u0"}, {":u0"}),
        "SET #u0 = :u0 ADD #u1 :u1": ({"#u0", "#u1"}, {":u0", ":u1"}),
        "ADD #u1 :u1 REMOVE #u2": ({"#u1", "#u2"}, {":u1"}),
        "SET #u0 = :u0 REMOVE #u2": ({"#u0", "#u2"}, {":u0"}),
    }
    text = chance.choice(list(clauses))
    used_names, used_values = clauses[text]
    request["UpdateExpression"] = text
    request["ExpressionAttributeNames"] = request.get("ExpressionAttributeNames", {}) | {
        name: names[name] for name in used_names
    }
    request["ExpressionAttributeValues"] = request.get("ExpressionAttributeValues", {}) | {
        name: values[name] for name in used_values
    }
    return "update_item", request


def _get(chance: random.Random) -> tuple[str, dict[str, Any]]:
    return "get_item", {"TableName": TABLE, "Key": _key(chance), "ConsistentRead": True}


def _batch_get(chance: random.Random) -> tuple[str, dict[str, Any]]:
    keys = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in chance.sample(KEYS, chance.randrange(1, 8))]
    return "batch_get_item", {"RequestItems": {TABLE: {"Keys": keys, "ConsistentRead": True}}}


def _query(chance: random.Random) -> tuple[str, dict[str, Any]]:
    pk = {":pk": {"S": f"p{chance.randrange(5)}"}}
    found = chance.choice(
        [
            {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": pk},
            {
                "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)",
                "ExpressionAttributeValues": pk | {":prefix": {"S": chance.choice(["s", "s1", "x"])}},
            },
            {
                "KeyConditionExpression": "pk = :pk AND sk >= :first",
                "ExpressionAttributeValues": pk | {":first": {"S": f"s{chance.randrange(7)}"}},
            },
            {
                "KeyConditionExpression": "pk = :pk",
                "FilterExpression": "#f = :f",
                "ExpressionAttributeNames": {"#f": "status"},
                "ExpressionAttributeValues": pk | {":f": {"S": "posted"}},
                "Select": "COUNT",
            },
        ]
    )
    request = {"TableName": TABLE, "ConsistentRead": True, "ScanIndexForward": chance.random() < 0.5, **found}
    if chance.random() < 0.4:
        request["Limit"] = chance.randrange(1, 4)
    if chance.random() < 0.3:
        request["ExclusiveStartKey"] = pk_start(pk, chance)
    return "query", request


def pk_start(pk: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    return {"pk": pk[":pk"], "sk": {"S": f"s{chance.randrange(6)}"}}


def _transact(chance: random.Random) -> tuple[str, dict[str, Any]]:
    items = []
    for pk, sk in chance.sample(KEYS, chance.randrange(1, 5)):
        item = {**_item(chance), "pk": {"S": pk}, "sk": {"S": sk}}
        items.append({"Put": {"TableName": TABLE, "Item": item, **_condition(chance)}})
    return "transact_write_items", {"TransactItems": items}


_MAKERS = (_put, _put, _delete, _update, _update, _get, _batch_get, _query, _query, _transact, _transact)
