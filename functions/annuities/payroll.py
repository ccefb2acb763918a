"""A month's payroll, as people ask for it: what stands, prepare, approve, pause, resume, reverse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from retiro.ledger.annuities import ANNUITY_REVERSAL_RUN, ANNUITY_RUN
from retiro.ledger.board import BoardBook
from retiro.ledger.store import LedgerStore
from retiro.registry.runs import Chunk, Phase, Run, RunBook, RunChangedError, RunId, RunStatus
from retiro.registry.table import Below
from retiro.rules.calendar import format_month, last_business_day, puerto_rico_date
from retiro.rules.judiciary_hybrid import SYSTEM
from retiro.rules.version import RULES_VERSION
from retiro.runs.desk import ConflictCode, Desk, RunConflictError
from retiro.runs.exceptions import Found, exceptions_page
from retiro.runs.objects import RunObjects

if TYPE_CHECKING:
    from retiro.ledger.figures import Ending, Figures

PAYMENT_FILE = "payment_file"
"""The detail of a run that names its payment file."""

TAKEN_BACK_BY = "taken_back_by"
"""The detail of a posted run that names the reversal, by its attempt, that was approved: it never has a file as well.

Each of the two is written on condition that the other isn't there, so that the run's own item decides which was first.
"""

_SETTLED = frozenset({RunStatus.POSTED, RunStatus.REVERSED, RunStatus.SUPERSEDED, RunStatus.PREPARED})


class NoPayrollError(Exception):
    """The month has no run that this could be done with."""


class NotPostedError(Exception):
    """No run of the month is posted, so that there is nothing to reverse and nothing to pay out."""


class MonthNotBegunError(Exception):
    """The month is still to come."""


class PaymentFileTakenError(Exception):
    """The payments went out: they come back one by one, as returned payments, and not by a reversal."""


@dataclass(frozen=True)
class Standing:
    """How a month stands: its attempts, its reversals, and what ends soon with nothing adopted after it."""

    month: date
    paid_on: date
    attempts: Sequence[Run]
    reversals: Sequence[Run]
    warnings: "Sequence[Ending]"


@dataclass(frozen=True)
class Payrolls:
    """The office. Who may do what is the door's to ask."""

    desk: Desk
    board: BoardBook
    ledger: LedgerStore
    objects: RunObjects

    @property
    def book(self) -> RunBook:
        """The runs of the registry."""
        return self.desk.book

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.desk.clock())

    def standing(self, month: date) -> Standing:
        """How the month stands."""
        figures = self.board.adopted(SYSTEM)
        period = format_month(month)
        return Standing(
            month,
            _paid_on(figures, month),
            self.book.attempts(ANNUITY_RUN, period),
            self.book.attempts(ANNUITY_REVERSAL_RUN, period),
            figures.ending_soon(self.today),
        )

    def warnings(self, on: date) -> "list[Ending]":
        """What ends within the next months with nothing adopted after it."""
        return self.board.adopted(SYSTEM).ending_soon(on)

    def chunks(self, run: Run) -> list[Chunk]:
        """A run's chunks, which say how far it is."""
        return self.book.chunks(run.id)

    def prepare(self, month: date, person: str) -> Run:
        """Prepare the month's next run. Raises `MonthNotBegunError`, `RunConflictError`."""
        return self.desk.request(ANNUITY_RUN, format_month(month), self._context(month, self.today), person)

    def prepare_if_new(self, month: date, today: date, requester: str) -> Run:
        """The same for the schedule: only where nobody has prepared it yet."""
        return self.desk.request_if_new(ANNUITY_RUN, format_month(month), self._context(month, today), requester)

    def approve(self, month: date, run_hash: str, person: str) -> Run:
        """Approve whichever prepared run of the month has this hash.

        Raises `NoPayrollError`, `RunConflictError`, and `PaymentFileTakenError` for a reversal that came too late.
        """
        period = format_month(month)
        kinds = (ANNUITY_RUN, ANNUITY_REVERSAL_RUN)
        candidates = [run for kind in kinds for run in self.book.attempts(kind, period)]
        if not candidates:
            raise NoPayrollError
        hashed = (run for run in candidates if run.details.get("hash") == run_hash)
        reversal = next((run for run in hashed if run.id.kind == ANNUITY_REVERSAL_RUN), None)
        if reversal is None or reversal.phase is not Phase.PREPARE:
            return self.desk.approve(candidates, run_hash, person)
        self._check_no_file(period)
        if reversal.status is RunStatus.PREPARED and reversal.requested_by != person:
            self._take_back(reversal)  # before the approval: whoever dies in between approves again, or makes the file
        try:
            return self.desk.approve(candidates, run_hash, person)
        except RunConflictError:
            self._check_no_file(period)  # which was made this moment, and has superseded the reversal
            raise

    def pause(self, month: date) -> Run:
        """Pause the run that is under way. Raises `NoPayrollError`, `RunConflictError`."""
        return self.desk.pause(self._under_way(month))

    def resume(self, month: date) -> Run:
        """Resume the run that is paused or has failed. Raises `NoPayrollError`, `RunConflictError`."""
        return self.desk.resume(self._under_way(month))

    def reverse(self, month: date, reason: str, person: str) -> Run:
        """Prepare the reversal of all that is posted for a month, as long as no payment file was made of it.

        Raises `NotPostedError`, `PaymentFileTakenError`, `RunConflictError`.
        """
        attempts = self.book.attempts(ANNUITY_RUN, format_month(month))
        under_way = [run for run in attempts if run.status not in _SETTLED]
        if under_way:
            raise RunConflictError(ConflictCode.RUN_UNDER_WAY, under_way[0])
        posted = [run for run in attempts if run.status is RunStatus.POSTED]
        if not posted:
            raise NotPostedError
        if any(PAYMENT_FILE in run.details for run in posted):
            raise PaymentFileTakenError
        context: dict[str, Any] = {
            "period": format_month(month),
            "reason": reason,
            "reverses": {"kind": ANNUITY_RUN, "attempts": [run.id.attempt for run in posted]},
            "rules_version": RULES_VERSION,
        }
        return self.desk.request(ANNUITY_REVERSAL_RUN, format_month(month), context, person)

    def exceptions(
        self, month: date, after: str | None, limit: int, *, of_reversal: bool = False
    ) -> tuple[list[Found], str | None]:
        """A page of the exceptions of the latest attempt. Raises `NoPayrollError`, `FaultyCursorError`."""
        run = self.desk.latest(ANNUITY_REVERSAL_RUN if of_reversal else ANNUITY_RUN, format_month(month))
        if run is None:
            raise NoPayrollError
        return exceptions_page(self.objects, self.chunks(run), after, limit)

    def check_not_reversing(self, month: date) -> None:
        """Raises `RunConflictError` while an approved reversal of the month is at work: nothing of it may go out."""
        reversal = self.desk.latest(ANNUITY_REVERSAL_RUN, format_month(month))
        if reversal is not None and reversal.phase is not Phase.PREPARE and reversal.status not in _SETTLED:
            raise RunConflictError(ConflictCode.RUN_UNDER_WAY, reversal)

    def pay_out(self, run: Run, made: Mapping[str, Any]) -> Run:
        """Give a posted run its payment file: from now on it isn't reversed. One that it has already stands.

        A reversal that nobody has approved is superseded if it holds the run. Raises `NotPostedError`, and
        `RunConflictError` where a reversal was approved first.
        """
        attempt = run.details.get(TAKEN_BACK_BY)
        if attempt is not None:
            self._supersede(RunId(ANNUITY_REVERSAL_RUN, run.id.period, attempt))
        free = {"status": str(RunStatus.POSTED), PAYMENT_FILE: None, TAKEN_BACK_BY: attempt}
        try:
            return self.book.note(run, {PAYMENT_FILE: made}, free, remove=[TAKEN_BACK_BY])
        except RunChangedError as changed:
            there = changed.run
        if there is None or there.status is not RunStatus.POSTED:
            raise NotPostedError
        if PAYMENT_FILE in there.details:
            return there
        raise RunConflictError(ConflictCode.RUN_UNDER_WAY, there)

    def posted(self, month: date, attempt: int | None) -> Run:
        """The posted run of a month: the latest, or that attempt. Raises `NotPostedError`."""
        runs = [
            run
            for run in self.book.attempts(ANNUITY_RUN, format_month(month))
            if run.status is RunStatus.POSTED and attempt in {None, run.id.attempt}
        ]
        if not runs:
            raise NotPostedError
        return runs[-1]

    def _context(self, month: date, today: date) -> dict[str, str]:
        if month > today:
            raise MonthNotBegunError
        return {
            "period": format_month(month),
            "paid_on": _paid_on(self.board.adopted(SYSTEM), month).isoformat(),
            "rules_version": RULES_VERSION,
        }

    def _check_no_file(self, period: str) -> None:
        """Raises `PaymentFileTakenError` where a payment file was made of what is posted for the period."""
        attempts = self.book.attempts(ANNUITY_RUN, period)
        if any(PAYMENT_FILE in run.details for run in attempts if run.status is RunStatus.POSTED):
            raise PaymentFileTakenError

    def _take_back(self, reversal: Run) -> None:
        """Mark the runs that a reversal takes back, so that no payment file is made of them any more.

        A later reversal's mark stands. Raises `PaymentFileTakenError` where a file was first.
        """
        reverses = reversal.context["reverses"]
        attempt = reversal.id.attempt
        free = {"status": str(RunStatus.POSTED), PAYMENT_FILE: None, TAKEN_BACK_BY: Below(attempt + 1)}
        for one in reverses["attempts"]:
            run = self.book.get(RunId(reverses["kind"], reversal.id.period, one))
            try:
                self.book.note(run, {TAKEN_BACK_BY: attempt}, free)
            except RunChangedError as changed:
                if changed.run is not None and PAYMENT_FILE in changed.run.details:
                    raise PaymentFileTakenError from changed

    def _supersede(self, reversal_id: RunId) -> None:
        """Take a reversal away that was never approved, so that it never will be. Raises `RunConflictError`."""
        reversal = self.book.get(reversal_id)
        if reversal.status is RunStatus.SUPERSEDED:
            return
        try:
            self.book.change(reversal, RunStatus.PREPARED, status=RunStatus.SUPERSEDED)
        except RunChangedError as changed:
            raise RunConflictError(ConflictCode.RUN_UNDER_WAY, changed.run) from changed

    def _under_way(self, month: date) -> Run:
        """The run that pause and resume are about: a reversal that has not ended, else the latest."""
        reversal = self.desk.latest(ANNUITY_REVERSAL_RUN, format_month(month))
        if reversal is not None and reversal.status not in _SETTLED:
            return reversal
        latest = self.desk.latest(ANNUITY_RUN, format_month(month))
        if latest is None:
            raise NoPayrollError
        return latest


def _paid_on(figures: "Figures", month: date) -> date:
    """The month's last business day."""
    closed = [day for day in figures.closure_days() if (day.year, day.month) == (month.year, month.month)]
    return last_business_day(month, closed)
