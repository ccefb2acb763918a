"""An employer's remittance from its filing to its closing. 3 L.P.R.A. § 786-7(a)(2), § 830q(e).

A file isn't money: it is taken whole or not at all, and credited when the fund confirms its deposit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from payroll_deductions.edits import Fault
from payroll_deductions.file_reading import Parsed
from payroll_deductions.file_store import RemittanceFiles, line_of, missing_place
from payroll_deductions.filing import checked_whole, parsed_of, refusal
from payroll_deductions.matching import Match, counts, missing
from payroll_deductions.models import Filing, NewCsvRemittance, NewDeposit, NewRemittance, NewUpload, RemittanceView
from payroll_deductions.receiving import Uploads, reference_used, unknown_remittance
from payroll_deductions.standing import Standing
from payroll_deductions.uploads import TEST_SUFFIX
from payroll_deductions.validation import accept, payer_of
from retiro.ledger.employers import deposit, open_remittances, opening
from retiro.ledger.encoding import canonical, content_hash
from retiro.ledger.evidence import Evidence, EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.savings import Origin
from retiro.portal import Principal, conflict, refused
from retiro.registry.clients import Party
from retiro.registry.employers import Employer, employer_of
from retiro.registry.jobs import Jobs
from retiro.registry.participants import profiles_of
from retiro.registry.remittances import DEPOSIT, INSTALLMENT, Deposit, Remittance, remittance_of
from retiro.registry.roster import Holder, roster_item
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import SECTION, check_on_calendar
from retiro.runs.jobs import JobStarter

_CITATION = f"{SECTION}(a)(2)"

OPEN_MAX = 40
"""Remittances of a payer whose money waits at once. Each line of its passbook names them: this many have room in it."""

OPEN_MAX_BY_RETURNS = 50
"""The same where a bank takes a deposit back, which opens one again: those have room too, and what is posted to all."""

EVIDENCE_BYTES_MAX = 400_000
"""What a body and its matching may take in the ledger: under DynamoDB's 409,600 bytes an item, its key included."""


