"""A case as its lines and their evidence have it: each step of it, and how it stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from death_refunds.claims import Claim
from death_refunds.settling import PayeeRow
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import Line

EVIDENCE = "death_refund"


@dataclass(frozen=True)
class Step:
    """A step of a case as its evidence has it: what was entered, or what was approved of it, and its line."""

    line: Line
    evidence: Evidence

    @property
    def body(self) -> Mapping[str, Any]:
        """What it says."""
        body: Mapping[str, Any] = self.evidence.body
        return body

    @property
    def claim(self) -> Claim:
        """The claim at this step."""
        return Claim.model_validate(self.body["claim"])

    @property
    def payees(self) -> list[PayeeRow]:
        """The payees at this step; at a question, those of the step before it."""
        return [PayeeRow.model_validate(row) for row in self.body["payees"]]

    @property
    def hash(self) -> str:
        """What an approval names."""
        return self.evidence.content_hash.hex()


@dataclass(frozen=True)
class Standing:
    """A case as it stands: what was entered last, what was approved last, and whether the report was withdrawn.

    `today` is Puerto Rico's, by which what is told of it is judged.
    """

    refund_id: str
    history: Sequence[Line]
    today: date
    entered: Step
    approved: Step | None
    settlement: Step | None
    is_withdrawn: bool

    @property
    def is_pending(self) -> bool:
        """Whether what was entered last waits for its approval."""
        return self.approved is None or self.approved.line.sequence < self.entered.line.sequence

    @property
    def designated(self) -> list[str]:
        """The names of those designated, as the determination has them."""
        designation = self.entered.body["given"].get("designation") or {"beneficiaries": []}
        return [one["name"] for one in designation["beneficiaries"]]

    @property
    def is_stale(self) -> bool:
        """Whether another line has come in since."""
        return self.history[-1].sequence > self.entered.line.sequence
