"""The guard of the stream: the witness goes forward only, and a change of the ledger is never silent."""

import base64
import hashlib
import json

import pytest
from botocore.exceptions import ClientError

from ledger_guard import stream
from retiro.registry import roster
from retiro.registry.roster import Holder
from tests.conftest import Context

NONE_FAILED = {"batchItemFailures": []}
KEY = (roster.partition(roster.shard_of("P-000001")), "P-000001")


def line_hash(sequence: int) -> bytes:
    """The hash in the recorded events."""
    return hashlib.sha256(f"line {sequence}".encode()).digest()


@pytest.fixture
def enrolled(guard):
    guard.registry.insert(roster.roster_item("P-000001", "ERS", Holder.PARTICIPANT))


def test_the_witness_is_the_last_line_of_the_batch(guard, enrolled, event):
    assert stream.handler(event("lines_inserted"), Context()) == NONE_FAILED
    item = guard.registry.get(*KEY)
    assert (item["head"], item["head_hash"]) == (2, line_hash(2))
    assert (item["fund"], item["holder"]) == ("ERS", "participant")


def test_a_batch_delivered_again_moves_no_witness_back(guard, enrolled, event):
    batch = event("lines_inserted")
    stream.handler(batch, Context())
    stream.handler({"Records": batch["Records"][:1]}, Context())
    assert guard.registry.get(*KEY)["head"] == 2


def test_records_out_of_order_leave_the_highest(guard, enrolled, event):
    stream.handler({"Records": event("lines_inserted")["Records"][::-1]}, Context())
    assert (guard.registry.get(*KEY)["head"], guard.registry.get(*KEY)["head_hash"]) == (2, line_hash(2))


def test_a_line_of_a_passbook_that_is_not_on_the_roster_is_sent_again(guard, event):
    batch = event("lines_inserted")
    first = batch["Records"][0]["dynamodb"]["SequenceNumber"]
    assert stream.handler(batch, Context()) == {"batchItemFailures": [{"itemIdentifier": first}]}


def test_a_registry_that_does_not_answer_gives_the_record_back(guard, enrolled, event, monkeypatch):
    def throttled(*_args, **_kwargs):
        raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, "UpdateItem")

    monkeypatch.setattr(stream.world(), "update", throttled)
    batch = event("lines_inserted")
    first = batch["Records"][0]["dynamodb"]["SequenceNumber"]
    assert stream.handler(batch, Context()) == {"batchItemFailures": [{"itemIdentifier": first}]}


@pytest.mark.parametrize(
    ("name", "change", "partition"),
    [
        ("line_modified", "MODIFY", "passbook#P-000001"),
        ("line_removed", "REMOVE", "passbook#P-000001"),
        ("evidence_removed", "REMOVE", "evidence#yield#FY2025-S2/1"),
    ],
)
@pytest.mark.usefixtures("enrolled")
def test_a_change_is_logged_by_its_key_alone(event, caplog, name, change, partition):
    assert stream.handler(event(name), Context()) == NONE_FAILED
    (logged,) = [record for record in caplog.records if record.levelname == "CRITICAL"]
    assert (logged.event, logged.partition) == (change, partition)
    assert not any("1000000" in str(value) for value in vars(logged).values())


@pytest.mark.usefixtures("enrolled")
def test_a_change_is_counted_for_the_alarm(event, capsys):
    stream.handler(event("line_removed"), Context())
    (metric,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert metric["LedgerItemChanged"] == [1.0]
    assert metric["service"] == "ledger_guard"


def test_a_changed_line_does_not_move_the_witness(guard, enrolled, event):
    stream.handler(event("lines_inserted"), Context())
    stream.handler(event("line_modified"), Context())
    stream.handler(event("line_removed"), Context())
    assert guard.registry.get(*KEY)["head_hash"] == line_hash(2)


def test_the_recorded_hash_is_base64_as_lambda_sends_it(event):
    sent = event("lines_inserted")["Records"][0]["dynamodb"]["NewImage"]["hash"]["B"]
    assert base64.b64decode(sent, validate=True) == line_hash(1)
