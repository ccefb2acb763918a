"""What is filed of a judge, and how it stands."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, field_validator, model_validator

from retiro.portal import Answer
from retiro.registry.participants import ParticipantId, Reference
from retiro.rules.calendar import Date
from retiro.rules.forms import Form, form_error
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM, shares_of
from retiro.rules.money import NonNegativePercent, PositiveMoney
from retiro.rules.service_lengths import ServiceLength

Name = Annotated[str, StringConstraints(min_length=1, max_length=120, strip_whitespace=True)]
LineNumber = Annotated[int, Field(ge=1, le=99_999_999)]
DebtReference = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,40}$"), Field(examples=["LOAN-2014-7"])]
System = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3,6}$"), Field(examples=["JRS"])]

BENEFICIARIES_MAX = 10


class NewBeneficiary(Form):
    """Somebody designated. No share given for any is equal shares."""

    name: Name
    share_percent: NonNegativePercent | None = None


class NewDesignation(Form):
    """A written order, filed: who takes when the participant dies. It counts once it is recognized."""

    reference: Reference
    filed_on: Date
    beneficiaries: Annotated[list[NewBeneficiary], Field(min_length=1, max_length=BENEFICIARIES_MAX)]

    @field_validator("beneficiaries")
    @classmethod
    def _each_once(cls, people: list[NewBeneficiary]) -> list[NewBeneficiary]:
        if len({one.name for one in people}) < len(people):
            raise form_error("named_twice")
        return people

    @property
    def dated(self) -> date:
        """The day it was filed."""
        return self.filed_on

    @property
    def dated_field(self) -> str:
        """The field of that day."""
        return "filed_on"

    def check_shares(self) -> None:
        """Raises `Refusal` `shares_do_not_total_100`."""
        shares_of([one.share_percent for one in self.beneficiaries], "beneficiaries", "(e)")


class NewServiceCredit(Form):
    """The service credited through a day, in whole. Service as a judge that is left out is the same."""

    reference: Reference
    through: Date
    credited_service: ServiceLength
    service_as_judge: ServiceLength | None = None

    @model_validator(mode="after")
    def _judge_within_credited(self) -> "NewServiceCredit":
        credited, as_judge = self.credited_service, self.service_as_judge
        if as_judge is not None and _order(as_judge) > _order(credited):
            raise form_error("more_than_credited")
        return self

    @property
    def dated(self) -> date:
        """The day through which it counts."""
        return self.through

    @property
    def dated_field(self) -> str:
        """The field of that day."""
        return "through"


class NewDebt(Form):
    """A debt, a fact from outside. `installment`: what an annuity bears a month of all debts; left out, all it can."""

    reference: DebtReference
    owed_from: Date
    amount: PositiveMoney
    installment: PositiveMoney | None = None
    system: System = SYSTEM

    @property
    def dated(self) -> date:
        """The day from which it is owed."""
        return self.owed_from

    @property
    def dated_field(self) -> str:
        """The field of that day."""
        return "owed_from"


class NewSystemChange(Form):
    """The participant moves to another system: what was designated before falls, 3 L.P.R.A. § 803."""

    reference: Reference
    changed_on: Date
    to_system: System

    @property
    def dated(self) -> date:
        """The day of the change."""
        return self.changed_on

    @property
    def dated_field(self) -> str:
        """The field of that day."""
        return "changed_on"


class FiledView(Answer):
    """What was filed, and how it stands. `sequence` is its line, by which it is approved."""

    participant_id: ParticipantId
    sequence: LineNumber
    status: Literal["filed", "approved"]
    filed: dict[str, JsonValue]
    filed_by: str
    approved_by: str | None
    determination: str


class DesignationView(Answer):
    """A designation and how it stands, by the day of a reported death, or today: `recognized` is the one that counts.

    One that is `superseded` was filed before that one; one that is `void` fell with a change of system, or was filed
    after the death. `ended_by` is the line that ended it. All stay readable.
    """

    participant_id: ParticipantId
    sequence: LineNumber
    status: Literal["filed", "recognized", "superseded", "void"]
    reference: Reference
    filed_on: Date
    beneficiaries: list[NewBeneficiary]
    filed_by: str
    recognized_by: str | None
    ended_by: LineNumber | None
    citation: str = f"{SECTION}(e)"


class Designations(Answer):
    """All designations of a participant, in the order in which they were filed."""

    participant_id: ParticipantId
    items: list[DesignationView]


def _order(service: ServiceLength) -> tuple[int, int, int]:
    return service.years, service.months, service.days
