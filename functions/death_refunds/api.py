"""The doors of deaths, § 242b(e), (f): report, quote, settle, and what becomes of who takes."""

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

from death_refunds import views
from death_refunds.cases import Cases
from death_refunds.changes import changed_by
from death_refunds.models import (
    DeathApproval,
    DeathQuote,
    DeathRefund,
    DeathReport,
    DecisionMade,
    HeirsEvent,
    NewDeathReport,
    NewRefund,
    QuoteAsked,
    ReportWithdrawal,
)
from death_refunds.places import CaseId, place_of
from death_refunds.reports import Reports, check_death
from death_refunds.world import ApiEnvironment, Tables
from retiro.ledger import hybrid
from retiro.ledger.credits import known
from retiro.portal import Language, Portal, Principal, refused
from retiro.registry.clients import Party
from retiro.rules.judiciary_hybrid import SECTION

portal = Portal("death_refunds")
handler = portal.handler

_SETTLES = (Party.OFFICE, Party.FUND, Party.PORTAL)


@dataclass(frozen=True)
class World:
    """What the doors work with."""

    tables: Tables
    reports: Reports
    cases: Cases


@cache
def world() -> World:
    """Built when the first request comes."""
    tables = Tables.of(ApiEnvironment.read())
    return World(tables, Reports(tables), Cases(tables))


@portal.post("/death-reports", scopes="benefits.settle")
def report(body: NewDeathReport, principal: Principal) -> DeathReport:
    """Report a death: payments stop at once."""
    principal.must_be(*_SETTLES)
    profile = world().tables.profile(body.participant_id, principal)
    return world().reports.report(profile, body, principal)


@portal.get("/death-reports/{report_id}", scopes="benefits.read")
def read_report(report_id: CaseId, principal: Principal) -> DeathReport:
    """A report of a death as it stands."""
    world().tables.profile(place_of(report_id)[0], principal)
    return world().reports.read(report_id)


@portal.post("/death-reports/{report_id}/approval", scopes="benefits.approve")
def confirm(report_id: CaseId, principal: Principal) -> DeathReport:
    """Confirm a report, as another person: it may be settled now."""
    principal.must_be(*_SETTLES)
    return world().reports.confirm(report_id, principal)


@portal.post("/death-reports/{report_id}/withdrawal", scopes="benefits.approve")
def withdraw(report_id: CaseId, body: ReportWithdrawal, principal: Principal) -> DeathReport:
    """Withdraw a report made in error, as another person: what was withheld follows."""
    principal.must_be(*_SETTLES)
    return world().reports.withdraw(report_id, body, principal)


@portal.post("/death-refunds/quotes", scopes="benefits.quote", status=HTTPStatus.OK, stores=False)
def quote(body: QuoteAsked, principal: Principal) -> DeathQuote:
    """Quote what a death would pay. Nothing is posted."""
    profile = world().tables.judge(body.participant_id, principal)
    last = known(world().tables.passbooks.last(profile.participant_id), profile.participant_id)
    death_date = body.death_date or hybrid.death_of(last)
    if death_date is None:
        raise refused(
            "no_death_reported",
            en="No death of this participant is reported: give the day.",
            es="No consta informe de la muerte de este participante: indique el día.",
            citation=f"{SECTION}(e), (f)",
            field="death_date",
        )
    check_death(profile, last, death_date, world().tables.today)
    outcome, payees = world().cases.quote(profile, death_date, body.claim)
    return views.quote(profile.participant_id, outcome, payees)


@portal.post("/death-refunds", scopes="benefits.settle")
def settle(body: NewRefund, principal: Principal, language: Language) -> DeathRefund:
    """Enter the settlement of a confirmed death; another person approves it."""
    principal.must_be(*_SETTLES)
    profile = world().tables.judge(body.participant_id, principal)
    return views.refund(world().cases.enter(profile, body.claim, principal), language)


@portal.get("/death-refunds/{refund_id}", scopes="benefits.read")
def read(refund_id: CaseId, principal: Principal, language: Language) -> DeathRefund:
    """A death's case as it stands."""
    _reach(refund_id, principal)
    return views.refund(world().cases.standing(refund_id), language)


@portal.post("/death-refunds/{refund_id}/approval", scopes="benefits.approve")
def approve(refund_id: CaseId, body: DeathApproval, principal: Principal, language: Language) -> DeathRefund:
    """Approve the settlement that has this hash, as another person: it is posted."""
    _reach(refund_id, principal)
    principal.must_be(*_SETTLES)
    return views.refund(world().cases.approve(refund_id, body.content_hash, principal, "settlement"), language)


@portal.post("/death-refunds/{refund_id}/decision", scopes="benefits.settle")
def decide(refund_id: CaseId, body: DecisionMade, principal: Principal, language: Language) -> DeathRefund:
    """Decide what the rules leave to a person; the approval of the settlement seconds it."""
    _reach(refund_id, principal)
    principal.must_be(*_SETTLES)
    changed = changed_by(body, principal.person)
    return views.refund(world().cases.change(refund_id, changed, principal), language)


@portal.post("/death-refunds/{refund_id}/heirs", scopes="benefits.settle")
def change_heirs(refund_id: CaseId, body: HeirsEvent, principal: Principal, language: Language) -> DeathRefund:
    """Enter what changes who takes: heirs declared, a beneficiary's death, a hold, a release."""
    _reach(refund_id, principal)
    principal.must_be(*_SETTLES)
    changed = changed_by(body, principal.person)
    return views.refund(world().cases.change(refund_id, changed, principal), language)


@portal.post("/death-refunds/{refund_id}/heirs/approval", scopes="benefits.approve")
def approve_heirs(refund_id: CaseId, body: DeathApproval, principal: Principal, language: Language) -> DeathRefund:
    """Approve, as another person, what changes who takes since the settlement: it is posted."""
    _reach(refund_id, principal)
    principal.must_be(*_SETTLES)
    return views.refund(world().cases.approve(refund_id, body.content_hash, principal, "allocation"), language)


def _reach(refund_id: str, principal: Principal) -> None:
    world().tables.judge(place_of(refund_id)[0], principal)
