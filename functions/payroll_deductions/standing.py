"""Where a remittance stands, as it is answered: from the ledger, the registry and the job that credits it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from payroll_deductions.crediting import pages_noted
from payroll_deductions.models import DepositView, RemittanceStatus, RemittanceView, Unplaced, UploadLink
from retiro.ledger.employers import clearing_cents
from retiro.ledger.passbooks import Passbooks
from retiro.registry.jobs import Cursor, Job, Jobs, JobStatus
from retiro.registry.remittances import (
    CREDITING,
    RETURN,
    Deposit,
    Remittance,
    deposit_of,
    matched_of,
    placed_lines,
)
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.remitting import due_on

UNPLACED_SHOWN = 100


@dataclass(frozen=True)
class Standing:
    """Says where remittances stand today."""

    passbooks: Passbooks
    registry: Table
    jobs: Jobs

    @property
    def today(self) -> date:
        """Puerto Rico's."""
        return puerto_rico_date(self.passbooks.clock())

    def view(self, remittance: Remittance) -> RemittanceView:
        """A remittance that was taken."""
        remittance_id = remittance.remittance_id
        deposited = deposit_of(self.passbooks.store, remittance_id)
        cursors = self.jobs.cursors(remittance_id)
        waiting_cents = clearing_cents(self.passbooks.last(remittance.employer_id), remittance_id)
        placed = placed_lines(self.registry, remittance_id)
        due = due_on(date.fromisoformat(f"{remittance.period}-01"))
        return RemittanceView(
            remittance_id=remittance_id,
            employer_id=remittance.employer_id,
            period=remittance.period,
            status=self._status(remittance_id, deposited, waiting_cents),
            count=remittance.count,
            total=remittance.total_cents,
            credited=sum(cursor.done for cursor in cursors) - _counted(cursors, "whole"),
            clearing=waiting_cents,
            deposit=None
            if deposited is None
            else DepositView(
                reference=deposited.reference, amount=deposited.amount_cents, value_date=deposited.value_date
            ),
            unplaced=self._unplaced(remittance_id, cursors, placed),
            place=place_of(remittance_id),
            unplaced_count=_counted(cursors, "unplaced") - len(placed),
            matched=matched_of(self.passbooks.store, remittance_id).get("counts", {}),
            due_on=due,
            days_late=max(0, ((deposited.value_date if deposited else self.today) - due).days),
            error_count=0,
            upload=None,
        )

    def tested(self, remittance: Remittance, matched: Mapping[str, int]) -> RemittanceView:
        """A remittance in the body that was to be tested alone: it would be taken."""
        return self.unmoved(
            remittance, "tested", place="/payroll-remittances", count=remittance.count, matched=dict(matched)
        )

    def unmoved(self, remittance: Remittance, status: RemittanceStatus, *, place: str, **known: Any) -> RemittanceView:
        """A remittance that isn't one yet, or won't be: nothing is deposited and nothing credited."""
        due = due_on(date.fromisoformat(f"{remittance.period}-01"))
        nothing: dict[str, Any] = {
            "remittance_id": remittance.remittance_id,
            "count": 0,
            "total": remittance.total_cents,
            "credited": 0,
            "clearing": 0,
            "deposit": None,
            "unplaced": [],
            "unplaced_count": 0,
            "matched": {},
            "error_count": 0,
            "upload": None,
        }
        return RemittanceView(
            employer_id=remittance.employer_id,
            period=remittance.period,
            status=status,
            place=place,
            due_on=due,
            days_late=max(0, (self.today - due).days),
            **nothing | known,
        )

    def _status(self, remittance_id: str, deposited: Deposit | None, waiting_cents: int) -> RemittanceStatus:
        if deposited is None:
            return "awaiting_deposit"
        if self.passbooks.store.get_evidence(RETURN, remittance_id) is not None:
            return "returning" if waiting_cents else "returned"
        return _crediting_status(self.jobs.get(remittance_id), waiting_cents)

    def _unplaced(self, remittance_id: str, cursors: list[Cursor], placed: set[int]) -> list[Unplaced]:
        """The first lines that wait for a person."""
        shown: list[Unplaced] = []
        for page in (page for cursor in cursors for note in cursor.notes for page in pages_noted(note)):
            evidence = self.passbooks.store.get_evidence(CREDITING, f"{remittance_id}/{page:04d}")
            notes = [] if evidence is None else evidence.body["unplaced"]
            shown += [_unplaced(note) for note in notes if note["line"] not in placed]
            if len(shown) >= UNPLACED_SHOWN:
                return shown[:UNPLACED_SHOWN]
        return shown


def place_of(remittance_id: str) -> str:
    """Where a remittance is looked at."""
    return f"/payroll-remittances/{remittance_id}"


def upload_link(url: str, seconds: int) -> UploadLink:
    """The link of an upload."""
    return UploadLink(url=url, method="PUT", expires_in_seconds=seconds)


def _crediting_status(job: Job | None, waiting_cents: int) -> RemittanceStatus:
    if job is None or job.status in (JobStatus.RECEIVED, JobStatus.WORKING):
        return "crediting"
    if job.status is JobStatus.FAILED:
        return "failed"
    return "credited" if waiting_cents else "closed"


def _counted(cursors: list[Cursor], name: str) -> int:
    return sum(note[name] for cursor in cursors for note in cursor.notes)


def _unplaced(note: Mapping[str, Any]) -> Unplaced:
    return Unplaced(**{name: note[name] for name in Unplaced.model_fields})
