"""Tables and a bucket in memory, in a process of their own: what a worker takes in time and memory is then its own."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from multiprocessing import get_context
from multiprocessing.connection import Client, Listener
from typing import Any

from botocore.exceptions import ClientError

from tests.simulation.dynamodb import ConditionalCheckFailedException, DynamoDB, TransactionCanceledException

Address = Any
"""Where the process listens."""


class NoSuchKey(ClientError):  # noqa: N818  # as botocore names it
    """The class that `client.exceptions` has for it."""


class Bucket:
    """As much of S3 as remittances use: one version of each object."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put_object(self, **request: Any) -> dict[str, Any]:
        """Keep an object."""
        self.objects[request["Key"]] = request["Body"]
        return {}

    def get_object(self, **request: Any) -> dict[str, Any]:
        """Give an object. Raises `NoSuchKey`."""
        if request["Key"] not in self.objects:
            raise NoSuchKey({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        body = self.objects[request["Key"]]
        return {"Body": body, "ContentLength": len(body)}

    def head_object(self, **request: Any) -> dict[str, Any]:
        """Say which version there is."""
        return {"VersionId": str(len(self.objects[request["Key"]]))}


Fill = Callable[[DynamoDB, Bucket, int], None]
"""Puts into the tables and the bucket what there is before anything is measured, for a size."""


def _serve(telling: Any, tables: list[str], fill: Fill, size: int) -> None:
    dynamodb, bucket = DynamoDB(tables), Bucket()
    fill(dynamodb, bucket, size)
    services = {"dynamodb": dynamodb, "s3": bucket}
    with Listener() as listener:
        telling.send(listener.address)
        while True:
            with listener.accept() as connection:
                _answer(connection, services)


def _answer(connection: Any, services: dict[str, Any]) -> None:
    """Answer one process after the other, each until it ends."""
    while True:
        try:
            service, operation, request = connection.recv()
        except EOFError:
            return
        try:
            connection.send((None, getattr(services[service], operation)(**request)))
        except ClientError as error:
            connection.send((type(error), (error.response, error.operation_name)))


@contextmanager
def stores(tables: list[str], fill: Fill, size: int) -> Iterator[Address]:
    """Start the process, filled, and say where it is."""
    spawning = get_context("spawn")
    telling, told = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(told, tables, fill, size), daemon=True)
    process.start()
    try:
        yield telling.recv()
    finally:
        process.terminate()
        process.join()


class Remote:
    """A client, `dynamodb` or `s3`, of that process. `calls` counts what it was asked, by operation."""

    class exceptions:  # noqa: N801  # as botocore names it
        """The classes that a client names."""

        ConditionalCheckFailedException = ConditionalCheckFailedException
        TransactionCanceledException = TransactionCanceledException
        NoSuchKey = NoSuchKey
        ClientError = ClientError

    def __init__(self, connection: Any, service: str, calls: Counter[str]) -> None:
        self._connection = connection
        self._service = service
        self._calls = calls

    def generate_presigned_url(self, *_: object, **__: object) -> str:
        """A link that nobody follows."""
        return ""

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        """The method of that name."""

        def ask(**request: Any) -> Any:
            self._calls[operation] += 1
            self._connection.send((self._service, operation, request))
            error, answer = self._connection.recv()
            if error is not None:
                raise error(*answer)
            if operation == "get_object":
                answer["Body"] = BytesIO(answer["Body"])
            return answer

        return ask


def clients(address: Address) -> tuple[Any, Any, Counter[str]]:
    """A client of the tables, one of the bucket, and the calls that both make."""
    connection = Client(address)
    calls: Counter[str] = Counter()
    return Remote(connection, "dynamodb", calls), Remote(connection, "s3", calls), calls
