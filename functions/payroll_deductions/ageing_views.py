"""The ageing report as the doors answer it: by employer, the months that are late, and the sums by age."""

from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Annotated, Literal

from pydantic import Field

from payroll_deductions.models import Month
from retiro.ledger.passbooks import Passbooks
from retiro.portal import Amount, Answer, PageQuery, Principal, cursor
from retiro.registry.ageing import Ageing, EmployerAge
from retiro.registry.clients import Party
from retiro.registry.participants import EmployerId
from retiro.registry.table import Table
from retiro.rules.calendar import Date, puerto_rico_date
from retiro.rules.refusals import invalid_input
from retiro.rules.savings_accounts import SECTION

_CITATION = f"{SECTION}(a)(2)"


class AgeingQuery(PageQuery):
    """The day that the report is of (today), and the employer (all that the client reaches)."""

    as_of: Date | None = None
    employer_id: EmployerId | None = None


class OverdueMonthView(Answer):
    """A month that is late: what was filed for it and isn't deposited, and what was ordered for it.

    `ordered_not_remitted`: all that was filed is deposited, and it has less in installments than was ordered.
    """

    period: Month
    due_on: Date
    days: int
    reason: Literal["nothing_filed", "not_deposited", "ordered_not_remitted"]
    withheld: Amount
    ordered: Amount


class EmployerAgeView(Answer):
    """An employer, late or not. `withheld_by_age`: 1 to 30 days after the due day, 31 to 60, 61 to 90, and more."""

    employer_id: EmployerId
    fund: str
    known: Annotated[bool, Field(description="Whether it has ever filed, or was ever ordered to withhold.")]
    due_count: Annotated[
        int, Field(description="How many months were due, from the first that it filed or was ordered.")
    ]
    withheld: Amount
    withheld_by_age: list[Amount]
    late: list[OverdueMonthView]


class AgeingReport(Answer):
    """A page of employers."""

    as_of: Date
    items: list[EmployerAgeView]
    next_cursor: str | None


@dataclass(frozen=True)
class AgeingViews:
    """Answers the report."""

    passbooks: Passbooks
    registry: Table

    def report(self, query: AgeingQuery, principal: Principal) -> AgeingReport:
        """A page of employers, those that the client reaches.

        Raises 403 for another agency, and 422 for a day ahead: what will be late then isn't known.
        """
        today = puerto_rico_date(self.passbooks.clock())
        as_of: date = query.as_of or today
        if as_of > today:
            raise invalid_input(_CITATION, "as_of", "in_the_future")
        employer_id = query.employer_id
        if principal.party is Party.EMPLOYER:
            employer_id = employer_id or principal.employer_id
        if employer_id is not None:
            principal.must_reach_employer(employer_id)
        ageing = Ageing(self.passbooks.store, self.registry)
        reached = (
            one for one in ageing.employers(employer_id, after=query.after) if principal.fund in (None, one.fund)
        )
        ages = [ageing.of(employer, as_of) for employer in islice(reached, query.limit)]
        more = ages[-1].employer.employer_id if len(ages) == query.limit else None
        return AgeingReport(as_of=as_of, items=[_view(age) for age in ages], next_cursor=cursor(more))


def _view(age: EmployerAge) -> EmployerAgeView:
    return EmployerAgeView(
        employer_id=age.employer.employer_id,
        fund=age.employer.fund,
        known=age.is_known,
        due_count=age.months_due,
        withheld=age.withheld_cents,
        withheld_by_age=list(age.withheld_by_age_cents),
        late=[
            OverdueMonthView(
                period=month.period,
                due_on=month.due_on,
                days=month.days,
                reason=month.reason.value,
                withheld=month.withheld_cents,
                ordered=month.ordered_cents,
            )
            for month in age.months
        ],
    )
