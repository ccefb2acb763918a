"""What lies between our code and the cloud: clients that lose calls and answers, and invocations that die.

Each client speaks botocore's calls. What a call meets is drawn from the seed: it may be refused before anything is
done (throttled, in conflict, a fault of the service, no connection), take effect and lose its answer, be repeated by
botocore after a lost answer so that our code sees the answer to the second one, or be answered from the past where an
eventual read was asked for. An invocation may die at any call, or run out of its time; after that no call of it goes
out any more, whatever its `finally` tries.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from tests.simulation.dynamodb import ConditionalCheckFailedException, DynamoDB, TransactionCanceledException, error
from tests.simulation.scheduler import Scheduler

URL = "https://dynamodb.us-east-1.amazonaws.com/"


class DeadError(BaseException):
    """The invocation is dead: nothing of it goes on. `name` is what the state machine hears."""

    name = "Lambda.Unknown"


class OutOfTimeError(DeadError):
    """Its time is over."""

    name = "Sandbox.Timedout"


@dataclass
class Invocation:
    """A function that runs: until when by the true clock, and on which host."""

    name: str
    ends_at: float
    host: int
    number: int | None = None
    dead: type[DeadError] | None = None


@dataclass
class Weather:
    """How often a call meets what. All are chances, but for the seconds."""

    refused: float = 0.0
    lost: float = 0.0
    repeated: float = 0.0
    dies: float = 0.0
    stale: float = 0.0
    stale_seconds: float = 0.0
    stalls: float = 0.0
    partial: float = 0.0

    def calm(self) -> None:
        """From now on nothing goes wrong."""
        self.refused = self.lost = self.repeated = self.dies = self.stale = self.stalls = self.partial = 0.0


class Wire:
    """What each call passes through. `trace` is told of each, with what it met."""

    def __init__(self, scheduler: Scheduler, weather: Weather, trace: Callable[[str], None] | None) -> None:
        self.scheduler = scheduler
        self.weather = weather
        self.trace = trace

    def call(self, operation: str, target: str, effect: Callable[[], Any], refusals: "Refusals") -> Any:
        """Make a call: its answer, or what it meets instead."""
        self._leave()
        chance, weather = self.scheduler.rng.random(), self.weather
        if chance < weather.refused:
            self._say(operation, target, "refused")
            raise self._refusal(refusals)
        if chance < weather.refused + weather.lost:
            self._say(operation, target, "answer lost")
            self._tried(effect)
            raise ReadTimeoutError(endpoint_url=URL)
        if chance < weather.refused + weather.lost + weather.repeated and refusals.is_repeatable:
            self._say(operation, target, "repeated")
            self._tried(effect)
            return effect()
        self._say(operation, target, "")
        return effect()

    def read(self, operation: str, target: str, effect: Callable[[], Any], refusals: "Refusals") -> Any:
        """The same for a read, of which nothing can be lost but the answer."""
        self._leave()
        if self.scheduler.rng.random() < self.weather.refused:
            self._say(operation, target, "refused")
            raise self._refusal(refusals)
        self._say(operation, target, "")
        return effect()

    def past(self, *, consistent: bool) -> float | None:
        """The moment as of which a read is answered; `None`: now."""
        rng = self.scheduler.rng
        if consistent or rng.random() >= self.weather.stale:
            return None
        return self.scheduler.now - rng.random() * self.weather.stale_seconds

    def _refusal(self, refusals: "Refusals") -> Exception:
        make = self.scheduler.rng.choice(refusals.before)
        return make()

    def _tried(self, effect: Callable[[], Any]) -> None:
        """Do it, and never hear what came of it."""
        try:
            effect()
        except (ConditionalCheckFailedException, TransactionCanceledException):
            return

    def _leave(self) -> None:
        """Where an invocation may be found dead, and others may come between."""
        rng, weather = self.scheduler.rng, self.weather
        stall = rng.random() * 20.0 if rng.random() < weather.stalls else 0.0
        self._check_alive()
        self.scheduler.step(0.004 + rng.random() * 0.02 + stall)
        self._check_alive()

    def _check_alive(self) -> None:
        invocation: Invocation | None = self.scheduler.current.invocation
        if invocation is None:
            return
        if invocation.dead is None:
            if self.scheduler.now >= invocation.ends_at:
                invocation.dead = OutOfTimeError
            elif self.scheduler.rng.random() < self.weather.dies:
                invocation.dead = DeadError
            else:
                return
            self._say("dies", invocation.name, invocation.dead.name)
        raise invocation.dead

    def _say(self, operation: str, target: str, met: str) -> None:
        if self.trace is not None:
            scheduler = self.scheduler
            self.trace(
                f"{scheduler.steps:6} {scheduler.now:10.3f} {scheduler.current.name:34} {operation} {target} {met}"
            )


@dataclass(frozen=True)
class Refusals:
    """The errors that a call may meet before it is done, and whether botocore repeats it blindly."""

    before: list[Callable[[], Exception]]
    is_repeatable: bool = True


def _coded(operation: str, *codes: str) -> list[Callable[[], Exception]]:
    def make(code: str) -> Callable[[], Exception]:
        return lambda: error(code, operation, "on command", ResponseMetadata={"HTTPStatusCode": 503})

    return [make(code) for code in codes]


_UNREACHED: list[Callable[[], Exception]] = [
    lambda: ReadTimeoutError(endpoint_url=URL),
    lambda: EndpointConnectionError(endpoint_url=URL),
]
_BUSY = ("ProvisionedThroughputExceededException", "ThrottlingException", "InternalServerError", "RequestLimitExceeded")
_READS = Refusals(_coded("Query", *_BUSY) + _UNREACHED)
_WRITES = Refusals(_coded("PutItem", *_BUSY, "TransactionConflictException") + _UNREACHED)
# botocore gives a transaction a token, so that repeating one that was done is its first answer.
_TRANSACTIONS = Refusals(
    _coded("TransactWriteItems", *_BUSY, "TransactionInProgressException") + _UNREACHED, is_repeatable=False
)
_OBJECTS = Refusals(_coded("PutObject", "SlowDown", "InternalError", "ServiceUnavailable") + _UNREACHED)
STARTS = Refusals(_coded("StartExecution", "ThrottlingException", "InternalFailure") + _UNREACHED)

TRANSIENT = frozenset({*_BUSY, "TransactionConflictException", "TransactionInProgressException"}) | {
    "SlowDown",
    "InternalError",
    "ServiceUnavailable",
    "InternalFailure",
}
"""The codes of errors that no code of ours is at fault for."""


class TablesClient:
    """DynamoDB's client."""

    exceptions = SimpleNamespace(
        ConditionalCheckFailedException=ConditionalCheckFailedException,
        TransactionCanceledException=TransactionCanceledException,
    )

    def __init__(self, wire: Wire, tables: DynamoDB) -> None:
        self.wire = wire
        self.tables = tables

    def put_item(self, **request: Any) -> Any:
        return self._written("put_item", request, request["Item"])

    def update_item(self, **request: Any) -> Any:
        return self._written("update_item", request, request["Key"])

    def delete_item(self, **request: Any) -> Any:
        return self._written("delete_item", request, request["Key"])

    def transact_write_items(self, **request: Any) -> Any:
        count = len(request["TransactItems"])
        rng = self.wire.scheduler.rng
        if rng.random() < self.wire.weather.refused:
            self.wire._leave()
            codes = [rng.choice(["None", "TransactionConflict", "ThrottlingError"]) for _ in range(count)]
            codes[rng.randrange(count)] = "TransactionConflict"
            reasons = [{"Code": code} if code == "None" else {"Code": code, "Message": "on command"} for code in codes]
            raise error("TransactionCanceledException", "TransactWriteItems", "", CancellationReasons=reasons)
        return self.wire.call(
            "transact_write_items",
            f"of {count}",
            lambda: self.tables.transact_write_items(**request),
            _TRANSACTIONS,
        )

    def get_item(self, **request: Any) -> Any:
        past = self.wire.past(consistent=request.get("ConsistentRead", False))
        return self._read("get_item", request, _named(request["Key"]), as_of=past)

    def query(self, **request: Any) -> Any:
        past = self.wire.past(consistent=request.get("ConsistentRead", False))
        rng = self.wire.scheduler.rng
        short = rng.randrange(1, 4) if rng.random() < self.wire.weather.partial else None
        target = request["ExpressionAttributeValues"][":pk"]["S"]
        return self._read("query", request, target, as_of=past, page_items_max=short)

    def batch_get_item(self, **request: Any) -> Any:
        rng = self.wire.scheduler.rng
        ((name, asked),) = request["RequestItems"].items()
        keys = asked["Keys"]
        taken = rng.randrange(1, len(keys) + 1) if rng.random() < self.wire.weather.partial else len(keys)
        answer = self._read(
            "batch_get_item", {"RequestItems": {name: {**asked, "Keys": keys[:taken]}}}, f"of {len(keys)}"
        )
        if taken < len(keys):
            answer["UnprocessedKeys"] = {name: {**asked, "Keys": keys[taken:]}}
        return answer

    def get_paginator(self, operation: str) -> "TablesClient":
        if operation != "query":
            raise NotImplementedError(operation)
        return self

    def paginate(self, **request: Any) -> Iterator[Any]:
        while True:
            page = self.query(**request)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _written(self, operation: str, request: Any, key: Any) -> Any:
        return self.wire.call(operation, _named(key), lambda: getattr(self.tables, operation)(**request), _WRITES)

    def _read(self, operation: str, request: Any, target: str, **how: Any) -> Any:
        return self.wire.read(operation, target, lambda: getattr(self.tables, operation)(**request, **how), _READS)


