"""The registry's table, its roster and its client bindings, on moto."""

from zlib import crc32

import pytest

from retiro.registry.clients import Binding, OtherBindingError, Party, bind, binding_of
from retiro.registry.environment import Environment
from retiro.registry.roster import SHARDS, Holder, entries, partition, roster_item, shard_of
from retiro.registry.table import AlreadyThereError, Below, ChangedError, OneOf

ITEM = {"pk": "job#1", "sk": "status", "status": "open", "number": 1, "hash": b"\x00\xff", "done": False, "tags": ["a"]}


@pytest.fixture
def table(stack):
    stack.registry.insert(ITEM)
    return stack.registry


def test_an_item_comes_back_as_it_went_in(table):
    assert table.get("job#1", "status") == ITEM
    assert type(table.get("job#1", "status")["number"]) is int
    assert table.get("job#2", "status") is None


@pytest.mark.parametrize("value", [1.5, float("nan"), {"a": 0.1}])
def test_a_float_is_never_written(table, value):
    with pytest.raises(TypeError):
        table.put(ITEM | {"number": value})
    assert table.get("job#1", "status") == ITEM


def test_an_insert_says_what_is_there(table):
    with pytest.raises(AlreadyThereError) as there:
        table.insert(ITEM | {"status": "other"})
    assert there.value.existing == ITEM
    assert table.get("job#1", "status") == ITEM


def test_an_insertion_of_a_transaction_has_the_same_condition(table, stack):
    with pytest.raises(stack.dynamodb.exceptions.TransactionCanceledException):
        stack.dynamodb.transact_write_items(
            TransactItems=[table.insertion({"pk": "job#2", "sk": "status"}), table.insertion(ITEM)]
        )
    assert table.get("job#2", "status") is None


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ({}, True),
        ({"status": "open"}, True),
        ({"status": "closed"}, False),
        ({"status": OneOf("closed", "open")}, True),
        ({"status": OneOf("closed", "void")}, False),
        ({"number": Below(1)}, False),
        ({"number": Below(2)}, True),
        ({"attempt": Below(1)}, True),
        ({"attempt": None}, True),
        ({"status": None}, False),
        ({"status": "open", "number": 2}, False),
    ],
)
def test_an_update_is_made_only_where_the_item_is_as_expected(table, where, holds):
    if holds:
        assert table.update(("job#1", "status"), {"status": "closed"}, where=where) == ITEM | {"status": "closed"}
    else:
        with pytest.raises(ChangedError) as changed:
            table.update(("job#1", "status"), {"status": "closed"}, where=where)
        assert changed.value.existing == ITEM
        assert table.get("job#1", "status") == ITEM


def test_an_update_adds_and_removes(table):
    updated = table.update(("job#1", "status"), {}, add={"number": 4, "new": 2}, remove=["hash", "absent"])
    wanted = ITEM | {"number": 5, "new": 2}
    wanted.pop("hash")
    assert updated == wanted


def test_an_update_makes_no_item(table):
    with pytest.raises(ChangedError) as changed:
        table.update(("job#2", "status"), {"status": "open"})
    assert changed.value.existing is None
    assert table.get("job#2", "status") is None


def test_a_partition_is_read_page_by_page_in_order_and_backward(table):
    for number in range(7):
        table.insert({"pk": "list", "sk": f"a{number}"})
    table.insert({"pk": "list", "sk": "b0"})

    def pages(**how):
        after, sizes, keys = None, [], []
        while True:
            page = table.page("list", after=after, limit=3, **how)
            sizes.append(len(page.items))
            keys += [item["sk"] for item in page.items]
            after = page.after
            if after is None:
                return sizes, keys

    assert pages(prefix="a") == ([3, 3, 1], [f"a{number}" for number in range(7)])
    assert pages(backward=True)[1] == ["b0", *[f"a{number}" for number in range(6, -1, -1)]]
    assert [item["sk"] for item in table.items("list", prefix="a")] == [f"a{number}" for number in range(7)]


def test_a_passbook_is_on_the_roster_in_its_shard(stack):
    people = [f"P-{number:06d}" for number in range(1, 6)]
    for passbook_id in people:
        stack.registry.insert(roster_item(passbook_id, "ERS", Holder.PARTICIPANT))
    shard = crc32(b"P-000003") % 1024
    assert shard_of("P-000003") == shard
    assert [(one.passbook_id, one.fund, one.holder, one.head) for one in entries(stack.registry, shard)] == [
        (passbook_id, "ERS", "participant", None) for passbook_id in people if shard_of(passbook_id) == shard
    ]
    assert (partition(7), SHARDS) == ("roster#0007", 1024)


def test_a_binding_is_made_once_and_never_changed(stack):
    binding = Binding("client-9", Party.FUND, fund="ERS")
    bind(stack.registry, binding)
    bind(stack.registry, binding)
    for other in (Binding("client-9", Party.FUND, fund="JRS"), Binding("client-9", Party.BOARD)):
        with pytest.raises(OtherBindingError):
            bind(stack.registry, other)
    assert binding_of(stack.registry, "client-9") == binding
    assert binding_of(stack.registry, "client-8") is None


@pytest.mark.parametrize(
    ("party", "more"),
    [
        (Party.EMPLOYER, {}),
        (Party.BOARD, {"employer_id": "E-001"}),
        (Party.FUND, {}),
        (Party.FUND, {"employer_id": "E-001"}),
    ],
)
def test_a_binding_that_makes_no_sense_is_not_made(party, more):
    with pytest.raises(ValueError, match="bound to"):
        Binding("client-9", party, **more)


def test_an_environment_names_what_is_missing(monkeypatch):
    class Needs(Environment):
        ledger_table: str
        other_table: str = "left out"

    monkeypatch.setenv("LEDGER_TABLE", "here")
    assert Needs.read() == Needs.model_validate({"LEDGER_TABLE": "here"})
    monkeypatch.delenv("LEDGER_TABLE")
    with pytest.raises(ValueError, match="LEDGER_TABLE"):
        Needs.read()
