"""A proxy between a function and the local cloud: it throttles, fails and cuts calls, as a seed says.

A function is put behind it by its environment (`AWS_ENDPOINT_URL`), so that none of our code knows. A call may be
refused before it is done, or done and never answered.
"""

import json
import random
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import urllib3

_HOP_BY_HOP = {"connection", "content-length", "transfer-encoding", "keep-alive"}
_ERRORS = {
    "throttled": (400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"),
    "conflict": (400, "com.amazonaws.dynamodb.v20120810#TransactionConflictException"),
    "failed": (500, "com.amazonaws.dynamodb.v20120810#InternalServerError"),
}


class FaultyWire:
    """A proxy in front of an endpoint. `chance` of each of five faults; `met` counts them, `calls` all calls."""

    def __init__(self, endpoint: str, *, seed: int, chance: float) -> None:
        self.endpoint = endpoint
        self.chance = chance
        self.calls = 0
        self.met: Counter[str] = Counter()
        self._random = random.Random(seed)  # noqa: S311  # the seed is to be said in a report
        self._lock = threading.Lock()
        self._pool = urllib3.PoolManager(maxsize=64, timeout=30, retries=False)
        self._server = _Server(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fate(self, *, is_put: bool) -> str:
        """What the next call meets."""
        with self._lock:
            drawn = self._random.random()
            kinds = [*_ERRORS, "cut before", "cut after"]
            index = int(drawn / self.chance) if self.chance else len(kinds)
            fate = kinds[index] if index < len(kinds) else "done"
            if fate == "conflict" and not is_put:
                fate = "throttled"  # nothing else of ours meets conflicts
            self.calls += 1
            if fate != "done":
                self.met[fate] += 1
            return fate

    def pass_on(self, handler: BaseHTTPRequestHandler) -> None:
        """One call."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        fate = self.fate(is_put=handler.headers.get("X-Amz-Target", "").endswith(".PutItem"))
        if fate in _ERRORS:
            status, kind = _ERRORS[fate]
            _answer(handler, status, {"Content-Type": "application/x-amz-json-1.0"}, _document(handler, kind))
            return
        if fate == "cut before":
            handler.close_connection = True
            handler.connection.close()
            return
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in _HOP_BY_HOP}
        try:
            answer = self._pool.request(
                handler.command, self.endpoint + handler.path, body=body, headers=headers, decode_content=False
            )
        except urllib3.exceptions.HTTPError:
            with self._lock:
                self.met["cloud away"] += 1
            handler.close_connection = True
            return
        if fate == "cut after":
            handler.close_connection = True
            return
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}
        _answer(handler, answer.status, kept, answer.data)


def _document(handler: BaseHTTPRequestHandler, kind: str) -> bytes:
    """The error in DynamoDB's form, or in S3's where no target is named."""
    if "X-Amz-Target" in handler.headers:
        return json.dumps({"__type": kind, "message": "on command"}).encode()
    return b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>on command</Message></Error>"


def _answer(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
    handler.send_response_only(status if "X-Amz-Target" in handler.headers or status < 400 else max(status, 503))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that was killed in the middle is what this is for."""


def _handler(wire: FaultyWire) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_said: Any) -> None:
            """Nothing."""

    def handle(self: BaseHTTPRequestHandler) -> None:
        try:
            wire.pass_on(self)
        except (BrokenPipeError, ConnectionResetError):  # the caller was killed
            self.close_connection = True

    for method in ("GET", "POST", "PUT", "DELETE", "HEAD"):
        setattr(Handler, f"do_{method}", handle)
    return Handler
