"""A Hybrid Program at work: the Board's table and settings, judges with accounts, the doors, the machine in process."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

import pytest

from annuities import api, schedule, worker
from retiro.ledger import hybrid, savings
from retiro.ledger import lines as line_items
from retiro.ledger.board import BoardBook
from retiro.ledger.hybrid import Debt, Service
from retiro.ledger.lines import Draft, Line, next_line
from retiro.ledger.resolutions import RESOLUTION, hash_of
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import verify_passbook
from retiro.registry import aws
from retiro.registry.participants import Profile, opening_items
from retiro.rules.service_lengths import ServiceLength
from tests.conftest import ENVIRONMENT, Called, Context, Stack, StoppedClock
from tests.runs.conftest import few_shards
from tests.runs.states_language import execute

EVA = Origin("u-eva")
JUDGE = "P-000201"
ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2025-40",
    "date": "2024-12-20",
    "document_sha256": "ab" * 32,
}
# In months: 100,000.00 at 65 years gives 936.28 a month.
POINTS = {"65y0m": "106.8062", "66y0m": "104.2000", "67y0m": "101.6000"}
TABLE = {
    "unit": "months",
    "points": POINTS,
    "mortality": {"soa_table": 2586},
    "interest_percent": "5",
    "method": "udd",
    "payment": "start",
    "actuary": "Consulting actuaries of the System",
    "consulted_on": "2024-12-01",
    "in_force_from": "2025-01-01",
}
SETTINGS = {
    "first_payment_days": "actual",
    "return_at_exit": "posted_only",
    "average_balance_method": "month_end",
    "negative_yield": "post",
}
QUOTE, SETTLE, APPROVE, READ = "benefits.quote", "benefits.settle", "benefits.approve", "benefits.read"


class Executions:
    """Step Functions' client, as starting an execution sees it."""

    def __init__(self) -> None:
        self.waiting: list[dict[str, Any]] = []
        self.exceptions = type("Exceptions", (), {"ExecutionAlreadyExists": KeyError})

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> None:  # noqa: A002, N803
        assert stateMachineArn == "arn:machine"
        assert name
        self.waiting.append(json.loads(input))


