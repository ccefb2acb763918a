"""Payment plans from the quote to the payoff, 3 L.P.R.A. § 830q(a)-(e). Nothing in this module knows HTTP routes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from payroll_deductions import plan_records as records
from payroll_deductions.plan_models import NewPlan, Paid, PlanApproval, PlanView, Quote, QuoteAsked
from payroll_deductions.plan_records import FACTS, Record, determined
from payroll_deductions.plan_views import view_of
from retiro.ledger import plans
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import known
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Draft, Line
from retiro.ledger.passbooks import Decide, Decision, Passbooks
from retiro.ledger.plans import PlanStatus
from retiro.ledger.savings import Origin
from retiro.portal import Principal, not_found, refused
from retiro.portal.approvals import stale_hash
from retiro.portal.reach import reached
from retiro.registry import open_plans
from retiro.registry.participants import Profile
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import format_cents
from retiro.rules.payment_plans import SECTION, PaymentPlan
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input

FUND = "ERS"


@dataclass(frozen=True)
class Plans:
    """Where plans are quoted, applied for, granted and paid."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.passbooks.clock())

    def quote(self, asked: QuoteAsked) -> Quote:
        """What the service would cost. It posts nothing, and says which settings are at their default."""
        if asked.principal_paid_on is not None and asked.principal_paid_on < asked.applied_on:
            raise invalid_input(SECTION, "principal_paid_on", "before_application")
        principal_cents = sum(debt.principal for debt in asked.debts)
        paid_on = asked.principal_paid_on or max(asked.approved_on, asked.cost_notified_on)
        payments = [{"date": paid_on.isoformat(), "amount": format_cents(principal_cents)}] if principal_cents else []
        given = _facts(asked) | {"approved_on": asked.approved_on.isoformat(), "principal_payments": payments}
        if asked.pension_starts_on is not None:
            given["pension_starts_on"] = asked.pension_starts_on.isoformat()
        result = determined(self.board.adopted(FUND), given, posts=False)
        return Quote(
            principal=principal_cents,
            total_cost=principal_cents + (result.total_interest or 0),
            defaults_used=[used.name for used in result.receipt.settings if used.in_force_from is None],
            plan=result,
        )

    def apply(self, body: NewPlan, principal: Principal) -> PlanView:
        """Apply for a plan. What the law refuses is refused now; another person grants it."""
        self._profile(body.participant_id, principal)
        self._check_past(body.applied_on, "applied_on")
        self._check_past(body.cost_notified_on, "cost_notified_on")
        facts = _facts(body)
        determined(
            self.board.adopted(FUND), facts | {"approved_on": max(body.applied_on, body.cost_notified_on).isoformat()},
            posts=False,
        )  # fmt: skip

        def decide(last: Line | None) -> Decision:
            last = known(last, body.participant_id)
            identifier = plans.plan_id(last.passbook, last.sequence + 1)
            draft = plans.applied(last, body.applied_on, Origin(principal.label, f"{records.APPLICATION}/{identifier}"))
            content = {**facts, "participant_id": body.participant_id, "entered_by": principal.person}
            return Decision([draft], [Evidence(records.APPLICATION, identifier, content)])

        appended = self.passbooks.append(
            body.participant_id,
            decide,
            key=BusinessKey(KeyKind.PLAN_APPLIED, f"{body.participant_id} {body.reference}"),
            content=facts | {"participant_id": body.participant_id},
        )
        return self._view(plans.plan_id(body.participant_id, appended.lines[0].sequence))

    def approve(self, plan_id: str, body: PlanApproval, principal: Principal) -> PlanView:
        """Grant the plan that was applied for with this content, as another person."""
        record = self.record(plan_id, principal)
        principal.must_not_be(
            record.application.body["entered_by"],
            en="Who entered a plan can't approve it, by whatever client.",
            es="Quien entró un plan no puede aprobarlo, por ningún cliente.",
        )
        if body.content_hash != record.application.content_hash.hex():
            raise stale_hash()
        self._check_past(body.approved_on, "approved_on")
        if body.approved_on.isoformat() < record.application.body["applied_on"]:
            raise invalid_input(SECTION, "approved_on", "before_application")

        def decide(last: Line | None) -> Decision:
            now = self.record_at(last, plan_id)
            self.check_takes(now, PlanStatus.APPLIED)
            if now.has_died:
                raise participant_died("plan_id")
            result = determined(self.board.adopted(FUND), now.given(body.approved_on))
            evidence = records.evidence_of(now.last, result)
            origin = Origin(principal.label, records.determination_of(evidence))
            principals = now.principals_cents
            drafts = [plans.approved(now.last, principals, body.approved_on, result.principal_deadline, origin)]
            scheduled = records.schedule_draft(plans.after(now.last, drafts), result, [0] * len(principals), origin)
            drafts += [] if scheduled is None else [scheduled]
            approval = Evidence(
                records.APPROVAL,
                plan_id,
                {
                    "approved_on": body.approved_on.isoformat(),
                    "approved_by": principal.person,
                    "content_hash": body.content_hash,
                    "plan_ends_on": result.plan_ends_on.isoformat(),
                },
            )
            opened = open_plans.opened(self.registry, now.last.passbook, now.line)
            return Decision(drafts, [evidence, approval], [opened])

        self.passbooks.append(
            record.last.passbook,
            decide,
            key=BusinessKey(KeyKind.PLAN_APPROVED, plan_id),
            content={"approved_on": body.approved_on.isoformat(), "approved_by": principal.person},
        )
        return self._view(plan_id)

    def pay_principal(self, plan_id: str, body: Paid, principal: Principal) -> PlanView:
        """Take a payment to the principal. The one that leaves nothing open brings the interest and the schedule."""
        record = self.record(plan_id, principal)
        self._check_paid_on(record, body.paid_on)

        def decide(last: Line | None) -> Decision:
            now = self.record_at(last, plan_id)
            self.check_takes(now, PlanStatus.PRINCIPAL)
            return self.principal_paid(now, [], body, principal)

        self._append(record, decide, KeyKind.PRINCIPAL_PAYMENT, plan_id, body)
        return self._view(plan_id)

    def pay_off(self, plan_id: str, body: Paid, principal: Principal) -> PlanView:
        """Take all that is open at once: the exact figure of the day, to the cent."""
        record = self.record(plan_id, principal)
        self._check_paid_on(record, body.paid_on)

        def decide(last: Line | None) -> Decision:
            now = self.record_at(last, plan_id)
            self.check_takes(now, PlanStatus.PRINCIPAL, PlanStatus.PAYING)
            if now.plan.status is not PlanStatus.PRINCIPAL:
                origin = Origin(principal.label, f"{records.APPROVAL}/{plan_id}", {"reference": body.reference})
                self._check_payoff_base(now)
                return Decision([plans.payoff(now.last, body.amount, body.paid_on, origin)])
            return self._pay_off_principal(now, body, principal)

        self._append(record, decide, KeyKind.PLAN_PAYOFF, plan_id, body)
        return self._view(plan_id)

    def principal_paid(self, now: Record, before: Sequence[Draft], body: Paid, principal: Principal) -> Decision:
        """The lines of a payment to the principal, after those `before` it; the last payment's with the schedule."""
        last = plans.after(now.last, before)
        result = self._determined(now, _payment(body.amount, body.paid_on))
        evidence = records.evidence_of(last, result)
        origin = Origin(principal.label, records.determination_of(evidence), {"reference": body.reference})
        drafts = [*before, plans.principal_payment(last, body.amount, body.paid_on, origin)]
        return Decision([*drafts, *self._schedule(now, drafts, result, origin)], [evidence])

    def read(self, plan_id: str, as_of: date | None, principal: Principal) -> PlanView:
        """The plan on a day."""
        self.record(plan_id, principal)
        return self._view(plan_id, as_of)

    def _pay_off_principal(self, now: Record, body: Paid, principal: Principal) -> Decision:
        """Principal, interest and all, in one transaction."""
        self._check_payoff_base(now)
        open_cents = now.plan.balance_cents
        result = self._determined(now, _payment(open_cents, body.paid_on))
        interest_cents = result.total_interest or 0
        if body.amount != open_cents + interest_cents:
            raise plans.payoff_differs(open_cents + interest_cents, body.amount, body.paid_on)
        evidence = records.evidence_of(now.last, result)
        origin = Origin(principal.label, records.determination_of(evidence), {"reference": body.reference})
        drafts = [plans.principal_payment(now.last, open_cents, body.paid_on, origin)]
        drafts += self._schedule(now, drafts, result, origin)
        if interest_cents:
            drafts.append(plans.payoff(plans.after(now.last, drafts), interest_cents, body.paid_on, origin))
        return Decision(drafts, [evidence])

    def _schedule(self, now: Record, drafts: Sequence[Draft], result: PaymentPlan, origin: Origin) -> list[Draft]:
        scheduled = records.schedule_draft(plans.after(now.last, drafts), result, now.interest_cents(), origin)
        return [] if scheduled is None else [scheduled]

    def _determined(self, now: Record, *payments: dict[str, str]) -> PaymentPlan:
        """The determination with these payments too."""
        approved_on = now.approved_on
        if approved_on is None:
            raise Refusal(RefusalCode.PLAN_NOT_OPEN, SECTION, status=PlanStatus.APPLIED.value)
        facts = {"principal_payments": [*now.payments(), *payments]}
        return determined(self.board.adopted(FUND), now.given(approved_on, **facts))

    def payoff_cents(self, record: Record, on: date) -> int | None:
        """What pays all of a plan on a day; `None` where nothing does, or where that is for a person."""
        plan = record.plan
        if plan.status is PlanStatus.PAYING:
            return None if self._bears_until_liquidated(record) else plan.balance_cents
        if plan.status is not PlanStatus.PRINCIPAL or self._bears_until_liquidated(record):
            return None
        try:
            result = self._determined(record, _payment(plan.balance_cents, on))
        except Refusal:
            return None
        return plan.balance_cents + (result.total_interest or 0)

    def _check_payoff_base(self, record: Record) -> None:
        """Under `balance_until_liquidated` interest runs to each installment: what an early day saves is a question."""
        if self._bears_until_liquidated(record):
            raise Refusal(
                RefusalCode.NEEDS_DECISION,
                f"{SECTION}(c)",
                reason_en=(
                    "under balance_until_liquidated each part of the interest bears interest to its own month-end, and "
                    "neither the text nor the setting says what a payoff before then saves. Installments are taken as "
                    "they fall due"
                ),
                reason_es=(
                    "bajo balance_until_liquidated cada parte del interés devenga interés hasta su cierre de mes, y ni "
                    "el texto ni la opción dicen qué ahorra un saldo anticipado. Los plazos se aceptan según vencen"
                ),
            )

    def _bears_until_liquidated(self, record: Record) -> bool:
        applied_on = date.fromisoformat(record.application.body["applied_on"])
        return self.board.adopted(FUND).setting("plan_interest_base", applied_on) == "balance_until_liquidated"

    def _append(self, record: Record, decide: Decide, kind: KeyKind, plan_id: str, body: Paid) -> None:
        self.passbooks.append(
            record.last.passbook,
            decide,
            key=BusinessKey(kind, f"{plan_id} {body.reference}"),
            content={"amount": format_cents(body.amount), "paid_on": body.paid_on.isoformat()},
        )

    @staticmethod
    def check_takes(record: Record, *statuses: PlanStatus) -> None:
        """Whether a plan is granted, or takes a payment, now. An earlier one isn't, whatever becomes of a later one."""
        latest = plans.plan_of(record.last)
        status = record.plan.status
        if status is PlanStatus.LAPSED:
            raise Refusal(RefusalCode.PLAN_LAPSED, f"{SECTION}(d)", plan_id=record.plan_id)
        if latest is None or latest.line != record.line or status not in statuses:
            raise Refusal(RefusalCode.PLAN_NOT_OPEN, SECTION, status=status.value)

    def record(self, plan_id: str, principal: Principal) -> Record:
        """The plan, where the principal may reach it. Raises 404, 403."""
        passbook, _, line = plan_id.partition("_")
        self._profile(passbook, principal)
        record = records.record_of(self.passbooks.store, passbook, int(line))
        if record is None:
            raise not_found("unknown_plan", en=f"There is no plan {plan_id}.", es=f"No existe el plan {plan_id}.")
        return record

    def record_at(self, last: Line | None, plan_id: str) -> Record:
        """The plan as it stands at a line of its passbook: all that a decision on that line may know."""
        passbook, _, line = plan_id.partition("_")
        record = records.record_of(self.passbooks.store, passbook, int(line), known(last, passbook))
        if record is None:
            raise records.EvidenceMissingError(plan_id)
        return record

    def _view(self, plan_id: str, as_of: date | None = None) -> PlanView:
        passbook, _, line = plan_id.partition("_")
        record = records.record_of(self.passbooks.store, passbook, int(line))
        if record is None:
            raise records.EvidenceMissingError(plan_id)
        day = as_of or self.today
        settled = day >= max(one.effective_on for one in record.lines)
        payoff_cents = self.payoff_cents(record, day) if settled else None
        return view_of(record, day, payoff_cents, is_past=day < self.today)

    def _profile(self, participant_id: str, principal: Principal) -> Profile:
        profile = reached(self.registry, participant_id, principal)
        if profile.fund != FUND:
            raise refused(
                "not_of_program",
                en="Payment plans are for participants of the Employees' Retirement System.",
                es="Los planes de pago son para participantes del Sistema de Retiro de los Empleados.",
                citation=f"{SECTION}(a)",
                field="participant_id",
            )
        return profile

    def _check_paid_on(self, record: Record, paid_on: date) -> None:
        self._check_past(paid_on, "paid_on")
        if paid_on.isoformat() < record.application.body["applied_on"]:
            raise invalid_input(SECTION, "paid_on", "before_application")

    def _check_past(self, on: date, field: str) -> None:
        if on > self.today:
            raise invalid_input(SECTION, field, "in_the_future")


def _facts(body: NewPlan | QuoteAsked) -> dict[str, Any]:
    return {name: value for name, value in body.model_dump(mode="json", exclude_none=True).items() if name in FACTS}


def _payment(amount_cents: int, paid_on: date) -> dict[str, str]:
    return {"date": paid_on.isoformat(), "amount": format_cents(amount_cents)}


def participant_died(field: str) -> Exception:
    """422: nothing begins for somebody who has died."""
    return refused(
        "participant_died",
        en="The participant has died: no plan is granted or paid in to, and what is held goes to payees by name.",
        es="El participante murió: no se concede ni se paga plan alguno, y lo retenido va a quien se nombre.",
        citation=f"{SECTION}(d), (f)",
        field=field,
    )
