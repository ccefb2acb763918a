"""An employer's remittance from its filing to its closing. 3 L.P.R.A. § 786-7(a)(2).

A file isn't money: it is taken whole or not at all, and credited when the fund confirms its deposit.
"""

from dataclasses import dataclass
from datetime import date

from payroll_deductions.filing import check
from payroll_deductions.models import DepositView, NewDeposit, NewRemittance, RemittanceView, Unplaced
from retiro.ledger.employers import clearing_cents, deposit, opening
from retiro.ledger.evidence import EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.savings import Origin
from retiro.portal import Principal, conflict, not_found, refused
from retiro.registry.clients import Party
from retiro.registry.employers import Employer, employer_of
from retiro.registry.jobs import Job, Jobs, JobStatus
from retiro.registry.participants import profiles_of
from retiro.registry.remittances import DEPOSIT, Deposit, Remittance, RemittedLine, deposit_of, remittance_of
from retiro.registry.roster import Holder, roster_item
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import SECTION, check_on_calendar
from retiro.runs.jobs import JobStarter

_CITATION = f"{SECTION}(a)(2)"


@dataclass(frozen=True)
class Remittances:
    """Receives remittances, confirms their deposits, and says where they stand."""

    passbooks: Passbooks
    registry: Table
    jobs: Jobs
    starter: JobStarter

    def receive(self, body: NewRemittance, principal: Principal) -> RemittanceView:
        """Take a remittance. The same one again is the same; another content under its reference is a conflict.

        Raises 403 for another agency's, 422 with every error, 409.
        """
        principal.must_reach_employer(body.employer_id)
        employer = self._employer(body.employer_id)
        principal.must_reach_fund(employer.fund)
        check_on_calendar(_first_day(body.period), today=self._today(), field="period")
        check(body, employer, profiles_of(self.registry, [line.participant_id for line in body.lines]))
        lines = [RemittedLine(line.participant_id, line.amount) for line in body.lines]
        remittance = Remittance(body.employer_id, body.reference, employer.fund, body.period, lines)
        try:
            self.passbooks.store.put_evidence(remittance.evidence(principal.label))
        except EvidenceConflictError as there:
            if there.existing.body["content"] != remittance.content:
                raise conflict(
                    "remittance_reference_used",
                    en="This reference was used by this employer for a remittance of another content.",
                    es="Este patrono usó esta referencia para una remesa de otro contenido.",
                    field="reference",
                ) from there
        return self._view(remittance)

    def read(self, remittance_id: str, principal: Principal) -> RemittanceView:
        """Where a remittance stands. Raises 404, and 403 for another agency's."""
        return self._view(self._remittance(remittance_id, principal))

    def confirm(self, remittance_id: str, body: NewDeposit, principal: Principal) -> RemittanceView:
        """Post the deposit, once, and start crediting on its value date. The same deposit again is the first answer.

        Raises 403 for who isn't the fund's client, 404, 422 for another amount or a date that can't be, 409 for a
        second deposit of the remittance, or another content under the deposit's reference.
        """
        principal.must_be(Party.FUND)
        remittance = self._remittance(remittance_id, principal)
        _check_amount(remittance, body.amount)
        self._check_value_date(remittance, body.value_date)
        confirmed = Deposit(body.reference, body.amount, body.value_date, principal.label)
        self._post(remittance, confirmed)
        self.jobs.open(remittance_id, rows=len(remittance.lines), facts={})
        self.starter.start(remittance_id)
        return self._view(remittance)

    def _post(self, remittance: Remittance, confirmed: Deposit) -> None:
        """The deposit's line; before an employer's first one, its passbook is opened and put on the roster."""
        remittance_id, employer_id, fund = remittance.remittance_id, remittance.employer_id, remittance.fund
        origin = Origin(confirmed.principal, f"{DEPOSIT}/{remittance_id}", {"reference": confirmed.reference})
        line = deposit(remittance_id, confirmed.amount_cents, confirmed.value_date, origin)
        first = opening(self._today(), Origin(confirmed.principal))
        on_roster = self.registry.insertion(roster_item(employer_id, fund, Holder.EMPLOYER))
        try:
            self.passbooks.append(
                employer_id,
                lambda last: Decision([line] if last else [first, line], also=[] if last else [on_roster]),
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

    def _remittance(self, remittance_id: str, principal: Principal) -> Remittance:
        remittance = remittance_of(self.passbooks.store, remittance_id)
        if remittance is None:
            raise not_found(
                "unknown_remittance",
                en="No such remittance was received.",
                es="No se recibió tal remesa.",
                field="remittance_id",
            )
        principal.must_reach_employer(remittance.employer_id)
        principal.must_reach_fund(remittance.fund)
        return remittance

    def _today(self) -> date:
        return puerto_rico_date(self.passbooks.clock())

    def _view(self, remittance: Remittance) -> RemittanceView:
        remittance_id = remittance.remittance_id
        deposited = deposit_of(self.passbooks.store, remittance_id)
        job = self.jobs.get(remittance_id)
        cursors = self.jobs.cursors(remittance_id)
        unplaced = [Unplaced(**note) for cursor in cursors for note in cursor.notes]
        waiting_cents = clearing_cents(self.passbooks.last(remittance.employer_id), remittance_id)
        return RemittanceView(
            remittance_id=remittance_id,
            employer_id=remittance.employer_id,
            period=remittance.period,
            status=_status(deposited, job, waiting_cents),
            count=len(remittance.lines),
            total=remittance.total_cents,
            credited=sum(cursor.done for cursor in cursors) - len(unplaced),
            clearing=waiting_cents,
            deposit=None
            if deposited is None
            else DepositView(
                reference=deposited.reference, amount=deposited.amount_cents, value_date=deposited.value_date
            ),
            unplaced=unplaced,
            place=f"/payroll-remittances/{remittance_id}",
        )


def _status(deposited: Deposit | None, job: Job | None, waiting_cents: int) -> str:
    if deposited is None:
        return "awaiting_deposit"
    if job is None or job.status in (JobStatus.RECEIVED, JobStatus.WORKING):
        return "crediting"
    if job.status is JobStatus.FAILED:
        return "failed"
    return "credited" if waiting_cents else "closed"


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
