"""Files of many enrolments: taken whole or not at all, kept in the bucket, worked off by the worker.

What is kept has no identifier of a person, only the keyed hash. The same file again is the same job, and starts it
again where it isn't done; another content under the same reference is a conflict.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter

from participants.enrolment import Enrolment, Enrolments
from retiro.ledger.board import BoardBook
from retiro.ledger.encoding import canonical, content_hash
from retiro.ledger.keys import KeyConflictError
from retiro.ledger.passbooks import Passbooks
from retiro.registry.jobs import Job, Jobs
from retiro.registry.table import Table
from retiro.rules.forms import Sentence
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import SECTION

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

KIND = "participant_file"
CHUNK_ROWS_MAX = 500
PAGE_ROWS = 25

_ENROLLED_OTHERWISE = Sentence(
    "The participant is enrolled with other content.", "El participante está inscrito con otro contenido."
)
_ROWS = TypeAdapter(list[Enrolment], config=ConfigDict(defer_build=True))


@dataclass(frozen=True)
class FileStore:
    """The files received, in the bucket, under the hash of their content: what is there is never another."""

    s3: "S3Client"
    bucket: str

    def put(self, file_id: str, rows: Sequence[Enrolment]) -> str:
        """Keep the rows; the hash of them."""
        text = canonical([row.content for row in rows])
        digest = content_hash([row.content for row in rows]).hex()
        self.s3.put_object(Bucket=self.bucket, Key=_object_key(file_id, digest), Body=text)
        return digest

    def rows(self, file_id: str, digest: str) -> list[Enrolment]:
        """The rows as they were put."""
        answer = self.s3.get_object(Bucket=self.bucket, Key=_object_key(file_id, digest))
        return _ROWS.validate_python(json.loads(answer["Body"].read()))


@dataclass(frozen=True)
class FileKind:
    """Enrols the rows of files. A row that can't be taken is noted with its line, and stops no other."""

    jobs: Jobs
    files: FileStore
    passbooks: Passbooks
    registry: Table
    board: BoardBook

    def rows(self, job_id: str) -> Sequence[Enrolment]:
        """The file's rows."""
        return self.files.rows(job_id, self._job(job_id).facts["digest"])

    def take(self, job_id: str, first: int, rows: Sequence[Enrolment]) -> list[Mapping[str, Any]]:
        """Enrol a page of rows; the notes of those that couldn't be."""
        by = self._job(job_id).facts["principal"]
        enrolments = Enrolments(self.passbooks, self.registry, self.board)
        notes = []
        for line, row in enumerate(rows, start=first + 1):
            try:
                enrolments.enrol(row, by)
            except Refusal as refusal:
                notes.append(_note(line, row, str(refusal.code), refusal.sentence, refusal.citation))
            except KeyConflictError:
                notes.append(_note(line, row, "already_enrolled", _ENROLLED_OTHERWISE, SECTION))
        return notes

    def _job(self, job_id: str) -> Job:
        job = self.jobs.get(job_id)
        if job is None:
            raise ValueError("no file of this id was received")
        return job


def _note(line: int, row: Enrolment, code: str, sentence: Sentence, citation: str) -> Mapping[str, Any]:
    return {
        "line": line,
        "participant_id": row.participant_id,
        "code": code,
        "en": sentence.en,
        "es": sentence.es,
        "citation": citation,
    }


def _object_key(file_id: str, digest: str) -> str:
    return f"files/participants/{file_id}/{digest}.json"
