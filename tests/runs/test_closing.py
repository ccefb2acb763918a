"""The close: prepared = posted + withheld, each named, from the ledger and never from a counter."""

from dataclasses import replace
from typing import Any

import pytest

from retiro.ledger.lines import Line
from retiro.ledger.store import LedgerStore
from retiro.registry.runs import Phase
from retiro.runs.objects import AlteredObjectError
from tests.conftest import ENVIRONMENT, Stack
from tests.runs.conftest import Office
from tests.runs.states_language import ExecutionFailedError


def posted_but_not_closed(office: Office) -> Any:
    """All lines are written and all counters say so; the close is still to come."""
    run = office.approve(office.prepared())
    begun = office.worker(office.event(run, "begin", Phase.POST))
    for chunk in begun["chunks"]:
        office.worker(office.event(run, "work", Phase.POST, chunk))
    return run


def test_a_line_that_is_missing_fails_the_run_and_is_named(office: Office, stack: Stack) -> None:
    posted_but_not_closed(office)
    last = office.last("P-000006")
    # Nothing in the stack may do this: the test does it to the table itself.
    stack.dynamodb.delete_item(
        TableName=ENVIRONMENT["LEDGER_TABLE"],
        Key={"pk": {"S": "passbook#P-000006"}, "sk": {"S": f"{last.sequence:08d}"}},
    )
    with pytest.raises(ExecutionFailedError):
        office.work_off()
    run = office.run()
    assert run.status == "failed"
    assert run.details["failure"] == {
        "code": "not_proved",
        "detail": "Prepared 10, found posted or withheld 9: P-000006 missing.",
    }
    office.resume(run)
    with pytest.raises(ExecutionFailedError):
        office.work_off()
    assert office.run().status == "failed"  # it doesn't heal by itself: a person looks first


def test_a_line_with_another_amount_fails_the_run_and_is_named(office: Office, stack: Stack) -> None:
    posted_but_not_closed(office)
    last = office.last("P-000002")
    stack.dynamodb.update_item(
        TableName=ENVIRONMENT["LEDGER_TABLE"],
        Key={"pk": {"S": "passbook#P-000002"}, "sk": {"S": f"{last.sequence:08d}"}},
        UpdateExpression="SET postings[0].cents = :cents, postings[1].cents = :less",
        ExpressionAttributeValues={":cents": {"N": "101"}, ":less": {"N": "-101"}},
    )
    with pytest.raises(ExecutionFailedError):
        office.work_off()
    assert "P-000002 differs" in office.run().details["failure"]["detail"]


def test_counters_are_not_trusted(office: Office) -> None:
    """The chunk items claim three times as much as was posted: the close counts what it reads."""
    run = posted_but_not_closed(office)
    for chunk in office.chunks(run):
        results = tuple(
            type(result)(result.key, result.sha256, {**result.counts, "posted": result.counts["posted"] * 3})
            for result in chunk.results
        )
        office.shop.book.move(run.id, chunk, results=results)
    office.work_off()
    assert office.run().details["result"]["posted"] == 10


def test_a_withheld_line_that_stands_in_the_ledger_counts_as_posted(office: Office) -> None:
    """A worker withheld it, its successor posted it, and the slower one's result was kept: the ledger is right."""
    run = posted_but_not_closed(office)
    chunk = office.chunks(run)[0]
    rows = [dict(row) for row in office.shop.objects.read(chunk.results[0])]
    rows[0] = {"passbook": rows[0]["passbook"], "outcome": "withheld", "code": "status_forbids", "en": "", "es": ""}
    result = office.shop.objects.store(run.id, 0, "part-0000.posted", rows, chunk.results[0].counts)
    office.shop.book.move(run.id, chunk, results=(result, *chunk.results[1:]))
    office.work_off()
    assert office.run().details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 0}


def test_a_prepared_object_that_was_changed_is_never_posted(office: Office, stack: Stack) -> None:
    run = office.prepared()
    part = office.chunks(run)[0].parts[0]
    body = stack.s3.get_object(Bucket=ENVIRONMENT["FILES_BUCKET"], Key=part.key)["Body"].read()
    stack.s3.put_object(
        Bucket=ENVIRONMENT["FILES_BUCKET"], Key=part.key, Body=body.replace(b'"cents":100', b'"cents":900')
    )
    office.approve(run)
    with pytest.raises(ExecutionFailedError):
        office.work_off()
    assert office.run().details["failure"] == {
        "code": "execution_failed",
        "detail": f"post: {AlteredObjectError.__name__}",
    }
    assert sum(office.gifts().values()) == 0


def test_a_line_that_an_eventual_read_does_not_know_yet_is_looked_for_consistently(office: Office) -> None:
    run = posted_but_not_closed(office)

    class Behind(LedgerStore):
        asked = 0

        def get_lines(self, wanted: Any, *, consistent: bool = True) -> dict[tuple[str, int], Line]:
            self.asked += 1
            return super().get_lines(wanted) if consistent else {}

    ledger = Behind(office.ledger.client, office.ledger.table_name, retries=office.ledger.retries)
    office.shop = replace(office.shop, ledger=ledger)
    office.work_off()
    assert ledger.asked > 0
    assert office.run(run.id).details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 0}
