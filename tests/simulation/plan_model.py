"""What payment plans should come to: a plain model to which nothing ever happens. It knows debts, money and days.

3 L.P.R.A. § 830q, as the simulation's Board has settled it: simple interest on each piece of principal until the day
on which it was paid, by actual days over 365; installments on the month-ends from then through the plan's sixty months,
cut to the cent, the last one with the rest. Whatever is paid goes to the debts in the order listed.
"""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

PENSIONS = "E-000"
"""The payer of what is withheld from pensions."""

RATES = {"unaccounted_service": Fraction(6), "withdrawn_contributions": Fraction(5, 2)}
"""Percent a year, § 830q(c)."""

TERM_YEARS = 5


class Debt(NamedTuple):
    """Contributions owed: their kind, cents, and since when."""

    kind: str
    principal_cents: int
    owed_from: date


class Payment(NamedTuple):
    """Cents that the office took on a day."""

    cents: int
    on: date


class Row(NamedTuple):
    """A line of a remittance."""

    participant_id: str
    kind: str
    cents: int


class Order(NamedTuple):
    """What a payer is to withhold for a month."""

    payer_id: str
    installment_cents: int
    arrears_cents: int


@dataclass
class Plan:
    """A plan: what each debt owes and has paid, and what falls due when under the schedule that stands."""

    line: int
    debts: Sequence[Debt]
    status: str = "applied"
    begins_on: date = date.min
    owed_cents: list[int] = field(default_factory=list)
    paid_cents: list[int] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    installment_cents: int = 0
    schedule: list[tuple[date, int]] = field(default_factory=list)
    paid_of_schedule_cents: int = 0
    death: date | None = None
    discount_cents: int = 0

    @property
    def open_cents(self) -> list[int]:
        """What is open of each debt."""
        return [owed - paid for owed, paid in zip(self.owed_cents, self.paid_cents, strict=True)]

    @property
    def balance_cents(self) -> int:
        """What is open of all."""
        return sum(self.open_cents)

    @property
    def deadline(self) -> date:
        """(d): the last day for the principal."""
        return _years_after(self.begins_on, 1)

    def approve(self, begins_on: date) -> None:
        """Granted: the principal is owed."""
        self.status, self.begins_on = "principal", begins_on
        self.owed_cents = [debt.principal_cents for debt in self.debts]
        self.paid_cents = [0] * len(self.debts)

    def pay(self, cents: int) -> list[int]:
        """To the debts in the order listed: the piece of each."""
        pieces = []
        for number, open_cents in enumerate(self.open_cents):
            piece = min(cents, open_cents)
            self.paid_cents[number] += piece
            pieces.append(piece)
            cents -= piece
        assert not cents, "the model was overpaid"
        return pieces

    def pay_installment(self, cents: int) -> list[int]:
        """The same, under the schedule."""
        pieces = self.pay(cents)
        self.paid_of_schedule_cents += cents
        if not self.balance_cents:
            self.status = "paid"
        return pieces

    def take_back(self, pieces: Sequence[int]) -> None:
        """What was paid is owed again."""
        for number, piece in enumerate(pieces):
            self.paid_cents[number] -= piece
        self.paid_of_schedule_cents -= sum(pieces)
        self.status = "paying"

    def interest_cents(self) -> list[int]:
        """(c): of each debt, whose principal is paid, rounded once."""
        found = []
        left = [[payment.cents, payment.on] for payment in sorted(self.payments, key=lambda payment: payment.on)]
        for debt in self.debts:
            exact, open_cents = Fraction(0), debt.principal_cents
            while open_cents:
                cents, on = left[0]
                piece = min(cents, open_cents)
                exact += piece * RATES[debt.kind] / 100 * Fraction((on - debt.owed_from).days, 365)
                open_cents -= piece
                left[0][0] -= piece
                if not left[0][0]:
                    left.pop(0)
            found.append(int(exact + Fraction(1, 2)))  # the half goes up: none is below zero
        return found

    def begin_installments(self) -> list[int]:
        """(e): the principal is paid: the interest of each debt, which is owed from now on by the schedule."""
        interest = self.interest_cents()
        self.owed_cents = [owed + more for owed, more in zip(self.owed_cents, interest, strict=True)]
        total = sum(interest)
        paid_on = max(payment.on for payment in self.payments)
        ends_on = _years_after(self.begins_on, TERM_YEARS)
        # No installment is below a cent: of fewer cents than months, each is one.
        due_on = [day for day in _month_ends(paid_on, ends_on) if paid_on < day <= ends_on][:total]
        self.status = "paying" if total else "paid"
        if total:
            self.installment_cents = total // len(due_on)
            amounts = [self.installment_cents] * (len(due_on) - 1)
            self.schedule = list(zip(due_on, [*amounts, total - sum(amounts)], strict=True))
        return interest

    def discount(self, monthly_cents: int, starts_on: date) -> None:
        """(f): what remains, by discounts of the survivors' pension: the installment, or the pension, if it is less."""
        amount, left = min(self.installment_cents, monthly_cents), self.balance_cents
        self.discount_cents = amount
        self.schedule, self.paid_of_schedule_cents = [], 0
        day = month_end(starts_on)
        while left:
            self.schedule.append((day, min(amount, left)))
            left -= min(amount, left)
            day = month_end(day + timedelta(days=1))

    def due_cents(self, on: date) -> int:
        """What has fallen due by the end of a day and isn't paid; of survivors no more than one discount."""
        if self.status != "paying":
            return 0
        due = max(0, sum(cents for day, cents in self.schedule if day <= on) - self.paid_of_schedule_cents)
        return due if self.death is None else min(due, self.discount_cents)

    def lapse(self) -> int:
        """(d): nothing is owed any more; the cents that were paid, which are held."""
        held = sum(self.paid_cents)
        self.status = "lapsed"
        self.owed_cents = self.paid_cents = [0] * len(self.debts)
        return held


