"""The API's description: what is committed is what the handlers declare, and nothing that counts is a number."""

import json
import re
from pathlib import Path

import pytest

from cli.openapi import described, text_of
from retiro.portal import Amount, Answer, Body, Portal
from retiro.portal.openapi import document
from retiro.portal.problems import CONTENT_TYPE
from retiro.rules.money import MONEY_PATTERN, PERCENT_PATTERN, Money, ShownPercent

MONEY_OR_PERCENT = re.compile(r"(^|_)(amount|balance|balances|total|yield|fees|percent|months)$")
COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def description():
    return described()


def nodes(value, path=()):
    """Every node of a JSON document, with the names that lead to it."""
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from nodes(child, (*path, str(name)))


def test_the_committed_description_is_that_of_the_handlers(description):
    assert COMMITTED.read_text("utf-8") == text_of(description), "run: retiro openapi > docs/openapi.json"


def test_nothing_is_a_json_number(description):
    """AP-07: https://github.com/OpenAPITools/openapi-generator/issues/2534. A number becomes a double in a client."""
    assert [path for path, node in nodes(description) if isinstance(node, dict) and node.get("type") == "number"] == []


def test_money_and_percents_are_texts_with_a_pattern_and_an_example(description):
    patterned = [
        (path, node)
        for path, node in nodes(description["components"]["schemas"])
        if isinstance(node, dict) and node.get("pattern") in {MONEY_PATTERN, PERCENT_PATTERN}
    ]
    assert len(patterned) > 5
    for path, node in patterned:
        assert node["type"] == "string", path
        assert all(re.fullmatch(node["pattern"], example) for example in node["examples"]), path


def values_of(schema):
    """The schemas of the values: of each alternative that isn't null, and of what a list or an object holds."""
    for one in schema.get("anyOf", [schema]):
        match one.get("type"):
            case "null":
                continue
            case "array":
                yield from values_of(one["items"])
            case "object":
                for held in one.get("patternProperties", {"": one.get("additionalProperties")}).values():
                    yield from values_of(held)
            case _:
                yield one


WHOLE_NUMBERS = {("ServiceLength", "properties", "months")}
"""Named like a series of percents by the month, and yet a count."""


def test_what_is_named_like_money_or_a_percent_is_one(description):
    found = 0
    for path, node in nodes(description["components"]["schemas"]):
        if path in WHOLE_NUMBERS:
            assert node["type"] == "integer"
        elif len(path) > 1 and path[-2] == "properties" and MONEY_OR_PERCENT.search(path[-1]):
            for value in values_of(node):
                assert value["type"] == "string", path
                assert "pattern" in value, path
                assert value["examples"], path
                found += 1
    assert found > 20


# What a generator makes of the description: JSON's types as a language's own, so that a number would be a double.
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


class Counted(Body):
    amount: Money


class Count(Answer):
    amount: Amount
    percent: ShownPercent


class GeneratedClient:
    """A client as generators make them: it knows the types that the description names, and nothing of money."""

    def __init__(self, description, operation, send):
        self.description, self.operation, self.send = description, operation, send

    def types_of(self, schema):
        while "$ref" in schema:
            schema = self.description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return {name: TYPES[field["type"]] for name, field in schema["properties"].items()}

    def __call__(self, **fields):
        takes = self.types_of(self.operation["requestBody"]["content"]["application/json"]["schema"])
        answered = self.send(json.dumps({name: takes[name](value) for name, value in fields.items()}))
        (status,) = (one for one in self.operation["responses"] if one != "default")
        gives = self.types_of(self.operation["responses"][status]["content"]["application/json"]["schema"])
        return {name: gives[name](value) for name, value in json.loads(answered).items()}


@pytest.mark.parametrize("text", ["100.10", "90071992547409.93", "-245.78"])
def test_ap_07_a_generated_client_sends_and_reads_money_unchanged(call, text):
    """https://github.com/XeroAPI/Xero-OpenAPI/issues/150: money typed as a number was a double in the clients."""
    portal = Portal("count")

    @portal.post("/counts", scopes="till.write", stores=False)
    def count(body: Counted) -> Count:
        """Count money."""
        return Count(amount=body.amount, percent="2.003333")

    description = document([portal], "0.1.0")
    operation = description["paths"]["/counts"]["post"]

    def send(body):
        return call(portal.handler, "POST", "/counts", body=body, scopes="till.write").text

    client = GeneratedClient(description, operation, send)
    assert client(amount=text) == {"amount": text, "percent": "2.003333"}


def test_every_route_names_a_scope_and_answers_problems(description):
    operations = [operation for path in description["paths"].values() for operation in path.values()]
    for operation in operations:
        assert all(scopes for one in operation["security"] for scopes in one.values())
        assert operation["responses"]["default"] == {"$ref": "#/components/responses/Problem"}
        assert operation["summary"]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert list(description["components"]["responses"]["Problem"]["content"]) == [CONTENT_TYPE]


def test_every_write_names_the_acting_user_and_every_post_that_stores_a_key(description):
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            needed = {one["name"] for one in operation["parameters"] if one["in"] == "header" and one["required"]}
            if method == "get":
                assert needed == set(), path
            elif method == "put":
                assert needed == {"Acting-User"}, path
            else:
                assert needed in ({"Acting-User", "Idempotency-Key"}, set()), path


def test_every_reference_leads_somewhere(description):
    for path, node in nodes(description):
        if isinstance(node, dict) and isinstance(reference := node.get("$ref"), str):
            found = description
            for step in reference.removeprefix("#/").split("/"):
                assert step in found, (path, reference)
                found = found[step]


def test_every_parameter_of_a_path_is_described(description):
    for path, operations in description["paths"].items():
        for operation in operations.values():
            described_names = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
            assert described_names == set(re.findall(r"{(\w+)}", path)), path
