"""The daily look at plans: warnings before a deadline, lapses after it, and the month's deduction orders.

The day is that of the scheduled time, in Puerto Rico, not the clock's. Asked twice, it does nothing twice; a day on
which nobody looked is made good by the next look.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from payroll_deductions.order_runs import OrderEnvironment, OrderRuns, office_of
from payroll_deductions.world import Tables
from retiro.ledger import plans
from retiro.ledger.credits import known
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Draft, Line
from retiro.ledger.passbooks import Decide, Passbooks
from retiro.ledger.plans import Plan, PlanStatus
from retiro.ledger.savings import Origin
from retiro.registry import open_plans
from retiro.registry.table import Table
from retiro.rules.calendar import format_month, puerto_rico_date
from retiro.rules.refusals import Refusal
from retiro.runs.schedules import ScheduledEvent, filled_in

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SCHEDULE = "(schedule)"
"""Who has done what nobody asked for. No acting user is written so."""

WARNINGS = (60, 15)
"""How many days before the deadline a warning is put on the record."""


@dataclass(frozen=True)
class Lapses:
    """Looks at every plan whose principal is open."""

    passbooks: Passbooks
    registry: Table

    def look(self, today: date) -> dict[str, int]:
        """Warn, lapse, and forget whoever's principal isn't open any more. How many of each."""
        counts = {"open": 0, "warned": 0, "lapsed": 0}
        for participant_id, line in list(open_plans.plans(self.registry)):
            last = self.passbooks.last(participant_id)
            plan = None if last is None else plans.plan_of(last)
            if last is None or plan is None or plan.status is not PlanStatus.PRINCIPAL:
                open_plans.closed(self.registry, participant_id, line)
            elif lapses_on(last, plan) <= today:
                counts["lapsed"] += self._lapse(participant_id, plan)
            else:
                counts["open"] += 1
                counts["warned"] += self._warn(participant_id, plan, today)
        return counts

    def _lapse(self, participant_id: str, plan: Plan) -> bool:
        """Lapse the plan, unless a payment has come in between."""

        def decide(last: Line | None) -> Draft:
            last = known(last, participant_id)
            return plans.lapsed(last, lapses_on(last, plan), _ORIGIN)

        return self._once(participant_id, decide, BusinessKey(KeyKind.PLAN_LAPSED, _id(participant_id, plan)))

    def _warn(self, participant_id: str, plan: Plan, today: date) -> bool:
        """Put on the record that the deadline is near, once for each warning."""
        due = [days for days in WARNINGS if _days_left(plan, today) <= days]
        days_left = min(due, default=None)
        if days_left is None or (plan.warned is not None and plan.warned <= days_left):
            return False

        def decide(last: Line | None) -> Draft:
            return plans.warned(known(last, participant_id), days_left, today, _ORIGIN)

        key = BusinessKey(KeyKind.PLAN_WARNED, f"{_id(participant_id, plan)} {days_left}")
        return self._once(participant_id, decide, key)

    def _once(self, participant_id: str, decide: Decide, key: BusinessKey) -> bool:
        try:
            return not self.passbooks.append(participant_id, decide, key=key, content=str(key)).replayed
        except Refusal:
            return False  # the plan has moved on since we looked


def lapses_on(last: Line, plan: Plan) -> date:
    """(d): the first day that is too late for the principal: after the deadline or the service, or the pension's."""
    days = [] if plan.deadline is None else [plan.deadline + timedelta(days=1)]
    left, pension = plans.left_on(last), plans.pension_of(last)
    days += [] if left is None else [left + timedelta(days=1)]
    days += [] if pension is None else [pension.starts_on]
    return min(days)


@dataclass(frozen=True)
class World:
    """What the look works with."""

    lapses: Lapses
    orders: OrderRuns


@cache
def world() -> World:
    """Built at the first event."""
    environment = OrderEnvironment.read()
    tables = Tables.of(environment)
    return World(Lapses(tables.passbooks, tables.registry), office_of(environment))


def handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Look at the plans as of the scheduled day, and see that the month's orders are prepared."""
    del context
    logger = Logger(service="payroll_deductions")
    event = filled_in(event, world().lapses.passbooks.clock, logger)
    today = puerto_rico_date(ScheduledEvent.model_validate(event).scheduled_time)
    counts = world().lapses.look(today)
    run = world().orders.prepare_if_new(format_month(today), SCHEDULE)
    document = {"day": today.isoformat(), **counts, "orders": str(run.id)}
    logger.info("plans looked at", extra=document)
    return document


def _days_left(plan: Plan, today: date) -> int:
    return (plan.deadline - today).days if plan.deadline is not None else 0


def _id(participant_id: str, plan: Plan) -> str:
    return plans.plan_id(participant_id, plan.line)


_ORIGIN = Origin(SCHEDULE)
