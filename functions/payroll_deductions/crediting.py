"""Crediting a remittance whose deposit is confirmed, page by page: participants' lines and the payer's, together.

A page is one transaction and one business key. What an account can't take stays in the payer's clearing, and is named,
with the reason, in the page's evidence: a line, or what is over of one. An installment is credited up to what the plan
has due by then and isn't paid, whatever was ordered: a file that came late may have paid it already.
Nothing in this module knows HTTP.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

from payroll_deductions.file_store import RemittanceFiles
from retiro.ledger import employers, plans
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import Credits, PostedFigures, known
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision, Part, Passbooks
from retiro.ledger.savings import Origin
from retiro.registry.remittances import (
    CONTRIBUTION,
    CREDITING,
    INSTALLMENT,
    Deposit,
    Remittance,
    RemittedLine,
    deposit_of,
    remittance_of,
)
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.runs.jobs import Notes

KIND = "remittance"
PAGE_ROWS = 40
"""Lines in a transaction: with late credits' evidence it stays under DynamoDB's hundred items."""

PAGES_NOTED_MAX = 60
"""Pages in a note of what is unplaced: their bits fit into one of DynamoDB's numbers."""


class NotDepositedError(Exception):
    """A remittance without a confirmed deposit is never credited: what is withheld and not remitted is no credit."""


@dataclass(frozen=True)
class RemittanceKind:
    """Credits the lines of remittances. Without `files`, of those alone whose lines are in the ledger."""

    passbooks: Passbooks
    board: BoardBook
    files: RemittanceFiles | None = None

    def rows(self, job_id: str) -> Sequence[RemittedLine]:
        """The remittance's lines."""
        remittance = self._remittance(job_id)
        return remittance.lines if self.files is None else self.files.lines(remittance)

    def take(self, job_id: str, first: int, rows: Sequence[RemittedLine]) -> Sequence[Mapping[str, Any]]:
        """Credit a page, once, on the deposit's value date; where lines stay unplaced, how many, with the page.

        Raises `NotDepositedError`.
        """
        deposit = deposit_of(self.passbooks.store, job_id)
        if deposit is None:
            raise NotDepositedError(job_id)
        page = _Page(self._remittance(job_id), deposit, first, rows, credits_of(self.passbooks, self.board))
        self.passbooks.append_together(
            page.parts(),
            key=BusinessKey(KeyKind.REMITTANCE_CREDIT, page.identifier),
            content=[row.content for row in rows],
        )
        # Read back, since an earlier attempt may have posted the page: what it found then is what holds.
        evidence = self.passbooks.store.get_evidence(CREDITING, page.identifier)
        unplaced = [] if evidence is None else evidence.body["unplaced"]
        whole = sum("over" not in note for note in unplaced)
        return [{"page": page.number, "unplaced": len(unplaced), "whole": whole}] if unplaced else []

    def _remittance(self, job_id: str) -> Remittance:
        remittance = remittance_of(self.passbooks.store, job_id)
        if remittance is None:
            raise ValueError("no remittance of this id was received")
        return remittance


def folded(before: Notes, notes: Notes) -> Notes:
    """The notes of pages with lines that stay unplaced, added up by sixty pages, so that a cursor stays small.

    `page` is the first page of such a note, `more` has a bit for each later one: the lowest is that of the next page.
    """
    after = list(before)
    for note in notes:
        distance = note["page"] - after[-1]["page"] if after else PAGES_NOTED_MAX
        if distance >= PAGES_NOTED_MAX:
            after.append(note)
            continue
        last = after[-1]
        more = last.get("more", 0) | (1 << distance >> 1)
        sums = {name: last[name] + note[name] for name in ("unplaced", "whole")}
        after[-1] = {"page": last["page"], "more": more, **sums}
    return after


def pages_noted(note: Mapping[str, Any]) -> list[int]:
    """The pages that a folded note is of."""
    later = [distance for distance in range(1, PAGES_NOTED_MAX) if note.get("more", 0) >> (distance - 1) & 1]
    return [note["page"] + distance for distance in (0, *later)]


def credits_of(passbooks: Passbooks, board: BoardBook) -> Credits:
    """What decides credits today."""
    store = passbooks.store
    return Credits(store, PostedFigures(store, board), puerto_rico_date(passbooks.clock()))


def through_of(period: str, value_date: date) -> date:
    """The day through which installments that are due may be credited: the month's last, or the deposit's if later.

    So a file that comes after a later month's isn't held as over where all of it is due by then.
    """
    return max(plans.month_end(date.fromisoformat(f"{period}-01")), value_date)


