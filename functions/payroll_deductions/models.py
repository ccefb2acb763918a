"""What the doors of employers' remittances take and answer."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from retiro.portal import Amount, Answer, Body
from retiro.registry.participants import EmployerId, ParticipantId, Reference
from retiro.rules.calendar import Date
from retiro.rules.money import Money

LINES_MAX = 1_000

Month = Annotated[str, StringConstraints(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$"), Field(examples=["2025-01"])]
RemittanceId = Annotated[
    str, StringConstraints(pattern=r"^E-[0-9]{3,6}_[A-Za-z0-9-]{1,40}$"), Field(examples=["E-001_2025-014"])
]


class Control(Body):
    """What the employer counted. Both must be those of the lines, to the cent."""

    count: Annotated[int, Field(ge=0)]
    total: Money


class RemittanceLine(Body):
    """A participant's contribution of the month."""

    participant_id: ParticipantId
    amount: Money
    kind: Literal["contribution"]


class NewRemittance(Body):
    """What an employer has withheld and remits: taken whole or not at all."""

    reference: Reference
    employer_id: EmployerId
    period: Month
    control: Control
    lines: Annotated[list[RemittanceLine], Field(min_length=1, max_length=LINES_MAX)]


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


class RemittanceView(Answer):
    """Where a remittance stands. `clearing`: what of the deposit isn't credited to anybody."""

    remittance_id: str
    employer_id: EmployerId
    period: Month
    status: Literal["awaiting_deposit", "crediting", "failed", "credited", "closed"]
    count: int
    total: Amount
    credited: int
    clearing: Amount
    deposit: DepositView | None
    unplaced: list[Unplaced]
    place: str
