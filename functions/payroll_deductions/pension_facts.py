"""Facts from the Employees' Retirement System: pensions, ends of service, death benefits, survivors' pensions.

One person enters a fact, another adopts it by its content's hash. Adopted, it is evidence, and does to an open plan
what § 830q says: (e) the pension payroll withholds from the pension's first day; (f) a death benefit is charged with
what a pensioner left unpaid, and the survivors' pension bears the rest.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter

from payroll_deductions import plan_records as records
from payroll_deductions.plan_models import ContentHash
from retiro.ledger import plans
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import known
from retiro.ledger.encoding import content_hash
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.plans import Plan, PlanStatus
from retiro.ledger.savings import Origin
from retiro.portal import Answer, Body, Principal, conflict, not_found
from retiro.portal.approvals import stale_hash
from retiro.portal.reach import reached
from retiro.registry.participants import ParticipantId
from retiro.registry.table import AlreadyThereError, Item, Table
from retiro.rules.calendar import Date, puerto_rico_date
from retiro.rules.money import NonNegativeMoney, PositiveMoney, format_cents
from retiro.rules.payment_plans import SECTION, PlanDeathCharge, plan_death_charge
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input

FUND = "ERS"
FACT = "pension_fact"
CHARGE = "plan_death_charge"
_PARTITION = "pension_facts"

FactId = Annotated[str, StringConstraints(pattern=r"^PF-[0-9a-f]{16}$"), Field(examples=["PF-0123456789abcdef"])]
Source = Annotated[str, StringConstraints(min_length=3, max_length=200, strip_whitespace=True)]


class _Fact(Body):
    """Whose fact it is, and what says so."""

    participant_id: ParticipantId
    source: Source


class PensionStarts(_Fact):
    """An ERS pension: its first day and its monthly amount."""

    kind: Literal["pension"]
    starts_on: Date
    monthly_amount: PositiveMoney


class ServiceEnds(_Fact):
    """The day on which active service ended."""

    kind: Literal["service_end"]
    ended_on: Date


class DeathBenefit(_Fact):
    """A death, and the benefit that it brings before any charge; `0.00` where there is none."""

    kind: Literal["death_benefit"]
    death_date: Date
    amount: NonNegativeMoney


class SurvivorsPension(_Fact):
    """The survivors' pension: its first day and its monthly amount."""

    kind: Literal["survivors_pension"]
    starts_on: Date
    monthly_amount: PositiveMoney


NewPensionFact = Annotated[PensionStarts | ServiceEnds | DeathBenefit | SurvivorsPension, Field(discriminator="kind")]
_FACT: TypeAdapter[PensionStarts | ServiceEnds | DeathBenefit | SurvivorsPension] = TypeAdapter(
    NewPensionFact, config=ConfigDict(defer_build=True)
)

_REPLACED_BY: Mapping[str, LineKind] = {
    "pension": LineKind.PENSION,
    "service_end": LineKind.SERVICE_END,
    "survivors_pension": LineKind.PLAN_DISCOUNTS,
}
"""The line of each kind of fact that a later one may replace."""


class FactAdoption(Body):
    """The fact with this content is adopted."""

    content_hash: ContentHash


class PensionFact(Answer):
    """A fact as it stands."""

    fact_id: FactId
    participant_id: ParticipantId
    kind: Literal["pension", "service_end", "death_benefit", "survivors_pension"]
    content_hash: ContentHash
    status: Literal["entered", "adopted"]
    entered_by: str
    adopted_by: str | None


