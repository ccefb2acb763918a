"""What the table's stream shows: the heads of passbooks, and whatever was changed or removed."""

import base64
from typing import Any

from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.keys import to_item as key_item
from retiro.ledger.lines import Line, to_item
from retiro.ledger.witness import Tampering, Witness, tamperings, witnesses
from tests.ledger.makers import PARTICIPANT, account_of_readings


def record(item: dict[str, Any], event: str = "INSERT") -> dict[str, Any]:
    """As Lambda gets it: bytes in base64."""
    image = {
        name: {"B": base64.b64encode(value["B"]).decode()} if "B" in value else value for name, value in item.items()
    }
    keys = {name: item[name] for name in ("pk", "sk")}
    changes = {"Keys": keys} if event == "REMOVE" else {"Keys": keys, "NewImage": image}
    return {"eventName": event, "dynamodb": changes}


def inserted(line: Line) -> dict[str, Any]:
    return record(to_item(line))


def test_the_highest_line_counts_whatever_the_order() -> None:
    lines = account_of_readings()
    shuffled = [inserted(lines[index]) for index in (2, 7, 7, 0)]
    assert witnesses(shuffled) == {PARTICIPANT: Witness(8, lines[7].hash)}


def test_other_items_have_no_head() -> None:
    key = key_item(BusinessKey(KeyKind.DEPOSIT, "D-1"), bytes(32), [(PARTICIPANT, 1)])
    assert witnesses([record(key)]) == {}
    assert witnesses([]) == {}


def test_bytes_may_come_as_bytes() -> None:
    line = account_of_readings()[0]
    raw = {"eventName": "INSERT", "dynamodb": {"NewImage": to_item(line)}}
    assert witnesses([raw]) == {PARTICIPANT: Witness(1, line.hash)}


def test_a_changed_or_removed_item_is_named_and_is_no_witness() -> None:
    lines = account_of_readings()
    records = [inserted(lines[0]), record(to_item(lines[1]), "MODIFY"), record(to_item(lines[2]), "REMOVE")]
    assert tamperings(records) == [
        Tampering("MODIFY", "passbook#P-000001", "00000002"),
        Tampering("REMOVE", "passbook#P-000001", "00000003"),
    ]
    assert witnesses(records) == {PARTICIPANT: Witness(1, lines[0].hash)}
