"""A semester's run on the local cloud while everything goes wrong; afterwards the audit is clean, the totals a model's.

Workers are killed with `kill -9`, their calls are throttled, failed and cut at the wire, and the whole cloud is stopped
in the middle and started again with the state that it keeps. `make faults` runs it over 3,000 accounts.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from cli import cloud as clouds
from cli.api import ApiProblemError
from cli.board import TREASURY_FILE, treasury_months
from cli.cloud import Cloud
from retiro.rules.calendar import Semester
from tests.cloud.backstage import YIELD_WORKER, Backstage
from tests.cloud.office import Office, enrolment
from tests.cloud.waiting import until
from tests.cloud.wire_faults import FaultyWire

SEMESTER = "FY2024-S1"
BEGINS = "2023-07-01"
ROWS_A_FILE = 1_000
SECONDS_MAX = 3_000
PEACE_SECONDS = 20.0
"""How long the workers live on average before one of them is killed."""
QUIET_SECONDS = 2.0
STUCK_SECONDS = 40
"""So long without any progress, and somebody resumes the run."""

_AWAY = (ApiProblemError, ClientError, BotoCoreError, urllib3.exceptions.HTTPError, OSError, KeyError, ValueError)
"""What asking meets while the cloud is away, or only half there."""


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    accounts: int
    posted: int
    wrong_totals: int
    audit: str
    kills: int
    resumes: int
    restarts: int
    faults: dict[str, int]
    seconds: float

    @property
    def is_sound(self) -> bool:
        """Every account once, to the cent, and a clean audit."""
        return (self.posted, self.wrong_totals, self.audit) == (self.accounts, 0, "clean")


@contextmanager
def kept_cloud(name: str) -> Iterator[Cloud]:
    """A cloud that keeps its state when it is stopped."""
    plain = clouds._process_environment

    def keeping(port: int, temporary: Path) -> dict[str, str]:
        return {**plain(port, temporary), "PERSIST_STATE": "1", "S3_PERSIST": "1"}

    clouds._process_environment = keeping
    cloud = Cloud(name)
    try:
        cloud.start()
        yield cloud
    finally:
        clouds._process_environment = plain
        cloud.stop()


def restart(cloud: Cloud) -> None:
    """Stop the cloud in order, its functions with it, and start it at the same place with what it kept."""
    running = cloud.running
    assert running is not None
    os.killpg(running.pid, signal.SIGTERM)
    # It writes its state, and then waits for threads that never end.
    until(
        lambda: _is_over(cloud, running.pid) or _is_written(Path(running.temporary) / "state"),
        "the cloud's state on disk",
    )
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    until(lambda: _is_over(cloud, running.pid), "the cloud's end")
    with (cloud.folder / "ministack.log").open("ab") as log:
        child = subprocess.Popen(
            [clouds.MINISTACK_PYTHON, "-m", "ministack"],
            cwd=cloud.folder,
            env=clouds._process_environment(running.port, Path(running.temporary)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    cloud._child = child
    again = clouds.Running(running.port, child.pid, running.temporary)
    (cloud.folder / "cloud.json").write_text(json.dumps(asdict(again)))
    until(lambda: cloud.running is not None, "the cloud's return")


def _is_over(cloud: Cloud, pid: int) -> bool:
    if cloud._child is not None:
        cloud._child.poll()
    return not clouds._is_ministack(pid)


def _is_written(state: Path) -> bool:
    """Whether the cloud has written down all its services: for a while there was nothing more."""
    written = [file.stat().st_mtime for file in state.glob("*.json")] if state.is_dir() else []
    return bool(written) and not list(state.glob("*.tmp")) and time.time() - max(written) > QUIET_SECONDS


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

    The percent is half the mean of the six months' averages: their sum in hundredths / 1200 of a percent.
    """
    months = treasury_months(TREASURY_FILE.read_text("utf-8"))
    hundredths = sum(round(float(months[month]) * 100) for month in Semester.parse(SEMESTER).months)
    numerator, denominator = brought_cents * hundredths, 1_200 * 100
    return brought_cents + (2 * numerator + denominator) // (2 * denominator)


