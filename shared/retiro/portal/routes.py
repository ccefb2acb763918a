"""A route as a handler declares it: what it takes and answers is read from the function's signature."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from inspect import signature
from typing import Any, get_type_hints

from pydantic import TypeAdapter, create_model

from retiro.portal.bodies import Query

_PATH_NAME = re.compile(r"{(\w+)}")
_OF_THE_FRAME = frozenset({"principal", "language"})
_GIVEN = _OF_THE_FRAME | {"body", "query"}

JSON = "application/json"
CSV = "text/csv; charset=utf-8"


class Keys(Enum):
    """What a route does with an `Idempotency-Key`."""

    NONE = "none"
    HEEDED = "heeded"
    REQUIRED = "required"


@dataclass(frozen=True)
class Route:
    """A method, a path, and the function that takes the names in the path and, where it asks, what `_GIVEN` lists.

    A POST without keys stores nothing (a quote). What isn't JSON is a text, answered as the function gives it.
    """

    method: str
    path: str
    scopes: tuple[str, ...]
    status: int
    function: Callable[..., Any]
    keys: Keys
    media_type: str = JSON

    def __post_init__(self) -> None:
        names = set(signature(self.function).parameters)
        path_names = set(self.path_names)
        if not path_names <= names or names - path_names - _GIVEN:
            raise TypeError(f"{self.function.__name__} doesn't take what {self.method} {self.path} gives")
        if not names | {"return"} <= set(self.hints):
            raise TypeError(f"{self.function.__name__} doesn't say what it takes and answers")
        if not self.scopes:
            raise TypeError(f"{self.method} {self.path} is open")

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The function's annotations, by name; what it answers under `return`."""
        return get_type_hints(self.function, include_extras=True)

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return self.keys is not Keys.NONE

    @property
    def path_names(self) -> list[str]:
        """The names in the path, in its order."""
        return _PATH_NAME.findall(self.path)

    def takes(self, name: str) -> bool:
        """Whether the function asks for it."""
        return name in self.hints

    def canonical(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The validated request in its one form: two texts of one request are one payload."""
        return {
            name: self.adapters[name].dump_python(value, mode="json")
            for name, value in given.items()
            if name not in _OF_THE_FRAME
        }

    @cached_property
    def path_adapter(self) -> TypeAdapter[Any]:
        """The names in the path, as one model."""
        fields: dict[str, Any] = {name: (self.hints[name], ...) for name in self.path_names}
        return TypeAdapter(create_model("Path", __base__=Query, **fields))

    @cached_property
    def adapters(self) -> Mapping[str, TypeAdapter[Any]]:
        """The types of what comes in and goes out, by name; what it answers under `return`."""
        return {name: TypeAdapter(hint) for name, hint in self.hints.items() if name not in _OF_THE_FRAME}
