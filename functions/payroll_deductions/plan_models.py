"""What the doors of payment plans take and answer, 3 L.P.R.A. § 830q."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from retiro.ledger.plans import DEBTS_MAX
from retiro.portal import Amount, Answer, Body, Query
from retiro.registry.participants import ParticipantId, Reference
from retiro.rules.calendar import Date
from retiro.rules.money import NonNegativePercent, PositiveMoney
from retiro.rules.payment_plans import Debt, DebtKind, PaymentPlan
from retiro.rules.service_lengths import ServiceLength

PlanId = Annotated[str, StringConstraints(pattern=r"^P-[0-9]{6,9}_[1-9][0-9]{0,7}$"), Field(examples=["P-000001_2"])]
ContentHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]


class PlanFacts(Body):
    """The participant and the debts, as `payment_plan` takes them. Debts keep the order listed."""

    applied_on: Date
    status: Literal["active_service", "inactive"]
    first_joined_on: Date
    time_to_merit_pension: ServiceLength
    debts: Annotated[list[Debt], Field(min_length=1, max_length=DEBTS_MAX)]
    act_305: bool = False
    board_rate_percent: NonNegativePercent | None = None
    cost_notified_on: Date


class QuoteAsked(PlanFacts):
    """What a plan would cost if the principal were paid on one day; that of the approval where none is given."""

    approved_on: Date
    principal_paid_on: Date | None = None
    pension_starts_on: Date | None = None


class NewPlan(PlanFacts):
    """An application. `reference` is the client's own, once for each application."""

    participant_id: ParticipantId
    reference: Reference


class PlanApproval(Body):
    """The application with this content is granted on this day."""

    approved_on: Date
    content_hash: ContentHash


class Paid(Body):
    """A payment that the office took. `reference` is the client's own: two equal payments of a day are two."""

    reference: Reference
    paid_on: Date
    amount: PositiveMoney


class PlanQuery(Query):
    """The day on which the plan is looked at; today where none is given."""

    as_of: Date | None = None


class Quote(Answer):
    """The cost of the service: the principal, its interest by debt, both deadlines and the schedule.

    `defaults_used`: the settings that no act of the Board has adopted. A plan isn't approved on a default.
    """

    principal: Amount
    total_cost: Amount
    defaults_used: list[str]
    plan: PaymentPlan


class DebtView(Answer):
    """A debt on the day asked for: `balance` = `principal` + `interest` − `paid`.

    What a lapse, or a person's decision, took off isn't in `principal` or `interest` any more.
    """

    kind: DebtKind
    principal: Amount
    interest: Amount
    paid: Amount
    balance: Amount


class ScheduleView(Answer):
    """Equal installments on month-ends, the last one with the rest."""

    total: Amount
    count: int
    amount: Amount
    last_amount: Amount
    first_due_on: Date


class PlanView(Answer):
    """A plan on a day, with the status and the schedule that it had then. `arrears`: due by that day and not paid.

    `payoff`: what pays all of it on that day; none for a day before the plan's last line, or where a person decides.
    """

    plan_id: PlanId
    participant_id: ParticipantId
    status: Literal["applied", "principal", "paying", "undecided", "lapsed", "paid", "ended"]
    as_of: Date
    applied_on: Date
    content_hash: ContentHash
    entered_by: str
    approved_by: str | None
    approved_on: Date | None
    principal_deadline: Date | None
    plan_ends_on: Date | None
    debts: list[DebtView]
    balance: Amount
    arrears: Amount
    held: Amount
    schedule: ScheduleView | None
    payoff: Amount | None
