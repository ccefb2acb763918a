"""A death reported: payments stop at once. Another person confirms it, or withdraws a report made in error."""

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from death_refunds.models import DeathReport, NewDeathReport, ReportWithdrawal
from death_refunds.places import case_id, evidence_id, place_of
from death_refunds.world import Tables
from retiro.ledger import hybrid
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.passbooks import Decision
from retiro.ledger.savings import Origin
from retiro.portal import Principal, Problem, conflict, not_found
from retiro.registry.participants import Profile
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input

EVIDENCE = "death_report"
WITHDRAWAL_EVIDENCE = "death_withdrawal"


@dataclass(frozen=True)
class Reports:
    """Takes reports of deaths. The line stops payments, and every later decision sees it."""

    tables: Tables

    def report(self, profile: Profile, body: NewDeathReport, principal: Principal) -> DeathReport:
        """The report's line. The same reference with the same content is the first answer.

        Raises `Refusal`: `invalid_input` (a death to come, before the birth, the enrolment or the retirement) and
        `status_forbids` (reported already, or closed).
        """
        participant_id = profile.participant_id
        content = body.model_dump(mode="json", exclude={"participant_id"}) | {"person": principal.person}

        def decide(last: Line | None) -> Decision:
            if last is None:
                raise Refusal(
                    RefusalCode.UNKNOWN_PARTICIPANT, SECTION, field="participant_id", participant_id=participant_id
                )
            check_death(profile, last, body.death_date, self.tables.today)
            identifier = evidence_id(participant_id, last.sequence + 1)
            origin = Origin(principal.label, f"{EVIDENCE}/{identifier}", {"reference": body.reference})
            draft = hybrid.death_report(last, body.death_date, self.tables.today, origin)
            return Decision([draft], [Evidence(EVIDENCE, identifier, content)])

        key = BusinessKey(KeyKind.DEATH_REPORT, f"{participant_id} {body.reference}")
        line = self.tables.append(participant_id, decide, key, content).lines[0]
        return self.read(case_id(participant_id, line.sequence))

    def confirm(self, report_id: str, principal: Principal) -> DeathReport:
        """The report confirmed by another person: it may be settled now. Raises 404, 403, 409."""
        participant_id, sequence = place_of(report_id)
        self._standing(report_id, principal)

        def decide(last: Line | None) -> Decision:
            last = _stands(last, sequence)
            if "confirmed" in last.state:
                raise _already_confirmed()
            return Decision([hybrid.death_confirmed(last, self.tables.today, Origin(principal.label))])

        key = BusinessKey(KeyKind.DEATH_CONFIRMED, f"{participant_id} {sequence}")
        try:
            self.tables.append(participant_id, decide, key, {"by": principal.person})
        except KeyConflictError as other:
            _stands(self.tables.passbooks.last(participant_id), sequence)
            raise _already_confirmed() from other
        return self.read(report_id)

    def withdraw(self, report_id: str, body: ReportWithdrawal, principal: Principal) -> DeathReport:
        """A report made in error, withdrawn by another person. A settlement that stands is taken back with it.

        The status is what it was, so that the next runs post and pay what was withheld. Raises 404, 403, 409.
        """
        participant_id, sequence = place_of(report_id)
        self._standing(report_id, principal)
        content = {"report_id": report_id, "reason": body.reason, "person": principal.person}

        def decide(last: Line | None) -> Decision:
            last = _stands(last, sequence)
            identifier = evidence_id(participant_id, last.sequence + 1)
            origin = Origin(principal.label, f"{WITHDRAWAL_EVIDENCE}/{identifier}")
            history = self.tables.passbooks.store.through(last)
            drafts = hybrid.death_withdrawn(history, self.tables.today, origin)
            return Decision(drafts, [Evidence(WITHDRAWAL_EVIDENCE, identifier, content)])

        key = BusinessKey(KeyKind.DEATH_WITHDRAWN, f"{participant_id} {sequence}")
        try:
            self.tables.append(participant_id, decide, key, content)
        except KeyConflictError as other:
            raise _not_standing() from other
        return self.read(report_id)

    def read(self, report_id: str) -> DeathReport:
        """The report as it stands. Raises 404."""
        participant_id, sequence = place_of(report_id)
        history = self.tables.passbooks.history(participant_id)
        body = self._body(history, report_id)
        after = history[sequence:]
        withdrawn = next((line for line in after if line.kind is LineKind.DEATH_WITHDRAWN), None)
        until = withdrawn.sequence if withdrawn else len(history)
        confirmed = next((line for line in history[sequence:until] if line.kind is LineKind.DEATH_CONFIRMED), None)
        status: Literal["reported", "confirmed", "withdrawn"] = "confirmed" if confirmed else "reported"
        return DeathReport(
            report_id=report_id,
            participant_id=participant_id,
            death_date=body["death_date"],
            source=body["source"],
            document_sha256=body["document_sha256"],
            status="withdrawn" if withdrawn else status,
            reported_by=history[sequence - 1].principal,
            confirmed_by=confirmed.principal if confirmed else None,
            withdrawn_by=withdrawn.principal if withdrawn else None,
        )

    def _standing(self, report_id: str, principal: Principal) -> None:
        """The report is there, and was made by another person. Raises 404, 403."""
        participant_id, _ = place_of(report_id)
        self.tables.profile(participant_id, principal)
        body = self._body(self.tables.passbooks.history(participant_id), report_id)
        principal.must_not_be(
            body["person"],
            en="Who reported a death neither confirms nor withdraws it, by whatever client.",
            es="Quien informó una muerte no la confirma ni la retira, por ningún cliente.",
        )

    def _body(self, history: list[Line], report_id: str) -> dict[str, Any]:
        _, sequence = place_of(report_id)
        line = history[sequence - 1] if 0 < sequence <= len(history) else None
        if line is None or line.kind is not LineKind.DEATH_REPORT:
            raise not_found(
                "report_not_found",
                en=f"There is no report {report_id}.",
                es=f"No existe el informe {report_id}.",
                field="report_id",
            )
        body: dict[str, Any] = self.tables.evidence_of(line).body
        return body


def check_death(profile: Profile, last: Line, death_date: date, today: date) -> None:
    """A death that has come, after the birth, the enrolment and the retirement. Raises `Refusal` `invalid_input`."""
    annuity = hybrid.annuity_of(last)
    faults = {
        "in_the_future": death_date > today,
        "before_birth": death_date < profile.birth_date,
        "before_enrolment": death_date < profile.enrolled_on,
        "before_retirement": annuity is not None and death_date < annuity.retired_on,
    }
    for kind, is_at_fault in faults.items():
        if is_at_fault:
            raise invalid_input(f"{SECTION}(e), (f)", "death_date", kind)


def _stands(last: Line | None, sequence: int) -> Line:
    """The last line of a passbook in which this report stands."""
    if last is None or last.state.get("report") != sequence:
        raise _not_standing()
    return last


def _not_standing() -> Problem:
    return conflict(
        "report_not_standing",
        en="The report was withdrawn.",
        es="El informe fue retirado.",
        citation=SECTION,
    )


def _already_confirmed() -> Problem:
    return conflict(
        "already_confirmed",
        en="The report was confirmed already, by another person.",
        es="El informe ya fue confirmado, por otra persona.",
        citation=SECTION,
    )
