"""What only a person can decide about a plan, as it is proposed, and as it is answered. 3 L.P.R.A. § 830q."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter

from payroll_deductions.plan_models import ContentHash, PlanId
from retiro.portal import Amount, Answer, Body
from retiro.rules.money import NonNegativeMoney, PositiveMoney

PAYEES_MAX = 12

Reason = Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]
Choice = Literal["charge_death_benefit", "lapse", "claim_on_estate", "release", "place_held"]


class _Choice(Body):
    """What is decided, and why."""

    reason: Reason


class ChargeDeathBenefit(_Choice):
    """Of who died before any pension, the principal paid: (f), as if pensioned. The benefit is that of the fact.

    `installment` is what a survivors' pension bears at most, where the plan had no schedule yet.
    """

    choice: Literal["charge_death_benefit"]
    installment: PositiveMoney | None = None


class Lapse(_Choice):
    """Of who died before any pension with principal open: (d), the plan lapses, and what was paid is held."""

    choice: Literal["lapse"]


class ClaimOnEstate(_Choice):
    """Of who died owing, the principal paid: what is left is claimed from the estate."""

    choice: Literal["claim_on_estate"]


class Release(_Choice):
    """Of who died owing, the principal paid: what is left isn't collected."""

    choice: Literal["release"]


class Payee(Body):
    """Who is paid of what was held, and how much."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=120, strip_whitespace=True)]
    amount: PositiveMoney


class PlaceHeld(_Choice):
    """All that a lapsed plan held: paid in again to the participant's plan that is open, or payable.

    Without payees what isn't paid in is payable to the participant, who is alive.
    """

    choice: Literal["place_held"]
    pay_in: NonNegativeMoney = 0
    payees: Annotated[list[Payee], Field(max_length=PAYEES_MAX)] = Field(default_factory=list)


NewDecision = Annotated[ChargeDeathBenefit | Lapse | ClaimOnEstate | Release | PlaceHeld, Field(discriminator="choice")]
DECISION: TypeAdapter[ChargeDeathBenefit | Lapse | ClaimOnEstate | Release | PlaceHeld] = TypeAdapter(
    NewDecision, config=ConfigDict(defer_build=True)
)


class DecisionApproval(Body):
    """The proposal of this content is to be done."""

    content_hash: ContentHash


class Move(Answer):
    """What an account of the passbook gains (above zero: a credit) or loses."""

    account: str
    amount: Amount


class DecisionView(Answer):
    """A decision, proposed or done. `question` says why a person decides; `moves` is all that it posts.

    `receipt` is that of the determination that it rests on; null where there is none.
    """

    plan_id: PlanId
    decision: NewDecision
    question: str
    citation: str
    moves: list[Move]
    receipt: JsonValue
    status: Literal["proposed", "done"]
    content_hash: ContentHash
    proposed_by: str
    approved_by: str | None


class DecisionList(Answer):
    """A plan's decisions: those done, in their order, and the one that waits for another person."""

    items: list[DecisionView]
