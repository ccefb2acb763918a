"""Units by DynamoDB's published rules, and a meter that doesn't believe an answer that says others."""

import boto3
import pytest

from bench.meter import Meter, units_of, units_of_batch
from bench.population import few_lines, year_of_lines
from bench.transport import answer_here
from retiro.ledger.encoding import size_bytes
from retiro.ledger.lines import to_item
from retiro.ledger.store import LedgerStore

TABLE = "retiro-ledger"
KEY = {"pk": {"S": "passbook#P-000001"}, "sk": {"S": "00000001"}}
# Names and texts by the byte: pk 2 + 17, sk 2 + 8, and the one letter x before what fills it up.
KEY_BYTES = 29


def item(size):
    filled = {**KEY, "x": {"S": "." * (size - KEY_BYTES - 1)}}
    assert size_bytes(filled) == size
    return filled


@pytest.mark.parametrize(("size", "units"), [(1023, 1), (1024, 1), (1025, 2), (2048, 2), (2049, 3)])
def test_a_put_costs_a_unit_for_each_kilobyte_begun(size, units):
    assert units_of("PutItem", {"Item": item(size)}, {}) == units


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [(4096, True, 1), (4097, True, 2), (4096, False, 0.5), (4097, False, 1), (None, False, 0.5), (None, True, 1)],
)
def test_a_query_costs_a_unit_for_each_four_kilobytes_begun_and_half_of_it_where_it_may_be_behind(
    size, consistent, units
):
    request = {"Limit": 1, "ConsistentRead": consistent}
    assert units_of("Query", request, {"Items": [item(size)] if size else []}) == units


def test_a_batch_of_gets_counts_each_item_by_itself_and_a_missing_one_as_the_smallest():
    asked = {"Keys": [KEY, KEY, KEY]}
    # 1 + 2, and 1 for what isn't there.
    assert units_of_batch(asked | {"ConsistentRead": True}, [item(100), item(4097)]) == 4
    assert units_of_batch(asked, [item(100), item(4097)]) == 2


@pytest.fixture
def client():
    return boto3.client("dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def test_the_meter_adds_up_what_the_answers_say_by_table_and_first_word(client):
    answer_here(client, {"PutItem": lambda _: {"ConsumedCapacity": {"TableName": TABLE, "CapacityUnits": 1.0}}})
    meter = Meter(client)
    store = LedgerStore(client, TABLE)
    for line in year_of_lines(1)[:3]:
        store.put_line(line)
    assert meter.taken() == {(TABLE, "passbook", "write"): 3.0}
    assert meter.taken() == {}


def test_the_meter_refuses_an_answer_that_says_other_units_than_the_rules(client):
    answer_here(client, {"PutItem": lambda _: {"ConsumedCapacity": {"TableName": TABLE, "CapacityUnits": 2.0}}})
    Meter(client)
    with pytest.raises(ValueError, match=r"says 2\.0 units, where the rules make it 1"):
        LedgerStore(client, TABLE).put_line(few_lines(1)[0])


def test_a_year_is_fifteen_lines_that_a_run_writes_in_one_unit_each():
    year = year_of_lines(7)
    assert len(year) == 15
    assert max(size_bytes(to_item(line)) for line in year) <= 1024
    assert [line.sequence for line in few_lines(7)] == [1, 2, 3]
