"""What the doors of annuities and separation refunds take and answer."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, StringConstraints

from retiro.ledger.resolutions import Sha256
from retiro.portal import Amount, Answer, Body, Query
from retiro.registry.participants import ParticipantId
from retiro.rules.calendar import Date
from retiro.rules.judiciary_hybrid import Factor
from retiro.rules.judiciary_hybrid.separations import Cause
from retiro.rules.money import ShownPercent
from retiro.rules.service_lengths import ServiceLength

AnnuityId = Annotated[
    str, StringConstraints(pattern=r"^AN-[0-9]{6,9}-[0-9a-f]{8}$"), Field(examples=["AN-000001-0123abcd"])
]
RefundId = Annotated[
    str, StringConstraints(pattern=r"^SR-[0-9]{6,9}-[0-9a-f]{8}$"), Field(examples=["SR-000001-0123abcd"])
]
ContractNumber = Annotated[int, Field(ge=1, le=99, strict=False)]
Reason = Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]
Cited = Annotated[str, StringConstraints(min_length=3, max_length=200, strip_whitespace=True)]


class Retiring(Body):
    """A retirement. `separated_on` is the last day in office; the annuity begins on the day after it, or later."""

    participant_id: ParticipantId
    separated_on: Date
    retirement_date: Date
    transfer_annuity_elected: bool = False


class AnnuityQuote(Retiring):
    """A retirement that may come. A bare factor stands for a table that the Board hasn't adopted; nothing is issued."""

    factor: Factor | None = None


class Approval(Body):
    """The content that is approved: what this hash was shown for."""

    content_hash: Sha256


class Correction(Body):
    """What was wrong in a contract, § 242b(d): by what ground, what shows it, and why.

    `citation` is what shows the error, or the express provision. What is left out of the facts stays as it was.
    """

    ground: Literal["error", "express_provision"] | None = None
    citation: Cited | None = None
    reason: Reason
    retirement_date: Date | None = None
    birth_date: Date | None = None


class ContractQuery(Query):
    """Which contract of an annuity: its number; the one in force where none is named."""

    number: ContractNumber | None = None


class FirstMonth(Answer):
    """The fraction of the month of retirement."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    from_day: Annotated[Date, Field(alias="from")]
    through: Date
    amount: Amount


class FactorSource(Answer):
    """The table that the Board adopted, § 242b(c)(2)."""

    resolution_id: str
    act: str
    in_force_from: Date
    unit: Literal["years", "months"]
    interest_percent: Annotated[str, Field(pattern=r"^\d+(\.\d+)?$", examples=["5"])]
    payment: Literal["start", "end"]
    actuary: str
    consulted_on: Date


class Contract(Answer):
    """An annuity contract. It never changes: a correction is another contract, which says what it supersedes.

    `difference`: what the months paid so far come to by this contract, less what was paid for them.
    """

    annuity_id: AnnuityId
    number: ContractNumber
    supersedes: ContractNumber | None
    participant_id: ParticipantId
    fund: Literal["JRS"]
    separated_on: Date
    retirement_date: Date
    birth_date: Date
    age: Annotated[str, Field(examples=["65y0m"])]
    credited_service: ServiceLength
    service_as_judge: ServiceLength
    balance: Amount
    provisional_return: Amount
    factor: ShownPercent
    factor_table: FactorSource
    monthly_annuity: Amount
    first_payment: FirstMonth
    first_payment_days: Literal["actual", "thirty"]
    ground: Literal["error", "express_provision"] | None
    ground_citation: str | None
    reason: str | None
    difference: Amount
    citations: list[str]
    receipts: list[JsonValue]


class AnnuityState(Answer):
    """A contract, and how far it has come. `sequence` is the line of the passbook that issued it."""

    annuity_id: AnnuityId
    participant_id: ParticipantId
    status: Literal["entered", "in_force", "superseded", "withheld", "ended"]
    content_hash: Sha256
    entered_by: str
    approved_by: str | None
    sequence: int | None
    contract: Contract


class Certificate(AnnuityState):
    """A contract as its holder reads it: in words, with the law, in the language asked for."""

    language: Literal["en", "es"]
    certifies: str
    contracts: list[ContractNumber]


class Quoted(Answer):
    """What an annuity would be. It posts nothing; it names the settings and the factor that no act has adopted."""

    participant_id: ParticipantId
    retirement_date: Date
    age: Annotated[str, Field(examples=["65y0m"])]
    balance: Amount
    provisional_return: Amount
    factor: ShownPercent
    factor_table: FactorSource | None
    monthly_annuity: Amount
    first_payment: FirstMonth
    rests_on_defaults: list[str]
    open_semester: str | None
    citations: list[str]
    receipts: list[JsonValue]


class Separating(Body):
    """A separation from the program, § 242b(a), and the day on which the balance is paid out."""

    participant_id: ParticipantId
    separated_on: Date
    cause: Cause
    permanent: bool = True
    paid_on: Date


class RefundQuoted(Answer):
    """What a separation would give, § 242b(a), (b). It posts nothing."""

    participant_id: ParticipantId
    separated_on: Date
    benefit: Literal["refund", "life_annuity", "deferred"]
    amount: Amount | None
    payable_from: Date | None
    balance: Amount
    provisional_return: Amount
    rests_on_defaults: list[str]
    open_semester: str | None
    citations: list[str]
    receipts: list[JsonValue]


class Refund(Answer):
    """A refund on separation: what is paid out, and why."""

    refund_id: RefundId
    participant_id: ParticipantId
    fund: Literal["JRS"]
    separated_on: Date
    cause: Cause
    paid_on: Date
    balance: Amount
    provisional_return: Amount
    amount: Amount
    citations: list[str]
    receipts: list[JsonValue]


class RefundState(Answer):
    """A refund, and how far it has come. `sequence` is the line of the passbook that paid it."""

    refund_id: RefundId
    participant_id: ParticipantId
    status: Literal["entered", "paid"]
    content_hash: Sha256
    entered_by: str
    approved_by: str | None
    sequence: int | None
    refund: Refund
