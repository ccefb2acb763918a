"""What only a person can decide about a plan, 3 L.P.R.A. § 830q(d), (f): proposed by one, approved by another.

A death before any pension with a plan open, what no benefit bears, and what a lapsed plan holds. A proposal says all
that its approval posts, and has a hash: that is approved and nothing else. Each choice is made once for a plan.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from payroll_deductions.decision_models import (
    DECISION,
    ChargeDeathBenefit,
    ClaimOnEstate,
    DecisionApproval,
    DecisionList,
    DecisionView,
    Lapse,
    Move,
    NewDecision,
    PlaceHeld,
    Release,
)
from payroll_deductions.pension_facts import charge
from payroll_deductions.plan_models import Paid
from payroll_deductions.plan_records import Record
from payroll_deductions.plans import Plans, participant_died
from retiro.ledger import plans
from retiro.ledger.encoding import content_hash
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.passbooks import Decision
from retiro.ledger.plans import PlanStatus
from retiro.ledger.savings import Origin
from retiro.portal import Language, Principal, conflict, not_found, refused, spoken
from retiro.portal.approvals import already_approved, stale_hash
from retiro.registry.table import Item
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents, parse_cents
from retiro.rules.payment_plans import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

EVIDENCE = "plan_decision"
_PROPOSAL = "proposal"

QUESTIONS = {
    "charge_death_benefit": (
        f"{SECTION}(f)",
        Sentence(
            "The text charges the death benefit of pensioners; this participant died before any pension.",
            "El texto carga el beneficio por muerte de pensionados; este participante murió antes de pensionarse.",
        ),
    ),
    "lapse": (
        f"{SECTION}(d)",
        Sentence(
            "The principal was open when the participant died in service, and the text doesn't say what follows.",
            "El principal estaba pendiente al morir el participante en servicio, y el texto no dice qué sigue.",
        ),
    ),
    "claim_on_estate": (
        f"{SECTION}(f)",
        Sentence(
            "No benefit bears what is left, and the text says nothing of the estate.",
            "Ningún beneficio cubre lo que queda, y el texto no dice nada del caudal.",
        ),
    ),
    "release": (
        f"{SECTION}(f)",
        Sentence(
            "No benefit bears what is left, and the text doesn't say whether it is collected.",
            "Ningún beneficio cubre lo que queda, y el texto no dice si se cobra.",
        ),
    ),
    "place_held": (
        f"{SECTION}(d)",
        Sentence(
            "The text says that the plan lapses, and not what becomes of what was paid.",
            "El texto dice que el plan caduca, y no qué se hace con lo pagado.",
        ),
    ),
}
"""By choice, the clause and why it leaves this to a person."""


@dataclass(frozen=True)
class _Outcome:
    """What a decision posts, with the evidence of what it rests on. `result`: the determination's, if there is one."""

    drafts: Sequence[Draft]
    evidence: Sequence[Evidence] = ()
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moves(self) -> dict[str, str]:
        """What each account gains or loses."""
        cents = Counter[str]()
        for draft in self.drafts:
            for posting in draft.postings:
                cents[posting.account] += posting.amount_cents
        return {account: format_cents(moved) for account, moved in sorted(cents.items()) if moved}


