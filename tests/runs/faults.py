"""Faults that a test plants: a worker that dies at a chosen place, a table that is over its capacity."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from retiro.ledger.lines import Line
from retiro.ledger.store import LedgerStore
from retiro.registry.runs import Chunk, RunBook, RunId
from tests.runs.conftest import Office
from tests.runs.states_language import Stopped


@contextmanager
def dying_after_write(office: Office, writes: int, *, error: type[BaseException] = Stopped) -> Iterator[None]:
    """The worker dies right after it has written this many lines."""

    class Dying(LedgerStore):
        written = 0

        def put_line(self, line: Line) -> None:
            super().put_line(line)
            self.written += 1
            if self.written == writes:
                raise error

    with _ledger(office, Dying):
        yield


@contextmanager
def before_write(office: Office, write: int, happens: Callable[[], None]) -> Iterator[None]:
    """Something happens right before this write of a line."""

    class Watched(LedgerStore):
        writes = 0

        def put_line(self, line: Line) -> None:
            self.writes += 1
            if self.writes == write:
                happens()
            super().put_line(line)

    with _ledger(office, Watched):
        yield


@contextmanager
def dying_at_cursor(office: Office, *, moved: bool) -> Iterator[None]:
    """The worker dies when a chunk's cursor moves for the second time: right before it has, or right after."""

    class Dying(RunBook):
        moves = 0

        def move(self, run_id: RunId, chunk: Chunk, **changes: Any) -> Chunk | None:
            self.moves += 1
            if self.moves == 2 and not moved:
                raise Stopped
            done = super().move(run_id, chunk, **changes)
            if self.moves == 2:
                raise Stopped
            return done

    whole = office.shop
    office.shop = replace(whole, book=Dying(whole.book.table))
    try:
        yield
    finally:
        office.shop = whole


@contextmanager
def throttled(
    office: Office, *operations: str, when: Callable[[dict[str, Any]], bool] = lambda _: True
) -> Iterator[list[str]]:
    """These operations on the ledger's table find it over its capacity; the list grows by one each time."""
    met: list[str] = []

    def refuse(params: dict[str, Any], model: Any, **_: Any) -> None:
        body = json.loads(params["body"])
        if body.get("TableName") == office.ledger.table_name and when(body):
            met.append(model.name)
            answer = {"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "too much"}}
            raise ClientError(answer, model.name)

    events = office.ledger.client.meta.events
    for operation in operations:
        events.register(f"before-call.dynamodb.{operation}", refuse)
    try:
        yield met
    finally:
        for operation in operations:
            events.unregister(f"before-call.dynamodb.{operation}", refuse)


@contextmanager
def _ledger(office: Office, store: type[LedgerStore]) -> Iterator[None]:
    whole = office.shop
    ledger = store(whole.ledger.client, whole.ledger.table_name, retries=whole.ledger.retries)
    office.shop = replace(whole, ledger=ledger)
    try:
        yield
    finally:
        office.shop = whole
