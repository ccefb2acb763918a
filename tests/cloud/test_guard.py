"""The ledger's guard on the table's own stream, and the audit: what is changed or taken away is told and named."""

from functools import partial

import pytest

from retiro.ledger.lines import partition
from tests.cloud.backstage import Backstage
from tests.cloud.office import Office, enrolment
from tests.cloud.waiting import until

CHANGED, MIDDLE_GONE, END_GONE = IDS = ("P-203001", "P-203002", "P-203003")


@pytest.fixture
def three(office: Office, behind: Backstage):
    """Three passbooks of three lines, which the guard has seen. Whatever a test does to them is undone after it."""
    for one in IDS:
        office.preparer.post("/participants", enrolment(one, on="2019-01-02"))
        selection = {"requested_on": "2019-03-01", "selection": {"system_portfolio": 100}}
        office.preparer.put(f"/participants/{one}/investment-selection", selection)
    until(lambda: all(behind.witness(one).head == 3 for one in IDS), "the witness of the last lines")
    places = [key(one, sequence) for one in IDS for sequence in (1, 2, 3)]
    kept = [behind.dynamodb.get_item(TableName=behind.ledger_table, Key=place)["Item"] for place in places]
    yield IDS
    for item in kept:
        behind.dynamodb.put_item(TableName=behind.ledger_table, Item=item)


def key(passbook: str, sequence: int) -> dict:
    return {"pk": {"S": partition(passbook)}, "sk": {"S": f"{sequence:08d}"}}


def alarmed(behind: Backstage, event: str, passbook: str, sequence: int) -> bool:
    """Whether the guard has said so of this line."""
    words = ("an item of the ledger was changed", event, partition(passbook), f"{sequence:08d}")
    return bool(behind.logged(*words))


def test_the_witness_of_each_line_comes_from_the_stream(three, behind):
    for one in three:
        witness = behind.witness(one)
        assert (witness.head, witness.head_hash) == (3, behind.lines(one)[-1].hash)


def test_what_is_changed_or_taken_away_raises_the_alarm_and_is_named_by_the_audit(three, behind):
    """One cent more in a line's own posting; a line from the middle; the last line, which no chain can miss."""
    table = behind.ledger_table
    item = behind.dynamodb.get_item(TableName=table, Key=key(CHANGED, 2))["Item"]
    (first, _second) = item["postings"]["L"]
    assert first["M"]["cents"] == {"N": "1000000"}
    first["M"]["cents"] = {"N": "1000001"}
    behind.dynamodb.put_item(TableName=table, Item=item)
    behind.dynamodb.delete_item(TableName=table, Key=key(MIDDLE_GONE, 2))
    behind.dynamodb.delete_item(TableName=table, Key=key(END_GONE, 3))

    for told in (("MODIFY", CHANGED, 2), ("REMOVE", MIDDLE_GONE, 2), ("REMOVE", END_GONE, 3)):
        until(partial(alarmed, behind, *told), f"the alarm of {told}")
    assert behind.logged("LedgerItemChanged", "CloudWatchMetrics", "ledger_guard")

    answer = behind.audit()
    assert answer["status"] == "findings"
    named = {(found["passbook"], found["sequence"], found["code"]) for found in answer["named"]}
    assert (CHANGED, 2, "changed") in named
    assert (MIDDLE_GONE, 2, "missing_line") in named
    assert (END_GONE, 3, "missing_last_line") in named
    assert {passbook for passbook, _, _ in named} - set(three) <= {"ERS"}


def test_the_bucket_keeps_every_version_of_an_object(behind):
    s3, bucket = behind.stack.client("s3"), behind.stack.outputs["FilesBucket"]
    for body in (b"first", b"second"):
        s3.put_object(Bucket=bucket, Key="files/test", Body=body)
    versions = s3.list_object_versions(Bucket=bucket, Prefix="files/test")["Versions"]
    assert [
        s3.get_object(Bucket=bucket, Key="files/test", VersionId=one["VersionId"])["Body"].read()
        for one in sorted(versions, key=lambda one: one["IsLatest"])
    ] == [b"first", b"second"]
