"""Where payrolls are requested, approved, paused and reversed, built of the stack. It loads no doors."""

from annuities.payroll import Payrolls
from retiro.ledger.board import BoardBook
from retiro.ledger.store import LedgerStore
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.runs import Phase, RunBook, RunId
from retiro.registry.table import Table
from retiro.runs.desk import Desk
from retiro.runs.objects import RunObjects
from retiro.runs.start import start_execution


class OfficeEnvironment(Environment):
    """What whoever requests and approves payrolls reads from its environment."""

    ledger_table: str
    registry_table: str
    files_bucket: str
    runs_state_machine_arn: str
    annuity_worker_arn: str


def payrolls() -> Payrolls:
    """The office where payrolls are requested, approved, paused and reversed."""
    environment = OfficeEnvironment.read()

    def start(run: RunId, number: int, phase: Phase) -> None:
        start_execution(
            aws.stepfunctions(),
            state_machine_arn=environment.runs_state_machine_arn,
            worker_arn=environment.annuity_worker_arn,
            run=run,
            number=number,
            phase=phase,
        )

    ledger = LedgerStore(aws.dynamodb(), environment.ledger_table)
    return Payrolls(
        desk=Desk(RunBook(Table(aws.dynamodb(), environment.registry_table)), clock.utc_now, start),
        board=BoardBook(ledger),
        ledger=ledger,
        objects=RunObjects(aws.s3(), environment.files_bucket),
    )
