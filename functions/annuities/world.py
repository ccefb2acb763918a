"""What the functions of annuities are built of, once an execution environment, when the first request comes."""

from dataclasses import dataclass
from datetime import date

from annuities.determined import Facts
from annuities.entries import Entries
from annuities.payroll import Payrolls
from retiro.ledger.board import BoardBook
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.store import LedgerStore
from retiro.portal import Principal, not_found, refused
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.participants import Profile, profile_of
from retiro.registry.runs import Phase, RunBook, RunId
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM
from retiro.rules.refusals import Refusal, RefusalCode
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


@dataclass(frozen=True)
class World:
    """What the doors work with."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook
    entries: Entries
    payrolls: Payrolls

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.passbooks.clock())

    def facts(self, participant_id: str, last: Line | None = None) -> Facts:
        """What determinations look at; up to `last`, where a decision is guarded by it. Raises `Refusal`."""
        history = [line for line in self.passbooks.history(participant_id) if last is None or _within(line, last)]
        if not history:
            raise Refusal(
                RefusalCode.UNKNOWN_PARTICIPANT, SECTION, field="participant_id", participant_id=participant_id
            )
        return Facts(history, self.board.adopted(SYSTEM), self.today)

    def judge(self, participant_id: str, principal: Principal) -> Profile:
        """The participant of the Hybrid Program, where the principal may reach it. Raises 404, 403, 422."""
        profile = profile_of(self.registry, participant_id)
        if profile is None:
            raise not_found(
                "unknown_participant",
                en=f"There is no participant {participant_id}.",
                es=f"No existe el participante {participant_id}.",
                field="participant_id",
            )
        principal.must_reach_employer(profile.employer_id)
        principal.must_reach_fund(profile.fund)
        if profile.fund != SYSTEM:
            raise refused(
                "not_in_program",
                en=f"{participant_id} isn't in the Judiciary Hybrid Program.",
                es=f"{participant_id} no está en el Programa Híbrido de la Judicatura.",
                citation=SECTION,
                field="participant_id",
            )
        return profile


def _within(line: Line, last: Line) -> bool:
    return line.sequence <= last.sequence


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


def world() -> World:
    """Everything that the routes act on."""
    office = payrolls()
    return World(
        passbooks=Passbooks(office.ledger, clock.utc_now),
        registry=office.book.table,
        board=office.board,
        entries=Entries(office.book.table, clock.utc_now),
        payrolls=office,
    )
