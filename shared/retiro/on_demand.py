"""What is loaded when it is first asked for: a cold start pays for each module and each table, and uses few of them."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def names_of(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: from each module's names, in one text, to what is called so.

    Raises `AttributeError`, as Python does, for a name that no module has.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


class Loaded(Mapping[K, V], Generic[K, V]):
    """A mapping that is read from its data when somebody first looks into it."""

    def __init__(self, load: Callable[[], Mapping[K, V]]) -> None:
        self._load = load

    @cached_property
    def _rows(self) -> Mapping[K, V]:
        return self._load()

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
