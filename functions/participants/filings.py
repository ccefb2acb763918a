"""What counts once another person has approved it, § 242b: designations, service, debts, a change of system.

One person files: a line, with what was filed as evidence, which changes nothing yet. Another one approves: the line
that counts. All of it stays in the passbook, in order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

from retiro.ledger import hybrid
from retiro.ledger.credits import known
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.savings import Origin, Status
from retiro.portal import Principal, conflict, not_found, refused
from retiro.portal.approvals import already_approved
from retiro.registry.participants import Profile
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM
from retiro.rules.money import parse_cents
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input
from retiro.rules.service_lengths import ServiceLength


class Filed(StrEnum):
    """What may be filed. The name is the evidence's type too."""

    DESIGNATION = "designation"
    SERVICE = "service"
    DEBT = "debt"
    SYSTEM_CHANGE = "system_change"


APPROVING = {
    Filed.DESIGNATION: LineKind.DESIGNATION,
    Filed.SERVICE: LineKind.SERVICE_CREDIT,
    Filed.DEBT: LineKind.DEBT,
    Filed.SYSTEM_CHANGE: LineKind.SYSTEM_CHANGE,
}


class Filing(Protocol):
    """What is filed: the client's reference, and the day it is dated."""

    @property
    def reference(self) -> str:
        """The client's reference."""

    @property
    def dated(self) -> date:
        """The day it is dated."""

    @property
    def dated_field(self) -> str:
        """The field of that day."""

    def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
        """As plain JSON."""


@dataclass(frozen=True)
class FiledLine:
    """What was filed, as it stands: its line, what it says, the line that approved it, and the next that counts."""

    line: Line
    body: Mapping[str, Any]
    approved: Line | None
    superseded: Line | None


@dataclass(frozen=True)
class Filings:
    """Takes what is filed, and its approvals."""

    passbooks: Passbooks

    def file(self, profile: Profile, what: Filed, filing: Filing, principal: Principal) -> FiledLine:
        """The line of what is filed. The same reference with the same content is the first answer.

        Raises 422 `not_in_program`, and `Refusal`: `invalid_input` (a day to come, or before the enrolment) and
        `status_forbids`.
        """
        participant_id = profile.participant_id
        _check_program(profile)
        self._check_day(profile, filing)
        body = filing.model_dump(mode="json", exclude_none=True) | {"person": principal.person}

        def decide(last: Line | None) -> Decision:
            last = known(last, participant_id)
            _check_open(last)
            identifier = f"{participant_id}/{last.sequence + 1:08d}"
            origin = Origin(principal.label, f"{what}/{identifier}", {"filed": str(what)})
            return Decision([hybrid.filed(filing.dated, origin)], [Evidence(str(what), identifier, body)])

        key = BusinessKey(KeyKind.FILED, f"{participant_id} {what} {filing.reference}")
        line = self.passbooks.append(participant_id, decide, key=key, content=body).lines[0]
        return self.read(profile, what, line.sequence)

    def approve(self, profile: Profile, what: Filed, sequence: int, principal: Principal) -> FiledLine:
        """The line that counts, by another person. Raises 404, 403 `same_person`, 409, and `Refusal`."""
        participant_id = profile.participant_id
        filed = self.read(profile, what, sequence)
        principal.must_not_be(
            filed.body["person"],
            en="Who filed this can't approve it, by whatever client.",
            es="Quien presentó esto no puede aprobarlo, por ningún cliente.",
        )

        def decide(last: Line | None) -> Decision:
            last = known(last, participant_id)
            if what is Filed.DESIGNATION:
                _check_latest(last, sequence, self.passbooks.store.through(last))
            origin = Origin(principal.label, filed.line.determination, {"filed": sequence})
            return Decision([_DRAFTS[what](last, filed.body, origin)])

        key = BusinessKey(KeyKind.APPROVED, f"{participant_id} {sequence}")
        try:
            self.passbooks.append(participant_id, decide, key=key, content={"person": principal.person})
        except KeyConflictError as other:
            raise already_approved() from other
        return self.read(profile, what, sequence)

    def read(self, profile: Profile, what: Filed, sequence: int) -> FiledLine:
        """What was filed by a line. Raises 404."""
        found = next((one for one in self.all(profile, what) if one.line.sequence == sequence), None)
        if found is None:
            raise not_found(
                "not_filed",
                en=f"Line {sequence} has filed no such thing.",
                es=f"La línea {sequence} no presentó tal cosa.",
                field="sequence",
            )
        return found

    def all(self, profile: Profile, what: Filed) -> list[FiledLine]:
        """All that was filed of a kind, in order."""
        history = self.passbooks.history(profile.participant_id)
        return [
            FiledLine(line, self._body(line), *_approval(history, line, what))
            for line in history
            if line.kind is LineKind.FILED and line.facts["filed"] == what
        ]

    def _body(self, line: Line) -> Mapping[str, Any]:
        found = self.passbooks.store.get_evidence(*str(line.determination).split("/", 1))
        if found is None:
            raise LookupError(f"{line.determination} isn't there")
        body: Mapping[str, Any] = found.body
        return body

    def _check_day(self, profile: Profile, filing: Filing) -> None:
        if filing.dated > puerto_rico_date(self.passbooks.clock()):
            raise invalid_input(SECTION, filing.dated_field, "in_the_future")
        if filing.dated < profile.enrolled_on:
            raise invalid_input(SECTION, filing.dated_field, "before_enrolment")


