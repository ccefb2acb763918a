"""What the participants' doors take and answer."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, PlainSerializer, SecretStr, StringConstraints

from participants.enrolment import EnrolmentFields
from participants.person_keys import keys_of_environment, letters_and_digits
from retiro.portal import Amount, Answer, Body, PageQuery, Query
from retiro.registry.participants import EmployerId, ParticipantId, Reference
from retiro.rules.calendar import Date, Semester
from retiro.rules.forms import form_error
from retiro.rules.money import Money, ShownPercent
from retiro.rules.savings_accounts import Selection

_IDENTIFIER_MIN = 4


def _telling(identifier: SecretStr) -> SecretStr:
    """An identifier that tells persons apart: of hyphens and spaces alone, everybody would be one person."""
    if len(letters_and_digits(identifier)) < _IDENTIFIER_MIN:
        raise form_error("person_identifier")
    return identifier


def _keyed(identifier: SecretStr) -> str | None:
    """As requests with an Idempotency-Key are compared: two persons are two requests, and no plain hash is kept."""
    return keys_of_environment().of(identifier)


PersonIdentifier = Annotated[
    SecretStr,
    Field(min_length=_IDENTIFIER_MIN, max_length=40),
    AfterValidator(_telling),
    PlainSerializer(_keyed, when_used="json"),
]
FileId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,12}_[A-Za-z0-9-]{1,40}$"), Field(examples=["office_2025-014"])
]

FILE_ROWS_MAX = 10_000


class NewParticipant(EnrolmentFields):
    """An enrolment as it comes in. The person's identifier is hashed at the door and kept nowhere."""

    person_identifier: PersonIdentifier | None = None


class FileControl(Body):
    """What the sender counted: rows, and the sum of their initial transfers. Both must be those of the rows."""

    count: Annotated[int, Field(ge=0)]
    transfers_total: Money


class NewParticipantFile(Body):
    """A file of enrolments: taken whole or not at all."""

    reference: Reference
    control: FileControl
    participants: Annotated[list[NewParticipant], Field(min_length=1, max_length=FILE_ROWS_MAX)]


class SelectionChange(Body):
    """A selection of investment options, § 786-7(b): a percent for each option's code."""

    requested_on: Date
    selection: Selection


class Participant(Answer):
    """A participant as the passbook's last line has it. `selections`: from which day on which options."""

    participant_id: ParticipantId
    fund: str
    employer_id: EmployerId
    birth_date: Date
    enrolled_on: Date
    status: str
    savings: Amount
    selections: dict[str, dict[str, int]]
    last_posted_semester: Semester | None
    lines: int


class Credited(Answer):
    """A credit as it stands in the passbook. `differences`: of the posted semesters' yields, in a late credit."""

    participant_id: ParticipantId
    sequence: int
    kind: str
    amount: Amount
    effective_on: Date
    belongs_on: Date | None
    differences: dict[str, Amount]
    savings: Amount
    determination: str | None


class Selected(Answer):
    """A selection that was accepted, and when it takes effect."""

    participant_id: ParticipantId
    sequence: int
    requested_on: Date
    selection: dict[str, int]
    effective_on: Date
    fiscal_year: str
    determination: str


class RowError(Answer):
    """A row of a file that could not be taken. Lines count from one."""

    line: int
    participant_id: ParticipantId
    code: str
    detail: str
    citation: str


class ParticipantFile(Answer):
    """Where a file stands: `done` of `of` rows are worked off, those with errors included."""

    file_id: str
    status: Literal["received", "working", "done", "failed"]
    place: str
    done: int
    of: int
    errors: list[RowError]


_MOMENT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")


def _moment(text: str) -> str:
    """The text of a moment in UTC, as it came."""
    try:
        datetime.fromisoformat(text if _MOMENT.fullmatch(text) else "")
    except ValueError:
        raise form_error("moment") from None
    return text


Moment = Annotated[str, AfterValidator(_moment), Field(examples=["2025-07-10T16:00:00Z"])]


class StatementQuery(Query):
    """`as_posted`: the semester as it was posted, without what came late."""

    as_posted: bool = False


class PassbookQuery(PageQuery):
    """As of when: a line counts from its effective day (`effective_on`), or from the moment it was recorded."""

    effective_on: Date | None = None
    recorded_at: Moment | None = None


class PostingView(Answer):
    """An amount to an account: a credit is positive, a debit negative."""

    account: str
    amount: Amount


class LineView(Answer):
    """A line of the passbook, as it stands for ever."""

    sequence: int
    kind: str
    effective_on: Date
    belongs_on: Date | None
    recorded_at: str
    postings: list[PostingView]
    balances: dict[str, Amount]
    state: dict[str, JsonValue]
    differences: dict[str, Amount]
    facts: dict[str, JsonValue]
    determination: str | None
    reverses: int | None
    principal: str
    hash: str


class Passbook(Answer):
    """A page of lines, and the balances as of what was asked for (nothing: as of now)."""

    participant_id: ParticipantId
    effective_on: Date | None
    recorded_at: str | None
    balances: dict[str, Amount]
    lines: list[LineView]
    next_cursor: str | None


class CreditView(Answer):
    """A movement of savings that counts in the semester, by its legal date."""

    date: Date
    amount: Amount


class Statement(Answer):
    """A posted semester of a participant, with the law it rests on and its receipt, recomputed from what is stored.

    `sequence` is the line that posted it, `changed_by` are the late credits and corrections that changed it since.
    """

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    participant_id: ParticipantId
    semester: Semester
    opening_balance: Amount
    credits: list[CreditView]
    average_monthly_balance: Amount
    option_percents: dict[str, ShownPercent]
    semester_percent: ShownPercent
    yield_amount: Annotated[Amount, Field(alias="yield")]
    closing_balance: Amount
    yield_date: Date
    sequence: int
    changed_by: list[int]
    determination: str
    citations: list[str]
    receipt: JsonValue
