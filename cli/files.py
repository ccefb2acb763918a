"""Reading facts and cases from JSON and YAML, so that nothing is guessed on the way in.

YAML is read without its conveniences: a date stays the text that it is, `010` and `1_000` are texts and no numbers, and
a doubled key is an error. A number with a point stays a float, for the reader to refuse.
"""

import json
import re
import sys
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml


class FileError(Exception):
    """A file that can't be read, or isn't of the form that it must have. The message names the place."""


class _PlainLoader(yaml.SafeLoader):
    """YAML with dates as texts, whole numbers in their plain form alone, and every key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        """A mapping, unless a key stands in it twice."""
        seen = set()
        for key_node, _ in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is doubled", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


_DATE_TAG, _INT_TAG = "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int"
_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in {_DATE_TAG, _INT_TAG}]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_PlainLoader.add_implicit_resolver(_INT_TAG, re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list("-0123456789"))


def _every_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise FileError(f"the key {key!r} is doubled")
        mapping[key] = value
    return mapping


def read(place: str) -> Any:
    """What a file holds as JSON or, where it is none, as YAML; `-` is standard input.

    Raises:
        FileError: it isn't there, isn't UTF-8 text, or is neither.
    """
    try:
        text = sys.stdin.read() if place == "-" else Path(place).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{place}: {error}") from error
    return parse(text, place)


def parse(text: str, place: str) -> Any:
    """The value of a JSON or YAML text. `place` is for the messages.

    Raises:
        FileError: it is neither, it is nested too deep, or a key is doubled.
    """
    try:
        return json.loads(text, object_pairs_hook=_every_key_once)
    except FileError as error:
        raise FileError(f"{place}: {error}") from None
    except RecursionError:
        raise _too_deep(place) from None
    except ValueError:
        pass  # then it is YAML, or nothing
    try:
        # The loader is a SafeLoader, which builds plain values alone.
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506
    except RecursionError:
        raise _too_deep(place) from None
    except (yaml.YAMLError, ValueError) as error:
        raise FileError(f"{place}: {error}") from error


def _too_deep(place: str) -> FileError:
    return FileError(f"{place}: it is nested too deep to be read / está anidado a demasiada profundidad")
