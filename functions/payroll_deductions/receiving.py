"""Uploaded remittance files at the doors: where to put one, let it be validated, and look at what was found."""

from dataclasses import dataclass, replace

from payroll_deductions.file_store import UPLOAD_SECONDS, RemittanceFiles
from payroll_deductions.models import NewUpload, RemittanceStatus, RemittanceView
from payroll_deductions.standing import Standing, place_of, upload_link
from payroll_deductions.uploads import (
    TEST_SUFFIX,
    Upload,
    UploadStatus,
    begin_validation,
    put_upload,
    upload_of,
)
from retiro.portal import Principal, Problem, conflict, not_found
from retiro.registry.employers import Employer
from retiro.registry.jobs import Jobs, JobStatus
from retiro.registry.remittances import Remittance, remittance_of
from retiro.registry.table import ChangedError
from retiro.runs.jobs import JobStarter


@dataclass(frozen=True)
class Uploads:
    """Offers uploads, starts their validations, and says where they stand."""

    files: RemittanceFiles
    standing: Standing
    jobs: Jobs
    starter: JobStarter

    def offer(self, body: NewUpload, employer: Employer, principal: Principal) -> RemittanceView:
        """Where the file goes. Asked for again it is another link to the same place. Raises 409."""
        remittance_id = f"{employer.employer_id}_{body.reference}{TEST_SUFFIX if body.test else ''}"
        asked = Upload(
            remittance_id,
            employer.employer_id,
            body.reference,
            employer.fund,
            body.period,
            body.format,
            body.test,
            principal.label,
        )
        there = upload_of(self.standing.registry, remittance_id)
        if there is not None and not there.is_same(asked) and there.status is not UploadStatus.REFUSED:
            raise reference_used()
        if remittance_of(self.standing.passbooks.store, remittance_id) is not None:
            raise reference_used()
        if there is not None and there.is_same(asked):
            return self._view(there, with_link=True)
        if there is not None:
            # What was put there for the other month isn't this one's file.
            version = self.files.newest_version(remittance_id) or ""
            asked = replace(asked, validation=there.validation, version=version)
        try:
            asked = put_upload(self.standing.registry, asked, there)
        except ChangedError:
            raise reference_used() from None
        return self._view(asked, with_link=True)

    def validate(self, remittance_id: str, principal: Principal) -> RemittanceView:
        """Validate what was uploaded last. A version that was validated stays so; one under way is started again.

        While one is under way a newer version waits: validate again when that is over.

        Raises 404, 403, and 409 where nothing was uploaded yet.
        """
        upload = self._reached(remittance_id, principal)
        if upload.status is UploadStatus.ACCEPTED:
            return self._view(upload)
        version = self.files.newest_version(remittance_id)
        if version is None or (upload.status is UploadStatus.AWAITING_UPLOAD and version == upload.version):
            raise conflict(
                "nothing_uploaded",
                en="No file has been put there yet.",
                es="Todavía no se ha puesto ningún archivo.",
                field="remittance_id",
            )
        if version != upload.version and self._status(upload) != "validating":
            try:
                upload = begin_validation(self.standing.registry, upload, version)
            except ChangedError as changed:
                raise conflict(
                    "validation_under_way",
                    en="Another request has started a validation.",
                    es="Otra solicitud inició una validación.",
                ) from changed
        if upload.status is UploadStatus.VALIDATING:
            self.jobs.open(upload.job_id, rows=0, facts={})
            self.starter.start(upload.job_id)
        return self._view(upload)

    def read(self, remittance_id: str, principal: Principal) -> RemittanceView:
        """Where an upload stands that is no remittance, or not yet. Raises 404, 403."""
        return self._view(self._reached(remittance_id, principal))

    def _reached(self, remittance_id: str, principal: Principal) -> Upload:
        upload = upload_of(self.standing.registry, remittance_id)
        if upload is None:
            raise unknown_remittance()
        principal.must_reach_employer(upload.employer_id)
        principal.must_reach_fund(upload.fund)
        return upload

    def _view(self, upload: Upload, *, with_link: bool = False) -> RemittanceView:
        remittance = remittance_of(self.standing.passbooks.store, upload.remittance_id)
        if remittance is not None:
            return self.standing.view(remittance)
        url = self.files.upload_url(upload.remittance_id) if with_link else None
        return self.standing.unmoved(
            Remittance(upload.employer_id, upload.reference, upload.fund, upload.period, ()),
            self._status(upload),
            place=place_of(upload.remittance_id),
            remittance_id=upload.remittance_id,
            count=upload.rows,
            total=upload.total_cents,
            matched=upload.matched or {},
            error_count=upload.faults,
            upload=None if url is None else upload_link(url, UPLOAD_SECONDS),
        )

    def _status(self, upload: Upload) -> RemittanceStatus:
        match upload.status:
            case UploadStatus.AWAITING_UPLOAD:
                return "awaiting_upload"
            case UploadStatus.REFUSED:
                return "refused"
            case UploadStatus.TESTED:
                return "tested"
            case _:
                job = self.jobs.get(upload.job_id)
                return "failed" if job is not None and job.status is JobStatus.FAILED else "validating"


def unknown_remittance() -> Problem:
    """404: there is none."""
    return not_found(
        "unknown_remittance",
        en="No such remittance was received.",
        es="No se recibió tal remesa.",
        field="remittance_id",
    )


def reference_used() -> Problem:
    """409: the reference stands for another content."""
    return conflict(
        "remittance_reference_used",
        en="This reference was used by this employer for a remittance of another content.",
        es="Este patrono usó esta referencia para una remesa de otro contenido.",
        field="reference",
    )
