"""The ids of employers' remittances, and the evidence that holds one.

A remittance is what an employer, or the pension payroll, says that it withheld. It moves no money: the deposit does,
once the fund has seen it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from retiro.ledger.evidence import Evidence
from retiro.ledger.store import LedgerStore
from retiro.registry.table import Table, to_attributes
from retiro.rules.money import format_cents, parse_cents

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef as TransactItem

REMITTANCE = "remittance"
DEPOSIT = "deposit"
CREDITING = "crediting"
"""The evidence of a page of a remittance that was credited: `<remittance>/<page>`."""
RETURN = "deposit_return"
"""The evidence of a deposit that the bank has taken back, by the remittance's id."""


CONTRIBUTION = "contribution"
INSTALLMENT = "installment"


@dataclass(frozen=True)
class RemittedLine:
    """A participant's contribution, or installment of a plan, in cents; what else the employer said of it."""

    participant_id: str
    amount_cents: int
    kind: str = CONTRIBUTION
    salary_cents: int | None = None
    name: str = ""

    @property
    def content(self) -> list[str]:
        """As it is stored: what a plain contribution doesn't have is left out."""
        salary = "" if self.salary_cents is None else format_cents(self.salary_cents)
        whole = [self.participant_id, format_cents(self.amount_cents), self.kind, salary, self.name]
        return whole if whole[2:] != [CONTRIBUTION, "", ""] else whole[:2]

    @classmethod
    def of_content(cls, content: Sequence[str]) -> "RemittedLine":
        """From its content."""
        participant_id, amount, kind, salary, name = [*content, *_PLAIN[len(content) - 2 :]]
        return cls(participant_id, parse_cents(amount), kind, parse_cents(salary) if salary else None, name)


_PLAIN = (CONTRIBUTION, "", "")


@dataclass(frozen=True)
class RemittedFile:
    """An uploaded file that holds a remittance's lines, since they are too many for the ledger.

    The version of its object, the hash of its bytes, and under which validation its lines are stored.
    """

    version: str
    sha256: str
    validation: str
    count: int
    total_cents: int


@dataclass(frozen=True)
class Remittance:
    """A remittance as it was received: by its employer's reference, for a month (`2025-01`).

    `first_line` is the number of the first line where the employer sees it: after a CSV file's heading it is 2. The
    lines of a `file` are stored with it.
    """

    employer_id: str
    reference: str
    fund: str
    period: str
    lines: Sequence[RemittedLine]
    first_line: int = 1
    file: RemittedFile | None = None

    @property
    def remittance_id(self) -> str:
        """`E-001_2025-014`: the employer and its reference."""
        return f"{self.employer_id}_{self.reference}"

    @property
    def count(self) -> int:
        """How many lines."""
        return len(self.lines) if self.file is None else self.file.count

    @property
    def total_cents(self) -> int:
        """The sum of the lines."""
        return sum(line.amount_cents for line in self.lines) if self.file is None else self.file.total_cents

    @property
    def content(self) -> dict[str, Any]:
        """What the remittance is the same by."""
        content: dict[str, Any] = {
            "employer_id": self.employer_id,
            "reference": self.reference,
            "fund": self.fund,
            "period": self.period,
            "lines": [line.content for line in self.lines],
        }
        if self.first_line != 1:
            content["first_line"] = self.first_line
        if self.file is not None:
            content["file"] = {
                "version": self.file.version,
                "sha256": self.file.sha256,
                "validation": self.file.validation,
                "count": self.file.count,
                "total": format_cents(self.file.total_cents),
            }
        return content

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> "Remittance":
        """From its content."""
        stored = content.get("file")
        return cls(
            content["employer_id"],
            content["reference"],
            content["fund"],
            content["period"],
            [RemittedLine.of_content(line) for line in content["lines"]],
            content.get("first_line", 1),
            None
            if stored is None
            else RemittedFile(
                stored["version"],
                stored["sha256"],
                stored["validation"],
                stored["count"],
                parse_cents(stored["total"]),
            ),
        )

    def evidence(self, principal: str, matched: Mapping[str, Any] | None = None) -> Evidence:
        """What the ledger keeps of it: the content, who filed it first, and how it was matched then."""
        body: dict[str, Any] = {"content": self.content, "principal": principal}
        return Evidence(REMITTANCE, self.remittance_id, body if matched is None else body | {"matched": matched})


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


def matched_of(store: LedgerStore, remittance_id: str) -> Mapping[str, Any]:
    """How a remittance was matched when it was filed: counts by result, and the lines of note."""
    evidence = store.get_evidence(REMITTANCE, remittance_id)
    matched: Mapping[str, Any] = {} if evidence is None else evidence.body.get("matched", {})
    return matched


def installments_of(store: LedgerStore, remittance_id: str) -> int:
    """What a remittance has in installments, in cents. Raises `LookupError` where none of this id was received.

    Of a file that is what was counted when it was taken; where that wasn't kept, all of it, which is not less.
    """
    evidence = store.get_evidence(REMITTANCE, remittance_id)
    if evidence is None:
        raise LookupError(f"no remittance {remittance_id} was received")
    remittance = Remittance.of_content(evidence.body["content"])
    if remittance.file is None:
        return sum(line.amount_cents for line in remittance.lines if line.kind == INSTALLMENT)
    counted = evidence.body.get("matched", {}).get("installments")
    return remittance.total_cents if counted is None else parse_cents(counted)


def index_entry(table: Table, remittance: Remittance) -> "TransactItem":
    """What finds an employer's remittances by month, as a part of the transaction in which the remittance is taken."""
    item = {
        "pk": _index(remittance.employer_id),
        "sk": f"{remittance.period}#{remittance.remittance_id}",
        "remittance_id": remittance.remittance_id,
        "period": remittance.period,
    }
    return {"Put": {"TableName": table.name, "Item": to_attributes(item)}}


def remittances_by_month(table: Table, employer_id: str) -> Iterator[tuple[str, str]]:
    """Month and id of each remittance that an employer has filed, in order of months."""
    return ((item["period"], item["remittance_id"]) for item in table.items(_index(employer_id)))


def _index(employer_id: str) -> str:
    return f"employer_remittances#{employer_id}"


def placed_lines(table: Table, remittance_id: str) -> set[int]:
    """The lines of a remittance whose money a person has placed."""
    return {item["line"] for item in table.items(placements(remittance_id)) if item["status"] == "placed"}


def placements(remittance_id: str) -> str:
    """The partition of what persons propose for the lines that have no place."""
    return f"placement#{remittance_id}"


@dataclass(frozen=True)
class Return:
    """The fund's word that the bank has taken a remittance's deposit back."""

    reference: str
    returned_on: date
    reason: str
    principal: str

    def evidence(self, remittance_id: str) -> Evidence:
        """What the ledger keeps of it: one for a remittance."""
        body = {
            "reference": self.reference,
            "returned_on": self.returned_on.isoformat(),
            "reason": self.reason,
            "principal": self.principal,
        }
        return Evidence(RETURN, remittance_id, body)


def return_of(store: LedgerStore, remittance_id: str) -> Return | None:
    """The return of a remittance's deposit, or `None` where it stands."""
    evidence = store.get_evidence(RETURN, remittance_id)
    if evidence is None:
        return None
    body = evidence.body
    return Return(body["reference"], date.fromisoformat(body["returned_on"]), body["reason"], body["principal"])