@dataclass
class Debtor:
    """A participant with plans, one after the other, and what the payroll remits as contributions."""

    employer_id: str
    plan: Plan | None = None
    pension_on: date | None = None
    left_on: date | None = None
    is_dead: bool = False
    savings_cents: int = 0
    orders: dict[str, Order] = field(default_factory=dict)

    def payer(self, on: date) -> str | None:
        """Who withholds what falls due on a day: nobody, where service has ended and no pension has begun."""
        if self.plan is not None and self.plan.death is not None:
            return PENSIONS
        if self.pension_on is not None and self.pension_on <= on:
            return PENSIONS
        return None if self.left_on is not None and self.left_on <= on else self.employer_id

    def order(self, month: str) -> Order | None:
        """What a month's order asks of whom now; `None` where nothing is due, or nobody pays."""
        first = date.fromisoformat(f"{month}-01")
        plan, payer_id = self.plan, self.payer(month_end(first))
        if plan is None or payer_id is None:
            return None
        # What survivors missed is asked for later, a discount a month: it only lengthens the plan.
        arrears = plan.due_cents(first - timedelta(days=1)) if plan.death is None else 0
        due = plan.due_cents(month_end(first))
        return Order(payer_id, due - arrears, arrears) if due else None


@dataclass
class Remitted:
    """A remittance that was taken, and what became of its money.

    `held`: cents of lines that wait for a person. Of a deposit that the bank took back the payer owes what it was given
    back before, and what a plan that has ended can't give back.
    """

    payer_id: str
    period: str
    rows: Sequence[Row]
    first_line: int
    value_date: date
    deposited: bool = False
    returned: bool = False
    clearing_cents: int = 0
    held: dict[int, int] = field(default_factory=dict)
    credited: dict[str, list["Credited"]] = field(default_factory=dict)
    taken_back: set[str] = field(default_factory=set)
    given_back_cents: int = 0
    owed_cents: int = 0

    @property
    def total_cents(self) -> int:
        """The deposit."""
        return sum(row.cents for row in self.rows)

    @property
    def through(self) -> date:
        """Through which day installments that are due may be credited."""
        return max(month_end(date.fromisoformat(f"{self.period}-01")), self.value_date)


class Credited(NamedTuple):
    """What one line of a transaction credited; of an installment the pieces by debt, and the plan's line."""

    participant_id: str
    kind: str
    cents: int
    pieces: Sequence[int] = ()
    plan_line: int = 0


@dataclass
class PlansModel:
    """The debtors, the money of their payers, and what was asked by whom: nothing else may be written.

    `held`: what each lapsed plan held. `decisions`: the hashes of what was proposed, by plan and choice.
    """

    debtors: dict[str, Debtor] = field(default_factory=dict)
    remitted: dict[str, Remitted] = field(default_factory=dict)
    applications: dict[str, Sequence[Debt]] = field(default_factory=dict)
    payments: dict[str, Payment] = field(default_factory=dict)
    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    looked_on: date = date.min
    held: dict[str, int] = field(default_factory=dict)
    decisions: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    decided: set[tuple[str, str]] = field(default_factory=set)


def month_end(day: date) -> date:
    """The last day of a day's month."""
    return date(day.year, day.month, monthrange(day.year, day.month)[1])


def _month_ends(first: date, last: date) -> list[date]:
    days = [month_end(first)]
    while days[-1] < last:
        days.append(month_end(days[-1] + timedelta(days=1)))
    return days


def _years_after(day: date, years: int) -> date:
    """No day of the simulation is a February 29."""
    return day.replace(year=day.year + years)
