"""Separation refunds, 4 L.P.R.A. § 242b(a): quoted, entered by one person, paid by another's approval. Once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annuities.determined import Facts, check_separation
from annuities.entries import Entry, check_approved_by, checked_same, hash_of
from annuities.models import Refund, RefundQuoted, RefundState, Separating
from annuities.terms import (
    Account,
    account_on,
    check_adopted,
    check_periods,
    credited,
    defaults_of,
    open_semester,
)
from annuities.world import World
from retiro.ledger import annuities, hybrid
from retiro.ledger.annuities import Balance, Exit
from retiro.ledger.encoding import content_hash
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision
from retiro.ledger.savings import Origin
from retiro.portal import Principal, not_found, refused
from retiro.registry.participants import Profile
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM, SeparationBenefit, separation_benefit
from retiro.rules.money import format_cents
from retiro.rules.refusals import invalid_input

EVIDENCE = "separation_refund"
_ID_DIGITS = 8


@dataclass(frozen=True)
class Refunds:
    """The separation refunds of the stack, for one request."""

    world: World

    def quote(self, asked: Separating, profile: Profile) -> RefundQuoted:
        """What the separation would give: a refund, an annuity, or one later. Raises `Refusal`."""
        facts = self.world.facts(asked.participant_id)
        account, found = _determined(asked, profile, facts)
        receipts = [account.provisional.receipt, found.receipt]
        return RefundQuoted(
            participant_id=asked.participant_id,
            separated_on=asked.separated_on,
            benefit=found.benefit,
            amount=found.amount,
            payable_from=found.payable_from,
            balance=account.balance.total_cents,
            provisional_return=account.balance.provisional_cents,
            rests_on_defaults=defaults_of(receipts),
            open_semester=open_semester(facts.last, asked.paid_on),
            citations=[receipt.citation for receipt in receipts],
            receipts=[receipt.model_dump(mode="json") for receipt in receipts],
        )

    def enter(self, asked: Separating, profile: Profile, principal: Principal) -> RefundState:
        """Enter a refund, for another person to approve. One that is paid is answered as it stands."""
        identifier = refund_id(asked)
        if self._paid(identifier) is not None:
            return self.state(identifier)
        refund, _ = _refund(asked, profile, self.world.facts(asked.participant_id))
        content = refund.model_dump(mode="json")
        return _entered(self.world.entries.enter(identifier, asked.model_dump(mode="json"), content, principal))

    def pay(self, identifier: str, approved_hash: str, profile: Profile, principal: Principal) -> RefundState:
        """(a): pay the balance out and close the account, as it was entered."""
        entry = self.world.entries.to_approve(identifier, approved_hash, principal)
        asked = Separating.model_validate_json(json.dumps(entry.request))
        origin = Origin(principal.label, f"{EVIDENCE}/{identifier}")

        def decide(last: Line | None) -> Decision:
            facts = self.world.facts(asked.participant_id, last)
            refund, balance = _refund(asked, profile, facts)
            content = refund.model_dump(mode="json")
            checked_same(content, entry)
            leaving = Exit(asked.separated_on, asked.paid_on, facts.today, balance)
            body = {"refund": content, "entered_by": entry.label, "approved_by": principal.label}
            return Decision(annuities.refund(facts.last, leaving, origin), [Evidence(EVIDENCE, identifier, body)])

        self.world.passbooks.append(
            asked.participant_id,
            decide,
            key=BusinessKey(KeyKind.SEPARATION, identifier),
            content={"content_hash": approved_hash},
        )
        state = self.state(identifier)
        check_approved_by(state.approved_by, principal)
        return state

    def state(self, identifier: str) -> RefundState:
        """A refund, and how far it has come. Raises 404."""
        body = self._paid(identifier)
        if body is not None:
            return self._of_evidence(identifier, body)
        entry = self.world.entries.find(identifier)
        if entry is None:
            raise not_found(
                "refund_not_found",
                en=f"There is no refund {identifier}.",
                es=f"No existe el reembolso {identifier}.",
                field="refund_id",
            )
        return _entered(entry)

    def _of_evidence(self, identifier: str, body: Mapping[str, Any]) -> RefundState:
        refund = Refund.model_validate_json(json.dumps(body["refund"]))
        history = self.world.facts(refund.participant_id).history
        determination = f"{EVIDENCE}/{identifier}"
        return RefundState(
            refund_id=identifier,
            participant_id=refund.participant_id,
            status="paid",
            content_hash=hash_of(body["refund"]),
            entered_by=body["entered_by"].split()[0],
            approved_by=body["approved_by"].split()[0],
            sequence=[line.sequence for line in history if line.determination == determination][-1],
            refund=refund,
        )

    def _paid(self, identifier: str) -> Mapping[str, Any] | None:
        evidence = self.world.passbooks.store.get_evidence(EVIDENCE, identifier)
        return None if evidence is None else evidence.body


def refund_id(asked: Separating) -> str:
    """The refund's id, from what was asked: the same again is the same."""
    digest = content_hash(asked.model_dump(mode="json")).hex()
    return f"SR-{asked.participant_id.removeprefix('P-')}-{digest[:_ID_DIGITS]}"