@dataclass(frozen=True)
class Held:
    """Cents of a line that stay in clearing, and why. `over`: the rest of the line was credited."""

    line: int
    row: RemittedLine
    amount_cents: int
    refusal: Refusal

    @property
    def over(self) -> bool:
        """Whether a part of the line was credited."""
        return self.amount_cents < self.row.amount_cents

    @property
    def note(self) -> dict[str, Any]:
        """As the page's evidence has it."""
        note = {
            "line": self.line,
            "participant_id": self.row.participant_id,
            "amount": format_cents(self.amount_cents),
            "code": str(self.refusal.code),
            "detail": self.refusal.sentence.en,
            "citation": self.refusal.citation,
        }
        if self.row.kind != CONTRIBUTION:
            note["kind"] = self.row.kind
        return note | ({"over": 1} if self.over else {})


@dataclass
class _Page:
    """The decisions of one transaction. `held`, by line, is decided anew each time that the passbooks are looked at."""

    remittance: Remittance
    deposit: Deposit
    first: int
    rows: Sequence[RemittedLine]
    credits: Credits
    held: dict[int, Held] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The page's, from 0."""
        return self.first // PAGE_ROWS

    @property
    def identifier(self) -> str:
        """The remittance's id and the page's number."""
        return f"{self.remittance.remittance_id}/{self.number:04d}"

    def parts(self) -> list[Part]:
        """The participants' passbooks, and the payer's after them, which passes on what they take."""
        fund = self.remittance.fund
        of_participant: dict[str, list[tuple[int, RemittedLine]]] = {}
        for line, row in enumerate(self.rows, start=self.first + self.remittance.first_line):
            of_participant.setdefault(row.participant_id, []).append((line, row))
        members = [
            Part(participant_id, partial(self._credit, sorted(lines, key=_contributions_first)), fund)
            for participant_id, lines in of_participant.items()
        ]
        return [*members, Part(self.remittance.employer_id, self._pass_on, fund)]

    def _credit(self, lines: Iterable[tuple[int, RemittedLine]], last: Line | None) -> Decision:
        decisions = [self._decided(line, row, last) for line, row in lines]
        return Decision(
            [draft for one in decisions for draft in one.drafts], [item for one in decisions for item in one.evidence]
        )

    def _decided(self, line: int, row: RemittedLine, last: Line | None) -> Decision:
        self.held.pop(line, None)
        try:
            if row.kind == INSTALLMENT:
                return self._installment(line, row, last)
            return self.credits.contribution(
                last, row.participant_id, row.amount_cents, self.deposit.value_date, self._origin()
            )
        except Refusal as refusal:
            self.held[line] = Held(line, row, row.amount_cents, refusal)
            return Decision([])

    def _installment(self, line: int, row: RemittedLine, last: Line | None) -> Decision:
        """What is due of the plan by the end of the month that is remitted; what is over of it is held."""
        last = known(last, row.participant_id)
        through = through_of(self.remittance.period, self.deposit.value_date)
        credit = partial(
            plans.installment_credit, last, credited_on=self.deposit.value_date, origin=self._origin(), through=through
        )
        try:
            return Decision([credit(row.amount_cents)])
        except Refusal as refusal:
            plan = plans.plan_of(last)
            due_cents = plan.due_cents(through) if plan else 0
            if refusal.code is not RefusalCode.OVER_DUE or not due_cents:
                raise
            self.held[line] = Held(line, row, row.amount_cents - due_cents, refusal)
            return Decision([credit(due_cents)])

    def _pass_on(self, last: Line | None) -> Decision:
        if last is None:
            raise NotDepositedError(self.remittance.remittance_id)
        placed = {CONTRIBUTION: 0, INSTALLMENT: 0}
        for line, row in enumerate(self.rows, start=self.first + self.remittance.first_line):
            held = self.held.get(line)
            placed[row.kind] += row.amount_cents - (held.amount_cents if held else 0)
        drafts = []
        if any(placed.values()):
            drafts.append(
                employers.passing_on(
                    last,
                    self.remittance.remittance_id,
                    placed[CONTRIBUTION],
                    self.deposit.value_date,
                    self._origin(),
                    installments_cents=placed[INSTALLMENT],
                )
            )
        body = {
            "remittance_id": self.remittance.remittance_id,
            "passed_on": format_cents(placed[CONTRIBUTION]),
            "lines": len(self.rows),
            "unplaced": [self.held[line].note for line in sorted(self.held)],
        }
        if placed[INSTALLMENT]:
            body["installments"] = format_cents(placed[INSTALLMENT])
        return Decision(drafts, [Evidence(CREDITING, self.identifier, body)])

    def _origin(self) -> Origin:
        return Origin(
            self.deposit.principal,
            f"{CREDITING}/{self.identifier}",
            {"remittance": self.remittance.remittance_id},
        )


def _contributions_first(numbered: tuple[int, RemittedLine]) -> bool:
    """A late credit names its evidence by the sequence that its line will have: nothing may come before it."""
    return numbered[1].kind != CONTRIBUTION
