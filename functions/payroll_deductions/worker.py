"""Validates remittance files, credits remittances and takes credits back, as the runs' state machine asks for it.

Crediting is one chunk, since each page is a line of one passbook; a file is validated by many.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from payroll_deductions.crediting import KIND, PAGE_ROWS, RemittanceKind, folded
from payroll_deductions.file_reading import LINES_MAX
from payroll_deductions.file_store import PAGE_ROWS as FILE_PAGE_ROWS
from payroll_deductions.returning import KIND as RETURN_KIND
from payroll_deductions.returning import ReturnKind
from payroll_deductions.uploads import KIND as FILE_KIND
from payroll_deductions.validation import FileKind
from payroll_deductions.world import Tables, TablesEnvironment
from retiro.runs.jobs import JobWorker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

FILE_CHUNK_ROWS = 5 * FILE_PAGE_ROWS
"""Rows of a file that a worker validates: whole pages, forty chunks for the largest file."""


class WorkerEnvironment(TablesEnvironment):
    """What this handler reads from its environment."""

    invocation_accounts: int = 0


@cache
def world() -> dict[str, JobWorker]:
    """The worker of each kind, built when the first event comes."""
    environment = WorkerEnvironment.read()
    tables = Tables.of(environment)
    files = FileKind(tables.passbooks.store, tables.registry, tables.files)
    return {
        KIND: JobWorker(
            name=KIND,
            jobs=tables.jobs,
            kind=RemittanceKind(tables.passbooks, tables.board, tables.files),
            chunk_rows=LINES_MAX,
            page_rows=PAGE_ROWS,
            invocation_rows=environment.invocation_accounts,
            fold=folded,
        ),
        FILE_KIND: JobWorker(
            name=FILE_KIND,
            jobs=tables.jobs_of(FILE_KIND),
            kind=files,
            chunk_rows=FILE_CHUNK_ROWS,
            page_rows=FILE_PAGE_ROWS,
            invocation_rows=environment.invocation_accounts,
            finish=files.finish,
        ),
        RETURN_KIND: JobWorker(
            name=RETURN_KIND,
            jobs=tables.jobs_of(RETURN_KIND),
            kind=ReturnKind(tables.passbooks, tables.board, tables.registry),
            chunk_rows=LINES_MAX,
            page_rows=1,
            invocation_rows=environment.invocation_accounts,
        ),
    }


def handler(event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Begin, work, end or fail. Raises `ValueError` for a job of a kind that isn't worked here."""
    worker = world().get(event["kind"])
    if worker is None:
        msg = f"a job of kind {event['kind']}, which isn't worked here"
        raise ValueError(msg)
    return worker.handle(event, context)
