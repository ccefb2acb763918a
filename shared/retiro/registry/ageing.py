"""Which employers are late, and for what: every employer, every month that was due, as of a day.

A month is due on the 15th of the next. It is settled when something was filed for it, all of that is deposited, and of
the installments that were ordered for it none is missing that is still owed. A deposit that the bank took back is made
good by those that came for the month since. The first month that is looked at is the first for which the employer filed
or was ordered anything; an employer of whom neither is known stands in the report too, as one of whom nothing is known.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import partial

from retiro.ledger.plans import PENSION_PAYROLL, month_end, plan_of
from retiro.ledger.store import LedgerStore
from retiro.registry.deduction_orders import Order, ordered_months, orders_of
from retiro.registry.employers import Employer, all_employers
from retiro.registry.remittances import (
    deposit_of,
    installments_of,
    remittance_of,
    remittances_by_month,
    return_of,
)
from retiro.registry.table import Table
from retiro.rules.calendar import add_months
from retiro.rules.remitting import due_on

BUCKETS_DAYS = (30, 60, 90)
"""Where the ages of what is late are divided, in days after the due day."""


class Overdue(StrEnum):
    """Why a month is late."""

    NOTHING_FILED = "nothing_filed"
    NOT_DEPOSITED = "not_deposited"
    ORDERED_NOT_REMITTED = "ordered_not_remitted"
    """All that was filed is with the fund, and it has less in installments than was ordered."""


@dataclass(frozen=True)
class OverdueMonth:
    """A month that is late. `withheld_cents`: what was filed for it and isn't deposited; `ordered_cents`: its order."""

    period: str
    due_on: date
    days: int
    reason: Overdue
    withheld_cents: int
    ordered_cents: int


@dataclass(frozen=True)
class EmployerAge:
    """What an employer is late with. `months_due`: how many were; `is_known`: it has filed or was ordered any."""

    employer: Employer
    is_known: bool
    months_due: int
    months: Sequence[OverdueMonth]

    @property
    def withheld_cents(self) -> int:
        """All that was withheld and isn't deposited."""
        return sum(month.withheld_cents for month in self.months)

    @property
    def withheld_by_age_cents(self) -> tuple[int, ...]:
        """The same by age: 1–30, 31–60, 61–90 days, and more."""
        ages: Counter[int] = Counter()
        for month in self.months:
            ages[sum(month.days > bound for bound in BUCKETS_DAYS)] += month.withheld_cents
        return tuple(ages[bucket] for bucket in range(len(BUCKETS_DAYS) + 1))


@dataclass(frozen=True)
class Ageing:
    """Reads how late employers are."""

    store: LedgerStore
    table: Table

    def report(self, as_of: date, employer_id: str | None = None) -> Iterator[EmployerAge]:
        """Every employer's age as of a day, in the order of the ids; or one's."""
        return (self.of(employer, as_of) for employer in self.employers(employer_id))

    def employers(self, employer_id: str | None = None, *, after: str | None = None) -> Iterator[Employer]:
        """Every employer, or one, in the order of the ids; those after an id."""
        for employer in all_employers(self.table):
            wanted = employer_id in (None, employer.employer_id)
            if wanted and (after is None or employer.employer_id > after):
                yield employer

    def of(self, employer: Employer, as_of: date) -> EmployerAge:
        """An employer's age as of a day: what was deposited later doesn't count."""
        filed: dict[str, list[str]] = {}
        for period, remittance_id in remittances_by_month(self.table, employer.employer_id):
            filed.setdefault(period, []).append(remittance_id)
        ordered = set(ordered_months(self.table, employer.employer_id))
        periods = _due(min([*filed, *ordered], default=None), as_of)
        months: list[OverdueMonth] = []
        arrears_cents = 0  # what came with later months beyond their own installments: it is of the months before
        for period in sorted({*periods, *(filed.keys() & ordered)}, reverse=True):
            orders = list(orders_of(self.table, employer.employer_id, period)) if period in ordered else []
            moneys = [self._money(one, as_of) for one in filed.get(period, [])]
            month = self._month(employer, period, moneys, orders)
            owed = partial(self._is_owed, period, orders, as_of)
            if period in periods and (late := month.late(as_of, arrears_cents, owed)):
                months.append(late)
            arrears_cents += month.arrears_cents
        return EmployerAge(employer, bool(filed or ordered), len(periods), months[::-1])

    def _month(self, employer: Employer, period: str, moneys: Sequence["_Money"], orders: Sequence[Order]) -> "_Month":
        return _Month(
            period,
            is_filed=bool(moneys),
            is_contributing=employer.employer_id != PENSION_PAYROLL,
            withheld_cents=_withheld_cents(moneys),
            ordered_cents=sum(order.total_cents for order in orders),
            installment_cents=sum(order.installment_cents for order in orders),
            # The remittances themselves are read only where something was ordered: there may be very many.
            remitted_cents=sum(
                installments_of(self.store, money.remittance_id) for money in moneys if orders and money.is_there
            ),
        )

    def _is_owed(self, period: str, orders: Iterable[Order], as_of: date) -> bool:
        """Whether a plan still owes what was ordered for a month: another may have remitted it, or the debt be over.

        Whose plan isn't known counts as owing. A month that is short is asked for, until the first that owes.
        """
        end = month_end(date.fromisoformat(f"{period}-01"))
        for order in orders:
            lines = [line for line in self.store.lines(order.participant_id) if line.effective_on <= as_of]
            plan = plan_of(lines[-1]) if lines else None
            if plan is None or plan.due_cents(end):
                return True
        return False

    def _money(self, remittance_id: str, as_of: date) -> "_Money":
        deposited = deposit_of(self.store, remittance_id)
        if deposited is not None and deposited.value_date <= as_of:
            returned = return_of(self.store, remittance_id)
            returned_on = returned.returned_on if returned is not None and returned.returned_on <= as_of else None
            return _Money(remittance_id, deposited.amount_cents, deposited.value_date, returned_on)
        remittance = remittance_of(self.store, remittance_id)
        if remittance is None:
            raise LookupError(f"{remittance_id} is found by its month, and isn't there")
        return _Money(remittance_id, remittance.total_cents)