@dataclass(frozen=True)
class Decisions:
    """Proposes decisions and does them."""

    plans: Plans

    def propose(self, plan_id: str, body: NewDecision, principal: Principal, language: Language) -> DecisionView:
        """Propose a decision; it takes the place of a proposal that isn't approved. It posts nothing.

        Raises 404, 403, 409 `already_decided`, 422 where the plan doesn't take it or not all that is held has a place.
        """
        record = self.plans.record(plan_id, principal)
        self._check_not_decided(plan_id, body.choice)
        on = self.plans.today
        outcome = self._outcome(record, body, on, principal)
        document = {
            "plan_id": plan_id,
            "decision": body.model_dump(mode="json"),
            "on": on.isoformat(),
            "moves": outcome.moves,
            "receipt": outcome.result.get("receipt"),
        }
        item: Item = {
            "pk": _partition(plan_id),
            "sk": _PROPOSAL,
            "content": json.dumps(document, ensure_ascii=False),
            "content_hash": content_hash(document).hex(),
            "proposed_by": principal.person,
        }
        self.plans.registry.put(item)
        return _view(document, item, None, language)

    def approve(self, plan_id: str, body: DecisionApproval, principal: Principal, language: Language) -> DecisionView:
        """Do what another person proposed. The same approval again is the first answer.

        Raises 404, 403 `same_person`, 409 `stale_hash` where the proposal, or what it would post, is another by now.
        """
        record = self.plans.record(plan_id, principal)
        if (done := self._done_of(record, body.content_hash)) is not None:
            # Whatever is proposed by now: what was approved is done.
            if done.body["approved_by"] != principal.person:
                raise already_approved()
            return _view(done.body, done.body, principal.person, language)
        item = self.plans.registry.get(_partition(plan_id), _PROPOSAL)
        if item is None:
            raise not_found(
                "no_decision_proposed",
                en=f"No decision about {plan_id} is proposed.",
                es=f"No hay decisión propuesta sobre {plan_id}.",
                field="plan_id",
            )
        principal.must_not_be(
            item["proposed_by"],
            en="Who proposed a decision can't approve it, by whatever client.",
            es="Quien propuso una decisión no puede aprobarla, por ningún cliente.",
        )
        if body.content_hash != item["content_hash"]:
            raise stale_hash()
        document = json.loads(item["content"])
        decision = DECISION.validate_json(json.dumps(document["decision"]))

        def decide(last: Line | None) -> Decision:
            now = self.plans.record_at(last, plan_id)
            outcome = self._outcome(now, decision, date.fromisoformat(document["on"]), principal)
            if outcome.moves != document["moves"]:
                raise stale_hash()
            return Decision(outcome.drafts, [_evidence(document, item, principal), *outcome.evidence])

        try:
            self.plans.passbooks.append(
                record.last.passbook,
                decide,
                key=BusinessKey(KeyKind.PLAN_DECIDED, f"{plan_id} {decision.choice}"),
                content={"content_hash": body.content_hash, "approved_by": principal.person},
            )
        except KeyConflictError as other:
            raise already_approved() from other
        return _view(document, item, principal.person, language)

    def listed(self, plan_id: str, principal: Principal, language: Language) -> DecisionList:
        """A plan's decisions, done and proposed."""
        record = self.plans.record(plan_id, principal)
        done = self._all_done(record)
        views = [_view(one.body, one.body, one.body["approved_by"], language) for one in done]
        item = self.plans.registry.get(_partition(plan_id), _PROPOSAL)
        if item is not None and all(one.body["content_hash"] != item["content_hash"] for one in done):
            views.append(_view(json.loads(item["content"]), item, None, language))
        return DecisionList(items=views)

    def _outcome(self, record: Record, decision: NewDecision, on: date, principal: Principal) -> _Outcome:
        """What the decision posts on the plan as it stands. Raises `Refusal`, and 422 where it can't be so."""
        origin = Origin(principal.label, f"{EVIDENCE}/{_identifier(record.plan_id, decision.choice)}")
        if isinstance(decision, PlaceHeld):
            return self._placed(record, decision, on, principal, origin)
        died_owing = (PlanStatus.UNDECIDED, PlanStatus.PAYING)
        takes = died_owing if isinstance(decision, ClaimOnEstate | Release) else (PlanStatus.UNDECIDED,)
        self.plans.check_takes(record, *takes)
        match decision:
            case ChargeDeathBenefit():
                return self._charged(record, decision, origin)
            case Lapse():
                return _Outcome([plans.lapsed(record.last, record.plan.death or on, origin)])
            case ClaimOnEstate():
                return _Outcome([plans.ended(record.last, plans.ESTATE, on, origin)])
            case Release():
                return _Outcome([plans.ended(record.last, plans.RELEASED, on, origin)])

    def _charged(self, record: Record, decision: ChargeDeathBenefit, origin: Origin) -> _Outcome:
        """(f), as of a pensioner: the benefit that was adopted with the death bears what it can."""
        plan = record.plan
        scheduled_cents = plans.installment_at_death_cents(record.lines)
        if scheduled_cents and decision.installment is not None:
            raise refused(
                "installment_known",
                en=f"The plan's own installment is {format_cents(scheduled_cents)}.",
                es=f"El plazo del propio plan es {format_cents(scheduled_cents)}.",
                citation=f"{SECTION}(f)",
                field="installment",
            )
        installment_cents = scheduled_cents or decision.installment or 0
        result = charge(plan.balance_cents, installment_cents, death_benefit=self._benefit_cents(record))
        draft = plans.death_charged(
            record.last,
            plan.death or record.last.effective_on,
            result.charged_to_death_benefit,
            origin,
            installment_cents=installment_cents,
        )
        return _Outcome([draft], result=result.model_dump(mode="json"))

    def _benefit_cents(self, record: Record) -> int:
        """The death benefit, as the fact of the death has it."""
        death = [line for line in record.lines if line.kind is LineKind.PLAN_DEATH][-1]
        fact = self.plans.passbooks.store.get_evidence(*str(death.determination).split("/", 1))
        if fact is None:
            msg = f"{death.determination} isn't there"
            raise LookupError(msg)
        return parse_cents(fact.body["amount"])

    def _placed(self, record: Record, decision: PlaceHeld, on: date, principal: Principal, origin: Origin) -> _Outcome:
        """Each cent that is held is paid in again, or payable."""
        held_cents = record.held_cents
        if not held_cents:
            raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(d)", status=record.plan.status.value)
        if decision.pay_in and record.has_died:
            raise participant_died("pay_in")
        payable_cents = sum(payee.amount for payee in decision.payees)
        if not decision.payees and not record.has_died:
            payable_cents = held_cents - decision.pay_in
        if payable_cents < 0 or payable_cents + decision.pay_in != held_cents:
            raise refused(
                "held_differs",
                en=f"{format_cents(held_cents)} is held: all of it, to the cent, is paid in or goes to payees by name.",
                es=f"Se retienen {format_cents(held_cents)}: todo, al centavo, se reingresa o va a quien se nombre.",
                citation=f"{SECTION}(d)",
                field="payees",
            )
        draft = plans.held_placed(record.last, record.line, payable_cents, on, origin, paid_in_cents=decision.pay_in)
        if not decision.pay_in:
            return _Outcome([draft])
        latest = plans.plan_of(record.last)
        into_line = latest.line if latest else record.line
        into = self.plans.record_at(record.last, plans.plan_id(record.last.passbook, into_line))
        self.plans.check_takes(into, PlanStatus.PRINCIPAL)
        payment = Paid.model_validate(
            {
                "reference": record.plan_id.replace("_", "-"),
                "paid_on": on.isoformat(),
                "amount": format_cents(decision.pay_in),
            }
        )
        paid = self.plans.principal_paid(into, [draft], payment, principal)
        (evidence,) = paid.evidence
        return _Outcome(paid.drafts, [evidence], evidence.body)

    def _check_not_decided(self, plan_id: str, choice: str) -> None:
        if self.plans.passbooks.store.get_evidence(EVIDENCE, _identifier(plan_id, choice)) is not None:
            raise conflict(
                "already_decided",
                en=f"This was decided about {plan_id}, and is done.",
                es=f"Esto ya se decidió sobre {plan_id}, y está hecho.",
                citation="Retiro API v1, two persons",
                field="choice",
            )

    def _all_done(self, record: Record) -> list[Evidence]:
        return [self._done(record.plan_id, choice) for choice in _choices_of(record.lines)]

    def _done_of(self, record: Record, approved_hash: str) -> Evidence | None:
        """The decision of this hash, where it is done."""
        return next((one for one in self._all_done(record) if one.body["content_hash"] == approved_hash), None)

    def _done(self, plan_id: str, choice: str) -> Evidence:
        evidence = self.plans.passbooks.store.get_evidence(EVIDENCE, _identifier(plan_id, choice))
        if evidence is None:
            msg = f"the decision {choice} about {plan_id} isn't there"
            raise LookupError(msg)
        return evidence


