"""§ 830q(e): the days on which installments fall due, and what each of them is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from retiro.rules.calendar import add_months, last_day_of_month


@dataclass(frozen=True, slots=True)
class Schedule:
    """Equal installments in cents, the last one with the rest, and the day on which each falls due."""

    amount_cents: int
    last_amount_cents: int
    due_on: tuple[date, ...]

    @property
    def amounts_cents(self) -> list[int]:
        """Each installment, in the order of the days."""
        return [self.amount_cents] * (len(self.due_on) - 1) + [self.last_amount_cents]


def month_ends(first: date, last: date) -> list[date]:
    """The last days of months from a day through another, both included.

    Each is counted from the first month and not from the one before, so that February doesn't shorten what follows.
    """
    months = (last.year - first.year) * 12 + last.month - first.month
    ends = [_month_end(add_months(first.replace(day=1), number)) for number in range(months + 1)]
    return [end for end in ends if first <= end <= last]


def _month_end(day: date) -> date:
    return day.replace(day=last_day_of_month(day.year, day.month))


def schedule(total_cents: int, month_ends_left: Sequence[date], plan_ends_on: date) -> Schedule | None:
    """Divide a total among the month-ends left; none where there is nothing to pay.

    The installment is the total over the count, cut to the cent and not rounded, so that the last one, which takes the
    rest, is never less than the others. None is below a cent: a total of fewer cents than month-ends has as many
    installments as cents. With no month-end left the whole is due on the plan's last day.
    """
    if total_cents == 0:
        return None
    due_on = tuple(month_ends_left[:total_cents]) or (plan_ends_on,)
    amount_cents = total_cents // len(due_on)
    return Schedule(amount_cents, total_cents - amount_cents * (len(due_on) - 1), due_on)
