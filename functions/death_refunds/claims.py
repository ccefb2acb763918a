"""What a case says beyond the passbook: heirs, beneficiaries who died, holds, and what a person decided."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, StringConstraints, field_validator

from retiro.rules.calendar import Date
from retiro.rules.forms import Form, form_error
from retiro.rules.judiciary_hybrid import PersonsDecision
from retiro.rules.money import NonNegativePercent

Name = Annotated[str, StringConstraints(min_length=1, max_length=120, strip_whitespace=True)]
Reason = Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]
PayeeNumber = Annotated[int, Field(ge=1, le=999)]

HEIRS_MAX = 12


class DeclaredHeir(Form):
    """An heir as declared. No share given for any is equal shares. What a minor takes is held."""

    name: Name
    share_percent: NonNegativePercent | None = None
    minor: bool = False


class BeneficiaryDeath(Form):
    """Somebody designated who died: on or before the participant's day, predeceased; after it, the estate takes."""

    name: Name
    died_on: Date


class Hold(Form):
    """What a payee takes is held, for a reason."""

    payee: PayeeNumber
    reason: Literal["minor", "rival_claims"]
    note: Reason


class Release(Form):
    """What a payee takes is held no longer, and why."""

    payee: PayeeNumber
    note: Reason


class Claim(Form):
    """All that is known of who takes, as the case's evidence keeps it."""

    transfer_annuity_due: bool = False
    heirs: Annotated[list[DeclaredHeir], Field(max_length=HEIRS_MAX)] = Field(default_factory=list)
    beneficiary_deaths: list[BeneficiaryDeath] = Field(default_factory=list)
    holds: list[Hold] = Field(default_factory=list)
    releases: list[Release] = Field(default_factory=list)
    decisions: list[PersonsDecision] = Field(default_factory=list)

    @field_validator("heirs", "beneficiary_deaths")
    @classmethod
    def _each_once(cls, people: list[Any]) -> list[Any]:
        names = [one.name for one in people]
        if len(set(names)) < len(names):
            raise form_error("named_twice")
        return people

    def with_changes(self, **changes: Any) -> "Claim":
        """The claim with something put in its place."""
        return self.model_copy(update=changes)

    def said_anew(self, said: "Claim") -> "Claim":
        """The claim with what another one names in its place. Deaths add to those told of: nobody lives again."""
        changes: dict[str, Any] = {name: getattr(said, name) for name in said.model_fields_set}
        deaths = self.beneficiary_deaths
        for death in said.beneficiary_deaths:
            deaths = put(deaths, death, lambda one: one.name)
        return self.with_changes(**changes | {"beneficiary_deaths": deaths})

    def seconded_by(self, person: str) -> "Claim":
        """The claim with the second of what a person decided."""
        decisions = [one.model_copy(update={"seconded_by": person}) for one in self.decisions]
        return self.with_changes(decisions=decisions)

    @property
    def content(self) -> dict[str, Any]:
        """What the claim is the same by."""
        return self.model_dump(mode="json", exclude_defaults=True)


Told = TypeVar("Told")


def put(told: Sequence[Told], one: Told, of: Callable[[Told], object]) -> list[Told]:
    """What was told, with one more in the place of what was told of the same: told again, it is the same as before."""
    if any(of(other) == of(one) for other in told):
        return [one if of(other) == of(one) else other for other in told]
    return [*told, one]
