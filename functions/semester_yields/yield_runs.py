"""A semester's runs, as people ask for them: what stands, prepare, approve, pause, resume, reverse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from retiro.ledger.board import BoardBook
from retiro.registry.runs import Chunk, Phase, Run, RunBook, RunStatus
from retiro.rules.calendar import Semester, puerto_rico_date
from retiro.rules.version import RULES_VERSION
from retiro.runs.desk import ConflictCode, Desk, RunConflictError
from retiro.runs.exceptions import Found, exceptions_page
from retiro.runs.objects import RunObjects
from semester_yields.context import (
    SAVINGS,
    FiguresMissingError,
    Program,
    due_date,
    semester_context,
)

if TYPE_CHECKING:
    from retiro.ledger.figures import Figures

_STANDS_NOT = frozenset({RunStatus.REVERSED, RunStatus.SUPERSEDED, RunStatus.PREPARING, RunStatus.PREPARED})
"""A run in one of these statuses has nothing in the ledger that stands; nor has one that nobody has approved."""

_SETTLED = frozenset({RunStatus.POSTED, RunStatus.REVERSED, RunStatus.SUPERSEDED, RunStatus.PREPARED})


class NoRunError(Exception):
    """The semester has no run that this could be done with."""


class NotPostedError(Exception):
    """No run of the semester is posted, so that there is nothing to reverse."""


class LaterSemesterStandsError(Exception):
    """A later semester is posted, or being posted: it has to be reversed first."""

    def __init__(self, later: Semester) -> None:
        super().__init__(f"{later} stands")
        self.later = later


@dataclass(frozen=True)
class Standing:
    """How a semester stands: its yield date, its attempts, its reversals, and what a run would still lack."""

    semester: Semester
    due_on: date
    attempts: Sequence[Run]
    reversals: Sequence[Run]
    missing: Sequence[str]


@dataclass(frozen=True)
class YieldRuns:
    """The office. Who may do what is the door's to ask."""

    desk: Desk
    board: BoardBook
    objects: RunObjects
    program: Program = SAVINGS

    def of(self, program: Program) -> "YieldRuns":
        """The office of another program."""
        return replace(self, program=program)

    @property
    def figures(self) -> "Figures":
        """What the Board has adopted for the program's fund, read now."""
        return self.board.adopted(self.program.fund)

    @property
    def book(self) -> RunBook:
        """The runs of the registry."""
        return self.desk.book

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.desk.clock())

    def standing(self, semester: Semester) -> Standing:
        """How the semester stands."""
        figures = self.figures
        attempts = self.book.attempts(self.program.run, str(semester))
        missing: list[str] = []
        if not attempts:
            try:
                semester_context(figures, semester, semester.ends_on)
            except FiguresMissingError as lacking:
                missing = lacking.missing
        reversals = self.book.attempts(self.program.reversal, str(semester))
        return Standing(semester, due_date(figures, semester), attempts, reversals, missing)

    def chunks(self, run: Run) -> list[Chunk]:
        """A run's chunks, which say how far it is."""
        return self.book.chunks(run.id)

    def prepare(self, semester: Semester, person: str) -> Run:
        """Prepare the semester's next run.

        Raises `SemesterNotOverError`, `FiguresMissingError`, `RunConflictError`.
        """
        context = semester_context(self.figures, semester, self.today)
        return self.desk.request(self.program.run, str(semester), context, person)

    def prepare_if_new(self, semester: Semester, today: date, requester: str) -> Run:
        """The same for the schedule: only what no attempt has been prepared from yet."""
        context = semester_context(self.figures, semester, today)
        return self.desk.request_if_new(self.program.run, str(semester), context, requester)

    def approve(self, semester: Semester, run_hash: str, person: str) -> Run:
        """Approve whichever prepared run of the semester has this hash. Raises `NoRunError`, `RunConflictError`."""
        candidates = [
            run for kind in (self.program.run, self.program.reversal) for run in self.book.attempts(kind, str(semester))
        ]
        if not candidates:
            raise NoRunError
        return self.desk.approve(candidates, run_hash, person)

    def pause(self, semester: Semester) -> Run:
        """Pause the run that is under way. Raises `NoRunError`, `RunConflictError`."""
        return self.desk.pause(self._under_way(semester))

    def resume(self, semester: Semester) -> Run:
        """Resume the run that is paused or has failed. Raises `NoRunError`, `RunConflictError`."""
        return self.desk.resume(self._under_way(semester))

    def reverse(self, semester: Semester, reason: str, person: str) -> Run:
        """Prepare the reversal of all that is posted for a semester, the latest one first.

        Raises `NotPostedError`, `LaterSemesterStandsError`, `RunConflictError`.
        """
        attempts = self.book.attempts(self.program.run, str(semester))
        posted = [run.id.attempt for run in attempts if run.status is RunStatus.POSTED]
        under_way = [run for run in attempts if run.status not in _SETTLED]
        if under_way:
            raise RunConflictError(ConflictCode.RUN_UNDER_WAY, under_way[0])
        if not posted:
            raise NotPostedError
        later = semester.next()
        while later <= Semester.containing(self.today):
            if any(_may_stand(run) for run in self.book.attempts(self.program.run, str(later))):
                raise LaterSemesterStandsError(later)
            later = later.next()
        context = {
            "semester": str(semester),
            "reason": reason,
            "reverses": {"kind": self.program.run, "attempts": posted},
            "rules_version": RULES_VERSION,
        }
        return self.desk.request(self.program.reversal, str(semester), context, person)

    def exceptions(
        self, semester: Semester, after: str | None, limit: int, *, of_reversal: bool = False
    ) -> tuple[list[Found], str | None]:
        """A page of the exceptions of the latest attempt. Raises `NoRunError`, `FaultyCursorError`."""
        run = self.desk.latest(self.program.reversal if of_reversal else self.program.run, str(semester))
        if run is None:
            raise NoRunError
        return exceptions_page(self.objects, self.chunks(run), after, limit)

    def due_semester(self, today: date) -> Semester:
        """The semester that is to be prepared: the one after the last that is posted, or the last that has ended.

        Looked for among the last few: whoever rebuilds years of history asks for each semester by name.
        """
        figures = self.figures
        ended = Semester.containing(today)
        if due_date(figures, ended) > today:
            ended = ended.previous()
        earlier = ended
        for _ in range(_SEMESTERS_BACK):
            if any(run.status is RunStatus.POSTED for run in self.book.attempts(self.program.run, str(earlier))):
                return ended if earlier == ended else earlier.next()
            earlier = earlier.previous()
        return ended

    def _under_way(self, semester: Semester) -> Run:
        """The run of the semester that pause and resume are about: a reversal that has not ended, else the latest."""
        latest = self.desk.latest(self.program.run, str(semester))
        reversal = self.desk.latest(self.program.reversal, str(semester))
        if reversal is not None and reversal.status not in _SETTLED:
            return reversal
        if latest is None:
            raise NoRunError
        return latest


def _may_stand(run: Run) -> bool:
    return run.status not in _STANDS_NOT and run.phase is not Phase.PREPARE


_SEMESTERS_BACK = 4
