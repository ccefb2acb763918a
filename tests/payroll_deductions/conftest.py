"""Employers' remittances at work: participants of two employers, and a machine that runs when a test says so."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from payroll_deductions import api, worker
from retiro.ledger import savings
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.savings import Origin
from retiro.registry import aws
from retiro.registry.employers import Employer, register
from retiro.registry.participants import Profile, opening_items
from retiro.rules.calendar import parse_date
from tests.participants.machine import Machine
from tests.participants.semesters import passbooks_of

REMITTANCE = "/payroll-remittances/E-001_2025-014"


def line(number: int, amount: str = "200.00", **change: Any) -> dict[str, Any]:
    return {"participant_id": f"P-{number:06d}", "amount": amount, "kind": "contribution"} | change


def remittance(
    lines: list[dict[str, Any]], total: str, *, count: int | None = None, reference: str = "2025-014", **change: Any
) -> dict[str, Any]:
    control = {"count": len(lines) if count is None else count, "total": total}
    filed = {"reference": reference, "employer_id": "E-001", "period": "2025-01", "control": control, "lines": lines}
    return filed | change


# 200.00 + 300.50 + 0.01 = 500.51
THREE = remittance([line(1), line(2, "300.50"), line(3, "0.01")], "500.51")
DEPOSIT = {"reference": "D-1", "amount": "500.51", "value_date": "2025-02-10"}


def enrol(stack: Any, number: int, employer_id: str = "E-001") -> None:
    """A participant of all fixed income, enrolled on 2025-01-01."""
    day = parse_date("2025-01-01")
    profile = Profile(f"P-{number:06d}", "ERS", parse_date("1970-04-04"), employer_id, day)
    passbooks_of(stack).append(
        profile.participant_id,
        lambda last: savings.enrolment(last, day, {"fixed_income": 100}, Origin("u-ana via portal")),
        fund="ERS",
        key=BusinessKey(KeyKind.ENROLMENT, profile.participant_id),
        content={"participant_id": profile.participant_id},
        also=[stack.registry.insertion(item) for item in opening_items(profile)],
    )


@pytest.fixture
def machine(stack: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """P-000001 to P-000003 with E-001, P-000004 with E-002."""
    started = Machine()
    monkeypatch.setenv("RUNS_STATE_MACHINE_ARN", "arn:machine")
    monkeypatch.setenv("REMITTANCE_WORKER_ARN", "arn:remittances")
    monkeypatch.setattr(aws, "stepfunctions", cache(lambda: started))
    for employer_id in ("E-001", "E-002"):
        register(stack.registry, Employer(employer_id, "ERS"))
    for number in (1, 2, 3):
        enrol(stack, number)
    enrol(stack, 4, "E-002")
    return started


@pytest.fixture
def passbooks(stack: Any) -> Passbooks:
    return passbooks_of(stack)


@pytest.fixture
def credit(machine: Machine) -> Callable[..., int]:
    """Let the machine work off what it was given."""
    return lambda **limits: machine.run({"arn:remittances": worker.handler}, **limits)


@pytest.fixture
def remit(call: Callable[..., Any], machine: Machine) -> Callable[..., Any]:
    """File a remittance, by E-001's client unless another is named."""

    def filed(body: Any, **request: Any) -> Any:
        defaults = {"scopes": "payroll.remit", "client": "employer-001"}
        return call(api.handler, "POST", "/payroll-remittances", body=body, **defaults | request)

    return filed


@pytest.fixture
def confirm(call: Callable[..., Any], machine: Machine) -> Callable[..., Any]:
    """Confirm the deposit of `THREE` by the fund's client, or as the arguments say."""

    def confirmed(change: dict[str, Any] | None = None, *, place: str = REMITTANCE, **request: Any) -> Any:
        defaults = {"scopes": "payroll.confirm", "client": "fund", "user": "u-carla"}
        body = DEPOSIT | (change or {})
        return call(api.handler, "POST", f"{place}/deposit", body=body, **defaults | request)

    return confirmed


@pytest.fixture
def look(call: Callable[..., Any], machine: Machine) -> Callable[..., Any]:
    """Read where a remittance stands."""

    def seen(place: str = REMITTANCE, **request: Any) -> Any:
        return call(api.handler, "GET", place, **{"scopes": "payroll.remit", "client": "employer-001"} | request)

    return seen
