"""A participant of 1986, the Board's settings, and the doors of plans as people use them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from payroll_deductions import order_doors, orders_worker, schedule
from retiro.ledger import board, plans, savings
from retiro.ledger.credits import known
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.plans import Plan, plan_of
from retiro.ledger.resolutions import RESOLUTION, hash_of
from retiro.ledger.savings import Origin
from retiro.registry.participants import Profile, opening_items
from retiro.rules.calendar import parse_date
from tests.conftest import Called, Context, Stack, StoppedClock
from tests.participants.semesters import passbooks_of
from tests.runs.states_language import execute

ACT = {
    "kind": "regulation",
    "body": "Junta de Síndicos",
    "number": "2008-07",
    "date": "2005-12-01",
    "document_sha256": "ab" * 32,
}
SETTINGS = {
    "plan_interest_base": "principal_until_paid",
    "day_count": "actual_365",
    "installments_start": "when_principal_paid",
}
# 4,000.00 from 1986-06-30 at 6 %; paid on 2008-10-15, 8,143 days later: 5,354.30.
STANDARD: dict[str, Any] = {
    "applied_on": "2008-09-01",
    "status": "active_service",
    "first_joined_on": "1986-06-30",
    "time_to_merit_pension": {"years": 5},
    "debts": [{"kind": "unaccounted_service", "principal": "4000.00", "owed_from": "1986-06-30"}],
    "cost_notified_on": "2008-10-01",
}
PLAN = "P-000001_2"


@dataclass
class Executions:
    """Step Functions, so far as it is asked to start something."""

    waiting: list[dict[str, Any]] = field(default_factory=list)

    def start_execution(self, **request: Any) -> None:
        self.waiting.append(json.loads(request["input"]))


@dataclass
class PlansOffice:
    """What people do, through the doors; what the machine and the schedule do, through the handlers."""

    stack: Stack
    clock: StoppedClock
    call: Callable[..., Called]
    executions: Executions

    @property
    def passbooks(self) -> Passbooks:
        return passbooks_of(self.stack)

    def on(self, day: str) -> None:
        """It is noon of a day in Puerto Rico."""
        year, month, number = map(int, day.split("-"))
        self.clock.now = datetime(year, month, number, 16, tzinfo=UTC)

    def enrol(self, number: int = 1, employer_id: str = "E-001", fund: str = "ERS") -> None:
        day = parse_date("1986-06-30")
        profile = Profile(f"P-{number:06d}", fund, parse_date("1955-04-04"), employer_id, day)
        self.passbooks.append(
            profile.participant_id,
            lambda last: savings.enrolment(last, day, None, Origin("u-ana via portal")),
            fund=fund,
            key=BusinessKey(KeyKind.ENROLMENT, profile.participant_id),
            content={"participant_id": profile.participant_id},
            also=[self.stack.registry.insertion(item) for item in opening_items(profile)],
        )

    def adopt_settings(self, **changed: str) -> None:
        for name, value in (SETTINGS | changed).items():
            body = {
                "fund": "ERS", "act": ACT, "source": "Reglamento", "vintage": "2005-12-01", "kind": "setting",
                "name": name, "value": value, "in_force_from": "2005-12-30",
            }  # fmt: skip
            resolution = RESOLUTION.validate_json(json.dumps(body))
            board.BoardBook(self.passbooks.store).adopt(
                f"RB-{hash_of(resolution)[:12]}", resolution, proposed_by="u-eva", adopted_by="u-leo", now=self.clock()
            )

    # the doors

    def post(self, path: str, body: Any, *, user: str = "u-ana", scopes: str = "plans.write", **more: Any) -> Called:
        handler = order_doors.portal.handler
        return self.call(handler, "POST", path, body=body, user=user, scopes=scopes, **{"client": "office"} | more)

    def get(self, path: str, *, scopes: str = "plans.write", **more: Any) -> Called:
        handler = order_doors.portal.handler
        return self.call(handler, "GET", path, scopes=scopes, **{"client": "office", "user": None} | more)

    def apply(self, reference: str = "A-1", participant_id: str = "P-000001", **change: Any) -> Called:
        return self.post(
            "/payment-plans", STANDARD | {"participant_id": participant_id, "reference": reference} | change
        )

    def approve(self, applied: Called, on: str = "2008-10-10", user: str = "u-luis", **change: Any) -> Called:
        body = {"approved_on": on, "content_hash": applied.body["content_hash"]} | change
        path = f"/payment-plans/{applied.body['plan_id']}/approval"
        return self.post(path, body, user=user, scopes="plans.approve")

    def pay(
        self, amount: str, on: str, reference: str = "C-1", plan: str = PLAN, to: str = "principal-payments"
    ) -> Called:
        return self.post(f"/payment-plans/{plan}/{to}", {"reference": reference, "paid_on": on, "amount": amount})

    def pay_off(self, amount: str, on: str, reference: str = "C-9") -> Called:
        return self.pay(amount, on, reference, to="payoff")

    def read(self, plan: str = PLAN, **query: str) -> dict[str, Any]:
        answer = self.get(f"/payment-plans/{plan}", query=query or None)
        assert answer.status == 200, answer.text
        return answer.body

    def fact(self, kind: str, participant_id: str = "P-000001", **content: str) -> Called:
        """Enter a fact and adopt it, by two persons."""
        body = {"kind": kind, "participant_id": participant_id, "source": "Sistema de Retiro"} | content
        entered = self.post("/pension-facts", body)
        assert entered.status == 201, entered.text
        return self.adopt(entered)

    def adopt(self, entered: Called, user: str = "u-luis") -> Called:
        path = f"/pension-facts/{entered.body['fact_id']}/adoption"
        return self.post(path, {"content_hash": entered.body["content_hash"]}, user=user, scopes="plans.approve")

    def standard(self, paid_on: str = "2008-10-15") -> None:
        """The standard plan, its principal paid."""
        assert self.approve(self.apply()).status == 200
        assert self.pay("4000.00", paid_on).status == 201

    # the machine and the schedule

    def work_off(self) -> None:
        while self.executions.waiting:
            execute(lambda event: orders_worker.handler(event, Context()), self.executions.waiting.pop(0))

    def prepare_orders(self, month: str) -> dict[str, Any]:
        answer = self.post("/deduction-order-runs", {"period": month}, scopes="runs.prepare")
        assert answer.status == 202, answer.text
        self.work_off()
        return self.get(f"/deduction-order-runs/{month}", scopes="runs.prepare").body

    def issue_orders(self, month: str) -> dict[str, Any]:
        """Prepare and approve a month's orders, by two persons."""
        prepared = self.prepare_orders(month)
        path = f"/deduction-order-runs/{month}/approval"
        answer = self.post(path, {"hash": prepared["hash"]}, user="u-luis", scopes="runs.approve")
        assert answer.status == 202, answer.text
        self.work_off()
        return self.get(f"/deduction-order-runs/{month}", scopes="runs.prepare").body

    def order(self, payer: str, month: str, client: str = "office") -> list[dict[str, str]]:
        answer = self.get(f"/deduction-orders/{payer}/{month}", scopes="payroll.remit", client=client)
        assert answer.status == 200, answer.text
        return answer.body["items"]

    def exceptions(self, month: str) -> dict[str, str]:
        answer = self.get(f"/deduction-order-runs/{month}/exceptions", scopes="runs.prepare")
        return {item["participant_id"]: item["code"] for item in answer.body["items"]}

    def look(self, day: str) -> dict[str, Any]:
        """The daily look of a day, at six in the morning in Puerto Rico."""
        return schedule.handler({"scheduled_time": f"{day}T10:00:00Z"}, Context())  # type: ignore[arg-type]

    def remit(self, cents: int, credited_on: str, through: str, participant_id: str = "P-000001") -> Line:
        """What a payroll remitted, credited as the crediting of remittances does."""
        appended = self.passbooks.append(
            participant_id,
            lambda last: plans.installment_credit(
                known(last, participant_id),
                cents,
                parse_date(credited_on),
                Origin("u-carla via fund"),
                through=parse_date(through),
            ),
            key=BusinessKey(KeyKind.REMITTANCE_CREDIT, f"{participant_id} {credited_on} {through}"),
            content=cents,
        )
        return appended.lines[0]

    # what there is

    def last(self, participant_id: str = "P-000001") -> Line:
        last = self.passbooks.last(participant_id)
        assert last is not None
        return last

    def plan(self, participant_id: str = "P-000001") -> Plan:
        plan = plan_of(self.last(participant_id))
        assert plan is not None
        return plan