@dataclass(frozen=True)
class _Money:
    """A remittance's money as of a day: when it came, if it did, and when the bank took it back, if it did."""

    remittance_id: str
    amount_cents: int
    came_on: date | None = None
    returned_on: date | None = None

    @property
    def is_there(self) -> bool:
        return self.came_on is not None and self.returned_on is None


@dataclass(frozen=True)
class _Month:
    """What is known of a month. `remitted_cents`: the installments that are with the fund.

    Who isn't `is_contributing`, the pension payroll, owes what is ordered and nothing else.
    """

    period: str
    is_filed: bool
    is_contributing: bool
    withheld_cents: int
    ordered_cents: int
    installment_cents: int
    remitted_cents: int

    @property
    def arrears_cents(self) -> int:
        """What was remitted of the order's arrears: that is, of the months before."""
        return max(0, self.remitted_cents - self.installment_cents)

    def late(self, as_of: date, arrears_cents: int, is_owed: Callable[[], bool]) -> OverdueMonth | None:
        """The month where it is late. `arrears_cents`: what later months brought of what is missing of those before.

        `is_owed` says whether what is missing then is still owed.
        """
        is_short = self.remitted_cents + arrears_cents < self.ordered_cents and is_owed()
        if self.withheld_cents:
            reason = Overdue.NOT_DEPOSITED
        elif not self.is_filed and (is_short or self.is_contributing):
            reason = Overdue.NOTHING_FILED
        elif is_short:
            reason = Overdue.ORDERED_NOT_REMITTED
        else:
            return None
        due = due_on(date.fromisoformat(f"{self.period}-01"))
        return OverdueMonth(self.period, due, (as_of - due).days, reason, self.withheld_cents, self.ordered_cents)


def _withheld_cents(moneys: Iterable[_Money]) -> int:
    """What of a month's remittances is withheld and not with the fund.

    What the bank took back comes anew, as another remittance of the month: each deposit makes good what was taken back
    until its day and isn't made good yet. So they are walked from the last day to the first. A deposit that was taken
    back itself made good what came before it; the one that comes for it makes both good.
    """
    withheld_cents = 0
    steps: list[tuple[date, int, int]] = []
    for money in moneys:
        if money.came_on is None:
            withheld_cents += money.amount_cents
            continue
        # On one day: what stays makes good what is taken back, and nothing makes good its own return.
        bounced = money.came_on == money.returned_on
        steps.append((money.came_on, 1 if bounced else 3, money.amount_cents))
        if money.returned_on is not None:
            steps.append((money.returned_on, 2 if bounced else 0, -money.amount_cents))
    came_cents = 0
    for _, _, cents in sorted(steps, reverse=True):
        came_cents += cents
        if came_cents < 0:
            withheld_cents -= came_cents
            came_cents = 0
    return withheld_cents


def _due(first: str | None, as_of: date) -> list[str]:
    """The months from the first one that were due before a day."""
    periods: list[str] = []
    month = None if first is None else date.fromisoformat(f"{first}-01")
    while month is not None and due_on(month) < as_of:
        periods.append(f"{month:%Y-%m}")
        month = add_months(month, 1)
    return periods
