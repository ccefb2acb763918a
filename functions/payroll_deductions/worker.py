"""Credits remittances, as the runs' state machine asks for it. One chunk, since each page is a line of one passbook."""

from functools import cache
from typing import TYPE_CHECKING, Any

from payroll_deductions.crediting import KIND, PAGE_ROWS, RemittanceKind
from payroll_deductions.world import Tables, TablesEnvironment
from retiro.runs.jobs import JobWorker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_ONE_CHUNK_ROWS = 1_000
"""As many lines as a remittance may have."""


class WorkerEnvironment(TablesEnvironment):
    """What this handler reads from its environment."""

    invocation_accounts: int = 0


@cache
def world() -> JobWorker:
    """Built when the first event comes."""
    environment = WorkerEnvironment.read()
    tables = Tables.of(environment)
    return JobWorker(
        name=KIND,
        jobs=tables.jobs,
        kind=RemittanceKind(tables.passbooks, tables.board),
        chunk_rows=_ONE_CHUNK_ROWS,
        page_rows=PAGE_ROWS,
        invocation_rows=environment.invocation_accounts,
    )


def handler(event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin, work, end or fail."""
    return world().handle(event, context)
