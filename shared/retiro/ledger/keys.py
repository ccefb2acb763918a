"""Business keys: what makes an event other than a run happen once. The list of kinds is here and nowhere else.

A key's item goes into the transaction of its lines, and stays for ever. It holds the hash of the event's content and
where its lines are: the same key with the same content gets the first answer, with another content a conflict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from retiro.ledger import encoding
from retiro.ledger.encoding import Document, Item, UnreadableError

SORT_KEY = "key"


class KeyKind(StrEnum):
    """What a reference is unique for."""

    ENROLMENT = "enrolment"  # the participant's id
    EMPLOYER_OPENING = "employer_opening"  # the employer's id
    INITIAL_TRANSFER = "initial_transfer"  # the sender's reference
    SELECTION = "selection"  # the participant's id and the request's date
    REMITTANCE = "remittance"  # the employer's reference
    DEPOSIT = "deposit"  # the fund's reference
    DEPOSIT_RETURN = "deposit_return"  # the fund's reference
    REMITTANCE_CREDIT = "remittance_credit"  # the remittance's id and the chunk's number
    REMITTANCE_RETURN = "remittance_return"  # the key of the credits that are taken back
    PLACEMENT = "placement"  # the remittance's id and the line
    LATE_CREDIT = "late_credit"  # the reference of what came late
    CORRECTION = "correction"  # the office's reference
    FILED = "filed"  # the participant's id and the client's reference
    APPROVED = "approved"  # the participant's id and the line of what was filed
    SYSTEM_CHANGE = "system_change"  # the participant's id and the day
    DEATH_REPORT = "death_report"  # the participant's id and the line before it
    DEATH_CONFIRMED = "death_confirmed"  # the participant's id and the report's line
    DEATH_WITHDRAWN = "death_withdrawn"  # the participant's id and the report's line
    REFUND_ENTERED = "refund_entered"  # the participant's id and the line before it
    SEPARATION = "separation"  # the separation refund's id
    RETIREMENT = "retirement"  # the annuity's id
    ANNUITY_CORRECTION = "annuity_correction"  # the annuity's id and the contract's number
    PAYMENT_RETURN = "payment_return"  # the fund's reference
    PAYMENT_REISSUE = "payment_reissue"  # the fund's reference
    SETTLEMENT = "settlement"  # the participant's id and the line of what was entered
    PRINCIPAL_PAYMENT = "principal_payment"  # the client's reference
    PLAN_APPLIED = "plan_applied"  # the participant's id and the client's reference
    PLAN_APPROVED = "plan_approved"  # the plan
    PLAN_PAYOFF = "plan_payoff"  # the client's reference
    PLAN_WARNED = "plan_warned"  # the plan and the days left
    PLAN_LAPSED = "plan_lapsed"  # the plan
    PLAN_DECIDED = "plan_decided"  # the plan and the choice
    PENSION_FACT = "pension_fact"  # the fact


@dataclass(frozen=True, slots=True)
class BusinessKey:
    """A kind and the reference that the world knows the event by."""

    kind: KeyKind
    reference: str

    def __post_init__(self) -> None:
        if not self.reference:
            msg = f"a {self.kind} key without a reference"
            raise ValueError(msg)

    def __str__(self) -> str:
        return f"{self.kind} {self.reference}"

    @property
    def partition(self) -> str:
        """The partition key of its item."""
        return f"key#{self.kind}#{self.reference}"


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What a key's item says: the hash of the content it was used for, and its lines (passbook, sequence), in order."""

    key: BusinessKey
    content_hash: bytes
    lines: tuple[tuple[str, int], ...]


class KeyConflictError(Exception):
    """A key that was used before for another content. The message names the key and both contents' hashes."""

    def __init__(self, record: KeyRecord, content_hash: bytes) -> None:
        super().__init__(
            f"{record.key} was used for another content: {record.content_hash.hex()}, now {content_hash.hex()}"
        )
        self.record = record
        self.content_hash = content_hash


def to_item(key: BusinessKey, content_hash: bytes, lines: Sequence[tuple[str, int]]) -> Item:
    """The key's item, for the transaction of its lines."""
    document: Document = {
        "pk": key.partition,
        "sk": SORT_KEY,
        "content": content_hash,
        "lines": [{"passbook": passbook, "sequence": sequence} for passbook, sequence in lines],
    }
    return encoding.to_item(document)


def from_item(item: Item) -> KeyRecord:
    """What a key's item says."""
    match encoding.from_item(item):
        case {"pk": str(pk), "content": bytes(content_hash), "lines": list(lines)}:
            _, kind, reference = pk.split("#", 2)
            pairs = tuple((line["passbook"], line["sequence"]) for line in lines)
            return KeyRecord(BusinessKey(KeyKind(kind), reference), content_hash, pairs)
        case _:
            raise UnreadableError("an item that isn't a business key")