@dataclass
class Program:
    """The Hybrid Program. What people do goes through the doors; what another domain has posted is a line."""

    stack: Stack
    clock: StoppedClock
    call: Callable[..., Called]
    executions: Executions
    ledger: LedgerStore = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = LedgerStore(self.stack.dynamodb, ENVIRONMENT["LEDGER_TABLE"])

    # the Board

    def adopt(self, kind: str, **content: Any) -> str:
        body = {"fund": "JRS", "act": ACT, "source": "Board", "vintage": "2024-12-20", "kind": kind} | content
        resolution = RESOLUTION.validate_json(json.dumps(body))
        identifier = f"RB-20241220-{hash_of(resolution)[:12]}"
        book = BoardBook(self.ledger)
        book.adopt(identifier, resolution, proposed_by="u-eva", adopted_by="u-leo", now=self.clock())
        return identifier

    def adopt_setting(self, name: str, value: str, since: str = "2000-01-01") -> None:
        self.adopt("setting", name=name, value=value, in_force_from=since)

    # who there is

    def enrol(
        self,
        participant: str = JUDGE,
        *,
        born: str = "1961-09-01",
        balance: int = 10_000_000,
        service: tuple[int, int, int] | None = (12, 0, 0),
        as_judge: tuple[int, int, int] | None = None,
        credited_on: str = "2026-07-01",
    ) -> None:
        """A judge with a balance in cents since a day, and so much service."""
        profile = Profile(participant, "JRS", date.fromisoformat(born), "E-001", date(2010, 1, 4), None)
        self.write(participant, hybrid.enrolment(None, date(2010, 1, 4), EVA))
        for item in opening_items(profile):
            self.stack.registry.insert(item)
        if balance:
            self.write(participant, savings.initial_transfer(None, balance, date.fromisoformat(credited_on), EVA))
        if service:
            length = service_length(service)
            held = Service(length, service_length(as_judge) if as_judge else length, date(2026, 6, 30))
            self.write(participant, hybrid.service_credit(self.last(participant), held, EVA))

    def owe(self, participant: str, cents: int, installment: int | None = None, reference: str = "DEUDA-1") -> None:
        owed = Debt(reference, cents)
        self.write(participant, hybrid.debt(self.last(participant), owed, date(2026, 7, 1), installment, EVA))

    def contribute(self, participant: str, cents: int, on: str) -> None:
        self.write(participant, savings.contribution(self.last(participant), cents, date.fromisoformat(on), EVA))

    def report_death(self, participant: str, death: str, reported: str | None = None) -> None:
        on = date.fromisoformat(reported or death)
        self.write(participant, hybrid.death_report(self.last(participant), date.fromisoformat(death), on, EVA))

    def withdraw_report(self, participant: str) -> None:
        for draft in hybrid.death_withdrawn(self.history(participant), self.today, EVA):
            self.write(participant, draft)

    def write(self, participant: str, draft: Draft) -> Line:
        last = self.ledger.last_line(participant)
        line = next_line(last, draft, passbook=participant, fund="JRS", recorded_at=self.clock())
        self.ledger.put_line(line)
        return line

    # the doors

    def post(self, path: str, body: Any = None, *, user: str = "u-ana", scopes: str, **more: Any) -> Called:
        return self.call(api.handler, "POST", path, body=body, user=user, scopes=scopes, **{"client": "office", **more})

    def get(self, path: str, *, scopes: str = READ, **more: Any) -> Called:
        return self.call(api.handler, "GET", path, scopes=scopes, **{"client": "office", "user": None, **more})

    def retiring(self, participant: str = JUDGE, *, on: str = "2026-09-10", separated: str = "2026-09-09") -> Any:
        return {"participant_id": participant, "separated_on": separated, "retirement_date": on}

    def quote(self, participant: str = JUDGE, **more: Any) -> Called:
        dates = {name: more.pop(name) for name in ("on", "separated") if name in more}
        return self.post("/annuities/quotes", self.retiring(participant, **dates) | more, scopes=QUOTE)

    def enter(self, participant: str = JUDGE, **dates: str) -> Called:
        return self.post("/annuities", self.retiring(participant, **dates), scopes=SETTLE)

    def approve(self, entered: Called, user: str = "u-luis", **more: Any) -> Called:
        body = {"content_hash": entered.body["content_hash"]}
        identifier = entered.body.get("annuity_id") or entered.body["refund_id"]
        kind = "annuities" if identifier.startswith("AN") else "separation-refunds"
        return self.post(f"/{kind}/{identifier}/approval", body, user=user, scopes=APPROVE, **more)

    def issue(self, participant: str = JUDGE, **dates: str) -> dict[str, Any]:
        """Enter an annuity and approve it; what the door says then."""
        entered = self.enter(participant, **dates)
        assert entered.status == 201, entered.text
        approved = self.approve(entered)
        assert approved.status == 200, approved.text
        return approved.body

    def correct(self, annuity: dict[str, Any], **corrected: Any) -> Called:
        body = {"ground": "error", "citation": "Birth certificate", "reason": "The record had another day."}
        path = f"/annuities/{annuity['annuity_id']}/corrections"
        return self.post(path, body | corrected, scopes=SETTLE)

    def approve_correction(self, entered: Called, user: str = "u-luis") -> Called:
        contract = entered.body["contract"]
        path = f"/annuities/{contract['annuity_id']}/corrections/{contract['number']}/approval"
        return self.post(path, {"content_hash": entered.body["content_hash"]}, user=user, scopes=APPROVE)

    # payrolls

    def prepare(self, period: str) -> dict[str, Any]:
        answer = self.post("/annuity-payrolls", {"period": period}, scopes="runs.prepare")
        assert answer.status == 202, answer.text
        self.work_off()
        return self.payroll(period)

    def approve_payroll(self, period: str, user: str = "u-luis", *, reversal: bool = False) -> Called:
        told = self.payroll(period)["reversal" if reversal else "run"]
        path = f"/annuity-payrolls/{period}/approval"
        return self.post(path, {"hash": told["hash"]}, user=user, scopes="runs.approve")

    def pay(self, period: str) -> dict[str, Any]:
        """Prepare, approve and post a month; what the door says then."""
        self.prepare(period)
        answer = self.approve_payroll(period)
        assert answer.status == 202, answer.text
        self.work_off()
        standing = self.payroll(period)
        assert standing["status"] == "posted", standing
        return standing

    def payroll(self, period: str) -> dict[str, Any]:
        return self.get(f"/annuity-payrolls/{period}", scopes="runs.prepare").body

    def exceptions(self, period: str) -> dict[str, str]:
        items = self.get(f"/annuity-payrolls/{period}/exceptions", scopes="runs.prepare").body["items"]
        return {item["participant_id"]: item["code"] for item in items}

    def payment_file(self, period: str) -> tuple[dict[str, Any], list[list[str]]]:
        """The file's totals, and its rows as they lie in the bucket."""
        answer = self.post(f"/annuity-payrolls/{period}/payment-file", scopes="runs.approve", user="u-luis")
        assert answer.status == 201, answer.text
        keys = self.stack.s3.list_objects_v2(Bucket=ENVIRONMENT["FILES_BUCKET"], Prefix="files/annuity-payrolls/")
        (key,) = [one["Key"] for one in keys["Contents"] if f"/{period}/" in one["Key"]]
        text = self.stack.s3.get_object(Bucket=ENVIRONMENT["FILES_BUCKET"], Key=key)["Body"].read().decode()
        return answer.body, [row.split(",") for row in text.splitlines()]

    def work_off(self) -> None:
        while self.executions.waiting:
            execute(lambda event: worker.handler(event, Context()), self.executions.waiting.pop(0))  # type: ignore[arg-type]

    def scheduled(self, moment: str) -> dict[str, Any]:
        return schedule.handler({"scheduled_time": moment}, Context())  # type: ignore[arg-type]

    # what there is

    @property
    def today(self) -> date:
        return self.clock().date()

    def day(self, text: str) -> None:
        """Noon in Puerto Rico on a day."""
        self.clock.now = datetime.fromisoformat(f"{text}T16:00:00").replace(tzinfo=UTC)

    def last(self, participant: str = JUDGE) -> Line:
        line = self.ledger.last_line(participant)
        assert line is not None
        return line

    def history(self, participant: str = JUDGE) -> list[Line]:
        return list(self.ledger.lines(participant))

    def lines(self, kind: str, participant: str = JUDGE) -> list[Line]:
        return [line for line in self.history(participant) if line.kind == kind]

    def paid(self, participant: str = JUDGE) -> list[tuple[str, int]]:
        """The months paid and the gross of each payment, in cents."""
        return [
            (line.runs["annuity"].period, int(line.facts["gross"]))
            for line in self.lines("annuity_payment", participant)
        ]

    def check_sound(self, participant: str = JUDGE) -> None:
        """Every line of the passbook follows from the one before it."""
        found = verify_passbook(participant, self.ledger.items(line_items.partition(participant)))
        assert found.findings == ()


