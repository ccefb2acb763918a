"""An independent witness of each passbook's last line, from the table's stream: what the registry's roster keeps.

A chain of hashes can't tell that its end was cut off; the witness can. It may lag behind the passbook, never be ahead.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from retiro.ledger import lines


@dataclass(frozen=True, slots=True)
class Witness:
    """The highest sequence seen of a passbook, and the hash of that line."""

    head: int
    head_hash: bytes


@dataclass(frozen=True, slots=True)
class Tampering:
    """An item of the ledger that was changed or removed, which nobody may do: `event` is MODIFY or REMOVE."""

    event: str
    partition: str
    sort_key: str


def witnesses(records: Iterable[Mapping[str, Any]]) -> dict[str, Witness]:
    """The heads by passbook, of the lines that a batch of the stream's records inserts. `NEW_IMAGE` is needed.

    Records may come twice and in any order: the highest sequence counts. What is not a line is passed over.
    """
    heads: dict[str, Witness] = {}
    for record in records:
        image = record["dynamodb"].get("NewImage", {})
        passbook = lines.passbook_of(_text(image, "pk"))
        if record["eventName"] != "INSERT" or passbook is None:
            continue
        witness = Witness(int(_text(image, "sk")), _raw(image["hash"]["B"]))
        if passbook not in heads or heads[passbook].head < witness.head:
            heads[passbook] = witness
    return heads


def tamperings(records: Iterable[Mapping[str, Any]]) -> list[Tampering]:
    """The records that aren't an insert."""
    return [
        Tampering(record["eventName"], _text(keys, "pk"), _text(keys, "sk"))
        for record in records
        if record["eventName"] != "INSERT"
        for keys in [record["dynamodb"]["Keys"]]
    ]


def _text(image: Mapping[str, Any], name: str) -> str:
    text: str = image.get(name, {}).get("S", "")
    return text


def _raw(value: str | bytes) -> bytes:
    """A Lambda event has bytes as base64 text; boto3's stream client gives them as they are."""
    return value if isinstance(value, bytes) else base64.b64decode(value, validate=True)
