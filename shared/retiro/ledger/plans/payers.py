"""Who withholds: facts from outside about pensions and service, as lines, and the payer that follows from them."""

from dataclasses import dataclass
from datetime import date

from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.plans.drafting import check_not_closed, draft_of
from retiro.ledger.plans.figures import day_of, plan_of
from retiro.ledger.savings import Origin, Status

PENSION_PAYROLL = "E-000"
"""The payer of deductions from pensions. It gets orders and remits as an employer does, under this reserved id."""


@dataclass(frozen=True, slots=True)
class Pension:
    """An ERS pension as a fact from outside: its first day, and the month's amount."""

    starts_on: date
    monthly_cents: int


def pension_of(last: Line) -> Pension | None:
    """The pension adopted last, if any."""
    held = last.state.get("pension")
    return None if held is None else Pension(date.fromisoformat(held["from"]), held["monthly"])


def left_on(last: Line) -> date | None:
    """The day on which active service ended, if it is known."""
    return day_of(last.state.get("left"))


def payer_on(last: Line, employer_id: str, day: date) -> str | None:
    """Who withholds what falls due on a day: the pension payroll from the pension's first day, before it the employer.

    `None` for nobody: service has ended, and no pension has started. A pensioner's survivors are paid by the pension
    payroll too.
    """
    plan = plan_of(last)
    if plan is not None and plan.death is not None:
        return PENSION_PAYROLL if plan.terms is not None else None
    pension = pension_of(last)
    if pension is not None and pension.starts_on <= day:
        return PENSION_PAYROLL
    left = left_on(last)
    if left is not None and left <= day:
        return None
    return employer_id if Status(last.state["status"]) is Status.ACTIVE else None


def pension(last: Line, fact: Pension, origin: Origin) -> Draft:
    """An ERS pension, adopted: from its first day its payroll withholds what is due."""
    check_not_closed(last)
    state = {"pension": {"from": fact.starts_on.isoformat(), "monthly": fact.monthly_cents}}
    return draft_of(LineKind.PENSION, fact.starts_on, origin, state=state)


def service_end(last: Line, on: date, origin: Origin) -> Draft:
    """The end of active service, adopted. The savings account isn't touched."""
    check_not_closed(last)
    return draft_of(LineKind.SERVICE_END, on, origin, state={"left": on.isoformat()})
