"""Insert and read back on a real (de)serialiser, with answers lost and calls refused."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from retiro.ledger.encoding import UnreadableError
from retiro.ledger.evidence import Evidence, EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line, to_item
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore, MovedError, Outcome, UnansweredError
from tests.ledger.makers import (
    PARTICIPANT,
    TABLE,
    account_of_readings,
    cancelled,
    contributed,
    drop_answer,
    enrolled,
    error,
    lose_answer,
    refuse,
    stored_items,
)

THROTTLED = error("ProvisionedThroughputExceededException")


READS: dict[str, Callable[[LedgerStore], object]] = {
    "Query": lambda store: store.last_line(PARTICIPANT),
    "BatchGetItem": lambda store: store.get_lines([(PARTICIPANT, 1)]),
}


def put_all(store: LedgerStore, lines: list[Line]) -> list[Line]:
    for line in lines:
        store.put_line(line)
    return lines


def test_what_is_put_is_read_back_in_order(store: LedgerStore) -> None:
    lines = put_all(store, account_of_readings())
    assert list(store.lines(PARTICIPANT)) == lines
    assert list(store.lines(PARTICIPANT, first=7)) == lines[6:]
    assert store.last_line(PARTICIPANT) == lines[-1]
    assert store.last_line("P-000002") is None


def test_a_dropped_answer_of_our_own_put_is_success(store: LedgerStore, client: Any) -> None:
    """LE-01, https://github.com/aws/aws-sdk-java/issues/2667: the SDK's own retry met the line it had just put."""
    line = enrolled()[-1]
    drop_answer(client, "PutItem")
    store.put_line(line)
    assert stored_items(client) == [to_item(line)]


def test_a_lost_answer_of_our_own_put_is_success(store: LedgerStore, client: Any, pauses: list[float]) -> None:
    line = enrolled()[-1]
    lose_answer(client, "PutItem")
    store.put_line(line)
    assert stored_items(client) == [to_item(line)]
    assert len(pauses) == 1


def test_a_foreign_line_in_the_place_is_a_lost_race(store: LedgerStore, client: Any) -> None:
    opened = put_all(store, enrolled())
    theirs = put_all(store, contributed(opened, ("2025-01-15", 100)))[-1]
    before = stored_items(client)
    with pytest.raises(MovedError) as moved:
        store.put_line(contributed(opened, ("2025-01-15", 200))[-1])
    assert moved.value.existing == theirs
    assert stored_items(client) == before


def test_a_throttled_put_is_tried_again_with_growing_pauses(
    store: LedgerStore, client: Any, pauses: list[float]
) -> None:
    refuse(client, "PutItem", THROTTLED, error("TransactionConflictException"), error("InternalServerError"))
    store.put_line(enrolled()[-1])
    assert pauses == [0.05, 0.1, 0.2]
    assert store.last_line(PARTICIPANT) is not None


def test_a_put_that_is_always_throttled_gives_up_within_bounds(
    store: LedgerStore, client: Any, pauses: list[float]
) -> None:
    refuse(client, "PutItem", *[THROTTLED] * 4)
    with pytest.raises(BusyError):
        store.put_line(enrolled()[-1])
    assert len(pauses) == 4
    assert stored_items(client) == []


def test_a_fault_of_ours_is_not_tried_again(store: LedgerStore, client: Any, pauses: list[float]) -> None:
    refuse(client, "PutItem", error("ValidationException"))
    with pytest.raises(ClientError):
        store.put_line(enrolled()[-1])
    assert pauses == []


def test_lines_are_got_by_passbook_and_sequence(store: LedgerStore) -> None:
    lines = put_all(store, account_of_readings())
    wanted = [(PARTICIPANT, 2), (PARTICIPANT, 8), (PARTICIPANT, 9), (PARTICIPANT, 2)]
    assert store.get_lines(wanted) == {(PARTICIPANT, 2): lines[1], (PARTICIPANT, 8): lines[7]}
    assert store.get_lines([]) == {}


