"""What stands in the table, byte by byte."""

import pytest

from retiro.ledger.encoding import UnreadableError, canonical, content_hash, from_item, size_bytes, to_item


def test_the_canonical_text_sorts_keys_and_leaves_no_space() -> None:
    assert canonical({"b": [1, "ñ"], "a": {"z": -1, "y": ""}}) == '{"a":{"y":"","z":-1},"b":[1,"ñ"]}'.encode()


def test_the_order_of_keys_is_no_content_and_the_order_of_a_list_is() -> None:
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    assert content_hash([1, 2]) != content_hash([2, 1])


@pytest.mark.parametrize("value", [1.5, {"a": [1.0]}, {1: "a"}, {"a": {"b"}}, object()])
def test_what_has_no_one_text_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)


@pytest.mark.parametrize("value", [True, None, 1.5, {"a"}])
def test_a_line_holds_texts_whole_numbers_lists_and_maps_alone(value: object) -> None:
    with pytest.raises(TypeError):
        to_item({"a": value})


@pytest.mark.parametrize(
    "value", ["", "ñ", 0, 10, 100, 10**10, -1, 10**37, [], {}, [[], {"a": [0]}], b"\x00\xff"], ids=repr
)
def test_what_is_put_comes_back(value: object) -> None:
    assert from_item(to_item({"a": value})) == {"a": value}


def test_a_number_that_comes_back_in_another_form_is_the_same_number() -> None:
    assert from_item({"a": {"N": "1E+2"}, "b": {"N": "100.0"}}) == {"a": 100, "b": 100}


@pytest.mark.parametrize("attribute", [{"N": "1.5"}, {"NULL": True}, {"BOOL": True}, {"SS": ["a"]}], ids=str)
def test_what_the_ledger_never_writes_cannot_be_read(attribute: dict[str, object]) -> None:
    with pytest.raises(UnreadableError):
        from_item({"a": attribute})


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({"a": {"S": "ñ"}}, 1 + 2),  # two bytes of UTF-8
        ({"ab": {"B": b"123"}}, 2 + 3),
        ({"a": {"N": "0"}}, 1 + 1),
        ({"a": {"N": "100"}}, 1 + 2),  # one significant digit
        ({"a": {"N": "-123"}}, 1 + 2 + 1 + 1),  # three digits, one more, and the sign
        ({"a": {"L": []}}, 1 + 3),
        ({"a": {"L": [{"S": "xy"}, {"S": ""}]}}, 1 + 3 + (1 + 2) + (1 + 0)),
        ({"a": {"M": {"kk": {"S": "v"}}}}, 1 + 3 + (1 + 2 + 1)),
    ],
    ids=str,
)
def test_sizes_are_those_of_dynamodb_s_published_rules(item: dict[str, dict[str, object]], size: int) -> None:
    assert size_bytes(item) == size
