"""What counts once another person has approved it, § 242b: designations, service, debts, a change of system.

One person files: a line, with what was filed as evidence, which changes nothing yet. Another one approves: the line
that counts. All of it stays in the passbook, in order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

from retiro.ledger import designations, hybrid
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
    """What was filed: its line, what it says, the line that approved it, and of a designation that which ended it.

    What ends a designation is the one that counts, the change of system with which it fell, or the report of a death
    before it was filed.
    """

    line: Line
    body: Mapping[str, Any]
    approved: Line | None
    ended: Line | None


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
                _check_not_fallen(filed.line, self._as_of(self.passbooks.store.through(last)))
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
        approvals = {line.facts.get("filed"): line for line in history if line.kind is APPROVING[what]}
        standing = self._as_of(history) if what is Filed.DESIGNATION else None
        return [
            FiledLine(line, self._body(line), approved, standing.ended(approved) if standing and approved else None)
            for line in history
            if line.kind is LineKind.FILED and line.facts["filed"] == what
            for approved in [approvals.get(line.sequence)]
        ]

    def _as_of(self, history: Sequence[Line]) -> "_Standing":
        """As of the death that is reported, else as of today."""
        return _Standing.of(history, hybrid.death_of(history[-1]) or puerto_rico_date(self.passbooks.clock()))

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


@dataclass(frozen=True)
class _Standing:
    """What the designations of a passbook stand by, as of a day."""

    day: date
    counts: Line | None
    change: Line | None
    report: Line | None

    @classmethod
    def of(cls, history: Sequence[Line], day: date) -> "_Standing":
        """Found once, for all of them."""
        report = history[-1].state.get("report")
        return cls(
            day,
            designations.counting(history, day),
            designations.change_by(history, day),
            None if report is None else history[report - 1],
        )

    def ended(self, recognized: Line) -> Line | None:
        """The line by which a recognized designation doesn't count, if it doesn't."""
        if recognized == self.counts:
            return None
        if designations.fell(recognized, self.change):
            return self.change
        return self.report if recognized.effective_on > self.day else self.counts


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


def _check_not_fallen(filed: Line, standing: _Standing) -> None:
    """One that fell with a change of system is recognized no more. An older paper may be: it replaces nothing."""
    if designations.fell(filed, standing.change):
        raise conflict(
            "later_designation_stands",
            en="A change of system came after this was filed.",
            es="Hubo un cambio de sistema después de presentarse esta.",
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
