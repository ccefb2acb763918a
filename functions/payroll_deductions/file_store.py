"""The bucket's part for remittances: what employers upload, what was read and found of it, and what was refused.

Under `files/remittances/E-001_2025-014/` lie `file`, which was uploaded; `refused.json`, a small remittance that was
refused (of both, each time is a version of the object); `missing/…`, whom the order named and a small one didn't; and
`2/…`, all of the second validation of what was uploaded: its index, and by page its rows, its faults of form, and what
was found of it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from payroll_deductions.file_reading import Row
from retiro.registry.remittances import Remittance, RemittedLine

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

T = TypeVar("T")

FILE_BYTES_MAX = 64_000_000
UPLOAD_SECONDS = 3600
PAGE_ROWS = 1_000
"""Rows in an object: as many as are checked at once."""


@dataclass(frozen=True)
class RemittanceFiles:
    """The files of remittances in the bucket, which is versioned: nothing put there is ever lost."""

    s3: "S3Client"
    bucket: str

    def upload_url(self, remittance_id: str) -> str:
        """Where a PUT within the hour uploads the file, by whoever has it."""
        return self.s3.generate_presigned_url(
            "put_object",
            Params={"Bucket": self.bucket, "Key": _file_key(remittance_id)},
            ExpiresIn=UPLOAD_SECONDS,
            HttpMethod="PUT",
        )

    def newest_version(self, remittance_id: str) -> str | None:
        """The newest version of what was uploaded; `None` for nothing yet."""
        try:
            head = self.s3.head_object(Bucket=self.bucket, Key=_file_key(remittance_id))
        except self.s3.exceptions.ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:  # noqa: PLR2004  not found
                return None
            raise
        return head["VersionId"]

    def read(self, remittance_id: str, version: str, bytes_max: int) -> bytes | None:
        """A version of what was uploaded; `None`, unread, where it is larger."""
        answer = self.s3.get_object(Bucket=self.bucket, Key=_file_key(remittance_id), VersionId=version)
        return answer["Body"].read() if answer["ContentLength"] <= bytes_max else None

    def put(self, place: str, document: Any) -> None:
        """Store a document of a validation (`E-001_2025-014/2/index`)."""
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        self.s3.put_object(
            Bucket=self.bucket, Key=f"{_PREFIX}{place}.json", Body=text.encode(), ContentType="application/json"
        )

    def get(self, place: str) -> Any | None:
        """A document as it was stored; `None` where there is none."""
        try:
            answer = self.s3.get_object(Bucket=self.bucket, Key=f"{_PREFIX}{place}.json")
        except self.s3.exceptions.NoSuchKey:
            return None
        return json.loads(answer["Body"].read())

    def lines(self, remittance: Remittance) -> Sequence[RemittedLine]:
        """The lines of a remittance: its own, or those of its file, page by page as they are asked for."""
        if remittance.file is None:
            return remittance.lines
        return Stored(remittance.file.count, partial(self._page_of_lines, remittance.file.validation))

    def rows(self, place: str, count: int) -> Sequence[Row]:
        """The rows of a validation, page by page as they are asked for."""
        return Stored(count, partial(self.page_of_rows, place))

    def page_of_rows(self, place: str, page: int) -> list[Row]:
        """A page of the rows of a validation. Raises `PageMissingError`."""
        document = self.get(f"{place}/rows/{page:04d}")
        if document is None:
            raise PageMissingError(f"{place}/rows/{page:04d}")
        return [Row(*row) for row in document]

    def _page_of_lines(self, place: str, page: int) -> list[RemittedLine]:
        return [line_of(row) for row in self.page_of_rows(place, page)]


class Stored(Sequence[T]):
    """Something that is stored by pages; the last few are kept, since their neighbours are asked for next."""

    def __init__(self, count: int, page: Callable[[int], Sequence[T]]) -> None:
        self._count = count
        self._page = lru_cache(maxsize=8)(page)

    def __len__(self) -> int:
        """How many."""
        return self._count

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        """One, or those of a slice."""
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(self._count))]
        if not 0 <= place < self._count:
            raise IndexError(place)
        return self._page(place // PAGE_ROWS)[place % PAGE_ROWS]


def put_rows(files: RemittanceFiles, place: str, rows: Sequence[Row]) -> None:
    """Store the rows of a validation."""
    for page, first in enumerate(range(0, len(rows), PAGE_ROWS)):
        files.put(f"{place}/rows/{page:04d}", [list(row) for row in rows[first : first + PAGE_ROWS]])


def page_count(rows: int) -> int:
    """How many pages so many rows fill."""
    return -(-rows // PAGE_ROWS)


def pages_of(files: RemittanceFiles, place: str, name: str, rows: int) -> Iterator[Any]:
    """The pages of something that every page of rows has one of. Raises `PageMissingError`."""
    for page in range(page_count(rows)):
        document = files.get(f"{place}/{name}/{page:04d}")
        if document is None:
            raise PageMissingError(f"{place}/{name}/{page:04d}")
        yield document


class PageMissingError(Exception):
    """A page of a validation isn't there: it isn't over."""


def missing_place(remittance_id: str, digest: str) -> str:
    """Where it is stored who is missing from a remittance in a body, under the hash of that list."""
    return f"{remittance_id}/missing/{digest}"


def line_of(row: Row) -> RemittedLine:
    """A row without faults as the line that is remitted."""
    if row.participant_id is None or row.kind is None or row.amount_cents is None:
        raise ValueError("a row at fault isn't remitted")
    return RemittedLine(row.participant_id, row.amount_cents, row.kind, row.salary_cents, row.name)


def sha256(data: bytes) -> str:
    """The hash that names a file's content."""
    return hashlib.sha256(data).hexdigest()


_PREFIX = "files/remittances/"


def _file_key(remittance_id: str) -> str:
    return f"{_PREFIX}{remittance_id}/file"