def service_length(parts: tuple[int, int, int]) -> ServiceLength:
    years, months, days = parts
    return ServiceLength(years=years, months=months, days=days)


@pytest.fixture
def unregulated(
    stack: Stack, clock: StoppedClock, few_shards: None, call: Callable[..., Called], monkeypatch: pytest.MonkeyPatch
) -> Program:
    """On 2026-10-01, with the factor table adopted and no setting, and nobody enrolled. Chunks of seven."""
    for name, value in {
        "RUNS_STATE_MACHINE_ARN": "arn:machine",
        "ANNUITY_WORKER_ARN": "arn:worker",
        "CHUNK_ACCOUNTS": "7",
        "INVOCATION_ACCOUNTS": "3",
    }.items():
        monkeypatch.setenv(name, value)
    executions = Executions()
    monkeypatch.setattr(aws, "stepfunctions", cache(lambda: executions))
    program = Program(stack, clock, call, executions)
    program.day("2026-10-01")
    program.adopt("factor_table", **TABLE)
    return program


@pytest.fixture
def program(unregulated: Program) -> Program:
    """The same, with the settings adopted by name."""
    for name, value in SETTINGS.items():
        unregulated.adopt_setting(name, value)
    return unregulated


__all__ = ["Program", "few_shards", "program", "unregulated"]
