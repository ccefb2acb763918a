"""A semester's run on the local cloud while everything goes wrong; afterwards the audit is clean, the totals a model's.

Workers are killed with `kill -9`, their calls are throttled, failed and cut at the wire, and the whole cloud is stopped
while it prepares and while it posts, and started again with the state that it keeps. `make faults` runs it over 3,000
accounts. Killing goes by calls and not by the clock, so that a slow machine sees as many kills as a fast one.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date
from fractions import Fraction
from math import floor
from typing import Any
from uuid import uuid4

import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from cli.api import ApiProblemError
from cli.board import TREASURY_FILE, treasury_months
from cli.cloud import CloudError
from retiro.rules.calendar import Semester
from tests.cloud.backstage import YIELD_WORKER, Backstage
from tests.cloud.kept_cloud import KeptCloud
from tests.cloud.office import Office, enrolment
from tests.cloud.wire_faults import FaultyWire

SEMESTER = "FY2024-S1"
BEGINS = "2023-07-01"
ROWS_A_FILE = 1_000
SECONDS_MAX = 3_000
CALLS_A_KILL = 600
"""After so many calls of the workers, on average, one of them is killed: at any call as likely as at any other.

To begin a run is to count the roster's 1,024 shards, and what is counted is kept at the end only.
"""
STUCK_SECONDS = 60
"""So long without any progress, and somebody resumes the run."""

_UNDER_WAY = frozenset({"preparing", "approved", "posting"})
_AWAY = (ApiProblemError, CloudError, ClientError, BotoCoreError, urllib3.exceptions.HTTPError, OSError)
_HALF_THERE = (KeyError, ValueError)
"""What asking meets while the cloud is away, or only half there."""


@dataclass(frozen=True)
class Outcome:
    """What came of it. `faults`: calls by what they met."""

    accounts: int
    posted: int
    wrong_totals: int
    audit: str
    kills: int
    resumes: int
    restarts: int
    calls: int
    faults: dict[str, int]
    seconds: float

    @property
    def is_sound(self) -> bool:
        """Every account once, to the cent, and a clean audit."""
        return (self.posted, self.wrong_totals, self.audit) == (self.accounts, 0, "clean")


def put_behind(behind: Backstage, url: str) -> None:
    """Have the worker speak to the cloud through this address."""
    functions = behind.stack.client("lambda")
    name = behind.function(YIELD_WORKER)
    environment = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    functions.update_function_configuration(
        FunctionName=name, Environment={"Variables": {**environment, "AWS_ENDPOINT_URL": url}}
    )


def enrol(office: Office, accounts: int) -> dict[str, int]:
    """Enrol so many, each with another transfer on the semester's first day; cents by id."""
    brought = {f"P-{number:06d}": 100_000 + 37 * number for number in range(1, accounts + 1)}
    ids = list(brought)
    for start in range(0, accounts, ROWS_A_FILE):
        rows = [enrolment(one, on=BEGINS, cents=brought[one]) for one in ids[start : start + ROWS_A_FILE]]
        total = sum(brought[one] for one in ids[start : start + ROWS_A_FILE])
        control = {"count": len(rows), "transfers_total": f"{total // 100}.{total % 100:02d}"}
        file = office.preparer.post(
            "/participant-files", {"reference": f"F-{start}", "control": control, "participants": rows}
        )
        deadline = time.monotonic() + SECONDS_MAX
        while (standing := office.preparer.get(file["place"]))["status"] not in {"done", "failed"}:
            assert time.monotonic() < deadline, standing
            time.sleep(0.2)
        assert (standing["status"], standing["errors"]) == ("done", []), standing
    return brought


def expected_cents(brought_cents: int) -> int:
    """The account after the semester: all of it stood there at each of the six month-ends.

    The percent is half the mean of the six months' annual ones: their sum / 12.
    """
    months = treasury_months(TREASURY_FILE.read_text("utf-8"))
    percent = sum(Fraction(months[month]) for month in Semester.parse(SEMESTER).months) / 12
    return brought_cents + floor(brought_cents * percent / 100 + Fraction(1, 2))


