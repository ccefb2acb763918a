"""A deposit that the bank has taken back: posted at once, and then what it credited is taken back page by page."""

from dataclasses import dataclass

from payroll_deductions.models import NewReturn, RemittanceView
from payroll_deductions.remittances import OPEN_MAX_BY_RETURNS, Remittances, check_open
from payroll_deductions.standing import Standing
from retiro.ledger.employers import deposit_taken_back
from retiro.ledger.evidence import EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Draft, Line
from retiro.ledger.savings import Origin
from retiro.portal import Principal, conflict, refused
from retiro.registry.clients import Party
from retiro.registry.jobs import Jobs, JobStatus
from retiro.registry.remittances import RETURN, Deposit, Remittance, Return, deposit_of
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.savings_accounts import SECTION, check_on_calendar
from retiro.runs.jobs import JobStarter

_CITATION = f"{SECTION}(a)(2)"


@dataclass(frozen=True)
class Returns:
    """Posts returns of deposits, and starts the jobs that take the credits back."""

    remittances: Remittances
    jobs: Jobs
    starter: JobStarter

    def take_back(self, remittance_id: str, body: NewReturn, principal: Principal) -> RemittanceView:
        """Post the return, once, and start taking the credits back. The same return again is the first answer.

        Raises 403 for who isn't the fund's client, 404, 422 for a day before the deposit's or after today, 409 where
        nothing was deposited, the crediting isn't over, another return was posted, or too many remittances are open.
        """
        principal.must_be(Party.FUND)
        remittance = self.remittances.reached(remittance_id, principal)
        deposited = self._deposited(remittance)
        self._check_day(deposited, body)
        self._post(remittance, Return(body.reference, body.returned_on, body.reason, principal.label))
        self.jobs.open(remittance_id, rows=0, facts={})
        self.starter.start(remittance_id)
        passbooks, registry = self.remittances.passbooks, self.remittances.registry
        return Standing(passbooks, registry, self.remittances.jobs).view(remittance)

    def _deposited(self, remittance: Remittance) -> Deposit:
        deposited = deposit_of(self.remittances.passbooks.store, remittance.remittance_id)
        if deposited is None:
            raise conflict(
                "not_deposited",
                en="No deposit was confirmed for this remittance.",
                es="No se confirmó ningún depósito para esta remesa.",
                citation=_CITATION,
            )
        crediting = self.remittances.jobs.get(remittance.remittance_id)
        if crediting is None or crediting.status is not JobStatus.DONE:
            raise conflict(
                "crediting_under_way",
                en="The remittance is still being credited; confirm its deposit again if that has stopped.",
                es="La remesa todavía se está acreditando; confirme otra vez el depósito si se detuvo.",
                citation=_CITATION,
            )
        return deposited

    def _check_day(self, deposited: Deposit, body: NewReturn) -> None:
        today = puerto_rico_date(self.remittances.passbooks.clock())
        check_on_calendar(body.returned_on, today=today, field="returned_on")
        if body.returned_on < deposited.value_date:
            raise refused(
                "return_before_deposit",
                en="A deposit can't be taken back before its value date.",
                es="Un depósito no puede devolverse antes de su fecha valor.",
                citation=_CITATION,
                field="returned_on",
            )

    def _post(self, remittance: Remittance, returned: Return) -> None:
        remittance_id = remittance.remittance_id
        origin = Origin(returned.principal, f"{RETURN}/{remittance_id}", {"reference": returned.reference})
        draft = deposit_taken_back(remittance_id, remittance.total_cents, returned.returned_on, origin)

        def decide(last: Line | None) -> Draft:
            if last is not None:
                check_open(last, remittance_id, OPEN_MAX_BY_RETURNS)
            return draft

        try:
            self.remittances.passbooks.append(
                remittance.employer_id,
                decide,
                key=BusinessKey(KeyKind.DEPOSIT_RETURN, returned.reference),
                content={"remittance_id": remittance_id, "returned_on": returned.returned_on.isoformat()},
                evidence=[returned.evidence(remittance_id)],
                fund=remittance.fund,
            )
        except EvidenceConflictError as there:
            raise conflict(
                "already_returned",
                en=f"The return {there.existing.body['reference']} was posted for this remittance already.",
                es=f"Ya se registró la devolución {there.existing.body['reference']} de esta remesa.",
                citation=_CITATION,
                field="reference",
            ) from there
