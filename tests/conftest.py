"""What function tests share: a stack on moto, a clock that stands still, and real gateway events."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings
from moto import mock_aws

from retiro.portal import Portal
from retiro.registry import aws
from retiro.registry import clock as clock_module
from retiro.registry.clients import Binding, Party, bind
from retiro.registry.table import Table

# An example's time says more of the machine than of the code.
settings.register_profile("retiro", deadline=None)
settings.load_profile("retiro")

REGION = "us-east-1"
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "LEDGER_TABLE": "retiro-ledger",
    "REGISTRY_TABLE": "retiro-registry",
    "IDEMPOTENCY_TABLE": "retiro-idempotency",
    "FILES_BUCKET": "retiro-files",
    "POWERTOOLS_SERVICE_NAME": "test",
    "POWERTOOLS_METRICS_NAMESPACE": "Retiro",
}
FUNCTIONS = {
    "annuities",
    "board_resolutions",
    "death_refunds",
    "ledger_guard",
    "participants",
    "payroll_deductions",
    "semester_yields",
}
BINDINGS = (
    Binding("portal", Party.PORTAL),
    Binding("employer-001", Party.EMPLOYER, employer_id="E-001"),
    Binding("employer-002", Party.EMPLOYER, employer_id="E-002"),
    Binding("fund", Party.FUND, fund="ERS"),
    Binding("board", Party.BOARD),
    Binding("office", Party.OFFICE),
)


@dataclass
class StoppedClock:
    """A clock that a test sets. It starts at noon of 2025-07-10 in Puerto Rico."""

    now: datetime = datetime(2025, 7, 10, 16, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass
class Stack:
    """The tables and the bucket of a stack on moto."""

    dynamodb: Any
    s3: Any
    registry: Table

    def items(self, table: str) -> list[dict[str, Any]]:
        """All items of a table, to see what was written and what wasn't."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]

    def ledger_items(self) -> list[dict[str, Any]]:
        return self.items(ENVIRONMENT["LEDGER_TABLE"])

    def registry_items(self) -> list[dict[str, Any]]:
        return self.items(ENVIRONMENT["REGISTRY_TABLE"])


@dataclass
class Context:
    """A Lambda context."""

    function_name: str = "test"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = f"arn:aws:lambda:{REGION}:000000000000:function:test"
    aws_request_id: str = field(default_factory=lambda: str(uuid4()))
    remaining_ms: int = 30_000

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@dataclass(frozen=True)
class Called:
    """What a handler answered."""

    status: int
    text: str
    headers: dict[str, str]

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """The code of a problem."""
        assert self.headers["Content-Type"] == "application/problem+json", self.text
        return self.body["code"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StoppedClock:
    """Time stands still in every world that is built after this."""
    stopped = StoppedClock()
    monkeypatch.setattr(clock_module, "utc_now", stopped)
    return stopped


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """Empty tables, an empty versioned bucket, a client of each party bound, and no world built yet."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        forget_worlds()
        dynamodb, s3 = aws.dynamodb(), aws.s3()
        for table in ("LEDGER_TABLE", "REGISTRY_TABLE"):
            create_table(dynamodb, ENVIRONMENT[table], {"pk": "HASH", "sk": "RANGE"})
        create_table(dynamodb, ENVIRONMENT["IDEMPOTENCY_TABLE"], {"id": "HASH"})
        s3.create_bucket(Bucket=ENVIRONMENT["FILES_BUCKET"])
        s3.put_bucket_versioning(Bucket=ENVIRONMENT["FILES_BUCKET"], VersioningConfiguration={"Status": "Enabled"})
        registry = Table(dynamodb, ENVIRONMENT["REGISTRY_TABLE"])
        for binding in BINDINGS:
            bind(registry, binding)
        yield Stack(dynamodb, s3, registry)
    forget_worlds()


@pytest.fixture
def api_event() -> Callable[..., dict[str, Any]]:
    """The builder of API Gateway proxy events, see `build_event`."""
    return build_event


@pytest.fixture
def call(stack: Stack) -> Callable[..., Called]:
    """Call a handler as the gateway does: `call(handler, "POST", "/participants", body={…}, scopes="…")`."""

    def called(handler: Callable[..., Any], method: str, path: str, **request: Any) -> Called:
        return answer_of(handler(build_event(method, path, **request), Context()))

    return called


@pytest.fixture
def replay(stack: Stack) -> Callable[..., Called]:
    """Put a recorded event through a handler: `replay(handler, event)`."""
    return lambda handler, event: answer_of(handler(event, Context()))


def answer_of(answer: dict[str, Any]) -> Called:
    headers = {name: values[0] for name, values in answer.get("multiValueHeaders", {}).items()}
    return Called(answer["statusCode"], answer["body"], headers)


def build_event(
    method: str,
    path: str,
    *,
    body: Any = None,
    scopes: str = "",
    client: str | None = "portal",
    user: str | None = "u-ana",
    key: str | None = "",
    query: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A REST proxy event with a Cognito authorizer's claims, as API Gateway sends it.

    `body` is text as it is, or anything else as JSON. `scopes` are separated by spaces, without the prefix `retiro/`.
    `key` is the `Idempotency-Key`: "" is a new one, `None` is none. `client` `None` is no authorizer.
    """
    sent = {"Accept": "application/json", "Content-Type": "application/json", "Host": "api.example.org"}
    if user is not None:
        sent["Acting-User"] = user
    if key is not None and method != "GET":
        sent["Idempotency-Key"] = key or str(uuid4())
    sent |= headers or {}
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    request_id = str(uuid4())
    scope = " ".join(f"retiro/{one}" for one in scopes.split())
    claims = {"client_id": client, "scope": scope, "sub": client, "token_use": "access", "version": "2"}
    return {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": query,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} if query else None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "abcdef1234",
            "authorizer": {"claims": claims} if client is not None else None,
            "httpMethod": method,
            "path": f"/v1{path}",
            "protocol": "HTTP/1.1",
            "requestId": request_id,
            "requestTime": "10/Jul/2025:16:00:00 +0000",
            "requestTimeEpoch": 1752163200000,
            "resourcePath": path,
            "stage": "v1",
            "identity": {"sourceIp": "192.0.2.10", "userAgent": "retiro-tests"},
        },
        "body": text,
        "isBase64Encoded": False,
    }


def create_table(dynamodb: Any, name: str, keys: dict[str, str]) -> None:
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in keys.items()],
    )


def forget_worlds() -> None:
    """Every function's cached world and every portal's tables, so that the next request builds them anew.

    The clients stay: making one takes longer than most tests, and moto answers in its place.
    """
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in FUNCTIONS:
            for attribute in vars(module).values():
                if isinstance(attribute, Portal):
                    attribute.forget()
                elif callable(clear := getattr(attribute, "cache_clear", None)):
                    clear()
