"""A death's case: entered by one person, approved by another, and what becomes of who takes, each step a line.

What is entered says all that the approval would post, and has a hash: that is approved and nothing else. Where a line
has come in between, or the Board's figures have moved, the approval is refused and the case is entered anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from death_refunds.claims import Claim
from death_refunds.designations import counting
from death_refunds.gathering import Case, Outcome
from death_refunds.places import case_id, evidence_id, place_of
from death_refunds.settling import PayeeRow, allocation_postings, merged, payees_of, settlement_postings
from death_refunds.world import Tables
from retiro.ledger import hybrid
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.lines import Draft, Line, LineKind, Posting
from retiro.ledger.passbooks import Decision
from retiro.ledger.savings import Origin
from retiro.portal import Principal, conflict, not_found, refused
from retiro.portal.approvals import already_approved, stale_hash
from retiro.registry.participants import Profile
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.money import format_cents, parse_cents
from retiro.rules.refusals import Refusal, RefusalCode

EVIDENCE = "death_refund"
APPROVED = {"settlement": "death_settlement", "allocation": "death_allocation"}
DESIGNATION_EVIDENCE = "designation"

_RACES_MAX = 3


class _MovedError(Exception):
    """Another line has come in since the passbook was looked at."""


@dataclass(frozen=True)
class Step:
    """A step of a case as its evidence has it: what was entered, or what was approved of it, and its line."""

    line: Line
    evidence: Evidence

    @property
    def body(self) -> Mapping[str, Any]:
        """What it says."""
        body: Mapping[str, Any] = self.evidence.body
        return body

    @property
    def claim(self) -> Claim:
        """The claim at this step."""
        return Claim.model_validate(self.body["claim"])

    @property
    def payees(self) -> list[PayeeRow]:
        """The payees at this step."""
        return [PayeeRow.model_validate(row) for row in self.body["payees"]]

    @property
    def hash(self) -> str:
        """What an approval names."""
        return self.evidence.content_hash.hex()


@dataclass(frozen=True)
class Standing:
    """A case as it stands: what was entered last, what was approved last, and whether the report was withdrawn."""

    refund_id: str
    history: Sequence[Line]
    entered: Step
    approved: Step | None
    settlement: Step | None
    is_withdrawn: bool

    @property
    def is_pending(self) -> bool:
        """Whether what was entered last waits for its approval."""
        return self.approved is None or self.approved.line.sequence < self.entered.line.sequence

    @property
    def designated(self) -> list[str]:
        """The names of those designated, as the determination has them."""
        designation = self.entered.body["given"].get("designation") or {"beneficiaries": []}
        return [one["name"] for one in designation["beneficiaries"]]

    @property
    def is_stale(self) -> bool:
        """Whether another line has come in since."""
        return self.history[-1].sequence > self.entered.line.sequence


@dataclass(frozen=True)
class Cases:
    """Quotes, enters, approves and changes the cases of deaths."""

    tables: Tables

    def quote(self, profile: Profile, death_date: date, claim: Claim) -> tuple[Outcome, list[PayeeRow]]:
        """What a settlement would say. It posts nothing, and may rest on defaults, which its receipt names."""
        outcome = self._case(self._history(profile), death_date, claim).determined(posts=False)
        return outcome, payees_of(outcome, claim)

    def enter(self, profile: Profile, claim: Claim, principal: Principal) -> Standing:
        """Enter the settlement. The same again by the same person is the first answer; anybody else is told.

        What the rules leave to a person is entered as a question. Raises `Refusal`: `period_open`, `not_in_force`, and
        what the determinations refuse; 422 `no_death_reported`; 409 `death_not_confirmed`, `refund_entered`,
        `already_settled`.
        """
        content = {"claim": claim.content, "person": principal.person}
        for _ in range(_RACES_MAX):
            history = self._history(profile)
            last = history[-1]
            _check_reported(last)
            if "case" in last.state:
                standing = self.standing(case_id(profile.participant_id, last.state["case"]["id"]))
                if standing.is_pending and standing.is_stale:
                    return self._reentered(standing, claim, principal)
                return self._first_answer(standing, content)
            try:
                return self._entered(history, None, claim, principal, content)
            except _MovedError:
                continue
            except KeyConflictError as other:
                raise _told(case_id(profile.participant_id, other.record.lines[0][1])) from other
        raise _moved()

    def change(self, refund_id: str, changed: Callable[[Standing], Claim], principal: Principal) -> Standing:
        """Enter the case with another claim: heirs, a beneficiary's death, a hold, a release, a person's decision."""
        standing = self.standing(refund_id)
        _check_stands(standing)
        claim = changed(standing)
        if claim == standing.entered.claim and not standing.is_stale:
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
            entered=self._step(entered[-1]),
            approved=self._step(approved[-1]) if approved else None,
            settlement=self._step(settled[-1]) if settled else None,
            is_withdrawn=withdrawn,
        )

    def _first_answer(self, standing: Standing, content: Mapping[str, Any]) -> Standing:
        """The case that stands, to who has entered the same; anybody else is told."""
        opening = self._step(standing.history[place_of(standing.refund_id)[1] - 1])
        if {"claim": opening.claim.content, "person": opening.body["person"]} == content:
            return standing
        raise _told(standing.refund_id, settled=standing.approved is not None)

    def _history(self, profile: Profile) -> list[Line]:
        return self.tables.passbooks.history(profile.participant_id)

    def _case(self, history: Sequence[Line], death_date: date, claim: Claim) -> Case:
        recognized = counting(history, death_date)
        designation = None if recognized is None else self._evidence(recognized).body
        return Case(history, self.tables.board.adopted(history[-1].fund), death_date, designation, claim)

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
            **self._plan(history, standing, claim),
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

    def _plan(self, history: Sequence[Line], standing: Standing | None, claim: Claim) -> dict[str, Any]:
        """What the approval would post, or the question that a person has to decide."""
        settled = standing.approved if standing else None
        try:
            outcome = self._outcome(history, settled, claim)
        except Refusal as refusal:
            if refusal.code is not RefusalCode.NEEDS_DECISION:
                raise
            return _question(refusal, history[-1])
        before = settled or (standing.entered if standing else None)
        payees = payees_of(
            outcome, claim, before.payees if before else (), int(before.body["numbers_used"]) if before else 0
        )
        postings = _postings(history[-1], settled, outcome, payees)
        return {
            "step": "allocation" if settled else "settlement",
            "death_date": outcome.death_date.isoformat(),
            "route": outcome.route,
            "given": dict(outcome.given),
            "results": outcome.results,
            "amounts": amounts_of(outcome),
            "payees": [row.model_dump(mode="json") for row in payees],
            "numbers_used": max([row.number for row in payees] + [int(before.body["numbers_used"]) if before else 0]),
            "postings": merged(postings),
        }

    def _outcome(self, history: Sequence[Line], settled: Step | None, claim: Claim) -> Outcome:
        """The outcome on the passbook; after the settlement, on the facts that it was made of."""
        if settled is None:
            death_date = hybrid.death_of(history[-1])
            if death_date is None:
                raise _no_death()
            return self._case(history, death_date, claim).determined(posts=True)
        before = history[: _before_settlement(history)]
        case = self._case(before, date.fromisoformat(settled.body["death_date"]), claim)
        return case.determined_again(settled.body["given"], parse_cents(settled.body["amounts"]["unpaid"]))

    def _approved(self, standing: Standing, principal: Principal) -> Decision:
        """The line that posts what was entered, determined again, with the second of what a person decided."""
        entered = standing.entered
        claim = entered.claim.seconded_by(principal.person)
        plan = self._plan(standing.history, standing, claim)
        if any(plan[name] != entered.body[name] for name in ("step", "amounts", "payees", "postings")):
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
        return Step(line, self._evidence(line))

    def _evidence(self, line: Line) -> Evidence:
        found = None
        if line.determination is not None:
            found = self.tables.passbooks.store.get_evidence(*line.determination.split("/", 1))
        if found is None:
            raise LookupError(f"{line.determination} isn't there")
        return found


def _before_settlement(history: Sequence[Line]) -> int:
    """How many lines stood before the settlement that stands."""
    return next(line.sequence for line in reversed(history) if line.kind is LineKind.SETTLEMENT) - 1


def _postings(last: Line, settled: Step | None, outcome: Outcome, payees: Sequence[PayeeRow]) -> list[Posting]:
    if settled is None:
        return settlement_postings(last, outcome, payees)
    return allocation_postings(settled.payees, payees)


def _draft(today: date, last: Line, plan: Mapping[str, Any], case: Mapping[str, Any], origin: Origin) -> Draft:
    postings = [Posting(account, cents) for account, cents in plan["postings"].items()]
    if plan["step"] == "settlement":
        return hybrid.settlement(today, postings, case, origin)
    return hybrid.allocation(last, postings, today, case, origin)


def amounts_of(outcome: Outcome) -> dict[str, Any]:
    """The amounts of an outcome, as plain JSON."""
    benefit = outcome.benefit
    provisional_cents = outcome.provisional.yield_amount if outcome.provisional else 0
    return {
        "provisional_yield": format_cents(provisional_cents),
        "gross": format_cents(outcome.gross_cents),
        "debts": [one.model_dump(mode="json") for one in benefit.debts],
        "debts_collected": format_cents(benefit.debts_collected),
        "uncollected_debt": format_cents(benefit.uncollected_debt),
        "net": format_cents(outcome.net_cents),
        "overpaid": format_cents(outcome.overpaid_cents),
        "unpaid": format_cents(outcome.unpaid_cents),
        "basis": benefit.basis,
    }


def _question(refusal: Refusal, last: Line) -> dict[str, Any]:
    """What the rules leave to a person, as it is entered: why, by what law, and how far the determination came."""
    return {
        "step": "question",
        "death_date": last.state["death"],
        "route": None,
        "question": {
            "code": str(refusal.code),
            "en": refusal.sentence.en,
            "es": refusal.sentence.es,
            "citation": refusal.citation,
            "field": refusal.field,
            "receipt": None if refusal.receipt is None else refusal.receipt.model_dump(mode="json"),
        },
        "given": {},
        "results": {},
        "amounts": None,
        "payees": [],
        "numbers_used": 0,
        "postings": {},
    }


def _check_reported(last: Line) -> None:
    if "death" not in last.state:
        raise _no_death()
    if "confirmed" not in last.state:
        raise conflict(
            "death_not_confirmed",
            en="Another person has to confirm the report of the death first.",
            es="Otra persona debe confirmar primero el informe de la muerte.",
            citation=SECTION,
        )


def _check_stands(standing: Standing) -> None:
    if standing.is_withdrawn:
        raise conflict(
            "report_not_standing",
            en="The report of the death was withdrawn.",
            es="El informe de la muerte fue retirado.",
            citation=SECTION,
        )


def _no_death() -> Exception:
    return refused(
        "no_death_reported",
        en="No death of this participant is reported.",
        es="No consta informe de la muerte de este participante.",
        citation=f"{SECTION}(e), (f)",
        field="participant_id",
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