def _determined(asked: Separating, profile: Profile, facts: Facts) -> tuple[Account, SeparationBenefit]:
    """(a), (b): the account on the day of the payment, and what the separation gives. Raises `Refusal`."""
    annuities.check_may_exit(facts.last)
    check_separation(asked.separated_on, facts)
    if asked.paid_on <= asked.separated_on:
        raise invalid_input(f"{SECTION}(a)", "paid_on", "before_separation")
    account = account_on(facts.history, asked.paid_on, facts.figures)
    service = credited(facts.history)
    given = {
        "separated_on": asked.separated_on.isoformat(),
        "birth_date": profile.birth_date.isoformat(),
        "cause": asked.cause,
        "credited_service": service.credited.model_dump(),
        "service_as_judge": service.as_judge.model_dump(),
        "permanent": asked.permanent,
        "open_debt": hybrid.owed_cents(facts.last) > 0 or bool(hybrid.debts_elsewhere(facts.history)),
        "balance": format_cents(account.balance.total_cents),
    }
    found = separation_benefit(separation_benefit.parse(given))
    return account, found


def _refund(asked: Separating, profile: Profile, facts: Facts) -> tuple[Refund, Balance]:
    """The refund, if it is one, and the balance that it takes. Raises `Refusal`, and 422 for another benefit."""
    if asked.paid_on > facts.today:
        raise invalid_input(f"{SECTION}(a)", "paid_on", "in_the_future")
    check_periods(facts.last, asked.paid_on)
    account, found = _determined(asked, profile, facts)
    if found.amount is None:
        raise refused(
            "not_a_refund",
            en=f"With the service credited the benefit is an annuity, payable from {found.payable_from}.",
            es=f"Con los servicios acreditados el beneficio es una anualidad, pagadera desde el {found.payable_from}.",
            citation=f"{SECTION}(a), (b)",
            field="participant_id",
        )
    receipts = [account.provisional.receipt, found.receipt]
    check_adopted(receipts, facts.figures)
    refund = Refund(
        refund_id=refund_id(asked),
        participant_id=asked.participant_id,
        fund=SYSTEM,
        separated_on=asked.separated_on,
        cause=asked.cause,
        paid_on=asked.paid_on,
        balance=account.balance.total_cents,
        provisional_return=account.balance.provisional_cents,
        amount=found.amount,
        citations=[receipt.citation for receipt in receipts],
        receipts=[receipt.model_dump(mode="json") for receipt in receipts],
    )
    return refund, account.balance


def _entered(entry: Entry) -> RefundState:
    refund = Refund.model_validate_json(json.dumps(entry.content))
    return RefundState(
        refund_id=refund.refund_id,
        participant_id=refund.participant_id,
        status="entered",
        content_hash=entry.content_hash,
        entered_by=entry.entered_by,
        approved_by=None,
        sequence=None,
        refund=refund,
    )
