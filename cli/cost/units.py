"""What the work is, in the units that are paid for: cli/data/cost/units.toml."""

import tomllib
from fractions import Fraction
from functools import cache
from importlib.resources import files


@cache
def _units() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("cli") / "data" / "cost" / "units.toml").read_text())


def unit(name: str) -> Fraction:
    """A measured, counted or taken amount."""
    return Fraction(_units()[name]["value"])


def how(name: str) -> str:
    """How it was measured or counted."""
    return _units()[name]["how"]
