"""Taking back what a remittance has credited, where the bank has taken its deposit back: one transaction a page.

The deposit's return is posted first, so that the payer's clearing is below zero: what is still owed of it. Each page
that is taken back brings it nearer to zero. What an account can't give back (it was paid out, or settled) stays owed,
and is named in the page's evidence. Nothing in this module knows HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from payroll_deductions.crediting import PAGE_ROWS, credits_of
from retiro.ledger import employers, late_credits, plans, savings
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import Credits, known
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.late_credits import Correction
from retiro.ledger.lines import SAVINGS, Draft, Line, LineKind
from retiro.ledger.passbooks import Decision, Part, Passbooks
from retiro.ledger.savings import Origin
from retiro.registry.remittances import Remittance, Return, placements, remittance_of, return_of
from retiro.registry.table import Table
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal, RefusalCode

KIND = "remittance_return"
EVIDENCE = "taken_back"


class NotReturnedError(Exception):
    """Nothing is taken back of a deposit that stands."""


@dataclass(frozen=True)
class ReturnKind:
    """Takes back what remittances credited."""

    passbooks: Passbooks
    board: BoardBook
    registry: Table

    def rows(self, job_id: str) -> Sequence[BusinessKey]:
        """The keys of all that may have been credited of the remittance: its pages, and what was proposed for lines.

        What was placed was proposed before, whether the registry has heard of the placement or not.
        """
        pages = -(-self._remittance(job_id).count // PAGE_ROWS)
        proposed = sorted(item["line"] for item in self.registry.items(placements(job_id)))
        return [
            *(BusinessKey(KeyKind.REMITTANCE_CREDIT, f"{job_id}/{page:04d}") for page in range(pages)),
            *(BusinessKey(KeyKind.PLACEMENT, f"{job_id}/{line}") for line in proposed),
        ]

    def take(self, job_id: str, first: int, rows: Sequence[BusinessKey]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Take back what was credited under these keys, each in one transaction, once. Raises `NotReturnedError`."""
        returned = return_of(self.passbooks.store, job_id)
        if returned is None:
            raise NotReturnedError(job_id)
        for key in rows:
            self._take_back(self._remittance(job_id), returned, key)
        return []

    def _take_back(self, remittance: Remittance, returned: Return, key: BusinessKey) -> None:
        record = self.passbooks.store.get_key(key)
        if record is None:
            return  # nothing of the page was credited
        lines = self.passbooks.store.get_lines(record.lines)
        credited = [lines[place] for place in record.lines if place[0] != remittance.employer_id]
        page = _Page(remittance, returned, key, credited, credits_of(self.passbooks, self.board))
        self.passbooks.append_together(
            page.parts(),
            key=BusinessKey(KeyKind.REMITTANCE_RETURN, f"{key.kind}/{key.reference}"),
            content={"remittance_id": remittance.remittance_id, "reference": returned.reference},
        )

    def _remittance(self, job_id: str) -> Remittance:
        remittance = remittance_of(self.passbooks.store, job_id)
        if remittance is None:
            raise ValueError("no remittance of this id was received")
        return remittance


@dataclass
class _Page:
    """The decisions of one transaction. `owed`, the lines that stay, is decided anew each time."""

    remittance: Remittance
    returned: Return
    key: BusinessKey
    credited: Sequence[Line]
    credits: Credits
    owed: dict[tuple[str, int], Refusal] = field(default_factory=dict)

    def parts(self) -> list[Part]:
        """The participants' passbooks, and the payer's after them."""
        of_participant: dict[str, list[Line]] = {}
        for line in self.credited:
            of_participant.setdefault(line.passbook, []).append(line)
        fund = self.remittance.fund
        members = [Part(passbook, partial(self._reverse, lines), fund) for passbook, lines in of_participant.items()]
        return [*members, Part(self.remittance.employer_id, self._taken_back, fund)]

    def _reverse(self, lines: Sequence[Line], last: Line | None) -> Decision:
        drafts: list[Draft] = []
        for line in lines:
            self.owed.pop((line.passbook, line.sequence), None)
            try:
                drafts += self._reversed(known(last, line.passbook), line)
            except Refusal as refusal:
                self.owed[line.passbook, line.sequence] = refusal
        return Decision(drafts)

    def _reversed(self, last: Line, line: Line) -> Sequence[Draft]:
        if line.kind is LineKind.INSTALLMENT:
            return [plans.installment_returned(last, line, self.credits.today, self._origin())]
        savings.check_takes_credits(last)
        _check_there(last, line)
        history = self.credits.store.through(last)
        figures = self.credits.figures.of(history, line.legal_date)
        return late_credits.correction(history, Correction(line.sequence, self.credits.today), figures, self._origin())

    def _taken_back(self, last: Line | None) -> Decision:  # noqa: ARG002  # it is what the credits were, whatever stands
        taken = [line for line in self.credited if (line.passbook, line.sequence) not in self.owed]
        contributions_cents = -sum(_moved(line, savings.CONTRIBUTIONS) for line in taken)
        installments_cents = -sum(_moved(line, plans.INSTALLMENTS) for line in taken)
        body = {
            "remittance_id": self.remittance.remittance_id,
            "contributions": format_cents(contributions_cents),
            "installments": format_cents(installments_cents),
            "owed": [
                {"participant_id": passbook, "line": sequence, "code": str(refusal.code)}
                for (passbook, sequence), refusal in sorted(self.owed.items())
            ],
        }
        drafts = []
        if contributions_cents or installments_cents:
            drafts.append(
                employers.passing_on_reversed(
                    self.remittance.remittance_id,
                    contributions_cents,
                    installments_cents,
                    self.credits.today,
                    self._origin(),
                )
            )
        return Decision(drafts, [Evidence(EVIDENCE, self._identifier, body)])

    @property
    def _identifier(self) -> str:
        return f"{self.key.kind}/{self.key.reference}"

    def _origin(self) -> Origin:
        return Origin(
            self.returned.principal,
            f"{EVIDENCE}/{self._identifier}",
            {"remittance": self.remittance.remittance_id},
        )


def _check_there(last: Line, line: Line) -> None:
    """Raise `Refusal` `needs_decision` where the savings don't hold any more what was credited."""
    if last.balance_cents(SAVINGS) < line.savings_cents:
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            savings.SECTION,
            reason_en="what was credited has been paid out",
            reason_es="lo acreditado ya se pagó",
        )


def _moved(line: Line, account: str) -> int:
    return sum(posting.amount_cents for posting in line.postings if posting.account == account)
