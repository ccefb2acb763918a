"""Works files of participants off, as the runs' state machine asks for it."""

from functools import cache
from typing import TYPE_CHECKING, Any

from participants.files import CHUNK_ROWS_MAX, KIND, PAGE_ROWS
from participants.world import Tables, TablesEnvironment
from retiro.runs.jobs import JobWorker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


class WorkerEnvironment(TablesEnvironment):
    """What this handler reads from its environment."""

    chunk_accounts: int = CHUNK_ROWS_MAX
    invocation_accounts: int = 0


@cache
def world() -> JobWorker:
    """Built when the first event comes."""
    environment = WorkerEnvironment.read()
    tables = Tables.of(environment)
    return JobWorker(
        name=KIND,
        jobs=tables.jobs,
        kind=tables.file_kind,
        chunk_rows=min(environment.chunk_accounts, CHUNK_ROWS_MAX),
        page_rows=PAGE_ROWS,
        invocation_rows=environment.invocation_accounts,
    )


def handler(event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin, work, end or fail."""
    return world().handle(event, context)