class Body:
    """What `get_object` gives to read."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self) -> bytes:
        return self.content


class NoSuchKey(ClientError):  # noqa: N818  # as botocore names it
    """The class that `client.exceptions` has for it."""


class ObjectsClient:
    """S3's client, for a bucket that keeps every version."""

    exceptions = SimpleNamespace(NoSuchKey=NoSuchKey, ClientError=ClientError)

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.objects: dict[tuple[str, str], bytes] = {}
        self.versions: dict[tuple[str, str], list[bytes]] = {}

    def put_object(self, **request: Any) -> Any:
        key = request["Bucket"], request["Key"]

        def put() -> dict[str, Any]:
            self.objects[key] = bytes(request["Body"])
            self.versions.setdefault(key, []).append(self.objects[key])
            return {}

        return self.wire.call("put_object", request["Key"], put, _OBJECTS)

    def get_object(self, **request: Any) -> Any:
        key = request["Bucket"], request["Key"]

        def get() -> dict[str, Any]:
            if key not in self.objects:
                raise NoSuchKey(_NO_SUCH_KEY, "GetObject")
            version = request.get("VersionId")
            content = self.objects[key] if version is None else self.versions[key][int(version)]
            return {"Body": Body(content), "ContentLength": len(content)}

        return self.wire.read("get_object", request["Key"], get, _OBJECTS)

    def head_object(self, **request: Any) -> Any:
        key = request["Bucket"], request["Key"]

        def head() -> dict[str, Any]:
            if key not in self.objects:
                raise ClientError(_NO_SUCH_KEY, "HeadObject")
            return {"VersionId": str(len(self.versions[key]) - 1)}

        return self.wire.read("head_object", request["Key"], head, _OBJECTS)

    def generate_presigned_url(self, _operation: str, **request: Any) -> str:
        return f"https://bucket/{request['Params']['Key']}"


_NO_SUCH_KEY: Any = {
    "Error": {"Code": "NoSuchKey", "Message": "The specified key does not exist."},
    "ResponseMetadata": {"HTTPStatusCode": 404},
}


def _named(key: Any) -> str:
    return f"{key['pk']['S']} {key['sk']['S']}"
