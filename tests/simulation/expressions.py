"""DynamoDB's expressions, as many of them as our code writes: conditions, filters, key conditions and updates.

An expression is parsed once, into a function of an item, names and values. What isn't known here raises
`NotImplementedError`, so that code which begins to use more of the language can't be simulated wrongly.
"""

import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

Item = dict[str, Any]
Values = Mapping[str, Any]
Condition = Callable[[Item, Values, Values], bool]
Operand = Callable[[Item, Values, Values], Any]
Update = Callable[[Item, Values, Values], Item]

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TOKEN = re.compile(r"\s*(#\w+|:\w+|[A-Za-z_]\w*|<>|<=|>=|[=<>(),])")


class InvalidExpressionError(Exception):
    """DynamoDB would answer with a `ValidationException`."""


@cache
def condition(text: str) -> Condition:
    """The condition that a text stands for."""
    parser = _Parser(text)
    found = parser.any_of()
    parser.must_end()
    return found


@cache
def update(text: str) -> Update:
    """The update that a text stands for: from the item before to the item after."""
    parser = _Parser(text)
    clauses = parser.clauses()
    parser.must_end()

    def applied(item: Item, names: Values, values: Values) -> Item:
        after = dict(item)
        for verb, name, operand in clauses:
            attribute = _named(name, names)
            if verb == "REMOVE":
                after.pop(attribute, None)
            elif verb == "SET":
                after[attribute] = operand(item, names, values)
            else:
                after[attribute] = _sum(item.get(attribute, {"N": "0"}), operand(item, names, values))
        return after

    return applied


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        place = 0
        while place < len(text.rstrip()):
            match = _TOKEN.match(text, place)
            if match is None:
                raise NotImplementedError(text)
            self.tokens.append(match[1])
            place = match.end()

    def any_of(self) -> Condition:
        """Conditions joined by OR."""
        found = [self._all_of()]
        while self._take("OR"):
            found.append(self._all_of())
        return found[0] if len(found) == 1 else lambda *given: any(one(*given) for one in found)

    def clauses(self) -> list[tuple[str, str, Operand]]:
        """The parts of an update: verb, attribute, and what it is set to or raised by."""
        found = []
        while self.tokens:
            verb = self.tokens.pop(0)
            if verb not in {"SET", "ADD", "REMOVE"}:
                raise NotImplementedError(self.text)
            while True:
                name = self.tokens.pop(0)
                if verb == "SET":
                    self._expect("=")
                found.append((verb, name, _nothing if verb == "REMOVE" else self._operand()))
                if not self._take(","):
                    break
        return found

    def must_end(self) -> None:
        """Raise where something is left."""
        if self.tokens:
            raise NotImplementedError(self.text)

    def _all_of(self) -> Condition:
        found = [self._one()]
        while self._take("AND"):
            found.append(self._one())
        return found[0] if len(found) == 1 else lambda *given: all(one(*given) for one in found)

    def _one(self) -> Condition:
        if self._take("("):
            inner = self.any_of()
            self._expect(")")
            return inner
        if self._take("NOT"):
            negated = self._one()
            return lambda *given: not negated(*given)
        if len(self.tokens) > 1 and self.tokens[1] == "(":
            return self._function()
        return self._comparison()

    def _function(self) -> Condition:
        name = self.tokens.pop(0)
        self._expect("(")
        attribute = self.tokens.pop(0)
        if name == "begins_with":
            self._expect(",")
            prefix = self._operand()
            self._expect(")")
            return lambda item, names, values: _begins(_value(item, attribute, names), prefix(item, names, values))
        self._expect(")")
        if name == "attribute_exists":
            return lambda item, names, _values: _named(attribute, names) in item
        if name == "attribute_not_exists":
            return lambda item, names, _values: _named(attribute, names) not in item
        raise NotImplementedError(self.text)

    def _comparison(self) -> Condition:
        left = self._operand()
        if self._take("IN"):
            self._expect("(")
            choices = [self._operand()]
            while self._take(","):
                choices.append(self._operand())
            self._expect(")")
            return lambda *given: any(compared("=", left(*given), one(*given)) for one in choices)
        sign = self.tokens.pop(0)
        right = self._operand()
        if sign not in _OPERATORS:
            raise NotImplementedError(self.text)
        return lambda *given: compared(sign, left(*given), right(*given))

    def _operand(self) -> Operand:
        token = self.tokens.pop(0)
        if token.startswith(":"):
            return lambda _item, _names, values: _given(token, values)
        return lambda item, names, _values: _value(item, token, names)

    def _take(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise NotImplementedError(self.text)


def compared(sign: str, left: Any, right: Any) -> bool:
    """Two attribute values compared: never true of different types, nor of an attribute that isn't there."""
    if left is None or right is None or left.keys() != right.keys():
        return sign == "<>" and not (left is None and right is None)
    return bool(_OPERATORS[sign](comparable(left), comparable(right)))


def comparable(attribute: Mapping[str, Any]) -> Any:
    """What an attribute is compared by."""
    ((kind, value),) = attribute.items()
    return Decimal(value) if kind == "N" else value


def _begins(attribute: Any, prefix: Any) -> bool:
    return attribute is not None and "S" in attribute and attribute["S"].startswith(prefix["S"])


def _sum(before: Mapping[str, Any], more: Mapping[str, Any]) -> Item:
    if "N" not in before or "N" not in more:
        raise InvalidExpressionError("ADD of what is no number")
    return {"N": str(Decimal(before["N"]) + Decimal(more["N"]))}


def _nothing(_item: Item, _names: Values, _values: Values) -> None:
    return None


def _named(token: str, names: Values) -> str:
    if not token.startswith("#"):
        return token
    if token not in names:
        raise InvalidExpressionError(f"the name {token} isn't given")
    return str(names[token])


def _value(item: Item, token: str, names: Values) -> Any:
    return item.get(_named(token, names))


def _given(token: str, values: Values) -> Any:
    if token not in values:
        raise InvalidExpressionError(f"the value {token} isn't given")
    return values[token]
