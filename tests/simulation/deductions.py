"""What the functions of payroll deductions work with on a host: their offices, and the workers of their jobs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from payroll_deductions import crediting, file_store, placing, returning, uploads, validation
from payroll_deductions.crediting import RemittanceKind
from payroll_deductions.decisions import Decisions
from payroll_deductions.file_store import RemittanceFiles
from payroll_deductions.order_runs import OrderRuns
from payroll_deductions.orders import OrderIndex
from payroll_deductions.pension_facts import PensionFacts
from payroll_deductions.placing import Placing
from payroll_deductions.plans import Plans
from payroll_deductions.receiving import Uploads
from payroll_deductions.remittances import Remittances
from payroll_deductions.returning import ReturnKind
from payroll_deductions.returns import Returns
from payroll_deductions.schedule import Lapses
from payroll_deductions.standing import Standing
from payroll_deductions.validation import FileKind
from retiro.registry.jobs import Jobs
from retiro.runs.jobs import JobStarter, JobWorker

if TYPE_CHECKING:
    from tests.simulation.world import Host

WORKER = "arn:deductions"
CREDITED_ROWS = 2
"""Lines of a remittance that are credited in one transaction."""
CHECKED_ROWS = 3
"""Lines of a file that are checked at once."""

PAGES = (
    (crediting, CREDITED_ROWS),
    (placing, CREDITED_ROWS),
    (returning, CREDITED_ROWS),
    (file_store, CHECKED_ROWS),
    (validation, CHECKED_ROWS),
)
"""Whose `PAGE_ROWS` is a few in the simulation, so that little has many pages."""


class Deductions:
    """As `payroll_deductions`' handlers build it."""

    def __init__(self, host: "Host", objects: Any, machines: Any, invocation_rows: int) -> None:
        registry, passbooks, board = host.registry, host.passbooks, host.board

        def starter(kind: str, jobs: Jobs) -> JobStarter:
            return JobStarter(kind, jobs, machines, "arn:machine", WORKER)

        def worker(kind: str, jobs: Jobs, does: Any, rows: tuple[int, int], **more: Any) -> JobWorker:
            return JobWorker(kind, jobs, does, *rows, invocation_rows, **more)

        self.jobs = Jobs(registry, crediting.KIND)
        self.file_jobs, self.return_jobs = Jobs(registry, uploads.KIND), Jobs(registry, returning.KIND)
        self.files = RemittanceFiles(objects, "files")
        standing = Standing(passbooks, registry, self.jobs)
        self.uploads = Uploads(self.files, standing, self.file_jobs, starter(uploads.KIND, self.file_jobs))
        self.remittances = Remittances(
            passbooks, registry, self.jobs, starter(crediting.KIND, self.jobs), self.files, self.uploads
        )
        self.returns = Returns(self.remittances, self.return_jobs, starter(returning.KIND, self.return_jobs))
        self.placing = Placing(self.remittances, board)
        self.plans = Plans(passbooks, registry, board)
        self.decisions = Decisions(self.plans)
        self.facts = PensionFacts(passbooks, registry, board)
        self.lapses = Lapses(passbooks, registry)
        self.orders = OrderRuns(host.desk, host.shop.objects, registry)
        self.index = OrderIndex(host.book, host.shop.objects, registry)
        files = FileKind(passbooks.store, registry, self.files)
        credit, back = RemittanceKind(passbooks, board, self.files), ReturnKind(passbooks, board, registry)
        of_file = (2 * CHECKED_ROWS, CHECKED_ROWS)
        self.workers: Mapping[str, JobWorker] = {
            crediting.KIND: worker(crediting.KIND, self.jobs, credit, (1_000, CREDITED_ROWS)),
            uploads.KIND: worker(uploads.KIND, self.file_jobs, files, of_file, finish=files.finish),
            returning.KIND: worker(returning.KIND, self.return_jobs, back, (1_000, 1)),
        }
