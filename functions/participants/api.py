"""The doors of participants: enrol one or a file, transfer, select, and read."""

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

from participants import filing_views, passbook_views
from participants.enrolment import Enrolment, Enrolments, InitialTransfer
from participants.files import KIND
from participants.filing_models import (
    Designations,
    DesignationView,
    FiledView,
    LineNumber,
    NewDebt,
    NewDesignation,
    NewServiceCredit,
    NewSystemChange,
)
from participants.filings import Filed, FiledLine, Filing, Filings
from participants.models import (
    Credited,
    FileId,
    NewParticipant,
    NewParticipantFile,
    Participant,
    ParticipantFile,
    Passbook,
    PassbookQuery,
    Selected,
    SelectionChange,
    Statement,
    StatementQuery,
)
from participants.person_keys import PersonKeys, keys_of_environment
from participants.reception import Reception
from participants.selections import Selections
from participants.statements import Statements
from participants.transfers import Transfers
from participants.world import Tables, TablesEnvironment
from retiro.ledger.credits import known
from retiro.ledger.keys import KeyConflictError
from retiro.portal import Language, Portal, Principal, conflict
from retiro.portal.reach import reached
from retiro.registry import aws
from retiro.registry.clients import Party
from retiro.registry.participants import ParticipantId, Profile
from retiro.rules.calendar import Semester
from retiro.rules.savings_accounts import SECTION
from retiro.runs.jobs import JobStarter

portal = Portal("participants")
handler = portal.handler

_KEEPS_FILES = (Party.PORTAL, Party.OFFICE, Party.FUND)


class ApiEnvironment(TablesEnvironment):
    """What this handler reads from its environment."""

    runs_state_machine_arn: str
    file_worker_arn: str


@dataclass(frozen=True)
class World:
    """What the doors work with."""

    tables: Tables
    person_keys: PersonKeys
    reception: Reception

    @property
    def enrolments(self) -> Enrolments:
        """For one request."""
        return Enrolments(self.tables.passbooks, self.tables.registry, self.tables.board)

    @property
    def filings(self) -> Filings:
        """What one person files and another approves."""
        return Filings(self.tables.passbooks)

    def profile(self, participant_id: str, principal: Principal) -> Profile:
        """The participant, where the principal may reach it. Raises 404, 403."""
        return reached(self.tables.registry, participant_id, principal)


@cache
def world() -> World:
    """Built when the first request comes."""
    environment = ApiEnvironment.read()
    tables = Tables.of(environment)
    person_keys = keys_of_environment()
    starter = JobStarter(
        KIND, tables.jobs, aws.stepfunctions(), environment.runs_state_machine_arn, environment.file_worker_arn
    )
    return World(tables, person_keys, Reception(tables.jobs, tables.files, person_keys, starter))


@portal.post("/participants", scopes="participants.write")
def enrol(body: NewParticipant, principal: Principal) -> Participant:
    """Enrol a participant: the passbook is opened, with the selection and the initial transfer that come with it."""
    principal.must_reach_employer(body.employer_id)
    principal.must_reach_fund(body.fund)
    enrolment = Enrolment.of(body, world().person_keys.of(body.person_identifier))
    try:
        appended = world().enrolments.enrol(enrolment, principal.label)
    except KeyConflictError as there:
        raise conflict(
            "already_enrolled",
            en=f"{body.participant_id} is enrolled with another content.",
            es=f"{body.participant_id} está inscrito con otro contenido.",
            citation=SECTION,
            field="participant_id",
        ) from there
    return passbook_views.participant(enrolment.profile, appended.lines[-1])


@portal.post("/participant-files", scopes="participants.write", status=HTTPStatus.ACCEPTED)
def enrol_many(body: NewParticipantFile, principal: Principal, language: Language) -> ParticipantFile:
    """Enrol a file of participants: checked whole, then worked off; `place` is where to look."""
    return world().reception.receive(body, principal, world().enrolments, language)


@portal.get("/participant-files/{file_id}", scopes=("participants.write", "participants.read"))
def read_file(file_id: FileId, principal: Principal, language: Language) -> ParticipantFile:
    """Where a file of participants stands."""
    return world().reception.status(file_id, principal, language)


@portal.get("/participants/{participant_id}", scopes="participants.read")
def read(participant_id: ParticipantId, principal: Principal) -> Participant:
    """A participant as of now."""
    profile = world().profile(participant_id, principal)
    last = known(world().tables.passbooks.last(participant_id), participant_id)
    return passbook_views.participant(profile, last)


@portal.post("/participants/{participant_id}/transfers", scopes="participants.write")
def transfer(participant_id: ParticipantId, body: InitialTransfer, principal: Principal) -> Credited:
    """Credit the initial transfer balance, once."""
    profile = world().profile(participant_id, principal)
    transfers = Transfers(world().tables.passbooks, world().tables.board)
    return passbook_views.credited(transfers.credit(profile, body, principal.label))


