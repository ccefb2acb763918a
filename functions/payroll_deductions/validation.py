"""The validation of an uploaded file: read once as a whole, checked by pages, and then taken whole or not at all.

Reading is the job's beginning: it stores the rows and the faults of form by page. A page is checked against the
registry and the payer's order, and what is found is stored. The end counts, and takes the remittance where there is no
fault. Each of these, done again, writes the same. Nothing in this module knows HTTP.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Any

from payroll_deductions.edits import ENGLISH, Edit, Fault, in_order
from payroll_deductions.file_reading import Parsed, Row, read
from payroll_deductions.file_store import (
    FILE_BYTES_MAX,
    PAGE_ROWS,
    RemittanceFiles,
    page_count,
    pages_of,
    put_rows,
    sha256,
)
from payroll_deductions.matching import Match, Payer, check, counts, missing
from payroll_deductions.uploads import Upload, UploadStatus, end_validation, upload_of_job
from retiro.ledger.evidence import EvidenceConflictError
from retiro.ledger.store import LedgerStore
from retiro.registry.deduction_orders import orders_for, orders_of
from retiro.registry.participants import profiles_of
from retiro.registry.remittances import CONTRIBUTION, INSTALLMENT, Remittance, RemittedFile, index_entry
from retiro.registry.table import Table
from retiro.rules.money import format_cents

_KINDS = (CONTRIBUTION, INSTALLMENT)


def payer_of(table: Table, employer_id: str, fund: str, period: str) -> Payer:
    """Who remits for the month, with its order as it stands."""
    orders = {order.participant_id: order for order in orders_of(table, employer_id, period)}
    return Payer(employer_id, fund, _first_day(period), orders)


def accept(store: LedgerStore, table: Table, remittance: Remittance, principal: str, matched: Any) -> None:
    """Take a remittance, and let it be found by its month, in one transaction. Raises `EvidenceConflictError`.

    So none stands that the ageing report doesn't know of, and none that was refused makes a month look filed.
    """
    try:
        store.put_evidence(remittance.evidence(principal, matched), also=[index_entry(table, remittance)])
    except EvidenceConflictError as there:
        # Filed again it may be matched otherwise, by an order that was made meanwhile: what it was first, stands.
        if there.existing.body["content"] != remittance.content:
            raise


@dataclass(frozen=True)
class FileKind:
    """Validates uploaded files."""

    store: LedgerStore
    registry: Table
    files: RemittanceFiles

    def rows(self, job_id: str) -> Sequence[Row]:
        """The file's rows, those at fault too; the file is read when they are first asked for."""
        upload = upload_of_job(self.registry, job_id)
        index = self.files.get(f"{upload.place}/index") or self._read(upload)
        return self.files.rows(upload.place, index["rows"])

    def take(self, job_id: str, first: int, rows: Sequence[Row]) -> Sequence[Mapping[str, Any]]:
        """Check a page of rows and store what is found."""
        upload = upload_of_job(self.registry, job_id)
        named = {
            kind: [row.participant_id for row in rows if row.participant_id and row.kind == kind] for kind in _KINDS
        }
        profiles = profiles_of(self.registry, [one for ids in named.values() for one in ids])
        orders = orders_for(self.registry, upload.employer_id, upload.period, named[INSTALLMENT])
        payer = Payer(upload.employer_id, upload.fund, _first_day(upload.period), orders)
        checked = check(rows, first + first_line_of(upload), payer, profiles)
        found = {
            "faults": [fault.document for fault in checked.faults],
            "matches": [match.document for match in checked.matches if match.result or match.flag],
        }
        self.files.put(f"{upload.place}/checked/{first // PAGE_ROWS:04d}", found)
        return []

    def finish(self, job_id: str) -> None:
        """Count what was found; take the remittance where nothing is at fault.

        Raises `PageMissingError`, and `FencedError` where a newer validation was begun.
        """
        upload = upload_of_job(self.registry, job_id)
        index = self.files.get(f"{upload.place}/index") or self._read(upload)
        faults, found = index["faults"], Counter[str]()
        for page in pages_of(self.files, upload.place, "checked", index["rows"]):
            faults += len(page["faults"])
            found.update(counts(map(Match.of_document, page["matches"])))
        ended = replace(
            upload, status=UploadStatus.REFUSED, rows=index["rows"], total_cents=index["total_cents"], faults=faults
        )
        installments = {}
        if not faults:
            installments = self._installments(upload, index["rows"])
            found.update(counts(self._missing(upload, installments)))
            ended = replace(
                ended,
                status=UploadStatus.TESTED if upload.test else UploadStatus.ACCEPTED,
                matched=dict(sorted(found.items())),
            )
        if ended.status is UploadStatus.ACCEPTED and not self._accept(ended, index["sha256"], installments):
            used = Fault(1, ENGLISH[0], Edit.REFERENCE_USED)
            self.files.put(f"{upload.place}/faults/0000", [used.document])
            ended = replace(ended, status=UploadStatus.REFUSED, faults=1)
        end_validation(self.registry, ended)

    def _read(self, upload: Upload) -> dict[str, Any]:
        """Read the file; store its rows, and its faults of form by the page of their line. The index comes last."""
        parsed, digest = self._parsed(upload)
        put_rows(self.files, upload.place, parsed.rows)
        rows = len(parsed.rows)
        by_page = groupby(in_order(parsed.faults), lambda fault: page_of_line(fault.line, parsed.first_line, rows))
        for page, faults in by_page:
            self.files.put(f"{upload.place}/faults/{page:04d}", [fault.document for fault in faults])
        index = {
            "rows": rows,
            "total_cents": parsed.total_cents,
            "faults": len(parsed.faults),
            "sha256": digest,
        }
        self.files.put(f"{upload.place}/index", index)
        return index

    def _parsed(self, upload: Upload) -> tuple[Parsed, str]:
        data = self.files.read(upload.remittance_id, upload.version, FILE_BYTES_MAX)
        if data is None:
            too_large = Parsed(first_line=first_line_of(upload))
            too_large.fault(1, 0, Edit.FILE_TOO_LARGE)
            return too_large, ""
        return read(data, upload.form), sha256(data)

    def _installments(self, upload: Upload, rows: int) -> dict[str, int]:
        """The installments of the file, by participant: one line of the kind each."""
        stored = self.files.rows(upload.place, rows)
        return {row.participant_id or "": row.amount_cents or 0 for row in stored if row.kind == INSTALLMENT}

    def _missing(self, upload: Upload, installments: Iterable[str]) -> list[Match]:
        """Whom the order names and the file doesn't; stored, since there may be many."""
        absent = missing(orders_of(self.registry, upload.employer_id, upload.period), installments)
        self.files.put(f"{upload.place}/missing", [match.document for match in absent])
        return absent

    def _accept(self, upload: Upload, digest: str, installments: Mapping[str, int]) -> bool:
        """Whether the remittance stands now: not where another one has taken its reference meanwhile.

        What it has in installments is kept beside the counts, so that the ageing report needn't read the file.
        """
        file = RemittedFile(upload.version, digest, upload.place, upload.rows, upload.total_cents)
        remittance = Remittance(
            upload.employer_id, upload.reference, upload.fund, upload.period, (), first_line_of(upload), file
        )
        matched = {"counts": upload.matched or {}, "installments": format_cents(sum(installments.values()))}
        try:
            accept(self.store, self.registry, remittance, upload.principal, matched)
        except EvidenceConflictError:
            return False
        return True


def _first_day(period: str) -> date:
    return date.fromisoformat(f"{period}-01")


def page_of_line(line: int, first_line: int, rows: int) -> int:
    """The page that a line's faults are stored with: that of its row, the nearest one where it has none."""
    return min(max(line - first_line, 0) // PAGE_ROWS, max(page_count(rows) - 1, 0))


def faults_of_page(files: RemittanceFiles, place: str, page: int) -> Iterator[Fault]:
    """All faults of a page of a validation, by line and column."""
    form = files.get(f"{place}/faults/{page:04d}") or []
    checked = files.get(f"{place}/checked/{page:04d}") or {"faults": []}
    yield from in_order(map(Fault.of_document, [*form, *checked["faults"]]))


def first_line_of(upload: Upload) -> int:
    """The number of a file's first row: after a heading it is 2."""
    return 2 if upload.form == "csv" else 1
