"""A run in this process: the workers' own code, with no state machine and no door between."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from bench.accounts import SEMESTER
from bench.population import CONTEXT, FUND
from retiro.ledger.lines import YIELD_RUN
from retiro.ledger.store import LedgerStore
from retiro.registry.runs import Phase, Run, RunBook, RunStatus
from retiro.registry.table import Table
from retiro.runs.desk import Desk
from retiro.runs.machine import Invocation, answer
from retiro.runs.objects import RunObjects
from retiro.runs.workshop import Sizes, Workshop
from semester_yields.kinds import YieldKind

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

LEDGER, REGISTRY, BUCKET = "bench-ledger", "bench-registry", "bench-files"
_PREPARER, _APPROVER = "u-ana", "u-luis"


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def workshop(dynamodb: "DynamoDBClient", s3: "S3Client", sizes: Sizes) -> Workshop:
    """What a worker of the yields' runs has at hand."""
    registry = Table(dynamodb, REGISTRY)
    return Workshop(
        kinds={YIELD_RUN: YieldKind(now, fund=FUND)},
        book=RunBook(registry),
        roster=registry,
        ledger=LedgerStore(dynamodb, LEDGER),
        objects=RunObjects(s3, BUCKET),
        clock=now,
        sizes=sizes,
    )


class Clerk:
    """Has a semester's run done, a pass at a time, and says with what result."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.desk = Desk(shop.book, shop.clock, lambda _id, _number, _phase: None)
        self.run = self.desk.request(YIELD_RUN, str(SEMESTER), CONTEXT, _PREPARER)
        self._invocations = 0

    def prepare(self) -> Run:
        """Prepare every line."""
        self._pass(Phase.PREPARE)
        return self._now(RunStatus.PREPARED)

    def approve(self) -> Run:
        """Approve what was prepared."""
        self.run = self.desk.approve([self.run], self.run.details["hash"], _APPROVER)
        return self.run

    def post(self) -> Run:
        """Post every line."""
        self._pass(Phase.POST)
        return self._now(RunStatus.POSTING)

    def close(self) -> Run:
        """Prove that every line is there."""
        self._pass(Phase.CLOSE)
        return self._now(RunStatus.POSTED)

    def begin(self, phase: Phase) -> list[int]:
        """The chunks that a pass has work in."""
        chunks: list[int] = self._ask(phase, "begin")["chunks"]
        return chunks

    def work(self, phase: Phase, chunk: int) -> None:
        """Work a chunk to its end."""
        while not self._ask(phase, "work", chunk=chunk)["done"]:
            pass

    def end(self, phase: Phase) -> None:
        """Draw the conclusion of a pass."""
        self._ask(phase, "end")

    def _pass(self, phase: Phase) -> None:
        for chunk in self.begin(phase):
            self.work(phase, chunk)
        self.end(phase)

    def _now(self, status: RunStatus) -> Run:
        self.run = self.shop.book.get(self.run.id)
        if self.run.status is not status:
            raise RuntimeError(f"{self.run.id} is {self.run.status}, not {status}: {self.run.details.get('failure')}")
        return self.run

    def _ask(self, phase: Phase, op: str, **more: Any) -> Mapping[str, Any]:
        self._invocations += 1
        event = {
            "op": op,
            "kind": self.run.id.kind,
            "period": self.run.id.period,
            "attempt": self.run.id.attempt,
            "number": self.run.number,
            "phase": str(phase),
            **more,
        }
        invocation = Invocation(f"bench-{self._invocations}", now() + timedelta(minutes=15))
        return answer(self.shop, event, invocation)
