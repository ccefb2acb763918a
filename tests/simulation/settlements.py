"""A judge's death while everything else goes on: two clerks at once, answers lost, and it is settled once."""

import json

from death_refunds.cases import Cases, Standing
from death_refunds.changes import changed_by
from death_refunds.claims import Claim
from death_refunds.models import BeneficiaryDied, NewDeathReport
from death_refunds.places import case_id
from death_refunds.reports import Reports
from death_refunds.world import Tables
from participants.enrolment import Enrolment, Enrolments
from participants.filing_models import NewDesignation
from participants.filings import Filed, Filings
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.resolutions import RESOLUTION
from retiro.registry.employers import Employer, register
from retiro.registry.participants import Profile
from retiro.rules.settings import SETTINGS
from tests.simulation.asking import at_once, expect_done
from tests.simulation.scheduler import ViolationError
from tests.simulation.world import BEGINNING, Host, Refused, World, principal

JUDGE = "P-000301"
_ENROLMENT = Enrolment.model_validate(
    {
        "participant_id": JUDGE,
        "fund": "JRS",
        "birth_date": "1955-03-17",
        "employer_id": "E-010",
        "enrolled_on": "2024-07-01",
        "initial_transfer": {"amount": "10000.01", "credited_on": "2025-07-01", "reference": "T-JUDGE"},
    }
)
_PROFILE: Profile = _ENROLMENT.profile
_DESIGNATION = NewDesignation.model_validate(
    {"reference": "D-1", "filed_on": "2025-01-02", "beneficiaries": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}
)
_REPORT = NewDeathReport.model_validate(
    {"participant_id": JUDGE, "death_date": "2025-07-02", "reference": "R-1", "source": "Demographic Registry"}
)
_ACT = {"kind": "resolution", "body": "Junta de Retiro", "number": "1", "date": "2014-01-02"}
_ADOPTED = {
    "kind": "setting",
    "fund": "JRS",
    "act": _ACT | {"document_sha256": "ab" * 32},
    "source": "Junta de Retiro",
    "vintage": "2014-01-02",
    "in_force_from": "2000-01-01",
}
_SETTINGS = [
    RESOLUTION.validate_json(json.dumps(_ADOPTED | {"name": name, "value": SETTINGS[name].default}))
    for name in ("return_at_exit", "predeceased_share")
]


def settlements(world: World) -> None:
    """Enrolled, designated, reported, entered by two clerks at once, approved twice at once, and allocated again."""
    expect_done(world, "know the courts", _courts)
    expect_done(
        world,
        "enrol the judge",
        lambda host: Enrolments(host.passbooks, host.registry, host.board).enrol(_ENROLMENT, "u-ana"),
    )
    filed = expect_done(
        world, "file", lambda host: _filings(host).file(_PROFILE, Filed.DESIGNATION, _DESIGNATION, principal("u-ana"))
    )
    sequence = filed.line.sequence
    expect_done(
        world,
        "recognize",
        lambda host: _filings(host).approve(_PROFILE, Filed.DESIGNATION, sequence, principal("u-berta")),
    )
    expect_done(world, "report", lambda host: Reports(_tables(host)).report(_PROFILE, _REPORT, principal("u-ana")))
    report_id = case_id(JUDGE, _history(world)[-1].state["report"])
    at_once(world, "confirm", lambda host: Reports(_tables(host)).confirm(report_id, principal("u-berta")))
    answers = at_once(
        world,
        "enter",
        lambda host: _cases(host).enter(_PROFILE, Claim(), principal("u-ana")),
        lambda host: _cases(host).enter(_PROFILE, Claim(), principal("u-carla")),
    )
    told = [one.code for one in answers if isinstance(one, Refused)]
    if told != ["refund_entered"]:
        world.scheduler.fail(ViolationError("one_wins", f"of two clerks, {told} were told"))
    [standing] = [one for one in answers if isinstance(one, Standing)]
    _approved(world, standing, "settlement")
    died = BeneficiaryDied.model_validate({"event": "beneficiary_died", "name": "A", "died_on": "2025-07-01"})
    changed = changed_by(died, "u-ana")
    [entered, _] = at_once(
        world,
        "change",
        *[lambda host: _cases(host).change(standing.refund_id, changed, principal("u-ana"))] * 2,
    )
    _approved(world, entered, "allocation")
    _check(world)


def _approved(world: World, standing: Standing, step: str) -> None:
    """Approved twice at once by one person: both are answered, and one line stands."""
    for answer in at_once(
        world,
        f"approve the {step}",
        *[lambda host: _cases(host).approve(standing.refund_id, standing.entered.hash, principal("u-luis"), step)] * 2,
    ):
        if isinstance(answer, Refused):
            world.scheduler.fail(ViolationError("done", f"an approval was refused: {answer.error!r}"))


def _check(world: World) -> None:
    """One settlement, one allocation, and 10,000.01 to B, C and the heirs, who are held."""
    history = _history(world)
    kinds = [line.kind for line in history]
    balances = {name: cents for name, cents in history[-1].balances.items() if name != "transfers"}
    once = all(kinds.count(kind) == 1 for kind in (LineKind.SETTLEMENT, LineKind.ALLOCATION, LineKind.DEATH_CONFIRMED))
    if not once or balances != {"payable:2": 333_334, "payable:3": 333_333, "held:4": 333_334}:
        world.scheduler.fail(ViolationError("settled_once", f"{kinds}, {balances}"))


def _courts(host: Host) -> None:
    register(host.registry, Employer("E-010", "JRS"))
    for number, setting in enumerate(_SETTINGS):
        host.board.adopt(f"RB-JRS-{number}", setting, proposed_by="u-eva", adopted_by="u-leo", now=BEGINNING)


def _history(world: World) -> list[Line]:
    history: list[Line] = expect_done(world, "read the passbook", lambda host: host.passbooks.history(JUDGE))
    return history


def _tables(host: Host) -> Tables:
    return Tables(host.passbooks, host.registry, host.board)


def _cases(host: Host) -> Cases:
    return Cases(_tables(host))


def _filings(host: Host) -> Filings:
    return Filings(host.passbooks)
