"""Which employers are late, and for what: every employer, every month that was due, as of a day.

A month is due on the 15th of the next. It is settled when what was filed for it is deposited, and something was. The
first month that is looked at is the first for which the employer filed or was ordered anything; an employer of whom
neither is known stands in the report too, as one of whom nothing is known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from retiro.ledger.store import LedgerStore
from retiro.registry.deduction_orders import ordered_months, orders_of
from retiro.registry.employers import Employer, all_employers
from retiro.registry.remittances import deposit_of, remittance_of, remittances_by_month, return_of
from retiro.registry.table import Table
from retiro.rules.calendar import add_months
from retiro.rules.remitting import due_on

BUCKETS_DAYS = (30, 60, 90)
"""Where the ages of what is late are divided, in days after the due day."""


class Overdue(StrEnum):
    """Why a month is late."""

    NOTHING_FILED = "nothing_filed"
    NOT_DEPOSITED = "not_deposited"


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
        months = [
            month
            for period in periods
            if (month := self._month(employer, period, filed.get(period, []), as_of, is_ordered=period in ordered))
        ]
        return EmployerAge(employer, bool(filed or ordered), len(periods), months)

    def _month(
        self, employer: Employer, period: str, remittance_ids: Sequence[str], as_of: date, *, is_ordered: bool
    ) -> OverdueMonth | None:
        """The month where it is late; `None` where all that was filed for it is deposited."""
        withheld_cents = [self._withheld_cents(one, as_of) for one in remittance_ids]
        if withheld_cents and not any(withheld_cents):
            return None
        due = due_on(date.fromisoformat(f"{period}-01"))
        ordered = orders_of(self.table, employer.employer_id, period) if is_ordered else iter(())
        return OverdueMonth(
            period,
            due,
            (as_of - due).days,
            Overdue.NOT_DEPOSITED if withheld_cents else Overdue.NOTHING_FILED,
            sum(withheld_cents),
            sum(order.total_cents for order in ordered),
        )

    def _withheld_cents(self, remittance_id: str, as_of: date) -> int:
        """What of a remittance is withheld and not with the fund."""
        deposited = deposit_of(self.store, remittance_id)
        if deposited is not None and deposited.value_date <= as_of:
            returned = return_of(self.store, remittance_id)
            return deposited.amount_cents if returned is not None and returned.returned_on <= as_of else 0
        remittance = remittance_of(self.store, remittance_id)
        if remittance is None:
            raise LookupError(f"{remittance_id} is found by its month, and isn't there")
        return remittance.total_cents


def _due(first: str | None, as_of: date) -> list[str]:
    """The months from the first one that were due before a day."""
    periods: list[str] = []
    month = None if first is None else date.fromisoformat(f"{first}-01")
    while month is not None and due_on(month) < as_of:
        periods.append(f"{month:%Y-%m}")
        month = add_months(month, 1)
    return periods
