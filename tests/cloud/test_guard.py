"""The guard and what stands around it: the stream's witness, the audit, the schedules, the files."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from retiro.registry import roster
from tests.cloud.office import SEMESTER, Office, until


@pytest.fixture(scope="module")
def office(open_office) -> Office:
    return open_office("guard")


def witness(office: Office, passbook: str) -> int | None:
    item = office.registry.get(roster.partition(roster.shard_of(passbook)), passbook)
    return roster.entry(item).head if item else None


def witnessed(office: Office, passbook: str, sequence: int) -> None:
    until(lambda: (witness(office, passbook) or 0) >= sequence or None, f"the witness of {passbook}")


def test_the_stream_bears_witness_of_every_last_line_and_the_audit_misses_one_that_is_taken_away(office):
    ids = [f"P-4000{number:02d}" for number in range(12)]
    office.enrol(ids)
    for passbook in ids:
        witnessed(office, passbook, 2)
    answer = office.audit()
    assert (answer["status"], answer["passbooks"], answer["lines"]) == ("clean", 12, 24)

    # Only the emulator lets anybody delete; on AWS the table's own policy denies it.
    key = {"pk": {"S": f"passbook#{ids[3]}"}, "sk": {"S": "00000002"}}
    taken = office.dynamodb.get_item(TableName=office.stack.outputs["LedgerTable"], Key=key)["Item"]
    office.dynamodb.delete_item(TableName=office.stack.outputs["LedgerTable"], Key=key)
    answer = office.audit()
    assert [(one["passbook"], one["sequence"], one["code"]) for one in answer["named"]] == [
        (ids[3], 2, "missing_last_line")
    ]
    until(lambda: _said(office, "an item of the ledger was changed"), "the guard's word of the removal")

    office.dynamodb.put_item(TableName=office.stack.outputs["LedgerTable"], Item=taken)
    assert office.audit()["status"] == "clean"


def _said(office: Office, message: str) -> bool | None:
    logs = office.stack.client("logs")
    for group in logs.describe_log_groups()["logGroups"]:
        events = logs.filter_log_events(logGroupName=group["logGroupName"], filterPattern="")["events"]
        if any(message in event["message"] for event in events):
            return True
    return None


@pytest.mark.parametrize(("schedule", "hour"), [("audit-nightly", 2), ("yields-daily", 18)])
def test_the_stacks_own_schedules_are_there(office, schedule, hour):
    found = office.stack.client("scheduler").get_schedule(Name=f"{office.stack.name}-{schedule}")
    assert (found["State"], found["ScheduleExpression"]) == ("ENABLED", f"cron(0 {hour} * * ? *)")


def test_a_schedule_that_fires_starts_the_audit_of_its_own_day(office):
    """The target of the nightly schedule, fired now, with the time of a night long past: the audit is that night's."""
    scheduler = office.stack.client("scheduler")
    target = scheduler.get_schedule(Name=f"{office.stack.name}-audit-nightly")["Target"]
    soon = datetime.now(UTC) + timedelta(seconds=1)
    scheduler.create_schedule(
        Name=f"once-{uuid4()}",
        ScheduleExpression=f"at({soon:%Y-%m-%dT%H:%M:%S})",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": target["Arn"],
            "RoleArn": target["RoleArn"],
            "Input": json.dumps({"scheduled_time": "2025-07-01T02:00:00Z"}),
        },
    )
    # 02:00 UTC of July 1 is 22:00 of June 30 in Puerto Rico (RU-07, https://github.com/sidekiq-cron/sidekiq-cron/issues/166).
    key = ("run#audit#2025-06-30", "attempt#0001")
    until(lambda: (office.registry.get(*key) or {}).get("status") in {"clean", "findings"} or None, "the audit")


def test_the_daily_look_names_what_a_semester_lacks(office):
    """Nothing is adopted in this stack: the schedule's function says so, and prepares nothing."""
    target = office.stack.client("scheduler").get_schedule(Name=f"{office.stack.name}-yields-daily")["Target"]
    answer = office.stack.client("lambda").invoke(
        FunctionName=target["Arn"], Payload=json.dumps({"scheduled_time": "2025-06-30T22:00:00Z"}).encode()
    )
    said = json.loads(answer["Payload"].read())
    assert (said["semester"], said["run"]) == (SEMESTER, None)
    assert "fixed_income 2025-06" in said["missing"]


def test_the_bucket_keeps_every_version_of_an_object(office):
    s3, bucket = office.stack.client("s3"), office.stack.outputs["FilesBucket"]
    for body in (b"first", b"second"):
        s3.put_object(Bucket=bucket, Key="files/test", Body=body)
    versions = s3.list_object_versions(Bucket=bucket, Prefix="files/test")["Versions"]
    assert len(versions) == 2