@dataclass(frozen=True)
class PensionFacts:
    """Where facts are entered and adopted."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook

    def enter(
        self, fact: PensionStarts | ServiceEnds | DeathBenefit | SurvivorsPension, principal: Principal
    ) -> PensionFact:
        """Enter a fact. Its id comes from its content: the same again is the one that is there.

        Raises 409 `fact_replaced` where that one was adopted, and another has taken its place: it would do nothing.
        """
        self._check(fact, principal)
        body = fact.model_dump(mode="json")
        digest = content_hash(body).hex()
        item: Item = {
            "pk": _PARTITION,
            "sk": f"PF-{digest[:16]}",
            "content": json.dumps(body),
            "content_hash": digest,
            "entered_by": principal.person,
            "entered_at": self._now.isoformat(),
        }
        try:
            self.registry.insert(item)
        except AlreadyThereError as there:
            item = there.existing
            self._check_stands(item["sk"], fact)
        return self._answer(item)

    def adopt(self, fact_id: str, adoption: FactAdoption, principal: Principal) -> PensionFact:
        """Adopt the fact, as another person, and do what follows of it for an open plan, in one transaction."""
        item = self._item(fact_id)
        principal.must_not_be(
            item["entered_by"],
            en="Who entered a fact can't adopt it, by whatever client.",
            es="Quien entró un hecho no puede adoptarlo, por ningún cliente.",
        )
        if adoption.content_hash != item["content_hash"]:
            raise stale_hash()
        fact = _FACT.validate_json(item["content"])
        self._check(fact, principal)
        body = {**fact.model_dump(mode="json"), "entered_by": item["entered_by"], "adopted_by": principal.person}
        evidence = Evidence(FACT, fact_id, body)

        def decide(last: Line | None) -> Decision:
            origin = Origin(principal.label, f"{FACT}/{fact_id}")
            drafts, found = self._follows(known(last, fact.participant_id), fact, origin)
            return Decision(drafts, [evidence, *found])

        self.passbooks.append(fact.participant_id, decide, key=BusinessKey(KeyKind.PENSION_FACT, fact_id), content=body)
        return self._answer(item)

    def read(self, fact_id: str, principal: Principal) -> PensionFact:
        """The fact as it stands, for whom its participant is in reach."""
        item = self._item(fact_id)
        reached(self.registry, json.loads(item["content"])["participant_id"], principal)
        return self._answer(item)

    def _follows(
        self, last: Line, fact: PensionStarts | ServiceEnds | DeathBenefit | SurvivorsPension, origin: Origin
    ) -> tuple[list[Draft], list[Evidence]]:
        """The lines that a fact brings, and what they rest on beside it."""
        match fact:
            case PensionStarts():
                return self._pension(last, plans.Pension(fact.starts_on, fact.monthly_amount), origin)
            case ServiceEnds():
                return [plans.service_end(last, fact.ended_on, origin)], []
            case DeathBenefit():
                return self._death(last, fact, origin)
            case SurvivorsPension():
                return self._survivors(last, fact, origin)

    def _pension(self, last: Line, pension: plans.Pension, origin: Origin) -> tuple[list[Draft], list[Evidence]]:
        """The pension. Where installments wait for it (`with_pension`), the schedule too.

        The pension is a fact even where it makes the principal late that was taken: there is no schedule then, and the
        months' orders name the plan for a person.
        """
        drafts = [plans.pension(last, pension, origin)]
        plan = plans.plan_of(last)
        if plan is None or plan.status is not PlanStatus.PAYING or plan.terms is not None or plan.death is not None:
            return drafts, []
        record = records.record_of(self.passbooks.store, last.passbook, plan.line, last)
        if record is None or record.approved_on is None:
            raise records.EvidenceMissingError(plans.plan_id(last.passbook, plan.line))
        given = record.given(record.approved_on, pension_starts_on=pension.starts_on.isoformat())
        try:
            result = records.determined(self.board.adopted(FUND), given)
        except Refusal as refusal:
            if refusal.code is not RefusalCode.PRINCIPAL_LATE:
                raise
            return drafts, []
        evidence = records.evidence_of(plans.after(last, drafts), result)
        scheduled = records.schedule_draft(
            plans.after(last, drafts),
            result,
            record.interest_cents(),
            Origin(origin.principal, records.determination_of(evidence)),
        )
        return [*drafts, *([] if scheduled is None else [scheduled])], [evidence]

    def _death(self, last: Line, fact: DeathBenefit, origin: Origin) -> tuple[list[Draft], list[Evidence]]:
        """(f): the benefit is charged. Not pensioned yet, or the principal open: a person decides.

        With no plan open a lapsed one may hold money: whoever places it has to know of the death, once.
        """
        plan = plans.plan_of(last)
        if plan is None or not plan.is_open:
            if any(line.kind is LineKind.PLAN_DEATH for line in self.passbooks.store.through(last)):
                raise _not_open(plan)
            return [plans.noted(last, fact.death_date, origin)], []
        pension = plans.pension_of(last)
        pensioned = pension is not None and pension.starts_on <= fact.death_date
        if plan.status is not PlanStatus.PAYING or not pensioned or plan.terms is None:
            return [plans.undecided(last, fact.death_date, origin)], []
        result = charge(plan.balance_cents, plan.terms.amount_cents, death_benefit=fact.amount)
        evidence = _evidence_of(last, result)
        origin = Origin(origin.principal, records.determination_of(evidence))
        return [plans.death_charged(last, fact.death_date, result.charged_to_death_benefit, origin)], [evidence]

    def _survivors(self, last: Line, fact: SurvivorsPension, origin: Origin) -> tuple[list[Draft], list[Evidence]]:
        """(f): what the benefit left, in monthly discounts, each the plan's installment or the pension, if less."""
        plan = _open_plan(last)
        installment_cents = plans.installment_at_death_cents(self.passbooks.store.through(last))
        if plan.death is None or plan.status is not PlanStatus.PAYING:
            raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status=plan.status.value)
        result = charge(plan.balance_cents, installment_cents, survivors=fact.monthly_amount)
        if result.discounts is None:
            raise Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status=plan.status.value)
        evidence = _evidence_of(last, result)
        origin = Origin(origin.principal, records.determination_of(evidence), {"fact": str(origin.determination)})
        amount_cents = min(installment_cents, fact.monthly_amount)
        return [plans.discounts(last, amount_cents, fact.starts_on, origin)], [evidence]

    def _check_stands(self, fact_id: str, fact: PensionStarts | ServiceEnds | DeathBenefit | SurvivorsPension) -> None:
        """A fact that was adopted is the last of its kind. What a death brings can't be replaced."""
        adopted = self.passbooks.store.get_key(BusinessKey(KeyKind.PENSION_FACT, fact_id))
        kind = _REPLACED_BY.get(fact.kind)
        if adopted is None or kind is None:
            return
        passbook, sequence = adopted.lines[0]
        stands = [line for line in self.passbooks.store.lines(passbook, first=sequence) if line.kind is kind][-1]
        if stands.sequence == sequence:
            return
        there = str(stands.facts.get("fact", stands.determination)).rpartition("/")[2]
        body = self._adopted_body(there)
        what = ", ".join(body[name] for name in ("starts_on", "ended_on", "monthly_amount") if name in body)
        raise conflict(
            "fact_replaced",
            en=f"{fact_id} was adopted before, and {there} ({what}) stands in its "
            "place. If it holds again, enter it with the source that says so now.",
            es=f"{fact_id} se adoptó antes, y en su lugar rige {there} ({what}). "
            "Si vuelve a regir, éntrelo con la fuente que ahora lo dice.",
            citation=f"{SECTION}(e)",
            field="source",
        )

    def _adopted_body(self, fact_id: str) -> Mapping[str, Any]:
        evidence = self.passbooks.store.get_evidence(FACT, fact_id)
        return {} if evidence is None else evidence.body

    def _check(self, fact: PensionStarts | ServiceEnds | DeathBenefit | SurvivorsPension, principal: Principal) -> None:
        """The participant is known, in reach and of the fund; a death isn't in the future."""
        if reached(self.registry, fact.participant_id, principal).fund != FUND:
            raise not_found(
                "unknown_participant",
                en=f"There is no participant {fact.participant_id} of the Employees' Retirement System.",
                es=f"No existe el participante {fact.participant_id} del Sistema de Retiro de los Empleados.",
                field="participant_id",
            )
        if isinstance(fact, DeathBenefit) and fact.death_date > puerto_rico_date(self._now):
            raise invalid_input(SECTION, "death_date", "in_the_future")

    @property
    def _now(self) -> datetime:
        return self.passbooks.clock()

    def _item(self, fact_id: str) -> Item:
        item = self.registry.get(_PARTITION, fact_id)
        if item is None:
            raise not_found("unknown_fact", en=f"There is no fact {fact_id}.", es=f"No existe el hecho {fact_id}.")
        return item

    def _answer(self, item: Item) -> PensionFact:
        """What stands: the ledger says whether it was adopted, and by whom."""
        adopted = self.passbooks.store.get_evidence(FACT, item["sk"])
        content: dict[str, Any] = json.loads(item["content"])
        return PensionFact(
            fact_id=item["sk"],
            participant_id=content["participant_id"],
            kind=content["kind"],
            content_hash=item["content_hash"],
            status="entered" if adopted is None else "adopted",
            entered_by=item["entered_by"],
            adopted_by=None if adopted is None else adopted.body["adopted_by"],
        )


def _open_plan(last: Line) -> Plan:
    plan = plans.plan_of(last)
    if plan is None or not plan.is_open:
        raise _not_open(plan)
    return plan


def _not_open(plan: Plan | None) -> Refusal:
    status = "none" if plan is None else plan.status.value
    return Refusal(RefusalCode.PLAN_NOT_OPEN, f"{SECTION}(f)", status=status)


def charge(
    balance_cents: int, installment_cents: int, *, death_benefit: int = 0, survivors: int = 0
) -> PlanDeathCharge:
    """(f): what a death benefit, or a survivors' pension, bears of what is left, by the determination."""
    return plan_death_charge(
        plan_death_charge.parse(
            {
                "plan_balance": format_cents(balance_cents),
                "installment": format_cents(installment_cents),
                "death_benefit": format_cents(death_benefit),
                "survivor_monthly_pension": format_cents(survivors),
            }
        )
    )


def _evidence_of(last: Line, result: PlanDeathCharge) -> Evidence:
    return Evidence(CHARGE, f"{last.passbook}/{last.sequence + 1:08d}", result.model_dump(mode="json"))
