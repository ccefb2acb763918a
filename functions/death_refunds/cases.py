"""A death's case: entered by one person, approved by another, and what becomes of who takes, each step a line.

What is entered says all that the approval would post, and has a hash: that is approved and nothing else. Where a line
has come in between, or the Board's figures have moved, the approval is refused and the case is entered anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from death_refunds.claims import Claim
from death_refunds.designations import check_beneficiary_deaths
from death_refunds.gathering import Outcome
from death_refunds.places import case_id, evidence_id, place_of
from death_refunds.plans import Plans, is_same, no_death
from death_refunds.settling import Numbers, PayeeRow, payees_of
from death_refunds.steps import EVIDENCE, Standing, Step
from death_refunds.world import Tables
from retiro.ledger import hybrid
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.lines import Draft, Line, LineKind, Posting
from retiro.ledger.passbooks import Decision
from retiro.ledger.savings import Origin
from retiro.portal import Principal, conflict, not_found
from retiro.portal.approvals import already_approved, stale_hash
from retiro.registry.participants import Profile
from retiro.rules.judiciary_hybrid import SECTION

__all__ = ["Cases", "Standing"]

APPROVED = {"settlement": "death_settlement", "allocation": "death_allocation"}

_RACES_MAX = 3


class _MovedError(Exception):
    """Another line has come in since the passbook was looked at."""


@dataclass(frozen=True)
class Cases:
    """Quotes, enters, approves and changes the cases of deaths."""

    tables: Tables

    def quote(self, profile: Profile, death_date: date, claim: Claim) -> tuple[Outcome, list[PayeeRow]]:
        """What a settlement would say. It posts nothing, and may rest on defaults, which its receipt names.

        Raises as `enter` does of beneficiaries' deaths.
        """
        case = self._plans.case(self._history(profile), death_date, claim)
        check_beneficiary_deaths(claim, case.designated, self.tables.today)
        outcome = case.determined(posts=False)
        return outcome, payees_of(outcome, claim, Numbers())

    def enter(self, profile: Profile, claim: Claim, principal: Principal) -> Standing:
        """Enter the settlement. The same again by the same person is the first answer; anybody else is told.

        What the rules leave to a person is entered as a question. Raises `Refusal`: `period_open`, `not_in_force`, and
        what the determinations refuse; 422 `no_death_reported`, `unknown_beneficiary`, `invalid_input` of a
        beneficiary's death to come; 409 `death_not_confirmed`, `refund_entered`, `already_settled`.
        """
        content = {"claim": claim.content, "person": principal.person}
        for _ in range(_RACES_MAX):
            history = self._history(profile)
            last = history[-1]
            _check_reported(last)
            if "case" in last.state:
                standing = self.standing(case_id(profile.participant_id, last.state["case"]["id"]))
                if standing.approved is None and self._has_moved(standing):
                    return self._reentered(standing, self._claimed_anew(standing, claim, content), principal)
                if self._opened_by(standing, content):
                    return standing
                raise _told(standing.refund_id, settled=standing.approved is not None)
            self._check_deaths(history, claim)
            try:
                return self._entered(history, None, claim, principal, content)
            except _MovedError:
                continue
            except KeyConflictError as other:
                raise _told(case_id(profile.participant_id, other.record.lines[0][1])) from other
        raise _moved()

    def change(self, refund_id: str, changed: Callable[[Standing], Claim], principal: Principal) -> Standing:
        """Enter the case with another claim: heirs, a beneficiary's death, a hold, a release, a person's decision.

        What the case says already is answered with the case as it stands, unless it has to be entered anew.
        """
        standing = self.standing(refund_id)
        _check_stands(standing)
        claim = changed(standing)
        if claim == standing.entered.claim and not (standing.is_pending and self._has_moved(standing)):
            return standing
        return self._reentered(standing, claim, principal)

    def approve(self, refund_id: str, content_hash: str, principal: Principal, step: str) -> Standing:
        """Post what was entered, by another person. The same approval again is the first answer.

        Raises 403 `same_person`, 409 `stale_hash` (a question has no hash yet), `already_approved`.
        """
        participant_id, _ = place_of(refund_id)
        standing = self.standing(refund_id)
        entered = standing.entered
        _check_stands(standing)
        if entered.hash != content_hash or entered.body["step"] != step:
            raise stale_hash()
        principal.must_not_be(
            entered.body["person"],
            en="Who entered a settlement can't approve it, by whatever client.",
            es="Quien preparó una liquidación no puede aprobarla, por ningún cliente.",
        )
        if step == "settlement":  # what is allocated since rests on decisions that were seconded with the settlement
            _check_seconds(entered.claim, principal)

        def decide(last: Line | None) -> Decision:
            if last is None or last.sequence != entered.line.sequence:
                raise stale_hash()
            return self._approved(standing, principal)

        key = BusinessKey(KeyKind.SETTLEMENT, f"{participant_id} {entered.line.sequence}")
        content = {"content_hash": content_hash, "person": principal.person}
        try:
            self.tables.append(participant_id, decide, key, content)
        except KeyConflictError as other:
            raise already_approved() from other
        return self.standing(refund_id)

    def standing(self, refund_id: str) -> Standing:
        """The case as it stands. Raises 404."""
        participant_id, sequence = place_of(refund_id)
        history = self.tables.passbooks.history(participant_id)
        steps = [line for line in history[sequence - 1 :] if line.state.get("case", {}).get("id") == sequence]
        entered = [line for line in steps if line.kind is LineKind.REFUND_ENTERED]
        approved = [line for line in steps if line.kind in (LineKind.SETTLEMENT, LineKind.ALLOCATION)]
        if not entered or entered[0].sequence != sequence:
            raise not_found(
                "refund_not_found",
                en=f"There is no case {refund_id}.",
                es=f"No existe el caso {refund_id}.",
                field="refund_id",
            )
        withdrawn = any(line.kind is LineKind.DEATH_WITHDRAWN for line in history[steps[-1].sequence :])
        settled = [line for line in approved if line.kind is LineKind.SETTLEMENT]
        return Standing(
            refund_id,
            history,
            self.tables.today,
            entered=self._step(entered[-1]),
            approved=self._step(approved[-1]) if approved else None,
            settlement=self._step(settled[-1]) if settled else None,
            is_withdrawn=withdrawn,
        )

    def _has_moved(self, standing: Standing) -> bool:
        """Whether what waits can't be approved any more: a line has come in, or the Board's figures have moved."""
        if standing.is_stale:
            return True
        return not is_same(self._plans.plan(standing.history, standing, standing.entered.claim), standing.entered)

    def _opened_by(self, standing: Standing, content: Mapping[str, Any]) -> bool:
        """Whether the case was opened by this person with this claim."""
        opening = self._step(standing.history[place_of(standing.refund_id)[1] - 1])
        return {"claim": opening.claim.content, "person": opening.body["person"]} == content

    def _claimed_anew(self, standing: Standing, claim: Claim, content: Mapping[str, Any]) -> Claim:
        """The claim of a case that has to be entered anew: as it stands, but for what is said otherwise now.

        What was told of it since it was opened isn't lost: holds, releases, decisions, and what isn't named now.
        """
        if self._opened_by(standing, content):
            return standing.entered.claim
        self._check_deaths(standing.history, claim)
        return standing.entered.claim.said_anew(claim)

    def _check_deaths(self, history: Sequence[Line], claim: Claim) -> None:
        death_date = hybrid.death_of(history[-1])
        if death_date is None:
            raise no_death()
        if claim.beneficiary_deaths:
            check_beneficiary_deaths(claim, self._plans.case(history, death_date, claim).designated, self.tables.today)

    def _history(self, profile: Profile) -> list[Line]:
        return self.tables.passbooks.history(profile.participant_id)

    def _reentered(self, standing: Standing, claim: Claim, principal: Principal) -> Standing:
        content = {"claim": claim.content, "person": principal.person}
        try:
            return self._entered(standing.history, standing, claim, principal, content)
        except (_MovedError, KeyConflictError) as moved:
            now = self.standing(standing.refund_id)
            if now.entered.claim == claim and now.entered.body["person"] == principal.person:
                return now  # the same request, sent twice at once
            raise _moved() from moved

    def _entered(
        self,
        history: Sequence[Line],
        standing: Standing | None,
        claim: Claim,
        principal: Principal,
        content: Mapping[str, Any],
    ) -> Standing:
        """Write the line of what is entered, on exactly this history. Raises `_MovedError`, `KeyConflictError`."""
        last = history[-1]
        participant_id, sequence = last.passbook, last.sequence + 1
        opening = place_of(standing.refund_id)[1] if standing else sequence
        refund_id = case_id(participant_id, opening)
        identifier = evidence_id(participant_id, sequence)
        body = {
            "refund_id": refund_id,
            "participant_id": participant_id,
            "claim": claim.content,
            "person": principal.person,
            "entered_by": principal.label,
            **self._plans.plan(history, standing, claim),
        }

        def decide(now: Line | None) -> Decision:
            if now is None or now.sequence != last.sequence:
                raise _MovedError
            case = {**last.state.get("case", {}), "id": opening, "entered": sequence}
            origin = Origin(principal.label, f"{EVIDENCE}/{identifier}")
            draft = hybrid.refund_entered(now, self.tables.today, case, origin)
            return Decision([draft], [Evidence(EVIDENCE, identifier, body)])

        key = BusinessKey(KeyKind.REFUND_ENTERED, f"{participant_id} {last.sequence}")
        self.tables.passbooks.append(participant_id, decide, key=key, content=content)
        return self.standing(refund_id)

    def _approved(self, standing: Standing, principal: Principal) -> Decision:
        """The line that posts what was entered, determined again, with the second of what a person decided."""
        entered, settled = standing.entered, standing.approved
        claim = entered.claim.seconded_by(principal.person)
        if settled is not None:
            claim = entered.claim.with_changes(decisions=settled.claim.decisions)
        plan = self._plans.plan(standing.history, standing, claim)
        if not is_same(plan, entered):
            raise stale_hash()
        last = standing.history[-1]
        sequence = last.sequence + 1
        kind = APPROVED[plan["step"]]
        identifier = evidence_id(last.passbook, sequence)
        body = {
            **entered.body,
            **plan,
            "claim": claim.content,
            "approved_by": principal.label,
            "approves": f"{EVIDENCE}/{entered.evidence.id}",
        }
        case = {"id": last.state["case"]["id"], "settled": sequence}
        origin = Origin(principal.label, f"{kind}/{identifier}")
        draft = _draft(self.tables.today, last, plan, case, origin)
        return Decision([draft], [Evidence(kind, identifier, body)])

    def _step(self, line: Line) -> Step:
        return Step(line, self.tables.evidence_of(line))

    @property
    def _plans(self) -> Plans:
        return Plans(self.tables)


def _draft(today: date, last: Line, plan: Mapping[str, Any], case: Mapping[str, Any], origin: Origin) -> Draft:
    postings = [Posting(account, cents) for account, cents in plan["postings"].items()]
    if plan["step"] == "settlement":
        return hybrid.settlement(today, postings, case, origin)
    return hybrid.allocation(last, postings, today, case, origin)


def _check_reported(last: Line) -> None:
    if "death" not in last.state:
        raise no_death()
    if "confirmed" not in last.state:
        raise conflict(
            "death_not_confirmed",
            en="Another person has to confirm the report of the death first.",
            es="Otra persona debe confirmar primero el informe de la muerte.",
            citation=SECTION,
        )


def _check_seconds(claim: Claim, principal: Principal) -> None:
    """Who approves the settlement seconds all that was decided for it, so has decided none of it. Raises 403."""
    for one in claim.decisions:
        principal.must_not_be(
            one.decided_by,
            en="Who decided a question can't second the decision, by whatever client.",
            es="Quien decidió una cuestión no puede secundar la decisión, por ningún cliente.",
        )


def _check_stands(standing: Standing) -> None:
    if standing.is_withdrawn:
        raise conflict(
            "report_not_standing",
            en="The report of the death was withdrawn.",
            es="El informe de la muerte fue retirado.",
            citation=SECTION,
        )


def _told(refund_id: str, *, settled: bool = False) -> Exception:
    if settled:
        return conflict(
            "already_settled",
            en=f"This death is settled: {refund_id}.",
            es=f"Esta muerte ya está liquidada: {refund_id}.",
            citation=SECTION,
        )
    return conflict(
        "refund_entered",
        en=f"This death's settlement was entered already: {refund_id}.",
        es=f"La liquidación de esta muerte ya fue preparada: {refund_id}.",
        citation=SECTION,
    )


def _moved() -> Exception:
    return conflict(
        "passbook_moved",
        en="Something else was recorded at the same moment: read the case and try again.",
        es="Se registró otra cosa en el mismo momento: lea el caso e intente de nuevo.",
        citation="Retiro API v1, cases",
    )
