"""The doors of the semesters' runs: prepare, read, approve, pause, resume, reverse."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import Annotated

from pydantic import Field, StringConstraints

from retiro.portal import (
    Body,
    Language,
    PageQuery,
    Portal,
    Principal,
    Problem,
    conflict,
    cursor,
    forbidden,
    not_found,
    refused,
)
from retiro.registry.clients import Party
from retiro.rules.calendar import Semester
from retiro.rules.forms import Sentence
from retiro.runs.desk import ConflictCode, RunConflictError
from retiro.runs.exceptions import FaultyCursorError
from semester_yields import world as parts
from semester_yields.answers import RunException, RunExceptions, RunKindName, YieldRun
from semester_yields.context import FUND, FiguresMissingError, SemesterNotOverError
from semester_yields.yield_runs import LaterSemesterStandsError, NoRunError, NotPostedError, YieldRuns

_CLAUSE = "3 L.P.R.A. § 786-7(a)(3)"
_RUNS = "Retiro API v1, runs"
_PARTIES = (Party.OFFICE, Party.FUND, Party.BOARD)

_CONFLICTS = {
    ConflictCode.RUN_UNDER_WAY: Sentence(
        "Another run of this semester is under way.", "Otra corrida de este semestre está en curso."
    ),
    ConflictCode.STALE_HASH: Sentence(
        "No run that waits for approval has this hash.", "Ninguna corrida por aprobar tiene este código."
    ),
    ConflictCode.ALREADY_APPROVED: Sentence(
        "The run was approved already, by another person.", "La corrida ya fue aprobada, por otra persona."
    ),
    ConflictCode.NOT_UNDER_WAY: Sentence(
        "The run isn't under way, so that nothing can be paused.", "La corrida no está en curso y no se puede pausar."
    ),
    ConflictCode.NOT_RESUMABLE: Sentence(
        "The run is neither paused nor failed.", "La corrida no está en pausa ni ha fallado."
    ),
}

Reason = Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]
RunHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]


class RunToPrepare(Body):
    """The semester that is to be prepared."""

    semester: Semester


class Approval(Body):
    """The hash of the run that is approved: what stands there and nothing else."""

    hash: RunHash


class Reversal(Body):
    """Why what was posted is taken back."""

    reason: Reason


class ExceptionsQuery(PageQuery):
    """A page of the exceptions of the latest run, or of the latest reversal."""

    kind: RunKindName = "yield"


@cache
def world() -> YieldRuns:
    """The office that the routes act on."""
    return parts.yield_runs()


portal = Portal("semester_yields")


@portal.post("/yield-runs", scopes="runs.prepare", status=202)
def prepare(body: RunToPrepare, principal: Principal) -> YieldRun:
    """Prepare a semester's run, from the figures and settings that the Board has adopted."""
    _may_run(principal)
    with _answered(body.semester):
        world().prepare(body.semester, principal.person)
    return _standing(body.semester)


@portal.get("/yield-runs/{semester}", scopes=("runs.prepare", "runs.approve"))
def read(semester: Semester, principal: Principal) -> YieldRun:
    """How a semester's run stands, or what it would lack."""
    _may_run(principal)
    return _standing(semester)


@portal.get("/yield-runs/{semester}/exceptions", scopes=("runs.prepare", "runs.approve"))
def exceptions(semester: Semester, query: ExceptionsQuery, principal: Principal, language: Language) -> RunExceptions:
    """The participants of the latest run to whom nothing is posted, or something came late."""
    _may_run(principal)
    with _answered(semester):
        found, after = world().exceptions(semester, query.kind, query.after, query.limit)
    return RunExceptions(items=[RunException.of(one, language) for one in found], next_cursor=cursor(after))


@portal.post("/yield-runs/{semester}/approval", scopes="runs.approve", status=202)
def approve(semester: Semester, body: Approval, principal: Principal) -> YieldRun:
    """Approve the prepared run, or reversal, that has this hash. It starts the posting."""
    _may_run(principal)
    with _answered(semester):
        world().approve(semester, body.hash, principal.person)
    return _standing(semester)


