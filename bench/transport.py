"""Answers for a botocore client, given in this process: all that a client computes, and nothing of a network."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

Answers = Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
"""By operation: from the request's body, as JSON, to the answer's. One that isn't named is answered with nothing."""


def answer_here(client: Any, answers: Answers) -> None:
    """Answer a client's requests from now on. A request's bytes are read where its answer depends on them."""

    def send(request: Any, **_: Any) -> AWSResponse:
        operation = request.headers["X-Amz-Target"].decode().rsplit(".", 1)[-1]
        answer = answers.get(operation)
        body = b"{}" if answer is None else json.dumps(answer(json.loads(request.body))).encode()
        return AWSResponse(request.url, 200, _headers(), _Raw(body))

    client.meta.events.register("before-send.dynamodb", send)


def _headers() -> HTTPHeaders:
    headers = HTTPHeaders()
    headers["x-amzn-requestid"] = "bench"
    headers["content-type"] = "application/x-amz-json-1.0"
    return headers


class _Raw:
    """A response's body as urllib3 gives it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_args: Any, **_kwargs: Any) -> Iterator[bytes]:
        yield self._body
