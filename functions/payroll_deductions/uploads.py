"""Where an uploaded remittance file stands, from the place it is put to until it is taken, refused, or tested.

The registry has an item for each; each validation is a job of its own, of one version of the object, numbered. What a
validation has found stays, under its number. Nothing in this module knows HTTP.
"""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from retiro.registry.jobs import FencedError
from retiro.registry.table import AlreadyThereError, ChangedError, Item, OneOf, Table

KIND = "remittance_file"
TEST_SUFFIX = ".test"
_TEST_JOB = "t"


class UploadStatus(StrEnum):
    """Where an upload stands."""

    AWAITING_UPLOAD = "awaiting_upload"
    VALIDATING = "validating"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    TESTED = "tested"


@dataclass(frozen=True)
class Upload:
    """A file that is, or was, to come. `validation` is the number of the newest one, of the version named.

    A file that is awaited anew, for another month, is another version than that: the one that was there by then.
    `rows` and `faults` are what that validation counted; `total_cents` and `matched` what it found. `principal`: who
    asked for it.
    """

    remittance_id: str
    employer_id: str
    reference: str
    fund: str
    period: str
    form: str
    test: bool
    principal: str
    status: UploadStatus = UploadStatus.AWAITING_UPLOAD
    validation: int = 0
    version: str = ""
    rows: int = 0
    total_cents: int = 0
    faults: int = 0
    matched: dict[str, int] | None = None

    @property
    def job_id(self) -> str:
        """The job of the newest validation: `E-001_2025-014.2`, of a test `E-001_2025-014.t2`.

        The name of its execution has it, and Step Functions takes eighty characters: the longest reference has room.
        """
        test = _TEST_JOB if self.test else ""
        return f"{self.remittance_id.removesuffix(TEST_SUFFIX)}.{test}{self.validation}"

    @property
    def place(self) -> str:
        """Where the newest validation's documents are."""
        return f"{self.remittance_id}/{self.validation}"

    def is_same(self, other: "Upload") -> bool:
        """Whether the same file was asked for, by whoever."""
        return (self.period, self.form, self.fund) == (other.period, other.form, other.fund)


def upload_of(table: Table, remittance_id: str) -> Upload | None:
    """The upload; `None` where none of this id was asked for."""
    item = table.get(*_key(remittance_id))
    return None if item is None else _upload(item)


def put_upload(table: Table, upload: Upload, there: Upload | None = None) -> Upload:
    """Keep what was asked for, where nothing was, or instead of `there`, as that was read: the upload as it stands.

    Where the same was asked for meanwhile that is the one. Raises `ChangedError` where another was, or where a
    validation has begun.
    """
    if there is None:
        try:
            table.insert(_item(upload))
        except AlreadyThereError as already:
            return _same(upload, already.existing, already)
        return upload
    changes = {name: value for name, value in _item(upload).items() if name not in {"pk", "sk"}}
    removed = [] if "matched" in changes else ["matched"]
    as_read = {"validation": there.validation, "status": there.status.value, "period": there.period, "form": there.form}
    try:
        table.update(_key(upload.remittance_id), changes, remove=removed, where=as_read)
    except ChangedError as changed:
        if not changed.stands(changes, removed):
            return _same(upload, changed.existing, changed)
    return upload


def _same(upload: Upload, existing: Item | None, cause: Exception) -> Upload:
    """What is there, where it is what was asked for. Raises `ChangedError`."""
    stands = None if existing is None else _upload(existing)
    if stands is None or not stands.is_same(upload):
        raise ChangedError(existing) from cause
    return stands


def begin_validation(table: Table, upload: Upload, version: str) -> Upload:
    """Validate this version next.

    Raises `ChangedError` where a request for another has begun one meanwhile, or the file is to be another month's.
    """
    begun = replace(upload, status=UploadStatus.VALIDATING, validation=upload.validation + 1, version=version)
    asked = {"period": upload.period, "form": upload.form}
    changes = {"status": begun.status.value, "validation": begun.validation, "version": version}
    try:
        table.update(_key(upload.remittance_id), changes, where={"validation": upload.validation, **asked})
    except ChangedError as changed:
        if not changed.stands(changes | asked):
            raise
    return begun


def end_validation(table: Table, upload: Upload) -> None:
    """Keep what the validation found. Raises `FencedError` where it isn't the newest any more, or is asked for anew."""
    item = _item(upload)
    names = ("status", "rows", "total_cents", "faults", "matched")
    changes = {name: item[name] for name in names if name in item}
    # Ended again, after an answer that was lost, it is as it was: unless the file is to be another month's since.
    status = OneOf(UploadStatus.VALIDATING.value, upload.status.value)
    try:
        table.update(_key(upload.remittance_id), changes, where={"validation": upload.validation, "status": status})
    except ChangedError as changed:
        raise FencedError(upload.job_id) from changed


def upload_of_job(table: Table, job_id: str) -> Upload:
    """The upload that a validation job is about. Raises `FencedError` where that validation isn't the newest."""
    remittance_id, _, validation = job_id.rpartition(".")
    if validation.startswith(_TEST_JOB):
        remittance_id, validation = f"{remittance_id}{TEST_SUFFIX}", validation.removeprefix(_TEST_JOB)
    upload = upload_of(table, remittance_id)
    if upload is None or upload.validation != int(validation):
        raise FencedError(job_id)
    return upload


def _key(remittance_id: str) -> tuple[str, str]:
    return f"upload#{remittance_id}", "file"


def _item(upload: Upload) -> Item:
    pk, sk = _key(upload.remittance_id)
    values = {name: value for name, value in asdict(upload).items() if value is not None}
    return {"pk": pk, "sk": sk, **values, "status": upload.status.value}


def _upload(item: Item) -> Upload:
    values: dict[str, Any] = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
    return Upload(**values | {"status": UploadStatus(values["status"])})