def test_lines_that_stay_unprocessed_are_asked_for_again(store: LedgerStore, client: Any, pauses: list[float]) -> None:
    lines = put_all(store, enrolled())
    original = client.batch_get_item
    left = [1]

    def half(**request: Any) -> dict[str, Any]:
        if left:
            left.pop()
            return {"Responses": {TABLE: []}, "UnprocessedKeys": request["RequestItems"]}
        return original(**request)

    client.batch_get_item = half
    assert store.get_lines([(PARTICIPANT, 1)]) == {(PARTICIPANT, 1): lines[0]}
    assert pauses == [0.05]


@pytest.mark.parametrize(("operation", "read"), READS.items())
def test_a_throttled_read_is_asked_again_within_bounds(
    store: LedgerStore, client: Any, pauses: list[float], operation: str, read: Callable[[LedgerStore], object]
) -> None:
    put_all(store, enrolled())
    refuse(client, operation, THROTTLED, THROTTLED)
    assert read(store)
    assert pauses == [0.05, 0.1]
    refuse(client, operation, *[THROTTLED] * 4)
    with pytest.raises(BusyError):
        read(store)
    refuse(client, operation, error("ValidationException"))
    with pytest.raises(ClientError):
        read(store)


def test_a_chain_of_many_pages_is_read_whole(store: LedgerStore, client: Any) -> None:
    lines = put_all(store, account_of_readings())
    original = client.query
    client.query = lambda **request: original(**request, Limit=3)
    assert list(store.lines(PARTICIPANT)) == lines


@pytest.mark.parametrize(
    "item",
    [
        {"pk": {"S": "evidence#yield#1"}, "body": {"S": '{"a":2}'}, "content": {"B": bytes(32)}},
        {"pk": {"S": "evidence#yield#1"}, "body": {"N": "1"}, "content": {"B": bytes(32)}},
    ],
    ids=["changed", "of another form"],
)
def test_evidence_that_is_not_what_its_hash_says_cannot_be_read(store: LedgerStore, client: Any, item: Any) -> None:
    client.put_item(TableName=TABLE, Item=item | {"sk": {"S": "evidence"}})
    with pytest.raises(UnreadableError):
        store.get_evidence("yield", "1")


def test_a_key_of_another_form_cannot_be_read(store: LedgerStore, client: Any) -> None:
    client.put_item(TableName=TABLE, Item={"pk": {"S": "key#deposit#1"}, "sk": {"S": "key"}, "lines": {"L": []}})
    with pytest.raises(UnreadableError):
        store.get_key(BusinessKey(KeyKind.DEPOSIT, "1"))


def test_the_same_evidence_can_be_put_twice_and_another_body_cannot(store: LedgerStore) -> None:
    evidence = Evidence("yield", "FY2025-S2/1", {"figures": ["4.27", None, {"a": [True, -1]}], "nombre": "Ñ"})
    store.put_evidence(evidence)
    store.put_evidence(evidence)
    assert store.get_evidence("yield", "FY2025-S2/1") == evidence
    assert store.get_evidence("yield", "FY2025-S2/2") is None
    with pytest.raises(EvidenceConflictError, match="FY2025-S2/1"):
        store.put_evidence(Evidence("yield", "FY2025-S2/1", {}))
    assert store.get_evidence("yield", "FY2025-S2/1") == evidence


def test_each_item_of_a_cancelled_transaction_has_its_own_outcome(store: LedgerStore, client: Any) -> None:
    codes = ("None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError", "ValidationError")
    refuse(client, "TransactWriteItems", cancelled(*codes))
    assert [reason.outcome for reason in store.transact([store.insertion(to_item(enrolled()[-1]))])] == [
        Outcome.NONE,
        Outcome.CONDITION_FAILED,
        Outcome.CONFLICT,
        Outcome.THROTTLED,
        Outcome.INVALID,
    ]


def test_a_transaction_whose_answer_is_lost_may_have_been_done(store: LedgerStore, client: Any) -> None:
    lose_answer(client, "TransactWriteItems")
    with pytest.raises(UnansweredError):
        store.transact([store.insertion(to_item(enrolled()[-1]))])
    assert len(stored_items(client)) == 1


def test_a_transaction_has_a_hundred_items_at_most(store: LedgerStore) -> None:
    insertions = [store.insertion({"pk": {"S": f"x{number}"}, "sk": {"S": "x"}}) for number in range(101)]
    with pytest.raises(ValueError, match="101"):
        store.transact(insertions)
    assert store.transact(insertions[:100]) == ()
