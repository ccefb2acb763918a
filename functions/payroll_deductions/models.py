"""What the doors of remittances take and answer."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from retiro.portal import Amount, Answer, Body, PageQuery, Query
from retiro.registry.participants import EmployerId, ParticipantId, Reference
from retiro.rules.calendar import Date
from retiro.rules.money import Money

LINES_MAX = 1_000
"""Lines of a remittance in a request's body. More are uploaded."""

Month = Annotated[str, StringConstraints(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$"), Field(examples=["2025-01"])]
RemittanceId = Annotated[
    str,
    StringConstraints(pattern=r"^E-[0-9]{3,6}_[A-Za-z0-9-]{1,40}(\.test)?$"),
    Field(examples=["E-001_2025-014"], description="The employer and its reference; `.test` after it for a test."),
]
LineNumber = Annotated[int, Field(ge=1, le=200_001, examples=[12])]
LineKind = Literal["contribution", "installment"]
Count = Annotated[int, Field(ge=0)]


class Control(Body):
    """What the employer counted. Both must be those of the lines, to the cent."""

    count: Count
    total: Money


class RemittanceLine(Body):
    """A participant's contribution of the month, or installment of a plan. A salary lets the statutory rate be seen."""

    participant_id: ParticipantId
    amount: Money
    kind: LineKind
    salary: Money | None = None
    name: Annotated[str, StringConstraints(max_length=100)] = ""


class _Filing(Body):
    reference: Reference
    employer_id: EmployerId
    period: Month
    test: Annotated[bool, Field(description="Validate and match alone: nothing is stored as remitted.")] = False


class NewRemittance(_Filing):
    """What an employer has withheld and remits: taken whole or not at all."""

    format: Literal["json"] = "json"
    control: Control
    lines: Annotated[list[RemittanceLine], Field(min_length=1, max_length=LINES_MAX)]


class NewCsvRemittance(_Filing):
    """The same as a file of the published format, its control in its last line."""

    format: Literal["csv"]
    file: Annotated[str, Field(description="The file's text, up to 1,000 lines (docs/remittance-file.md).")]


class NewUpload(_Filing):
    """A file of the published format that is too large for a body: the answer says where to put it."""

    format: Literal["csv", "json"]
    upload: Literal[True]


def _shape(value: Any) -> str:
    """Which of the three it is, from what is received or from what was made of it. No name of one is a member's."""

    def has(name: str) -> Any:
        return value.get(name) if isinstance(value, dict) else getattr(value, name, None)

    if has("upload") is not None:
        return "to_upload"
    return "in_text" if has("format") == "csv" else "in_body"


Filing = Annotated[
    Annotated[NewRemittance, Tag("in_body")]
    | Annotated[NewCsvRemittance, Tag("in_text")]
    | Annotated[NewUpload, Tag("to_upload")],
    Discriminator(_shape),
]


class NewDeposit(Body):
    """The fund's word that a remittance's money is there."""

    reference: Reference
    amount: Money
    value_date: Date


class Unplaced(Answer):
    """A line whose participant's account couldn't take it; its money waits in clearing."""

    line: int
    participant_id: ParticipantId
    amount: Amount
    code: str
    detail: str
    citation: str


class DepositView(Answer):
    """The confirmed deposit."""

    reference: str
    amount: Amount
    value_date: Date


class UploadLink(Answer):
    """Where the file goes, and how long it may take to get there."""

    url: str
    method: Literal["PUT"]
    expires_in_seconds: int


RemittanceStatus = Literal[
    "awaiting_upload",
    "validating",
    "refused",
    "tested",
    "awaiting_deposit",
    "crediting",
    "failed",
    "credited",
    "closed",
    "returning",
    "returned",
]


class RemittanceView(Answer):
    """Where a remittance stands. `clearing`: what of the deposit isn't credited to anybody.

    `matched` counts the lines by their result against the order, and by their flags. `unplaced` has the first hundred
    of `unplaced_count`. `days_late`: between the day on which the month was due and its deposit, or today. A
    deposit that was taken back is `returning` until the payer owes nothing of it: that is a clearing below zero.
    """

    remittance_id: str
    employer_id: EmployerId
    period: Month
    status: RemittanceStatus
    count: int
    total: Amount
    credited: int
    clearing: Amount
    deposit: DepositView | None
    unplaced: list[Unplaced]
    place: str
    unplaced_count: int
    matched: dict[str, int]
    due_on: Date
    days_late: int
    error_count: int
    upload: UploadLink | None


Found = Annotated[
    Literal["exact", "short", "over", "unknown", "missing", "outside_statutory_rate", "no_rate_in_force"] | None,
    Field(description="Those of this result or flag alone."),
]


class LinesQuery(PageQuery):
    """A page of lines; of one result or flag alone, where it is asked for."""

    result: Found = None


class LinesCsvQuery(Query):
    """The same as CSV: a thousand lines a page, and on a page after the last of them those who are missing."""

    page: Annotated[int, Field(ge=0, le=200)] = 0
    result: Found = None


class FileError(Answer):
    """A fault of a file, where the employer sees it."""

    line: int
    column: str
    code: str
    detail: str


class FileErrors(Answer):
    """A page of a refused file's faults."""

    items: list[FileError]
    next_cursor: str | None


class MatchedLine(Answer):
    """A line and how it was matched. `ordered`: what the order asks; `expected`: what the statutory rate gives."""

    line: int
    participant_id: ParticipantId
    kind: LineKind
    amount: Amount
    salary: Amount | None
    name: str
    result: str | None
    ordered: Amount | None
    flag: str | None
    expected: Amount | None


class MatchedLines(Answer):
    """A page of a remittance's lines."""

    items: list[MatchedLine]
    next_cursor: str | None


class NewReturn(Body):
    """The fund's word that the bank has taken a deposit back."""

    reference: Reference
    returned_on: Date
    reason: Annotated[str, StringConstraints(min_length=1, max_length=300)]


class NewPlacement(Body):
    """Where a line's money, that has no place, is to go: to a participant, or back to the payer."""

    line: LineNumber
    action: Literal["credit", "return"]
    participant_id: ParticipantId | None = None
    kind: LineKind | None = None
    period: Month | None = None
    reason: Annotated[str, StringConstraints(min_length=1, max_length=300)]


class PlacementApproval(Body):
    """The hash of the proposal that is approved."""

    content_hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class PlacementView(Answer):
    """A placement: proposed, or done."""

    remittance_id: str
    line: int
    amount: Amount
    action: Literal["credit", "return"]
    participant_id: ParticipantId | None
    kind: LineKind | None
    period: Month | None
    reason: str
    status: Literal["proposed", "placed"]
    content_hash: str
    proposed_by: str
    approved_by: str | None


class Placements(Answer):
    """A page of placements."""

    items: list[PlacementView]
    next_cursor: str | None
