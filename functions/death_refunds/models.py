"""What the doors of deaths take and answer."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from death_refunds.claims import BeneficiaryDeath, Claim, DeclaredHeir, Hold, Reason, Release
from death_refunds.places import CaseId
from retiro.portal import Amount, Answer, Body
from retiro.registry.participants import ParticipantId, Reference
from retiro.rules.calendar import Date
from retiro.rules.forms import form_error
from retiro.rules.judiciary_hybrid import CHOICES
from retiro.rules.judiciary_hybrid.payees import Choice, Question

Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]
Source = Annotated[str, StringConstraints(min_length=3, max_length=200, strip_whitespace=True)]


class NewDeathReport(Body):
    """A death reported: the day, in Puerto Rico, and who says so. `document_sha256`: of the certificate, if there."""

    participant_id: ParticipantId
    death_date: Date
    reference: Reference
    source: Source
    document_sha256: Hash | None = None


class ReportWithdrawal(Body):
    """Why a report is withdrawn."""

    reason: Reason


class DeathReport(Answer):
    """A report of a death as it stands."""

    report_id: CaseId
    participant_id: ParticipantId
    death_date: Date
    source: str
    document_sha256: str | None
    status: Literal["reported", "confirmed", "withdrawn"]
    reported_by: str
    confirmed_by: str | None
    withdrawn_by: str | None


class _Known(Body):
    """What is known beyond the passbook."""

    participant_id: ParticipantId
    transfer_annuity_due: bool = False
    heirs: Annotated[list[DeclaredHeir], Field(max_length=12)] = Field(default_factory=list)
    beneficiary_deaths: Annotated[list[BeneficiaryDeath], Field(max_length=12)] = Field(default_factory=list)

    @property
    def claim(self) -> Claim:
        """The claim that it begins with: what is said, so that what isn't doesn't undo what was told before."""
        return Claim(**{name: getattr(self, name) for name in Claim.model_fields if name in self.model_fields_set})


class QuoteAsked(_Known):
    """A quote of what a death would pay. Without a day: the one that is reported."""

    death_date: Date | None = None


class NewRefund(_Known):
    """The settlement of a reported death, entered."""


class DeathApproval(Body):
    """The hash of what is approved: what stands there and nothing else."""

    content_hash: Hash


class DecisionMade(Body):
    """What a person decides where the rules, or a setting of the Board, leave it to a person."""

    about: Question
    choice: Choice
    reason: Reason

    @model_validator(mode="after")
    def _answers_its_question(self) -> "DecisionMade":
        if self.choice not in CHOICES[self.about]:
            raise form_error("literal_error")
        return self


class HeirsDeclared(Body):
    """The heirs, declared: they take what was held for them."""

    event: Literal["heirs_declared"]
    heirs: Annotated[list[DeclaredHeir], Field(min_length=1, max_length=12)]


class BeneficiaryDied(BeneficiaryDeath):
    """Somebody designated died: before the participant the share falls to others, after it the estate takes it."""

    event: Literal["beneficiary_died"]


class Held(Hold):
    """A payee is held, for a reason."""

    event: Literal["held"]


class Released(Release):
    """A payee is held no longer."""

    event: Literal["released"]


HeirsEvent = Annotated[HeirsDeclared | BeneficiaryDied | Held | Released, Field(discriminator="event")]


class DebtCollected(Answer):
    """What is taken for a debt."""

    name: str
    collected: Amount


class PayeeView(Answer):
    """A payee: what is paid, or held, and why. The number is what events of this case name."""

    number: int
    name: str
    amount: Amount
    status: Literal["payable", "held"]
    reason: str | None


class DeathFigures(Answer):
    """What the determinations found. `unpaid`: annuity payments due through the month of death, to the estate."""

    provisional_yield: Amount
    gross: Amount
    debts: list[DebtCollected]
    debts_collected: Amount
    uncollected_debt: Amount
    net: Amount
    overpaid: Amount
    unpaid: Amount
    basis: Literal["designation", "heirs"]


class QuestionView(Answer):
    """What the rules leave to a person."""

    code: str
    detail: str
    citation: str
    field: str | None
    receipt: JsonValue


class DeathQuote(Answer):
    """What a death would pay, with the receipt of each determination. Nothing is posted."""

    participant_id: ParticipantId
    death_date: Date
    route: Literal["active_service", "pensioner"]
    figures: DeathFigures
    payees: list[PayeeView]
    receipts: dict[str, JsonValue]


class DeathRefund(Answer):
    """A death's case as it stands.

    `status`: `needs_decision`, `entered`, `settled`, or `withdrawn`. `content_hash` is what an approval has to name,
    where something waits for one: the settlement, or since it, `pending_payees`.
    """

    refund_id: CaseId
    participant_id: ParticipantId
    death_date: Date
    status: Literal["needs_decision", "entered", "settled", "withdrawn"]
    route: Literal["active_service", "pensioner"] | None
    determination: str
    content_hash: Hash | None
    entered_by: str
    approved_by: str | None
    figures: DeathFigures | None
    payees: list[PayeeView]
    pending_payees: list[PayeeView] | None
    question: QuestionView | None
    open_questions: list[str]
    receipts: dict[str, JsonValue]