def _approval(history: list[Line], filed: Line, what: Filed) -> tuple[Line | None, Line | None]:
    """The line that approved it, and for a designation the later one that took its place or voided it."""
    after = history[filed.sequence :]
    approving = APPROVING[what]
    approved = next((one for one in after if one.kind is approving and one.facts.get("filed") == filed.sequence), None)
    if approved is None or what is not Filed.DESIGNATION:
        return approved, None
    ends = (LineKind.DESIGNATION, LineKind.SYSTEM_CHANGE)
    return approved, next((one for one in history[approved.sequence :] if one.kind in ends), None)


def _check_program(profile: Profile) -> None:
    if profile.fund != SYSTEM:
        raise refused(
            "not_in_program",
            en=f"{profile.participant_id} isn't in the Judiciary Hybrid Program.",
            es=f"{profile.participant_id} no está en el Programa Híbrido de la Judicatura.",
            citation=f"{SECTION}(e)",
            field="participant_id",
        )


def _check_open(last: Line) -> None:
    if (status := Status(last.state["status"])) is Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=status)


def _check_latest(last: Line, sequence: int, history: list[Line]) -> None:
    """The last one filed counts: an earlier one isn't recognized over it, nor one from before a change of system."""
    counts = last.state.get("designation")
    counting = int(history[counts - 1].facts["filed"]) if counts else 0
    changed = max((line.sequence for line in history if line.kind is LineKind.SYSTEM_CHANGE), default=0)
    if max(counting, changed) > sequence:
        raise conflict(
            "later_designation_stands",
            en="A designation filed later counts, or a change of system came since.",
            es="Cuenta una designación presentada después, o hubo luego un cambio de sistema.",
            citation=f"{SECTION}(e); 3 L.P.R.A. § 803",
        )


def _designation(last: Line, body: Mapping[str, Any], origin: Origin) -> Draft:
    return hybrid.designation(last, date.fromisoformat(body["filed_on"]), origin)


def _service(last: Line, body: Mapping[str, Any], origin: Origin) -> Draft:
    credited = ServiceLength.model_validate(body["credited_service"])
    as_judge = ServiceLength.model_validate(body.get("service_as_judge", body["credited_service"]))
    service = hybrid.Service(credited, as_judge, date.fromisoformat(body["through"]))
    return hybrid.service_credit(last, service, origin)


def _debt(last: Line, body: Mapping[str, Any], origin: Origin) -> Draft:
    owed = hybrid.Debt(body["reference"], parse_cents(body["amount"]), body["system"])
    installment = body.get("installment")
    return hybrid.debt(
        last,
        owed,
        date.fromisoformat(body["owed_from"]),
        None if installment is None else parse_cents(installment),
        origin,
    )


def _system_change(last: Line, body: Mapping[str, Any], origin: Origin) -> Draft:
    return hybrid.system_change(last, date.fromisoformat(body["changed_on"]), origin)


_DRAFTS: Mapping[Filed, Callable[[Line, Mapping[str, Any], Origin], Draft]] = {
    Filed.DESIGNATION: _designation,
    Filed.SERVICE: _service,
    Filed.DEBT: _debt,
    Filed.SYSTEM_CHANGE: _system_change,
}
