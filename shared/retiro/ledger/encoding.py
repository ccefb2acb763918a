"""What stands in the ledger's table, as bytes: attribute values, the canonical text, hashes, and sizes.

A document is what an item holds, in plain values: texts, whole numbers, lists and maps of these. Nothing else can be
written, so that what is read back is what was hashed: no float, no null, no set, no boolean.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item: TypeAlias = dict[str, AttributeValueTypeDef]
else:
    Item = dict

Value: TypeAlias = "str | int | bytes | Sequence[Value] | Mapping[str, Value]"
Document: TypeAlias = dict[str, Value]

GENESIS = bytes(32)
"""What stands for the previous hash before a chain's first line."""


class UnreadableError(Exception):
    """An item holds what the ledger never writes."""


def to_item(document: Mapping[str, Value]) -> Item:
    """A document as DynamoDB's typed attributes. Raises `TypeError` for what the ledger doesn't hold."""
    return {name: _to_attribute(value) for name, value in document.items()}


def from_item(item: Item) -> Document:
    """DynamoDB's typed attributes as a document. Raises `UnreadableError` for what the ledger never writes."""
    return {name: _from_attribute(value) for name, value in item.items()}


def canonical(value: object) -> bytes:
    """The one text of a value: JSON in UTF-8, keys sorted, no spaces. Raises `TypeError` for a float."""
    _refuse_floats(value)
    return canonical_unchecked(value)


def canonical_unchecked(value: object) -> bytes:
    """`canonical`, for a document whose types its writer vouches for."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def content_hash(value: object) -> bytes:
    """SHA-256 of a value's canonical text."""
    return hashlib.sha256(canonical(value)).digest()


def chain_hash(previous_hash: bytes, document: Mapping[str, Value]) -> bytes:
    """SHA-256 of the previous hash and the canonical text of the document, its key included."""
    return hashlib.sha256(previous_hash + canonical_unchecked(document)).digest()


def size_bytes(item: Item) -> int:
    """What DynamoDB counts for an item: names and values, by its published rules of item sizes."""
    return sum(len(name.encode()) + _size_bytes(value) for name, value in item.items())


def _to_attribute(value: Value) -> "AttributeValueTypeDef":
    kind = type(value)
    if kind is str:
        return {"S": value}  # type: ignore[typeddict-item]  # `type(…) is` keeps booleans out, and mypy in the dark
    if kind is int:
        return {"N": str(value)}
    if isinstance(value, Mapping):
        return {"M": {name: _to_attribute(inner) for name, inner in value.items()}}
    if isinstance(value, list | tuple):
        return {"L": [_to_attribute(inner) for inner in value]}
    if kind is bytes:
        return {"B": value}  # type: ignore[typeddict-item]
    msg = f"the ledger holds no {kind.__name__}"
    raise TypeError(msg)


def _from_attribute(attribute: "AttributeValueTypeDef") -> Value:
    ((kind, value),) = attribute.items()
    if kind == "S" and isinstance(value, str):
        return value
    if kind == "N":
        return whole_number(str(value))
    if kind == "M":
        return from_item(cast("Item", value))
    if kind == "L":
        return [_from_attribute(inner) for inner in cast("list[AttributeValueTypeDef]", value)]
    if kind == "B":
        return bytes(cast("bytes", value))
    msg = f"an attribute of type {kind}"
    raise UnreadableError(msg)


def whole_number(digits: str) -> int:
    """A number as DynamoDB gives it back, perhaps in another form (1E+2). Raises `UnreadableError`: it isn't whole."""
    try:
        return int(digits)
    except ValueError:
        number = Decimal(digits)
    if number != number.to_integral_value():
        msg = f"the number {digits}"
        raise UnreadableError(msg)
    return int(number)


def _refuse_floats(value: object) -> None:
    if value is None or isinstance(value, str | int):
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                msg = f"a map's key is a text, not {type(name).__name__}"
                raise TypeError(msg)
            _refuse_floats(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_floats(inner)
    else:
        msg = f"no {type(value).__name__} has a canonical form here"
        raise TypeError(msg)


def _size_bytes(attribute: "AttributeValueTypeDef") -> int:
    match attribute:
        case {"S": str(text)}:
            return len(text.encode())
        case {"N": str(digits)}:
            # A byte for two significant digits, one more, and one for a sign.
            significant = digits.lstrip("-").strip("0")
            return (len(significant) + 1) // 2 + 1 + digits.startswith("-")
        case {"B": raw}:
            return len(bytes(raw))
        case {"L": inner}:
            return 3 + sum(1 + _size_bytes(value) for value in inner)
        case {"M": inner}:
            return 3 + sum(1 + len(name.encode()) + _size_bytes(value) for name, value in inner.items())
        case _:
            msg = f"an attribute of type {'/'.join(attribute)}"
            raise UnreadableError(msg)