@portal.put("/participants/{participant_id}/investment-selection", scopes="participants.write")
def select(participant_id: ParticipantId, body: SelectionChange, principal: Principal) -> Selected:
    """Select the investment, or change the selection from the next fiscal year on."""
    profile = world().profile(participant_id, principal)
    selections = Selections(world().tables.passbooks, world().tables.board)
    line = selections.select(profile, body.requested_on, body.selection, principal.label)
    return passbook_views.selected(line)


@portal.get("/participants/{participant_id}/passbook", scopes="participants.read")
def read_passbook(participant_id: ParticipantId, query: PassbookQuery, principal: Principal) -> Passbook:
    """The lines of the passbook, and its balances."""
    profile = world().profile(participant_id, principal)
    return passbook_views.passbook(world().tables.passbooks, profile, query)


@portal.get("/participants/{participant_id}/statements/{semester}", scopes="participants.read")
def read_statement(
    participant_id: ParticipantId, semester: Semester, query: StatementQuery, principal: Principal
) -> Statement:
    """The statement of a posted semester, as it stands now or as it was posted."""
    profile = world().profile(participant_id, principal)
    statements = Statements(world().tables.passbooks, world().tables.board)
    return statements.of(profile.participant_id, semester, originally=query.as_posted)


@portal.post("/participants/{participant_id}/designations", scopes="participants.write")
def designate(participant_id: ParticipantId, body: NewDesignation, principal: Principal) -> DesignationView:
    """File a designation: who takes when the participant dies. It counts once another person has recognized it."""
    body.check_shares()
    return filing_views.designation(_file(participant_id, Filed.DESIGNATION, body, principal))


@portal.post("/participants/{participant_id}/designations/{sequence}/recognition", scopes="participants.write")
def recognize(participant_id: ParticipantId, sequence: LineNumber, principal: Principal) -> DesignationView:
    """Recognize a designation, as another person. The one filed last counts, whichever was recognized last."""
    return filing_views.designation(_approve(participant_id, Filed.DESIGNATION, sequence, principal))


@portal.get("/participants/{participant_id}/designations", scopes="participants.read")
def read_designations(participant_id: ParticipantId, principal: Principal) -> Designations:
    """All designations of a participant, in the order in which they were filed."""
    profile = world().profile(participant_id, principal)
    items = [filing_views.designation(one) for one in world().filings.all(profile, Filed.DESIGNATION)]
    return Designations(participant_id=participant_id, items=items)


@portal.post("/participants/{participant_id}/system-changes", scopes="participants.write")
def change_system(participant_id: ParticipantId, body: NewSystemChange, principal: Principal) -> FiledView:
    """File a change of system. Approved by another person, it makes void what was designated before."""
    return filing_views.filed(_file(participant_id, Filed.SYSTEM_CHANGE, body, principal))


@portal.post("/participants/{participant_id}/system-changes/{sequence}/approval", scopes="participants.write")
def approve_system_change(participant_id: ParticipantId, sequence: LineNumber, principal: Principal) -> FiledView:
    """Approve a change of system, as another person."""
    return filing_views.filed(_approve(participant_id, Filed.SYSTEM_CHANGE, sequence, principal))


@portal.post("/participants/{participant_id}/service-credits", scopes="participants.write")
def credit_service(participant_id: ParticipantId, body: NewServiceCredit, principal: Principal) -> FiledView:
    """File the service credited through a day, in whole."""
    return filing_views.filed(_file(participant_id, Filed.SERVICE, body, principal))


@portal.post("/participants/{participant_id}/service-credits/{sequence}/approval", scopes="participants.write")
def approve_service(participant_id: ParticipantId, sequence: LineNumber, principal: Principal) -> FiledView:
    """Approve the service credited, as another person."""
    return filing_views.filed(_approve(participant_id, Filed.SERVICE, sequence, principal))


@portal.post("/participants/{participant_id}/debts", scopes="participants.write")
def state_debt(participant_id: ParticipantId, body: NewDebt, principal: Principal) -> FiledView:
    """File a debt, a fact from outside."""
    return filing_views.filed(_file(participant_id, Filed.DEBT, body, principal))


@portal.post("/participants/{participant_id}/debts/{sequence}/approval", scopes="participants.write")
def approve_debt(participant_id: ParticipantId, sequence: LineNumber, principal: Principal) -> FiledView:
    """Approve a debt, as another person: it is owed from now on."""
    return filing_views.filed(_approve(participant_id, Filed.DEBT, sequence, principal))


def _file(participant_id: str, what: Filed, filing: Filing, principal: Principal) -> FiledLine:
    principal.must_be(*_KEEPS_FILES)
    return world().filings.file(world().profile(participant_id, principal), what, filing, principal)


def _approve(participant_id: str, what: Filed, sequence: int, principal: Principal) -> FiledLine:
    principal.must_be(*_KEEPS_FILES)
    return world().filings.approve(world().profile(participant_id, principal), what, sequence, principal)
