"""The deduction orders' runs as people ask for them, and the orders as payers read them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from payroll_deductions.world import TablesEnvironment
from retiro.ledger.plans import ORDER_REVERSAL_RUN, ORDER_RUN
from retiro.registry import aws, clock
from retiro.registry.deduction_orders import Order, orders_of, orders_page
from retiro.registry.runs import Chunk, Phase, Run, RunBook, RunId, RunStatus
from retiro.registry.table import Table
from retiro.rules.calendar import format_month, puerto_rico_date
from retiro.rules.version import RULES_VERSION
from retiro.runs.desk import ConflictCode, Desk, RunConflictError
from retiro.runs.exceptions import Found, exceptions_page
from retiro.runs.objects import RunObjects
from retiro.runs.start import start_execution

_SETTLED = frozenset({RunStatus.POSTED, RunStatus.REVERSED, RunStatus.SUPERSEDED, RunStatus.PREPARED})


class OrderEnvironment(TablesEnvironment):
    """What who starts the orders' runs reads from the environment."""

    files_bucket: str
    runs_state_machine_arn: str
    order_worker_arn: str


class NoRunError(Exception):
    """The month has no run that this could be done with."""


class NotPostedError(Exception):
    """No orders of the month are posted, so that there is nothing to reverse."""


class MonthAheadError(Exception):
    """A month that is further ahead than the next one."""


@dataclass(frozen=True)
class OrderRuns:
    """The office. Who may do what is the door's to ask."""

    desk: Desk
    objects: RunObjects
    registry: Table

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.desk.clock())

    def latest(self, month: str, kind: str = ORDER_RUN) -> Run:
        """The month's latest run, or reversal. Raises `NoRunError`."""
        run = self.desk.latest(kind, month)
        if run is None:
            raise NoRunError
        return run

    def latest_reversal(self, month: str) -> Run | None:
        """The month's latest reversal, if any."""
        return self.desk.latest(ORDER_REVERSAL_RUN, month)

    def chunks(self, run: Run) -> list[Chunk]:
        """A run's chunks, which say how far it is."""
        return self.desk.book.chunks(run.id)

    def prepare(self, month: str, person: str) -> Run:
        """Prepare the month's next run. Raises `MonthAheadError`, `RunConflictError`."""
        if month > format_month(_next_month(self.today)):
            raise MonthAheadError
        return self.desk.request(ORDER_RUN, month, _context(month), person)

    def prepare_if_new(self, month: str, requester: str) -> Run:
        """The same for the schedule: only where the month has no run yet."""
        return self.desk.request_if_new(ORDER_RUN, month, _context(month), requester)

    def approve(self, month: str, run_hash: str, person: str) -> Run:
        """Approve the prepared run, or reversal, that has this hash. Raises `NoRunError`, `RunConflictError`."""
        kinds = (ORDER_RUN, ORDER_REVERSAL_RUN)
        candidates = [run for kind in kinds for run in self.desk.book.attempts(kind, month)]
        if not candidates:
            raise NoRunError
        return self.desk.approve(candidates, run_hash, person)

    def pause(self, month: str) -> Run:
        """Pause the run that is under way. Raises `NoRunError`, `RunConflictError`."""
        return self.desk.pause(self._under_way(month))

    def resume(self, month: str) -> Run:
        """Resume the run that is paused or has failed. Raises `NoRunError`, `RunConflictError`."""
        return self.desk.resume(self._under_way(month))

    def reverse(self, month: str, reason: str, person: str) -> Run:
        """Prepare the reversal of all that is posted for a month. Raises `NotPostedError`, `RunConflictError`."""
        attempts = self.desk.book.attempts(ORDER_RUN, month)
        under_way = [run for run in attempts if run.status not in _SETTLED]
        if under_way:
            raise RunConflictError(ConflictCode.RUN_UNDER_WAY, under_way[0])
        posted = [run for run in attempts if run.status is RunStatus.POSTED]
        if not posted:
            raise NotPostedError
        context = {
            "month": month,
            "reason": reason,
            "reverses": {"kind": ORDER_RUN, "attempts": [run.id.attempt for run in posted]},
            "rules_version": RULES_VERSION,
        }
        return self.desk.request(ORDER_REVERSAL_RUN, month, context, person)

    def exceptions(
        self, month: str, after: str | None, limit: int, *, kind: str = ORDER_RUN
    ) -> tuple[list[Found], str | None]:
        """A page of the latest run's exceptions, or reversal's. Raises `NoRunError`, `FaultyCursorError`."""
        return exceptions_page(self.objects, self.chunks(self.latest(month, kind)), after, limit)

    def orders(self, payer_id: str, month: str, after: str | None, limit: int) -> tuple[list[Order], str | None]:
        """A page of a payer's orders. Raises `NoRunError` while no run of the month is posted."""
        self._check_posted(month)
        return orders_page(self.registry, payer_id, month, after, limit)

    def all_orders(self, payer_id: str, month: str, *, after: str | None = None) -> Iterator[Order]:
        """All of a payer's orders, or those after a participant. Raises `NoRunError` while no run is posted."""
        self._check_posted(month)
        return orders_of(self.registry, payer_id, month, after=after)

    def _under_way(self, month: str) -> Run:
        """The run that pause and resume are about: a reversal that has not ended, else the latest."""
        reversal = self.latest_reversal(month)
        return self.latest(month) if reversal is None or reversal.status in _SETTLED else reversal

    def _check_posted(self, month: str) -> None:
        if not any(run.status is RunStatus.POSTED for run in self.desk.book.attempts(ORDER_RUN, month)):
            raise NoRunError


def office_of(environment: OrderEnvironment) -> OrderRuns:
    """The office of the tables, the bucket and the machine that the environment names."""
    registry = Table(aws.dynamodb(), environment.registry_table)

    def start(run: RunId, number: int, phase: Phase) -> None:
        start_execution(
            aws.stepfunctions(),
            state_machine_arn=environment.runs_state_machine_arn,
            worker_arn=environment.order_worker_arn,
            run=run,
            number=number,
            phase=phase,
        )

    desk = Desk(RunBook(registry), clock.utc_now, start)
    return OrderRuns(desk, RunObjects(aws.s3(), environment.files_bucket), registry)


def _context(month: str) -> dict[str, str]:
    return {"month": month, "rules_version": RULES_VERSION}


def _next_month(day: date) -> date:
    return day.replace(year=day.year + day.month // 12, month=day.month % 12 + 1, day=1)