def _choices_of(lines: Sequence[Line]) -> list[str]:
    """The choices that a plan's lines rest on, in their order."""
    named = [line.determination for line in lines if line.determination is not None]
    return list(dict.fromkeys(one.rpartition("/")[2] for one in named if one.startswith(f"{EVIDENCE}/")))


def _evidence(document: Mapping[str, Any], item: Item, principal: Principal) -> Evidence:
    """The decision on the record: what was proposed, by whom, who approved it, and why it was a person's."""
    choice = document["decision"]["choice"]
    citation, question = QUESTIONS[choice]
    body = {
        **document,
        "citation": citation,
        "question": {"en": question.en, "es": question.es},
        "content_hash": item["content_hash"],
        "proposed_by": item["proposed_by"],
        "approved_by": principal.person,
    }
    return Evidence(EVIDENCE, _identifier(document["plan_id"], choice), body)


def _view(
    document: Mapping[str, Any], item: Mapping[str, Any], approved_by: str | None, language: Language
) -> DecisionView:
    citation, question = QUESTIONS[document["decision"]["choice"]]
    return DecisionView(
        plan_id=document["plan_id"],
        decision=DECISION.validate_json(json.dumps(document["decision"])),
        question=spoken(question, language),
        citation=citation,
        moves=[Move(account=account, amount=parse_cents(moved)) for account, moved in document["moves"].items()],
        receipt=document["receipt"],
        status="proposed" if approved_by is None else "done",
        content_hash=item["content_hash"],
        proposed_by=item["proposed_by"],
        approved_by=approved_by,
    )


def _identifier(plan_id: str, choice: str) -> str:
    return f"{plan_id}/{choice}"


def _partition(plan_id: str) -> str:
    return f"plan_decision#{plan_id}"
