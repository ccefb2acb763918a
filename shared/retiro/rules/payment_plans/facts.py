"""§ 830q(a)–(e): the facts of a plan, as they come in."""

from typing import Literal

from pydantic import Field

from retiro.rules.calendar import Date
from retiro.rules.forms import Form
from retiro.rules.frame import Given
from retiro.rules.money import NonNegativeMoney, NonNegativePercent, PositiveMoney
from retiro.rules.payment_plans.section import DebtKind
from retiro.rules.service_lengths import ServiceLength


class Debt(Form):
    """Contributions owed, by kind, and the day from which they were.

    `accrued_interest` is that of an ordinary rate until the application, for the base `from_application` alone.
    """

    kind: DebtKind
    principal: NonNegativeMoney
    owed_from: Date
    accrued_interest: NonNegativeMoney | None = None


class PrincipalPayment(Form):
    """A payment to the principal on the day on which it was made."""

    date: Date
    amount: PositiveMoney


class PaymentPlanGiven(Given):
    """§ 830q(a)–(e): the participant, the debts, and what was paid. Payments and debts keep the order listed."""

    applied_on: Date
    status: Literal["active_service", "inactive"]
    first_joined_on: Date
    time_to_merit_pension: ServiceLength
    debts: list[Debt] = Field(default_factory=list)
    act_305: bool = False
    board_rate_percent: NonNegativePercent | None = None
    cost_notified_on: Date
    approved_on: Date
    principal_payments: list[PrincipalPayment] = Field(default_factory=list)
    pension_starts_on: Date | None = None
    separated_on: Date | None = None
    as_of: Date | None = None
