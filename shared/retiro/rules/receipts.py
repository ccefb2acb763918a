"""The receipt of a determination: what went in, what was used, each step, and what stays open.

It is enough to work the result out again by hand, and to compute it again by program: it has the inputs as they were
taken, and the settings and parameters with their dates and sources.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from pydantic import ConfigDict

from retiro.rules.calendar import Date
from retiro.rules.forms import Form, Sentence
from retiro.rules.version import RULES_VERSION

# The rows of a receipt are plain dataclasses: a determination makes a dozen of them, of its own values, and checking
# each as a form would take as long as all the rest. Those of a stored receipt are checked when it is read again.
_STORED = ConfigDict(strict=False, extra="forbid")


@dataclass(frozen=True, slots=True)
class ParameterUsed:
    """A dated parameter at work: the value as an exact decimal text, in its unit, on the date that it was asked for."""

    __pydantic_config__: ClassVar[ConfigDict] = _STORED

    name: str
    value: str
    unit: str
    on: Date
    in_force_from: Date
    until: Date | None
    citation: str
    source: str
    checked_on: Date


@dataclass(frozen=True, slots=True)
class SettingUsed:
    """A Board setting at work on a date. The source is the act that adopted it, or says that nobody did."""

    __pydantic_config__: ClassVar[ConfigDict] = _STORED

    name: str
    value: str
    on: Date
    in_force_from: Date | None
    citation: str
    source: Sentence


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the calculation.

    `value` is as it is shown, money to the cent and a percent to six places; `exact` is the fraction, in dollars or
    percent, that went on into the next step, where the two differ.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STORED

    citation: str
    label: Sentence
    formula: Sentence
    value: str
    exact: str | None = None


class Receipt(Form):
    """All of it, as plain JSON."""

    determination: str
    citation: str
    inputs: dict[str, Any]
    parameters: list[ParameterUsed]
    settings: list[SettingUsed]
    steps: list[Step]
    open_questions: list[Sentence]
    rules_version: str = RULES_VERSION


@dataclass(frozen=True, slots=True)
class Act:
    """What adopted a setting: its source in words, like a resolution's number and body, and when it took effect."""

    source: str
    in_force_from: date


def part_name(part: object, setting: str) -> str:
    """The name of a setting in a part that has acts of its own, like a semester of a late credit."""
    return f"{part}/{setting}"


NO_ACTS: Mapping[str, Act] = {}
