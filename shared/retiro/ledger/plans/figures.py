"""What stands of a plan: its status, its debts and its schedule, read off the last line; and what is due on a day."""

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from retiro.ledger.lines import Line
from retiro.rules.calendar import last_day_of_month

_DEBT = "plan_debt:"


class PlanStatus(StrEnum):
    """Where a plan stands."""

    APPLIED = "applied"
    PRINCIPAL = "principal"
    PAYING = "paying"
    UNDECIDED = "undecided"
    LAPSED = "lapsed"
    PAID = "paid"
    ENDED = "ended"


OPEN = frozenset({PlanStatus.PRINCIPAL, PlanStatus.PAYING, PlanStatus.UNDECIDED})
"""A participant has one plan in one of these. What is only applied for is replaced by the next application."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Equal installments of `amount_cents` on month-ends from `first_on`, the last one with the rest of the total."""

    total_cents: int
    amount_cents: int
    count: int
    first_on: date

    def due_cents(self, on: date) -> int:
        """What has fallen due by the end of a day."""
        due = self._due_count(on)
        return self.total_cents if due == self.count else due * self.amount_cents

    def _due_count(self, on: date) -> int:
        if on < self.first_on:
            return 0
        months = (on.year - self.first_on.year) * 12 + on.month - self.first_on.month
        # A first day that isn't a month-end is that of a single installment, on the plan's last day.
        return min(self.count, max(1, months + (on == month_end(on))))


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as the last line carries it. `debts_cents`: what is open of each debt, in the order listed.

    `line` is the sequence of the application, which names the plan. The whole principal, its `deadline`, and `warned`,
    the days left when the last warning was given, are there while principal is open. `terms` once there is a schedule.
    `death`: the day of a pensioner's death, from which only survivors' pensions pay.
    """

    line: int
    status: PlanStatus
    debts_cents: tuple[int, ...]
    principal_cents: int = 0
    deadline: date | None = None
    warned: int | None = None
    terms: Terms | None = None
    death: date | None = None

    @property
    def balance_cents(self) -> int:
        """What is open of all debts."""
        return sum(self.debts_cents)

    @property
    def is_open(self) -> bool:
        """Whether it stands in the way of another plan."""
        return self.status in OPEN

    def due_cents(self, through: date) -> int:
        """What is due by the end of a day and isn't paid. Of survivors one discount at most is due at a time.

        (f) limits each of their discounts to the installment, or the pension: one that was missed lengthens the plan.
        """
        return self.due_of_cents(self.balance_cents, through)

    def due_of_cents(self, balance_cents: int, through: date) -> int:
        """The same where so much is open, as on an earlier day."""
        if self.status is not PlanStatus.PAYING or self.terms is None:
            return 0
        due_cents = max(0, self.terms.due_cents(through) - (self.terms.total_cents - balance_cents))
        return due_cents if self.death is None else min(due_cents, self.terms.amount_cents)

    def order_cents(self, month: date) -> tuple[int, int]:
        """What the payer of a month (any day of it) withholds: the month's installment, and apart from it arrears.

        Survivors have no arrears.
        """
        if self.death is not None:
            return self.due_cents(month_end(month)), 0
        arrears_cents = self.due_cents(month.replace(day=1) - timedelta(days=1))
        return self.due_cents(month_end(month)) - arrears_cents, arrears_cents


def plan_of(last: Line) -> Plan | None:
    """The participant's plan, open or not; `None` where there never was one."""
    held = last.state.get("plan")
    if held is None:
        return None
    terms = held.get("terms")
    return Plan(
        line=held["line"],
        status=PlanStatus(held["status"]),
        debts_cents=tuple(-last.balance_cents(debt_account(number)) for number in range(1, held.get("debts", 0) + 1)),
        principal_cents=held.get("principal", 0),
        deadline=day_of(held.get("deadline")),
        warned=held.get("warned"),
        terms=None if terms is None else Terms(terms[0], terms[1], terms[2], date.fromisoformat(terms[3])),
        death=day_of(held.get("death")),
    )


def plan_id(passbook: str, line: int) -> str:
    """The id of a plan: the participant's, and the line of the application."""
    return f"{passbook}_{line}"


def debt_account(number: int) -> str:
    """The account of a plan's debt; the first is 1."""
    return f"{_DEBT}{number}"


def month_end(day: date) -> date:
    """The last day of a day's month."""
    return day.replace(day=last_day_of_month(day.year, day.month))


def day_of(text: str | None) -> date | None:
    """A day as a state has it."""
    return None if text is None else date.fromisoformat(text)