@dataclass(frozen=True)
class Remittances:
    """Receives remittances, confirms deposits, and says where they stand. Without `uploads`, by the body alone."""

    passbooks: Passbooks
    registry: Table
    jobs: Jobs
    starter: JobStarter
    files: RemittanceFiles | None = None
    uploads: Uploads | None = None

    def receive(self, body: Filing, principal: Principal) -> RemittanceView:
        """Take a remittance. The same one again is the same; another content under its reference is a conflict.

        Raises 403 for another agency's, 422 with every error, 409.
        """
        principal.must_reach_employer(body.employer_id)
        employer = self._employer(body.employer_id)
        principal.must_reach_fund(employer.fund)
        check_on_calendar(_first_day(body.period), today=self._today(), field="period")
        if isinstance(body, NewUpload):
            if self.uploads is None:
                raise ValueError("uploads aren't wired")
            return self.uploads.offer(body, employer, principal)
        return self._take(body, employer, principal)

    def read(self, remittance_id: str, principal: Principal) -> RemittanceView:
        """Where a remittance stands. Raises 404, and 403 for another agency's."""
        remittance = remittance_of(self.passbooks.store, remittance_id)
        if remittance is None and self.uploads is not None:
            return self.uploads.read(remittance_id, principal)
        return self._standing().view(self.reached(remittance_id, principal))

    def confirm(self, remittance_id: str, body: NewDeposit, principal: Principal) -> RemittanceView:
        """Post the deposit, once, and start crediting on its value date. The same deposit again is the first answer.

        Raises 403 for who isn't the fund's client, 404, 422 for another amount or a date that can't be, 409 for a
        second deposit of the remittance, another content under the deposit's reference, or where too many wait.
        """
        principal.must_be(Party.FUND)
        remittance = self.reached(remittance_id, principal)
        _check_amount(remittance, body.amount)
        self._check_value_date(remittance, body.value_date)
        confirmed = Deposit(body.reference, body.amount, body.value_date, principal.label)
        self._post(remittance, confirmed)
        self.jobs.open(remittance_id, rows=remittance.count, facts={})
        self.starter.start(remittance_id)
        return self._standing().view(remittance)

    def reached(self, remittance_id: str, principal: Principal) -> Remittance:
        """The remittance, where the principal may reach it. Raises 404, 403."""
        remittance = remittance_of(self.passbooks.store, remittance_id)
        if remittance is None:
            raise unknown_remittance()
        principal.must_reach_employer(remittance.employer_id)
        principal.must_reach_fund(remittance.fund)
        return remittance

    def _take(self, body: NewRemittance | NewCsvRemittance, employer: Employer, principal: Principal) -> RemittanceView:
        """A remittance that came in the body. What is refused is kept with its errors; the reference stays free."""
        parsed = parsed_of(body)
        payer = payer_of(self.registry, employer.employer_id, employer.fund, body.period)
        named = [row.participant_id for row in parsed.rows if row.participant_id is not None]
        checked = checked_whole(parsed, payer, profiles_of(self.registry, named))
        if checked.faults:
            self._keep(body, checked.faults)
            raise refusal(body, checked.faults)
        remitted = [row.participant_id or "" for row in parsed.rows if row.kind == INSTALLMENT]
        absent = missing(payer.orders.values(), remitted)
        remittance = _remittance(body, employer, parsed)
        matched = self._matched(remittance, checked.matches, absent, keep=not body.test)
        _check_size(remittance.evidence(principal.label, matched))
        if body.test:
            return self._standing().tested(remittance, counts([*checked.matches, *absent]))
        try:
            accept(self.passbooks.store, self.registry, remittance, principal.label, matched)
        except EvidenceConflictError as there:
            raise reference_used() from there
        return self._standing().view(remittance)

    def _matched(
        self, remittance: Remittance, matches: list[Match], absent: list[Match], *, keep: bool
    ) -> Mapping[str, object] | None:
        """What the ledger keeps of the matching; nothing where there was nothing to match.

        An order may name many more than a body: who is missing is stored in the bucket, under the hash of the list, so
        that another request with this reference never changes what this one's evidence names.
        """
        lines = [match.document for match in matches if match.result or match.flag]
        missed = [match.document for match in absent]
        if not lines and not missed:
            return None
        matched: dict[str, object] = {"counts": counts([*matches, *absent]), "lines": lines}
        if self.files is None:
            return matched | {"lines": [*lines, *missed]}
        if missed:
            digest = content_hash(missed).hex()
            if keep:
                self.files.put(missing_place(remittance.remittance_id, digest), missed)
            matched["missing"] = digest
        return matched

    def _keep(self, body: NewRemittance | NewCsvRemittance, faults: list[Fault]) -> None:
        """Keep what is refused, as it came, for the employer to fetch with its errors."""
        if self.files is None:
            return
        suffix = TEST_SUFFIX if body.test else ""
        self.files.put(
            f"{body.employer_id}_{body.reference}{suffix}/refused",
            {
                "received": body.model_dump(mode="json"),
                "faults": [fault.document for fault in faults],
            },
        )

    def _post(self, remittance: Remittance, confirmed: Deposit) -> None:
        """The deposit's line; before an employer's first one, its passbook is opened and put on the roster."""
        remittance_id, employer_id, fund = remittance.remittance_id, remittance.employer_id, remittance.fund
        origin = Origin(confirmed.principal, f"{DEPOSIT}/{remittance_id}", {"reference": confirmed.reference})
        line = deposit(remittance_id, confirmed.amount_cents, confirmed.value_date, origin)
        first = opening(self._today(), Origin(confirmed.principal))
        on_roster = self.registry.insertion(roster_item(employer_id, fund, Holder.EMPLOYER))

        def decide(last: Line | None) -> Decision:
            if last is None:
                return Decision([first, line], also=[on_roster])
            check_open(last, remittance_id, OPEN_MAX)
            return Decision([line])

        try:
            self.passbooks.append(
                employer_id,
                decide,
                fund=fund,
                key=BusinessKey(KeyKind.DEPOSIT, confirmed.reference),
                content={
                    "remittance_id": remittance_id,
                    "amount": format_cents(confirmed.amount_cents),
                    "value_date": confirmed.value_date.isoformat(),
                },
                evidence=[confirmed.evidence(remittance_id)],
            )
        except EvidenceConflictError as there:
            raise conflict(
                "already_deposited",
                en=f"The deposit {there.existing.body['reference']} was confirmed for this remittance already.",
                es=f"Ya se confirmó el depósito {there.existing.body['reference']} para esta remesa.",
                citation=_CITATION,
                field="reference",
            ) from there

    def _check_value_date(self, remittance: Remittance, value_date: date) -> None:
        check_on_calendar(value_date, today=self._today(), field="value_date")
        if value_date < _first_day(remittance.period):
            raise refused(
                "deposit_before_period",
                en=f"A deposit for {remittance.period} can't be dated before it begins.",
                es=f"Un depósito de {remittance.period} no puede tener fecha anterior a su comienzo.",
                citation=_CITATION,
                field="value_date",
            )

    def _employer(self, employer_id: str) -> Employer:
        employer = employer_of(self.registry, employer_id)
        if employer is None:
            raise Refusal(RefusalCode.UNKNOWN_EMPLOYER, _CITATION, field="employer_id", employer_id=employer_id)
        return employer

    def _today(self) -> date:
        return puerto_rico_date(self.passbooks.clock())

    def _standing(self) -> Standing:
        return Standing(self.passbooks, self.registry, self.jobs)


def _remittance(body: NewRemittance | NewCsvRemittance, employer: Employer, parsed: Parsed) -> Remittance:
    return Remittance(
        employer.employer_id,
        body.reference,
        employer.fund,
        body.period,
        [line_of(row) for row in parsed.rows],
        parsed.first_line,
    )


def check_open(last: Line, remittance_id: str, most: int) -> None:
    """Whether one more remittance may have money in the payer's clearing, of which each line names all. Raises 409."""
    there = open_remittances(last)
    if remittance_id not in there and len(there) >= most:
        raise conflict(
            "too_many_open",
            en=f"Money of {len(there)} remittances of this payer waits already: place it or return it first.",
            es=f"Ya espera dinero de {len(there)} remesas de este pagador: ubíquelo o devuélvalo primero.",
            citation=_CITATION,
            field="reference",
        )


def _check_size(evidence: Evidence) -> None:
    """A body is kept in one item of the ledger: what is too large for that, with very long names, is uploaded."""
    if len(canonical(evidence.body)) > EVIDENCE_BYTES_MAX:
        raise refused(
            "body_too_large",
            en="The lines with their names are too large for a body; upload them as a file.",
            es="Las líneas con sus nombres son demasiado grandes para el cuerpo; súbalas como archivo.",
            citation=_CITATION,
            field="lines",
        )


def _first_day(period: str) -> date:
    return date.fromisoformat(f"{period}-01")


def _check_amount(remittance: Remittance, amount_cents: int) -> None:
    if amount_cents != remittance.total_cents:
        deposited, remitted = format_cents(amount_cents), format_cents(remittance.total_cents)
        raise refused(
            "deposit_amount_differs",
            en=f"The deposit is of {deposited}, the remittance of {remitted}.",
            es=f"El depósito es de {deposited} y la remesa de {remitted}.",
            citation=_CITATION,
            field="amount",
        )
