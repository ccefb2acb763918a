"""The doors of employers' remittances: file, look, and for the fund's client confirm the deposit."""

from functools import cache
from http import HTTPStatus

from payroll_deductions.crediting import KIND
from payroll_deductions.models import NewDeposit, NewRemittance, RemittanceId, RemittanceView
from payroll_deductions.order_doors import portal
from payroll_deductions.remittances import Remittances
from payroll_deductions.world import Tables, TablesEnvironment
from retiro.portal import Principal
from retiro.registry import aws
from retiro.runs.jobs import JobStarter

__all__ = ["handler", "portal"]

handler = portal.handler


class ApiEnvironment(TablesEnvironment):
    """What this handler reads from its environment."""

    runs_state_machine_arn: str
    remittance_worker_arn: str


@cache
def world() -> Remittances:
    """Built when the first request comes."""
    environment = ApiEnvironment.read()
    tables = Tables.of(environment)
    starter = JobStarter(
        KIND, tables.jobs, aws.stepfunctions(), environment.runs_state_machine_arn, environment.remittance_worker_arn
    )
    return Remittances(tables.passbooks, tables.registry, tables.jobs, starter)


@portal.post("/payroll-remittances", scopes="payroll.remit")
def remit(body: NewRemittance, principal: Principal) -> RemittanceView:
    """File what was withheld. Nothing is credited until the fund confirms the deposit."""
    return world().receive(body, principal)


@portal.get("/payroll-remittances/{remittance_id}", scopes=("payroll.remit", "payroll.confirm"))
def read(remittance_id: RemittanceId, principal: Principal) -> RemittanceView:
    """Where a remittance stands, and which lines have no place."""
    return world().read(remittance_id, principal)


@portal.post("/payroll-remittances/{remittance_id}/deposit", scopes="payroll.confirm", status=HTTPStatus.ACCEPTED)
def confirm(remittance_id: RemittanceId, body: NewDeposit, principal: Principal) -> RemittanceView:
    """Confirm a remittance's deposit: its lines are then credited on the value date."""
    return world().confirm(remittance_id, body, principal)
