"""What a run keeps in the bucket: the lines that it prepared, and what came of them, a part at a time.

An object is named by its content, so that nothing is ever written over with something else: of two workers on one part,
the one whose object the chunk item names is right.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retiro.ledger.encoding import canonical
from retiro.registry.runs import PartReference, RunId

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

Row = Mapping[str, Any]


class AlteredObjectError(Exception):
    """An object isn't what was stored under its name."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} isn't what was stored")


@dataclass(frozen=True)
class RunObjects:
    """The bucket of the runs' objects."""

    client: "S3Client"
    bucket: str

    def store(self, run: RunId, chunk: int, name: str, rows: Sequence[Row], counts: Mapping[str, int]) -> PartReference:
        """Store rows as lines of JSON; `name` says which part of the chunk it is."""
        body = b"".join(canonical(row) + b"\n" for row in rows)
        sha256 = hashlib.sha256(body).hexdigest()
        key = f"{run.prefix}/chunk-{chunk:04d}/{name}.{sha256[:16]}.jsonl"
        self.client.put_object(Bucket=self.bucket, Key=key, Body=body, ContentType="application/x-ndjson")
        return PartReference(key, sha256, counts)

    def read(self, part: PartReference) -> list[Row]:
        """The rows of an object. Raises `AlteredObjectError` where it isn't what was stored."""
        body = self.client.get_object(Bucket=self.bucket, Key=part.key)["Body"].read()
        if hashlib.sha256(body).hexdigest() != part.sha256:
            raise AlteredObjectError(part.key)
        return [json.loads(line) for line in body.splitlines()]