class Killer:
    """Kills one of the worker's processes after every so many calls, until it is told to stop."""

    def __init__(self, behind: Backstage, wire: FaultyWire, *, seed: int, calls_a_kill: int) -> None:
        self.behind = behind
        self.wire = wire
        self.kills = 0
        self._calls_a_kill = calls_a_kill
        self._random = random.Random(seed)  # noqa: S311  # the seed is said in the report
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Kill no more."""
        self._over.set()
        self._thread.join()

    def _live(self) -> None:
        due = self._next()
        while not self._over.wait(0.02):
            if self.wire.calls < due:
                continue
            try:
                pids = self.behind.processes(YIELD_WORKER)
            except (AssertionError, *_AWAY):
                continue
            if not pids:
                continue
            with suppress(ProcessLookupError):
                os.kill(self._random.choice(pids), signal.SIGKILL)
                self.kills += 1
            due = self._next()

    def _next(self) -> int:
        return self.wire.calls + round(self._random.expovariate(1 / self._calls_a_kill))


def faulty_run(
    accounts: int,
    *,
    seed: int,
    chunk_accounts: int = 250,
    chance: float = 0.002,
    calls_a_kill: int = CALLS_A_KILL,
) -> Outcome:
    """A run over so many accounts, with everything that may happen to it."""
    begun = time.monotonic()
    parameters = {"ChunkAccounts": str(chunk_accounts), "InvocationAccounts": "40", "AuditChunks": "4"}
    cloud = KeptCloud(f"faults-{os.getpid()}")
    try:
        cloud.start()
        cloud.deploy(parameters)
        office = Office(Backstage(cloud))
        office.adopt_all()
        brought = enrol(office, accounts)
        with FaultyWire(cloud.endpoint, seed=seed, chance=chance) as wire:
            put_behind(office.behind, wire.url)
            operator = Operator(office)
            office.preparer.post("/yield-runs", {"semester": SEMESTER}, key=str(uuid4()))
            killer = Killer(office.behind, wire, seed=seed, calls_a_kill=calls_a_kill)
            restarts = 0
            while operator.status != "posted":
                assert time.monotonic() - begun < SECONDS_MAX, operator.standing
                operator.look()
                due = operator.progress("looked_at"), operator.progress("done")
                if restarts < len(due) and due[restarts] > accounts // 3:
                    cloud.restart()
                    restarts += 1
                    operator.has_restarted = True
                time.sleep(0.3)
            killer.stop()
            calls, faults = wire.calls, dict(sorted(wire.met.items()))
        wrong = sum(_savings_cents(office, one) != expected_cents(cents) for one, cents in brought.items())
        audit = office.behind.audit()
    finally:
        cloud.stop()
    return Outcome(
        accounts,
        operator.standing["run"]["result"]["posted"],
        wrong,
        str(audit["status"]),
        killer.kills,
        operator.resumes,
        restarts,
        calls,
        faults,
        round(time.monotonic() - begun, 1),
    )


class Operator:
    """Who looks at how the run stands, approves it, and does what docs/runs.md says to do at night."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.standing: dict[str, Any] = {}
        self.resumes = 0
        self.has_restarted = False
        """The cloud was restarted: the execution is lost, and nobody has to wait to know it."""
        self._progressed_at = time.monotonic()
        self._seen: Any = None

    @property
    def status(self) -> str:
        return str(self.standing.get("status"))

    def progress(self, name: str) -> int:
        """How many accounts are `looked_at`, or `done`."""
        run = self.standing.get("run")
        return int(run["progress"][name]) if run else 0

    def look(self) -> None:
        """Look once, and do what is to be done."""
        if not _is_answered(self._look):
            return
        if self.status == "prepared":
            self.has_restarted = False
            _is_answered(lambda: self.office.approve(self.standing["run"]["hash"], SEMESTER))
        if self._is_to_be_resumed and _is_answered(lambda: self.office.resume(SEMESTER)):
            self.resumes += 1
            self._progressed_at = time.monotonic()
            self.has_restarted = False

    @property
    def _is_to_be_resumed(self) -> bool:
        stands_still = self.has_restarted or time.monotonic() - self._progressed_at > STUCK_SECONDS
        return self.status == "failed" or (self.status in _UNDER_WAY and stands_still)

    def _look(self) -> None:
        self.standing = self.office.standing(SEMESTER)
        seen = self.status, self.standing["run"]["progress"]
        if seen != self._seen:
            self._seen, self._progressed_at = seen, time.monotonic()
            print(f"  {self.status}: {self.standing['run']['progress']}", file=sys.stderr, flush=True)  # noqa: T201


def _is_answered(ask: Callable[[], object]) -> bool:
    """Ask; where the cloud is away, somebody asks again later."""
    try:
        ask()
    except (*_AWAY, *_HALF_THERE) as away:
        print(f"  away: {away!r}"[:160], file=sys.stderr, flush=True)  # noqa: T201
        return False
    return True


def _savings_cents(office: Office, passbook: str) -> int:
    last = office.behind.passbooks.last(passbook)
    assert last is not None
    assert last.effective_on == date(2023, 12, 29) or last.sequence > 2, last
    return last.balance_cents("savings")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # in order: the cloud is taken away
    outcome = faulty_run(int(os.environ.get("ACCOUNTS", "3000")), seed=int(os.environ.get("SEED", "1")))
    print(json.dumps(asdict(outcome), indent=2))  # noqa: T201
    sys.exit(not outcome.is_sound)
