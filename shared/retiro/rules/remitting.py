"""What an employer is to remit, and by when: the statutory rate of contributions, and the day on which they are due.

The rate only tells what stands out. A contribution is never changed by it.
"""

from datetime import date

from retiro.rules import parameters
from retiro.rules.calendar import add_months
from retiro.rules.money import round_half_away

_RATES = {"ERS": "contribution_rate_ers_percent", "JRS": "contribution_rate_jrs_percent"}


def statutory_contribution_cents(fund: str, salary_cents: int, on: date) -> int:
    """The contribution that the fund's rate gives on a salary, rounded once.

    Raises:
        Refusal: `not_in_force`, where no rate is on that day.
    """
    rate = parameters.in_force(_RATES[fund], on, field="salary")
    return round_half_away(salary_cents * rate.value / 100)


def due_on(month: date) -> date:
    """The last day on which what was withheld in a month (any day of it) is remitted in time: the 15th of the next.

    Raises:
        Refusal: `not_in_force`, before the program's first month.
    """
    day = parameters.in_force("remittance_due_day", month).value
    return add_months(month.replace(day=1), 1).replace(day=int(day))
