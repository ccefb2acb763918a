"""What a worker computes for an account in each pass of a yield run: milliseconds of one processor, eight at once.

These are the `worker_cpu_ms` of cli/data/cost/units.toml, from which the scale and the cost are told.
"""

import io
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from statistics import median
from typing import Any

from bench.accounts import FIGURES, MONTHS, SEMESTER, Account, accounts
from bench.loopback import table
from bench.measures import Measure, timed
from retiro.ledger import savings
from retiro.ledger.lines import Draft, Line, next_line
from retiro.ledger.retries import Retries
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from retiro.registry.roster import Holder, RosterEntry
from retiro.registry.runs import Phase, Run, RunId, RunStatus
from retiro.runs import closing, posting, preparing
from retiro.runs.objects import RunObjects
from retiro.runs.workshop import Hands, Sizes, Workshop
from semester_yields.kinds import YieldKind

ACCOUNTS = 500
ROUNDS = 5
AT_ONCE = 8
NOW = datetime(2025, 7, 10, 16, tzinfo=UTC)
CONTEXT = {
    "semester": str(SEMESTER),
    "yield_date": "2025-06-30",
    "option_yields": FIGURES,
    "settings": {
        "average_balance_method": "month_end",
        "cmt_semester_conversion": "half",
        "portfolio_fee_treatment": "fees_before_share",
        "no_selection": "hold",
        "negative_yield": "post",
    },
}


@dataclass
class Objects:
    """A bucket in memory."""

    bodies: dict[str, bytes] = field(default_factory=dict)

    def put_object(self, **asked: Any) -> None:
        """Keep a body."""
        self.bodies[asked["Key"]] = asked["Body"]

    def get_object(self, **asked: Any) -> dict[str, Any]:
        """Give a body."""
        return {"Body": io.BytesIO(self.bodies[asked["Key"]])}


def measure(count: int = ACCOUNTS) -> list[Measure]:
    """The median of five rounds, each over the same accounts anew; and the bytes of a line and of a prepared row."""
    with table() as client:
        rounds = [Round(client, number, count) for number in range(ROUNDS + 1)]
        taken = [one.passes() for one in rounds][1:]  # the first one warms up
        size = len(next(iter(rounds[0].objects.bodies.values()))) / count
    compared = "a processor of this machine: requests over a socket without TLS, rules, lines, rows"
    names = ("prepare", "post", "close")
    found = [
        Measure(f"worker.{name}_cpu_ms", median(row[place] for row in taken) / count * 1000, "ms", compared)
        for place, name in enumerate(names)
    ]
    return [*found, Measure("worker.prepared_row_bytes", size, "bytes", "a row of a part, as it lies in the bucket")]


class Round:
    """Accounts with a semester of contributions, and a run over them."""

    def __init__(self, client: Any, number: int, count: int) -> None:
        self.run = Run(
            RunId("yield", str(SEMESTER), number + 1),
            RunStatus.POSTING,
            1,
            Phase.POST,
            "u-ana",
            NOW,
            NOW,
            json.dumps(CONTEXT),
            {},
        )
        self.kind = YieldKind(lambda: NOW)
        self.objects = Objects()
        objects: Any = self.objects
        nothing: Any = None
        self.shop = Workshop(
            kinds={"yield": self.kind},
            book=nothing,
            roster=nothing,
            ledger=LedgerStore(client, "ledger", retries=Retries(attempts_max=1)),
            objects=RunObjects(objects, "files"),
            clock=lambda: NOW,
            sizes=Sizes(at_once=AT_ONCE),
        )
        self.entries = [RosterEntry(f"P-{number}{place:06d}", "ERS", Holder.PARTICIPANT) for place in range(count)]
        for entry, account in zip(self.entries, accounts(count), strict=True):
            self._enrol(entry.passbook_id, account)

    def _enrol(self, passbook: str, account: Account) -> None:
        origin = Origin("u-eva")
        day = date(2025, 1, 1)
        last = self._next(passbook, None, savings.enrolment(None, day, account.selection, origin))
        last = self._next(passbook, last, savings.initial_transfer(last, account.opening_cents, day, origin))
        for on, cents in zip(MONTHS, account.contributed_cents, strict=True):
            last = self._next(passbook, last, savings.contribution(last, cents, on, origin))
        self.shop.ledger.put_line(last)

    def _next(self, passbook: str, last: Line | None, draft: Draft) -> Line:
        return next_line(last, draft, passbook=passbook, fund="ERS", recorded_at=NOW)

    def passes(self) -> tuple[float, float, float]:
        """The processor seconds of the three passes."""
        return timed(self._prepare), timed(self._post), timed(self._close)

    def _prepare(self) -> None:
        hands = Hands(self.shop)
        found = hands.each(partial(preparing._prepared, hands, self.kind, self.run), self.entries)  # noqa: SLF001
        rows = [row for rows in found if rows for row in rows]
        self.part = self.shop.objects.store(self.run.id, 0, "part-0000", rows, {})

    def _post(self) -> None:
        hands = Hands(self.shop)
        rows = self.shop.objects.read(self.part)
        outcomes = hands.each(partial(posting._outcome, hands, self.kind, self.run), rows)  # noqa: SLF001
        self.result = self.shop.objects.store(self.run.id, 0, "part-0000.posted", outcomes, {})

    def _close(self) -> None:
        rows = self.shop.objects.read(self.part)
        outcomes = {row["passbook"]: row for row in self.shop.objects.read(self.result)}
        found = {finding for _, finding, _ in closing._findings(self.shop, self.kind, self.run, rows, outcomes)}  # noqa: SLF001
        if found != {"posted"}:
            raise AssertionError(f"the close found {found}")
