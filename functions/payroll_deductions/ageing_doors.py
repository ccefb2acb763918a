"""The door of the ageing report."""

from functools import cache

from payroll_deductions.ageing_views import AgeingQuery, AgeingReport, AgeingViews
from payroll_deductions.portal import portal
from payroll_deductions.world import Tables, TablesEnvironment
from retiro.portal import Principal


@cache
def world() -> AgeingViews:
    """Built when the first request comes."""
    tables = Tables.of(TablesEnvironment.read())
    return AgeingViews(tables.passbooks, tables.registry)


@portal.get("/remittance-ageing", scopes=("payroll.remit", "payroll.confirm"))
def read_ageing(query: AgeingQuery, principal: Principal) -> AgeingReport:
    """Which employers are late with what they withheld, by month and by age."""
    return world().report(query, principal)
