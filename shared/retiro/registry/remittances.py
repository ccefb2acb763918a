"""The ids of employers' remittances, and the evidence that holds one.

A remittance is what an employer says that it withheld. It moves no money: the deposit does, once the fund has seen it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from retiro.ledger.evidence import Evidence
from retiro.ledger.store import LedgerStore
from retiro.rules.money import format_cents, parse_cents

REMITTANCE = "remittance"
DEPOSIT = "deposit"


@dataclass(frozen=True)
class RemittedLine:
    """A participant's contribution, in cents."""

    participant_id: str
    amount_cents: int


@dataclass(frozen=True)
class Remittance:
    """A remittance as it was received: by its employer's reference, for a month (`2025-01`)."""

    employer_id: str
    reference: str
    fund: str
    period: str
    lines: Sequence[RemittedLine]

    @property
    def remittance_id(self) -> str:
        """`E-001_2025-014`: the employer and its reference."""
        return f"{self.employer_id}_{self.reference}"

    @property
    def total_cents(self) -> int:
        """The sum of the lines."""
        return sum(line.amount_cents for line in self.lines)

    @property
    def content(self) -> dict[str, Any]:
        """What the remittance is the same by."""
        return {
            "employer_id": self.employer_id,
            "reference": self.reference,
            "fund": self.fund,
            "period": self.period,
            "lines": [[line.participant_id, format_cents(line.amount_cents)] for line in self.lines],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> "Remittance":
        """From its content."""
        lines = [RemittedLine(participant_id, parse_cents(amount)) for participant_id, amount in content["lines"]]
        return cls(content["employer_id"], content["reference"], content["fund"], content["period"], lines)

    def evidence(self, principal: str) -> Evidence:
        """What the ledger keeps of it: the content, and who filed it first."""
        return Evidence(REMITTANCE, self.remittance_id, {"content": self.content, "principal": principal})


@dataclass(frozen=True)
class Deposit:
    """The fund's word that a remittance's money came."""

    reference: str
    amount_cents: int
    value_date: date
    principal: str

    def evidence(self, remittance_id: str) -> Evidence:
        """What the ledger keeps of it: one for a remittance."""
        body = {
            "reference": self.reference,
            "amount": format_cents(self.amount_cents),
            "value_date": self.value_date.isoformat(),
            "principal": self.principal,
        }
        return Evidence(DEPOSIT, remittance_id, body)


def remittance_of(store: LedgerStore, remittance_id: str) -> Remittance | None:
    """The remittance, or `None` where none of this id was received."""
    evidence = store.get_evidence(REMITTANCE, remittance_id)
    return None if evidence is None else Remittance.of_content(evidence.body["content"])


def deposit_of(store: LedgerStore, remittance_id: str) -> Deposit | None:
    """The deposit of a remittance, or `None` where none is confirmed."""
    evidence = store.get_evidence(DEPOSIT, remittance_id)
    if evidence is None:
        return None
    body = evidence.body
    return Deposit(
        body["reference"], parse_cents(body["amount"]), date.fromisoformat(body["value_date"]), body["principal"]
    )
