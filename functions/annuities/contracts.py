"""Annuities: entered by one person, issued by another's approval, corrected by two, and certified.

A contract is evidence of the line that issued it, and never changes. What the registry keeps is only what waits.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annuities.determined import Facts, annuity_id, check_ground, corrected, correction_of, issued
from annuities.entries import Entry, check_approved_by, checked_same, hash_of
from annuities.models import AnnuityState, Contract, Correction, Retiring
from annuities.world import World
from retiro.ledger import annuities
from retiro.ledger.annuities import Exit
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decide, Decision
from retiro.ledger.savings import Origin, Status
from retiro.portal import Principal, not_found
from retiro.registry.participants import Profile
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

EVIDENCE = "annuity_contract"


@dataclass(frozen=True)
class Contracts:
    """The annuities of the stack, for one request."""

    world: World

    def enter(self, asked: Retiring, profile: Profile, principal: Principal) -> AnnuityState:
        """Enter an annuity, for another person to approve. One that is issued is answered as it stands."""
        identifier = annuity_id(asked)
        if self._issued(identifier, 1) is not None:
            return self.state(identifier, 1)
        contract, _ = issued(asked, profile, self.world.facts(asked.participant_id))
        content = contract.model_dump(mode="json")
        entry = self.world.entries.enter(f"{identifier}/1", asked.model_dump(mode="json"), content, principal)
        return _entered(entry)

    def issue(self, identifier: str, approved_hash: str, profile: Profile, principal: Principal) -> AnnuityState:
        """(b)-(d): issue the annuity that was entered: the balance moves to the reserve in the line that says so."""
        entry = self.world.entries.to_approve(f"{identifier}/1", approved_hash, principal)
        asked = Retiring.model_validate_json(json.dumps(entry.request))
        origin = Origin(principal.label, f"{EVIDENCE}/{identifier}/1")

        def decide(last: Line | None) -> Decision:
            facts = self.world.facts(asked.participant_id, last)
            contract, balance = issued(asked, profile, facts)
            checked_same(contract.model_dump(mode="json"), entry)
            leaving = Exit(asked.separated_on, asked.retirement_date, facts.today, balance)
            drafts = annuities.issue(facts.last, leaving, contract.monthly_annuity, contract.first_payment_days, origin)
            return Decision(drafts, [_evidence(contract, entry, principal)])

        key = BusinessKey(KeyKind.RETIREMENT, identifier)
        return self._post(profile, decide, key, entry, principal)

    def enter_correction(
        self, identifier: str, asked: Correction, profile: Profile, principal: Principal
    ) -> AnnuityState:
        """(d): enter a correction, for another person to approve. Without a ground there is none."""
        check_ground(asked)
        facts = self.world.facts(profile.participant_id)
        contract = corrected(self._standing(identifier, facts), asked, facts)
        request = asked.model_dump(mode="json", exclude_none=True)
        content = contract.model_dump(mode="json")
        entry = self.world.entries.enter(f"{identifier}/{contract.number}", request, content, principal)
        return _entered(entry)

    def issue_correction(
        self, identifier: str, number: int, approved_hash: str, profile: Profile, principal: Principal
    ) -> AnnuityState:
        """(d): issue the contract that supersedes the one in force; what the months paid differ by is settled."""
        entry = self.world.entries.to_approve(f"{identifier}/{number}", approved_hash, principal)
        asked = Correction.model_validate_json(json.dumps(entry.request))
        origin = Origin(principal.label, f"{EVIDENCE}/{identifier}/{number}")

        def decide(last: Line | None) -> Decision:
            facts = self.world.facts(profile.participant_id, last)
            standing = self._standing(identifier, facts)
            contract = corrected(standing, asked, facts)
            checked_same(contract.model_dump(mode="json"), entry)
            draft = annuities.correction(facts.last, correction_of(contract, standing, facts), facts.today, origin)
            return Decision([draft], [_evidence(contract, entry, principal)])

        key = BusinessKey(KeyKind.ANNUITY_CORRECTION, f"{identifier} {number}")
        return self._post(profile, decide, key, entry, principal)

    def state(self, identifier: str, number: int | None = None) -> AnnuityState:
        """A contract and how far it has come: the latest issued, or the one of this number. Raises 404."""
        wanted = number or max(self.numbers(identifier), default=1)
        body = self._issued(identifier, wanted)
        if body is not None:
            return self._of_evidence(body)
        entry = self.world.entries.find(f"{identifier}/{wanted}")
        if entry is None:
            raise not_found(
                "annuity_not_found",
                en=f"There is no contract {wanted} of {identifier}.",
                es=f"No existe el contrato {wanted} de {identifier}.",
                field="annuity_id",
            )
        return _entered(entry)

    def numbers(self, identifier: str) -> list[int]:
        """The numbers of the contracts issued."""
        numbers: list[int] = []
        while self._issued(identifier, len(numbers) + 1) is not None:
            numbers.append(len(numbers) + 1)
        return numbers

    def _post(
        self, profile: Profile, decide: Decide, key: BusinessKey, entry: Entry, principal: Principal
    ) -> AnnuityState:
        content = {"content_hash": entry.content_hash}
        self.world.passbooks.append(profile.participant_id, decide, key=key, content=content)
        identifier, _, number = entry.id.rpartition("/")
        state = self.state(identifier, int(number))
        check_approved_by(state.approved_by, principal)
        return state

    def _of_evidence(self, body: Mapping[str, Any]) -> AnnuityState:
        contract = _contract(body)
        history = self.world.facts(contract.participant_id).history
        determination = f"{EVIDENCE}/{contract.annuity_id}/{contract.number}"
        sequence = [line.sequence for line in history if line.determination == determination][-1]
        return AnnuityState(
            annuity_id=contract.annuity_id,
            participant_id=contract.participant_id,
            status=_status(history[-1], sequence),
            content_hash=hash_of(body["contract"]),
            entered_by=body["entered_by"].split()[0],
            approved_by=body["approved_by"].split()[0],
            sequence=sequence,
            contract=contract,
        )

    def _issued(self, identifier: str, number: int) -> Mapping[str, Any] | None:
        evidence = self.world.passbooks.store.get_evidence(EVIDENCE, f"{identifier}/{number}")
        return None if evidence is None else evidence.body

    def _standing(self, identifier: str, facts: Facts) -> Contract:
        """The contract in force, which must be of this annuity. Raises `Refusal`: `death_reported`, `no_annuity`."""
        in_force = annuities.annuity_in_force(facts.last)
        _, _, place = (facts.history[in_force.contract - 1].determination or "").partition("/")
        annuity, _, number = place.rpartition("/")
        body = self._issued(annuity, int(number)) if annuity == identifier else None
        if body is None:
            raise Refusal(RefusalCode.NO_ANNUITY, f"{SECTION}(d)", field="annuity_id")
        return _contract(body)


def _evidence(contract: Contract, entry: Entry, principal: Principal) -> Evidence:
    body = {
        "contract": contract.model_dump(mode="json"),
        "entered_by": entry.label,
        "approved_by": principal.label,
    }
    return Evidence(EVIDENCE, f"{contract.annuity_id}/{contract.number}", body)


def _contract(body: Mapping[str, Any]) -> Contract:
    return Contract.model_validate_json(json.dumps(body["contract"]))


def _entered(entry: Entry) -> AnnuityState:
    contract = Contract.model_validate_json(json.dumps(entry.content))
    return AnnuityState(
        annuity_id=contract.annuity_id,
        participant_id=contract.participant_id,
        status="entered",
        content_hash=entry.content_hash,
        entered_by=entry.entered_by,
        approved_by=None,
        sequence=None,
        contract=contract,
    )


def _status(last: Line, sequence: int) -> Literal["in_force", "superseded", "withheld", "ended"]:
    annuity = last.state.get("annuity") or {}
    if annuity.get("contract") != sequence:
        return "superseded"
    match last.state["status"]:
        case Status.RETIRED:
            return "in_force"
        case Status.DEATH_REPORTED:
            return "withheld"
        case _:
            return "ended"
