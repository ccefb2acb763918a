"""What the handlers of payroll deductions work with, built once an execution environment, at the first event."""

from dataclasses import dataclass

from payroll_deductions.file_store import RemittanceFiles
from retiro.ledger.board import BoardBook
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.jobs import Jobs
from retiro.registry.table import Table

_JOBS = "remittance"


class TablesEnvironment(Environment):
    """What every function of payroll deductions reads from its environment."""

    ledger_table: str
    registry_table: str
    files_bucket: str


@dataclass(frozen=True)
class Tables:
    """The ledger, the registry, and the bucket's part for remittances. `jobs` are those that credit."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook
    jobs: Jobs
    files: RemittanceFiles

    def jobs_of(self, kind: str) -> Jobs:
        """The jobs of another kind."""
        return Jobs(self.registry, kind)

    @classmethod
    def of(cls, environment: TablesEnvironment) -> "Tables":
        """Those that the environment names."""
        store = LedgerStore(aws.dynamodb(), environment.ledger_table)
        registry = Table(aws.dynamodb(), environment.registry_table)
        return cls(
            Passbooks(store, clock.utc_now),
            registry,
            BoardBook(store),
            Jobs(registry, _JOBS),
            RemittanceFiles(aws.s3(), environment.files_bucket),
        )
