"""A table at the other end of a socket, in a process of its own, so that only the client's processor time is measured.

It answers what a run's passes ask of the ledger: a conditional put, the last line of a passbook, lines by their keys.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import boto3
from botocore.config import Config

Item = dict[str, Any]


class Handler(BaseHTTPRequestHandler):
    """Speaks DynamoDB's protocol, as far as it is asked."""

    protocol_version = "HTTP/1.1"
    passbooks: dict[str, dict[str, Item]]

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = getattr(self, self.headers["X-Amz-Target"].split(".")[1])(asked)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def PutItem(self, asked: Item) -> Item:  # noqa: N802  # as DynamoDB names it
        """Take an item."""
        item = asked["Item"]
        self.passbooks.setdefault(item["pk"]["S"], {})[item["sk"]["S"]] = item
        return {}

    def Query(self, asked: Item) -> Item:  # noqa: N802
        """Give the last item of a partition."""
        items = self.passbooks[asked["ExpressionAttributeValues"][":pk"]["S"]]
        return {"Items": [items[max(items)]], "Count": 1}

    def BatchGetItem(self, asked: Item) -> Item:  # noqa: N802
        """Give items by their keys."""
        ((name, wanted),) = asked["RequestItems"].items()
        found = [self.passbooks[key["pk"]["S"]].get(key["sk"]["S"]) for key in wanted["Keys"]]
        return {"Responses": {name: [item for item in found if item]}, "UnprocessedKeys": {}}

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _serve(told: Connection) -> None:
    Handler.passbooks = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.send(server.server_address[1])
    server.serve_forever()


@contextmanager
def table() -> Iterator[Any]:
    """A client of such a table, which is empty."""
    spawning = get_context("spawn")
    telling, told = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(told,), daemon=True)
    process.start()
    try:
        yield boto3.client(
            "dynamodb",
            endpoint_url=f"http://127.0.0.1:{telling.recv()}",
            region_name="us-east-1",
            aws_access_key_id="bench",
            aws_secret_access_key="bench",  # noqa: S106  # of nothing
            config=Config(retries={"mode": "standard", "max_attempts": 4}),
        )
    finally:
        process.terminate()
        process.join()
