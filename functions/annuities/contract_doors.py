"""The doors of annuities and of separation refunds."""

from annuities.certificates import certificate
from annuities.contracts import Contracts
from annuities.determined import participant_of, quoted
from annuities.models import (
    AnnuityId,
    AnnuityQuote,
    AnnuityState,
    Approval,
    Certificate,
    ContractNumber,
    ContractQuery,
    Correction,
    Quoted,
    RefundId,
    RefundQuoted,
    RefundState,
    Retiring,
    Separating,
)
from annuities.portal import portal
from annuities.refunds import Refunds
from annuities.world import world
from retiro.portal import Language, Principal
from retiro.registry.clients import Party
from retiro.registry.participants import Profile

_SETTLES = (Party.OFFICE, Party.FUND, Party.PORTAL)
"""Whose clients enter and approve, as with a death. An employer reads its own judges, and settles nothing of theirs."""

# Annuities


@portal.post("/annuities/quotes", scopes="benefits.quote", status=200, stores=False)
def quote(body: AnnuityQuote, principal: Principal) -> Quoted:
    """Quote an annuity: it posts nothing, and says what of it rests on defaults."""
    profile = _judge(body.participant_id, principal)
    return quoted(body, profile, world().facts(body.participant_id))


@portal.post("/annuities", scopes="benefits.settle")
def enter(body: Retiring, principal: Principal) -> AnnuityState:
    """Enter an annuity, for another person to approve."""
    principal.must_be(*_SETTLES)
    return Contracts(world()).enter(body, _judge(body.participant_id, principal), principal)


@portal.post("/annuities/{annuity_id}/approval", scopes="benefits.approve", status=200)
def issue(annuity_id: AnnuityId, body: Approval, principal: Principal) -> AnnuityState:
    """Issue the annuity that another person entered: an immutable contract; the balance moves to the reserve."""
    principal.must_be(*_SETTLES)
    return Contracts(world()).issue(annuity_id, body.content_hash, _holder(annuity_id, principal), principal)


@portal.get("/annuities/{annuity_id}", scopes="benefits.read")
def read(annuity_id: AnnuityId, query: ContractQuery, principal: Principal, language: Language) -> Certificate:
    """The certificate of an annuity, or of one of its contracts by number."""
    _holder(annuity_id, principal)
    contracts = Contracts(world())
    return certificate(contracts.state(annuity_id, query.number), contracts.numbers(annuity_id), language)


@portal.post("/annuities/{annuity_id}/corrections", scopes="benefits.settle")
def enter_correction(annuity_id: AnnuityId, body: Correction, principal: Principal) -> AnnuityState:
    """Enter a correction, by its ground, for another person to approve."""
    principal.must_be(*_SETTLES)
    return Contracts(world()).enter_correction(annuity_id, body, _holder(annuity_id, principal), principal)


@portal.post("/annuities/{annuity_id}/corrections/{number}/approval", scopes="benefits.approve", status=200)
def issue_correction(
    annuity_id: AnnuityId, number: ContractNumber, body: Approval, principal: Principal
) -> AnnuityState:
    """Issue the contract that supersedes the one in force; the first stays readable."""
    principal.must_be(*_SETTLES)
    holder = _holder(annuity_id, principal)
    return Contracts(world()).issue_correction(annuity_id, number, body.content_hash, holder, principal)


# Separation refunds


@portal.post("/separation-refunds/quotes", scopes="benefits.quote", status=200, stores=False)
def quote_refund(body: Separating, principal: Principal) -> RefundQuoted:
    """Quote what a separation gives: it posts nothing."""
    return Refunds(world()).quote(body, _judge(body.participant_id, principal))


@portal.post("/separation-refunds", scopes="benefits.settle")
def enter_refund(body: Separating, principal: Principal) -> RefundState:
    """Enter a refund on separation, for another person to approve."""
    principal.must_be(*_SETTLES)
    return Refunds(world()).enter(body, _judge(body.participant_id, principal), principal)


@portal.post("/separation-refunds/{refund_id}/approval", scopes="benefits.approve", status=200)
def pay_refund(refund_id: RefundId, body: Approval, principal: Principal) -> RefundState:
    """Pay the refund that another person entered, and close the account."""
    principal.must_be(*_SETTLES)
    return Refunds(world()).pay(refund_id, body.content_hash, _holder(refund_id, principal), principal)


@portal.get("/separation-refunds/{refund_id}", scopes="benefits.read")
def read_refund(refund_id: RefundId, principal: Principal) -> RefundState:
    """A refund on separation, and how far it has come."""
    _holder(refund_id, principal)
    return Refunds(world()).state(refund_id)


def _judge(participant_id: str, principal: Principal) -> Profile:
    return world().judge(participant_id, principal)


def _holder(identifier: str, principal: Principal) -> Profile:
    return world().judge(participant_of(identifier), principal)
