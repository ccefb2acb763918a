"""Two months of annuities while everything else goes on, and a death reported at some moment of it."""

import json
from collections.abc import Callable
from datetime import date
from typing import Any

from participants.enrolment import Enrolment, Enrolments
from retiro.ledger import annuities, hybrid
from retiro.ledger.annuities import ANNUITY_RUN, Balance, Exit
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import SAVINGS, Draft, Line, LineKind
from retiro.ledger.savings import Origin
from retiro.registry.employers import Employer, register
from retiro.rules.calendar import parse_month
from retiro.rules.judiciary_hybrid import payments_through_cents
from tests.simulation import offices
from tests.simulation.asking import expect_done
from tests.simulation.scheduler import ViolationError, all_ended
from tests.simulation.world import Host, World

LIVES, DIES = "P-000311", "P-000312"
PERIODS = ("2025-07", "2025-08")
_COURTS = "E-011"
_MONTHLY_CENTS = 63_682
_RETIRED_ON = date(2025, 7, 2)
_DEATH = date(2025, 8, 1)
_ATTEMPTS_MAX = 10
_EVA = Origin("u-eva via office")


def payrolls(world: World) -> None:
    """Two pensioners, two payrolls, each seen through whatever happens; one is reported dead somewhere in between."""
    expect_done(world, "know the courts", lambda host: register(host.registry, Employer(_COURTS, "JRS")))
    for judge in (LIVES, DIES):
        expect_done(world, f"enrol {judge}", lambda host, one=judge: _enrolled(host, one))
        expect_done(world, f"retire {judge}", lambda host, one=judge: _retired(host, one))
    tasks = [
        world.scheduler.spawn("the payrolls", lambda: _pay(world)),
        world.scheduler.spawn("the report", lambda: _report(world)),
    ]
    world.scheduler.join(all_ended(tasks))
    for judge in (LIVES, DIES):
        _check(world, judge)


def _pay(world: World) -> None:
    """Each month, until who lives is paid.

    What was prepared from an old look at the passbook is withheld, and named: the next attempt pays it.
    """
    for period in PERIODS:
        attempt = 0
        while attempt < _ATTEMPTS_MAX and _paid_through(world, LIVES) < period:
            attempt = offices.drive_annuities(world, period, attempt).id.attempt


def _paid_through(world: World, judge: str) -> str:
    last: Line = expect_done(world, f"look at {judge}", lambda host: host.passbooks.last(judge))
    return last.runs[ANNUITY_RUN].period if ANNUITY_RUN in last.runs else ""


def _report(world: World) -> None:
    world.scheduler.sleep(world.scheduler.rng.random() * 600)
    expect_done(
        world,
        f"report the death of {DIES}",
        lambda host: _appended(
            host,
            DIES,
            KeyKind.DEATH_REPORT,
            lambda last: [hybrid.death_report(last, _DEATH, _DEATH, _EVA)],
        ),
    )


def _check(world: World, judge: str) -> None:
    """Each month is in one payment, and none was posted over the report for the month of death or a later one."""
    history: list[Line] = expect_done(world, f"read {judge}", lambda host: host.passbooks.history(judge))
    paid = [line for line in history if line.kind is LineKind.ANNUITY_PAYMENT]
    through = paid[-1].runs[ANNUITY_RUN].period if paid else "none"
    gross_cents = sum(int(line.facts["gross"]) for line in paid)
    due_cents = payments_through_cents(_MONTHLY_CENTS, _RETIRED_ON, parse_month(through), "actual") if paid else 0
    if gross_cents != due_cents:
        world.scheduler.fail(ViolationError("paid_once", f"{judge}: {gross_cents} through {through}, due {due_cents}"))
    reported = next((line.sequence for line in history if line.kind is LineKind.DEATH_REPORT), None)
    over = [line for line in paid if reported is not None and line.sequence > reported]
    if any(line.runs[ANNUITY_RUN].period >= "2025-08" for line in over):
        world.scheduler.fail(ViolationError("paid_over_a_report", f"{judge}: {[line.sequence for line in over]}"))
    if judge == LIVES and through != PERIODS[-1]:
        world.scheduler.fail(ViolationError("paid_once", f"{judge} is paid through {through}"))


def _enrolled(host: Host, judge: str) -> Any:
    body = {
        "participant_id": judge,
        "fund": "JRS",
        "birth_date": "1955-03-17",
        "employer_id": _COURTS,
        "enrolled_on": "2024-07-01",
        "initial_transfer": {"amount": "63682.00", "credited_on": "2025-07-01", "reference": f"T-{judge}"},
    }
    enrolment = Enrolment.model_validate_json(json.dumps(body))
    return Enrolments(host.passbooks, host.registry, host.board).enrol(enrolment, "u-ana via portal")


def _retired(host: Host, judge: str) -> Any:
    def drafts(last: Line) -> list[Draft]:
        leaving = Exit(date(2025, 7, 1), _RETIRED_ON, _RETIRED_ON, Balance(last.balance_cents(SAVINGS)))
        return annuities.issue(last, leaving, _MONTHLY_CENTS, "actual", _EVA)

    return _appended(host, judge, KeyKind.RETIREMENT, drafts)


def _appended(host: Host, judge: str, kind: KeyKind, drafts: Callable[[Line], list[Draft]]) -> Any:
    def decide(last: Line | None) -> list[Draft]:
        if last is None:
            raise LookupError(judge)
        return drafts(last)

    return host.passbooks.append(judge, decide, key=BusinessKey(kind, judge), content={"judge": judge})
