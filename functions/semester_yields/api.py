"""The doors of the semesters' runs: prepare, read, approve, pause, resume, reverse."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from retiro.portal import (
    Body,
    Language,
    PageQuery,
    Portal,
    Principal,
    Problem,
    Query,
    conflict,
    cursor,
    not_found,
    refused,
)
from retiro.portal.run_problems import CITATION, faulty_cursor, run_conflict
from retiro.registry.clients import Party
from retiro.rules.calendar import Semester
from retiro.rules.forms import Sentence
from retiro.runs.desk import RunConflictError
from retiro.runs.exceptions import FaultyCursorError
from semester_yields import world as parts
from semester_yields.answers import RunException, RunExceptions, RunKindName, YieldRun
from semester_yields.context import PROGRAMS, FiguresMissingError, SemesterNotOverError
from semester_yields.yield_runs import LaterSemesterStandsError, NoRunError, NotPostedError, YieldRuns

_CLAUSE = "3 L.P.R.A. § 786-7(a)(3)"
_PARTIES = (Party.OFFICE, Party.FUND, Party.BOARD)

FundName = Literal["ERS", "JRS"]
Reason = Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]
RunHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]


class RunToPrepare(Body):
    """The semester that is to be prepared, and of which fund's accounts."""

    semester: Semester
    fund: FundName = "ERS"


class Approval(Body):
    """The hash of the run that is approved: what stands there and nothing else."""

    hash: RunHash


class Reversal(Body):
    """Why what was posted is taken back."""

    reason: Reason


class FundQuery(Query):
    """The fund whose run it is."""

    fund: FundName = "ERS"


class ExceptionsQuery(PageQuery):
    """A page of the exceptions of the latest run, or of the latest reversal."""

    kind: RunKindName = "yield"
    fund: FundName = "ERS"


@cache
def world() -> YieldRuns:
    """The office that the routes act on."""
    return parts.yield_runs()


portal = Portal("semester_yields")


@portal.post("/yield-runs", scopes="runs.prepare", status=202)
def prepare(body: RunToPrepare, principal: Principal) -> YieldRun:
    """Prepare a semester's run, from the figures and settings that the Board has adopted."""
    office = _office(principal, body.fund)
    with _answered(body.semester):
        office.prepare(body.semester, principal.person)
    return _standing(office, body.semester)


@portal.get("/yield-runs/{semester}", scopes=("runs.prepare", "runs.approve"))
def read(semester: Semester, query: FundQuery, principal: Principal) -> YieldRun:
    """How a semester's run stands, or what it would lack."""
    return _standing(_office(principal, query.fund), semester)


@portal.get("/yield-runs/{semester}/exceptions", scopes=("runs.prepare", "runs.approve"))
def exceptions(semester: Semester, query: ExceptionsQuery, principal: Principal, language: Language) -> RunExceptions:
    """The participants of the latest run to whom nothing is posted, or something came late."""
    office = _office(principal, query.fund)
    with _answered(semester):
        of_reversal = query.kind == "yield_reversal"
        found, after = office.exceptions(semester, query.after, query.limit, of_reversal=of_reversal)
    return RunExceptions(items=[RunException.of(one, language) for one in found], next_cursor=cursor(after))


@portal.post("/yield-runs/{semester}/approval", scopes="runs.approve", status=202)
def approve(semester: Semester, body: Approval, query: FundQuery, principal: Principal) -> YieldRun:
    """Approve the prepared run, or reversal, that has this hash. It starts the posting."""
    office = _office(principal, query.fund)
    with _answered(semester):
        office.approve(semester, body.hash, principal.person)
    return _standing(office, semester)


@portal.post("/yield-runs/{semester}/pause", scopes="runs.prepare", status=202)
def pause(semester: Semester, query: FundQuery, principal: Principal) -> YieldRun:
    """Pause the run that is under way."""
    office = _office(principal, query.fund)
    with _answered(semester):
        office.pause(semester)
    return _standing(office, semester)


@portal.post("/yield-runs/{semester}/resume", scopes="runs.prepare", status=202)
def resume(semester: Semester, query: FundQuery, principal: Principal) -> YieldRun:
    """Go on with the run that is paused, has failed, or whose execution was lost."""
    office = _office(principal, query.fund)
    with _answered(semester):
        office.resume(semester)
    return _standing(office, semester)


@portal.post("/yield-runs/{semester}/reversal", scopes="runs.approve", status=202)
def reverse(semester: Semester, body: Reversal, query: FundQuery, principal: Principal) -> YieldRun:
    """Prepare the reversal of what was posted for the semester; another person approves it by its hash."""
    office = _office(principal, query.fund)
    with _answered(semester):
        office.reverse(semester, body.reason, principal.person)
    return _standing(office, semester)


handler = portal.handler


def _office(principal: Principal, fund: str) -> YieldRuns:
    """The office of the fund, where the principal may go there."""
    principal.must_be(*_PARTIES)
    principal.must_reach_fund(fund)
    return world().of(PROGRAMS[fund])


def _standing(office: YieldRuns, semester: Semester) -> YieldRun:
    standing = office.standing(semester)
    told = [*standing.attempts[-1:], *standing.reversals[-1:]]
    return YieldRun.of(standing, {str(run.id): office.chunks(run) for run in told})


@contextmanager
def _answered(semester: Semester) -> Iterator[None]:
    """What the office can't do, as a problem that a person reads."""
    try:
        yield
    except RunConflictError as at_odds:
        raise run_conflict(str(at_odds.code), "semester") from at_odds
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
            citation=CITATION,
            field="semester",
        ) from None
    except LaterSemesterStandsError as stands:
        raise conflict(
            "later_semester_stands",
            en=f"{stands.later} stands; the latest semester is reversed first.",
            es=f"{stands.later} consta; se reversa primero el último semestre.",
            citation=CITATION,
            field="semester",
        ) from stands
    except FaultyCursorError:
        raise faulty_cursor() from None


def _not_in_force(lacking: FiguresMissingError) -> Problem:
    names = ", ".join(lacking.missing)
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "yield_not_in_force",
        Sentence(
            f"The Board has not adopted, for {lacking.semester}: {names}.",
            f"La Junta no ha adoptado, para {lacking.semester}: {names}.",
        ),
        citation=lacking.citation,
        field="semester",
        members={"missing": lacking.missing},
    )
