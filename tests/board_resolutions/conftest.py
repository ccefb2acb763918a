"""A Board at work: resolutions to propose, and the function of the yields' schedule, which only listens here."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from board_resolutions import api
from retiro.registry import aws

SCHEDULE_ARN = "arn:aws:lambda:us-east-1:000000000000:function:yield-schedule"
ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2025-07",
    "date": "2025-07-01",
    "document_sha256": "ab" * 32,
}
COMMON = {"fund": "ERS", "act": ACT, "source": "Federal Reserve H.15", "vintage": "2025-07-01"}
SECOND_HALF_OF_2025 = {
    "2025-01": "4.27",
    "2025-02": "4.21",
    "2025-03": "3.97",
    "2025-04": "3.78",
    "2025-05": "3.92",
    "2025-06": "3.89",
}


class Schedule:
    """The schedule's function as Lambda's client sees it: it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []

    def invoke(self, *, FunctionName: str, InvocationType: str, Payload: str) -> dict[str, int]:  # noqa: N803
        assert (FunctionName, InvocationType) == (SCHEDULE_ARN, "Event")
        self.asked.append(json.loads(Payload))
        return {"StatusCode": 202}


@pytest.fixture
def schedule(stack: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Schedule:
    listening = Schedule()
    monkeypatch.setenv("YIELD_SCHEDULE_ARN", SCHEDULE_ARN)
    monkeypatch.setattr(aws, "lambda_functions", cache(lambda: listening))
    return listening


@pytest.fixture
def propose(call: Callable[..., Any], schedule: Schedule) -> Callable[..., Any]:
    """Propose a resolution of a kind: what isn't given is as in `COMMON`."""

    def proposed(kind: str, *, user: str = "u-ana", client: str = "board", key: str = "", **content: Any) -> Any:
        body = COMMON | {"kind": kind} | content
        return call(
            api.handler,
            "POST",
            "/board-resolutions",
            body=body,
            scopes="board.write",
            user=user,
            client=client,
            key=key,
        )

    return proposed


@pytest.fixture
def adopt(call: Callable[..., Any], schedule: Schedule) -> Callable[..., Any]:
    """Adopt what was proposed, by its own hash if no other is given."""

    def adopted(proposed: Any, *, user: str = "u-berta", client: str = "board", content_hash: str = "") -> Any:
        path = f"/board-resolutions/{proposed.body['resolution_id']}/adoption"
        body = {"content_hash": content_hash or proposed.body["content_hash"]}
        return call(api.handler, "POST", path, body=body, scopes="board.approve", user=user, client=client)

    return adopted


@pytest.fixture
def read(call: Callable[..., Any], schedule: Schedule) -> Callable[..., Any]:
    """Read resolutions."""

    def answered(path: str = "/board-resolutions", **query: str) -> Any:
        return call(api.handler, "GET", path, scopes="board.read", client="board", user=None, query=query or None)

    return answered
