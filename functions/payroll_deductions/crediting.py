"""Crediting a remittance whose deposit is confirmed, page by page: participants' lines and the employer's, together.

A page is one transaction and one business key. A line whose account can't take it stays in the employer's clearing, and
is named, with the reason, in the page's evidence. Nothing in this module knows HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from retiro.ledger import employers
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import Credits, PostedFigures
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision, Part, Passbooks
from retiro.ledger.savings import Origin
from retiro.registry.remittances import Deposit, Remittance, RemittedLine, deposit_of, remittance_of
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal

KIND = "remittance"
PAGE_ROWS = 40
"""Participants in a transaction: with late credits' evidence it stays under DynamoDB's hundred items."""

EVIDENCE = "crediting"


class NotDepositedError(Exception):
    """A remittance without a confirmed deposit is never credited: what is withheld and not remitted is no credit."""


@dataclass(frozen=True)
class RemittanceKind:
    """Credits the lines of remittances."""

    passbooks: Passbooks
    board: BoardBook

    def rows(self, job_id: str) -> Sequence[RemittedLine]:
        """The remittance's lines."""
        return self._remittance(job_id).lines

    def take(self, job_id: str, first: int, rows: Sequence[RemittedLine]) -> Sequence[Mapping[str, Any]]:
        """Credit a page, once, on the deposit's value date; the lines that stay unplaced.

        Raises `NotDepositedError`.
        """
        deposit = deposit_of(self.passbooks.store, job_id)
        if deposit is None:
            raise NotDepositedError(job_id)
        page = _Page(self._remittance(job_id), deposit, first, rows, self._credits())
        self.passbooks.append_together(
            page.parts(),
            key=BusinessKey(KeyKind.REMITTANCE_CREDIT, page.identifier),
            content=[[row.participant_id, row.amount_cents] for row in rows],
        )
        # Read back, since an earlier attempt may have posted the page: what it found then is what holds.
        evidence = self.passbooks.store.get_evidence(EVIDENCE, page.identifier)
        return [] if evidence is None else evidence.body["unplaced"]

    def _credits(self) -> Credits:
        store = self.passbooks.store
        return Credits(store, PostedFigures(store, self.board), puerto_rico_date(self.passbooks.clock()))

    def _remittance(self, job_id: str) -> Remittance:
        remittance = remittance_of(self.passbooks.store, job_id)
        if remittance is None:
            raise ValueError("no remittance of this id was received")
        return remittance


@dataclass
class _Page:
    """The decisions of one transaction. `unplaced` is decided anew each time that the passbooks are looked at."""

    remittance: Remittance
    deposit: Deposit
    first: int
    rows: Sequence[RemittedLine]
    credits: Credits
    unplaced: dict[str, Refusal] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        """The remittance's id and the page's number."""
        return f"{self.remittance.remittance_id}/{self.first // PAGE_ROWS:04d}"

    def parts(self) -> list[Part]:
        """The participants' passbooks, and the employer's after them, which passes on what they take."""
        fund = self.remittance.fund
        members = [Part(row.participant_id, partial(self._credit, row), fund) for row in self.rows]
        return [*members, Part(self.remittance.employer_id, self._pass_on, fund)]

    def _credit(self, row: RemittedLine, last: Line | None) -> Decision:
        self.unplaced.pop(row.participant_id, None)
        try:
            return self.credits.contribution(
                last, row.participant_id, row.amount_cents, self.deposit.value_date, self._origin()
            )
        except Refusal as refusal:
            self.unplaced[row.participant_id] = refusal
            return Decision([])

    def _pass_on(self, last: Line | None) -> Decision:
        if last is None:
            raise NotDepositedError(self.remittance.remittance_id)
        placed_cents = sum(row.amount_cents for row in self.rows if row.participant_id not in self.unplaced)
        drafts = []
        if placed_cents:
            drafts.append(
                employers.passing_on(
                    last, self.remittance.remittance_id, placed_cents, self.deposit.value_date, self._origin()
                )
            )
        body = {
            "remittance_id": self.remittance.remittance_id,
            "passed_on": format_cents(placed_cents),
            "lines": len(self.rows),
            "unplaced": [
                _note(self.first + index, row, self.unplaced[row.participant_id])
                for index, row in enumerate(self.rows, start=1)
                if row.participant_id in self.unplaced
            ],
        }
        return Decision(drafts, [Evidence(EVIDENCE, self.identifier, body)])

    def _origin(self) -> Origin:
        return Origin(
            self.deposit.principal,
            f"{EVIDENCE}/{self.identifier}",
            {"remittance": self.remittance.remittance_id},
        )


def _note(line: int, row: RemittedLine, refusal: Refusal) -> dict[str, Any]:
    return {
        "line": line,
        "participant_id": row.participant_id,
        "amount": format_cents(row.amount_cents),
        "code": str(refusal.code),
        "detail": refusal.sentence.en,
        "citation": refusal.citation,
    }