@portal.post("/yield-runs/{semester}/pause", scopes="runs.prepare", status=202)
def pause(semester: Semester, principal: Principal) -> YieldRun:
    """Pause the run that is under way."""
    _may_run(principal)
    with _answered(semester):
        world().pause(semester)
    return _standing(semester)


@portal.post("/yield-runs/{semester}/resume", scopes="runs.prepare", status=202)
def resume(semester: Semester, principal: Principal) -> YieldRun:
    """Go on with the run that is paused, has failed, or whose execution was lost."""
    _may_run(principal)
    with _answered(semester):
        world().resume(semester)
    return _standing(semester)


@portal.post("/yield-runs/{semester}/reversal", scopes="runs.approve", status=202)
def reverse(semester: Semester, body: Reversal, principal: Principal) -> YieldRun:
    """Prepare the reversal of what was posted for the semester; another person approves it by its hash."""
    _may_run(principal)
    with _answered(semester):
        world().reverse(semester, body.reason, principal.person)
    return _standing(semester)


handler = portal.handler


def _may_run(principal: Principal) -> None:
    principal.must_be(*_PARTIES)
    principal.must_reach_fund(FUND)


def _standing(semester: Semester) -> YieldRun:
    office = world()
    standing = office.standing(semester)
    told = [*standing.attempts[-1:], *standing.reversals[-1:]]
    return YieldRun.of(standing, {str(run.id): office.chunks(run) for run in told})


@contextmanager
def _answered(semester: Semester) -> Iterator[None]:
    """What the office can't do, as a problem that a person reads."""
    try:
        yield
    except RunConflictError as at_odds:
        raise _conflict(at_odds) from at_odds
    except NoRunError:
        raise not_found(
            "run_not_found",
            en=f"{semester} has no such run.",
            es=f"{semester} no tiene esa corrida.",
            field="semester",
        ) from None
    except SemesterNotOverError as early:
        raise refused(
            "semester_not_over",
            en=f"{semester} is prepared from {early.due_on} on, its last business day.",
            es=f"{semester} se prepara desde el {early.due_on}, su último día laborable.",
            citation=_CLAUSE,
            field="semester",
        ) from early
    except FiguresMissingError as lacking:
        raise _not_in_force(lacking) from lacking
    except NotPostedError:
        raise conflict(
            "not_posted",
            en=f"Nothing is posted for {semester}.",
            es=f"No hay nada acreditado para {semester}.",
            citation=_RUNS,
        ) from None
    except LaterSemesterStandsError as stands:
        raise conflict(
            "later_semester_stands",
            en=f"{stands.later} stands; the latest semester is reversed first.",
            es=f"{stands.later} consta; se reversa primero el último semestre.",
            citation=_RUNS,
        ) from stands
    except FaultyCursorError:
        raise refused(
            "invalid_cursor",
            en="The cursor isn't one that a page before has given.",
            es="El cursor no es uno que haya dado una página anterior.",
            citation="Retiro API v1, lists",
            field="cursor",
        ) from None


def _conflict(at_odds: RunConflictError) -> Problem:
    if at_odds.code is ConflictCode.SAME_PERSON:
        return forbidden(
            "same_person",
            en="Who prepared a run can't approve it, by whatever client.",
            es="Quien preparó una corrida no puede aprobarla, por ningún cliente.",
            citation="Retiro API v1, two persons",
            field="Acting-User",
        )
    sentence = _CONFLICTS[at_odds.code]
    return conflict(str(at_odds.code), en=sentence.en, es=sentence.es, citation=_RUNS)


def _not_in_force(lacking: FiguresMissingError) -> Problem:
    names = ", ".join(lacking.missing)
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "yield_not_in_force",
        Sentence(
            f"The Board has not adopted, for {lacking.semester}: {names}.",
            f"La Junta no ha adoptado, para {lacking.semester}: {names}.",
        ),
        citation="3 L.P.R.A. § 786-7(b)(3)",
        field="semester",
        members={"missing": lacking.missing},
    )
