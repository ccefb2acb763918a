"""The doors of remittances: file, upload, look, place what has no place, and for the fund's client the deposit."""

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

from payroll_deductions.crediting import KIND
from payroll_deductions.findings import Findings
from payroll_deductions.models import (
    FileErrors,
    Filing,
    LineNumber,
    LinesCsvQuery,
    LinesQuery,
    MatchedLines,
    NewDeposit,
    NewPlacement,
    NewReturn,
    PlacementApproval,
    Placements,
    PlacementView,
    RemittanceId,
    RemittanceView,
)
from payroll_deductions.placing import Placing
from payroll_deductions.portal import portal
from payroll_deductions.receiving import Uploads
from payroll_deductions.remittances import Remittances
from payroll_deductions.returning import KIND as RETURN_KIND
from payroll_deductions.returns import Returns
from payroll_deductions.standing import Standing
from payroll_deductions.uploads import KIND as FILE_KIND
from payroll_deductions.world import Tables, TablesEnvironment
from retiro.portal import Language, PageQuery, Principal
from retiro.portal.routes import CSV
from retiro.registry import aws
from retiro.registry.jobs import Jobs
from retiro.runs.jobs import JobStarter

_EITHER = ("payroll.remit", "payroll.confirm")


class ApiEnvironment(TablesEnvironment):
    """What this handler reads from its environment."""

    runs_state_machine_arn: str
    remittance_worker_arn: str


@dataclass(frozen=True)
class World:
    """What the doors work with."""

    remittances: Remittances
    uploads: Uploads
    findings: Findings
    returns: Returns
    placing: Placing


@cache
def world() -> World:
    """Built when the first request comes."""
    environment = ApiEnvironment.read()
    tables = Tables.of(environment)

    def starter(kind: str, jobs: Jobs) -> JobStarter:
        return JobStarter(
            kind, jobs, aws.stepfunctions(), environment.runs_state_machine_arn, environment.remittance_worker_arn
        )

    file_jobs, return_jobs = tables.jobs_of(FILE_KIND), tables.jobs_of(RETURN_KIND)
    standing = Standing(tables.passbooks, tables.registry, tables.jobs)
    uploads = Uploads(tables.files, standing, file_jobs, starter(FILE_KIND, file_jobs))
    remittances = Remittances(
        tables.passbooks, tables.registry, tables.jobs, starter(KIND, tables.jobs), tables.files, uploads
    )
    return World(
        remittances,
        uploads,
        Findings(remittances, tables.files),
        Returns(remittances, return_jobs, starter(RETURN_KIND, return_jobs)),
        Placing(remittances, tables.board),
    )


@portal.post("/payroll-remittances", scopes="payroll.remit")
def remit(body: Filing, principal: Principal) -> RemittanceView:
    """File what was withheld. Nothing is credited until the fund confirms the deposit."""
    return world().remittances.receive(body, principal)


@portal.get("/payroll-remittances/{remittance_id}", scopes=_EITHER)
def read(remittance_id: RemittanceId, principal: Principal) -> RemittanceView:
    """Where a remittance stands, and which lines have no place."""
    return world().remittances.read(remittance_id, principal)


@portal.post("/payroll-remittances/{remittance_id}/validation", scopes="payroll.remit", status=HTTPStatus.ACCEPTED)
def validate(remittance_id: RemittanceId, principal: Principal) -> RemittanceView:
    """Validate the file that was uploaded: it is taken whole, or refused with all its errors."""
    return world().uploads.validate(remittance_id, principal)


@portal.get("/payroll-remittances/{remittance_id}/errors", scopes=_EITHER)
def errors(remittance_id: RemittanceId, query: PageQuery, principal: Principal, language: Language) -> FileErrors:
    """Every error of a file that was refused, by line and column."""
    return world().findings.errors(remittance_id, query, principal, language)


@portal.get("/payroll-remittances/{remittance_id}/lines", scopes=_EITHER)
def lines(remittance_id: RemittanceId, query: LinesQuery, principal: Principal) -> MatchedLines:
    """The lines of a remittance, each as it was matched to the deduction order."""
    return world().findings.lines(remittance_id, query, principal)


@portal.get("/payroll-remittances/{remittance_id}/lines/csv", scopes=_EITHER, media_type=CSV)
def lines_csv(remittance_id: RemittanceId, query: LinesCsvQuery, principal: Principal) -> str:
    """The lines as CSV, a thousand a page, in which no name is a formula."""
    return world().findings.lines_csv(remittance_id, query, principal)


@portal.post("/payroll-remittances/{remittance_id}/deposit", scopes="payroll.confirm", status=HTTPStatus.ACCEPTED)
def confirm(remittance_id: RemittanceId, body: NewDeposit, principal: Principal) -> RemittanceView:
    """Confirm a remittance's deposit: its lines are then credited on the value date."""
    return world().remittances.confirm(remittance_id, body, principal)


@portal.post(
    "/payroll-remittances/{remittance_id}/deposit-return", scopes="payroll.confirm", status=HTTPStatus.ACCEPTED
)
def take_deposit_back(remittance_id: RemittanceId, body: NewReturn, principal: Principal) -> RemittanceView:
    """The bank has taken a deposit back: what it credited is taken back too."""
    return world().returns.take_back(remittance_id, body, principal)


@portal.post("/payroll-remittances/{remittance_id}/placements", scopes="payroll.confirm")
def propose_placement(remittance_id: RemittanceId, body: NewPlacement, principal: Principal) -> PlacementView:
    """Propose where a line's money goes that couldn't be credited."""
    return world().placing.propose(remittance_id, body, principal)


@portal.get("/payroll-remittances/{remittance_id}/placements", scopes="payroll.confirm")
def read_placements(remittance_id: RemittanceId, query: PageQuery, principal: Principal) -> Placements:
    """What was proposed for a remittance's money that has no place."""
    return world().placing.listed(remittance_id, query, principal)


@portal.post(
    "/payroll-remittances/{remittance_id}/placements/{line}/approval", scopes="payroll.confirm", status=HTTPStatus.OK
)
def approve_placement(
    remittance_id: RemittanceId, line: LineNumber, body: PlacementApproval, principal: Principal
) -> PlacementView:
    """Do what another person proposed for a line's money."""
    return world().placing.approve(remittance_id, line, body, principal)