class Trouble:
    """Kills a worker's processes every now and then, until it is told to stop."""

    def __init__(self, behind: Backstage, seed: int) -> None:
        self.behind = behind
        self.kills = 0
        self._random = random.Random(seed)  # noqa: S311  # the seed is said in the report
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Kill no more."""
        self._over.set()
        self._thread.join()

    def _live(self) -> None:
        while not self._over.wait(PEACE_SECONDS * (0.5 + self._random.random())):
            try:
                pids = self.behind.processes(YIELD_WORKER)
            except (AssertionError, *_AWAY):
                continue
            if not pids:
                continue
            with suppress(ProcessLookupError):
                os.kill(self._random.choice(pids), signal.SIGKILL)
                self.kills += 1


def faulty_run(accounts: int, *, seed: int, chunk_accounts: int, chance: float = 0.01) -> Outcome:
    """A run over so many accounts, with everything that may happen to it."""
    begun = time.monotonic()
    parameters = {"ChunkAccounts": str(chunk_accounts), "InvocationAccounts": "40", "AuditChunks": "4"}
    with kept_cloud(f"faults-{os.getpid()}") as cloud:
        cloud.deploy(parameters)
        office = Office(Backstage(cloud))
        office.adopt_all()
        brought = enrol(office, accounts)
        with FaultyWire(cloud.endpoint, seed=seed, chance=chance) as wire:
            put_behind(office.behind, wire.url)
            office.preparer.post("/yield-runs", {"semester": SEMESTER}, key=str(uuid4()))
            watch = _Watch(office)
            until(lambda: watch.look() or watch.population, "the plan of the chunks")
            trouble = Trouble(office.behind, seed)
            resumes = restarts = 0
            while watch.status != "posted":
                assert time.monotonic() - begun < SECONDS_MAX, watch.standing
                watch.look()
                if watch.status == "prepared":
                    _quietly(lambda: office.approve(watch.standing["run"]["hash"], SEMESTER))
                if restarts == 0 and watch.done > accounts // 3:
                    restart(cloud)
                    restarts += 1
                    watch.progressed_at = time.monotonic()
                if watch.status == "failed" or watch.is_stuck:
                    resumes += 1
                    _quietly(lambda: office.resume(SEMESTER))
                    watch.progressed_at = time.monotonic()
                time.sleep(0.3)
            trouble.stop()
            posted = watch.standing["run"]["result"]["posted"]
            faults = dict(wire.met)
        wrong = sum(_savings_cents(office, one) != expected_cents(cents) for one, cents in brought.items())
        audit = office.behind.audit()
    return Outcome(
        accounts,
        posted,
        wrong,
        str(audit["status"]),
        trouble.kills,
        resumes,
        restarts,
        faults,
        round(time.monotonic() - begun, 1),
    )


class _Watch:
    """How the run stands, and since when nothing has moved."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.standing: dict[str, Any] = {}
        self.progressed_at = time.monotonic()
        self._seen: Any = None

    @property
    def status(self) -> str:
        return str(self.standing.get("status"))

    @property
    def population(self) -> int:
        """How many accounts the chunks have; zero before they are planned."""
        run = self.standing.get("run") or {"progress": {"participants": 0}}
        return int(run["progress"]["participants"])

    @property
    def done(self) -> int:
        run = self.standing.get("run") or {"progress": {"done": 0}}
        return int(run["progress"]["done"])

    @property
    def is_stuck(self) -> bool:
        return time.monotonic() - self.progressed_at > STUCK_SECONDS and self.status in {
            "preparing",
            "approved",
            "posting",
        }

    def look(self) -> None:
        _quietly(self._look)

    def _look(self) -> None:
        self.standing = self.office.standing(SEMESTER)
        seen = self.status, self.standing["run"]["progress"]
        if seen != self._seen:
            self._seen, self.progressed_at = seen, time.monotonic()
            print(f"  {self.status}: {self.standing['run']['progress']}", file=sys.stderr, flush=True)  # noqa: T201


def _quietly(do: Any) -> None:
    """Ask; where the cloud is away, somebody asks again later."""
    try:
        do()
    except _AWAY as away:
        print(f"  away: {away!r}"[:160], file=sys.stderr)  # noqa: T201


def _savings_cents(office: Office, passbook: str) -> int:
    last = office.behind.passbooks.last(passbook)
    assert last is not None
    assert last.effective_on == date(2023, 12, 29) or last.sequence > 2, last
    return last.balance_cents("savings")


if __name__ == "__main__":
    outcome = faulty_run(int(os.environ.get("ACCOUNTS", "3000")), seed=1, chunk_accounts=250, chance=0.002)
    print(json.dumps(asdict(outcome), indent=2))  # noqa: T201
    sys.exit(not outcome.is_sound)
