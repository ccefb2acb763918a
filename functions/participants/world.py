"""What the participants' handlers work with, built once an execution environment, when the first request comes."""

from dataclasses import dataclass

from participants.files import FileKind, FileStore
from retiro.ledger.board import BoardBook
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.jobs import Jobs
from retiro.registry.table import Table

_JOBS = "file"


class TablesEnvironment(Environment):
    """What every participants' function reads from its environment."""

    ledger_table: str
    registry_table: str
    files_bucket: str


@dataclass(frozen=True)
class Tables:
    """The ledger, the registry and the bucket."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook
    jobs: Jobs
    files: FileStore

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
            FileStore(aws.s3(), environment.files_bucket),
        )

    @property
    def file_kind(self) -> FileKind:
        """What the worker does with a file."""
        return FileKind(self.jobs, self.files, self.passbooks, self.registry, self.board)
