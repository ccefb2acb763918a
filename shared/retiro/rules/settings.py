"""The Board's settings: where the statutes leave a choice, the choice has a name, a default and its alternatives.

A default serves the desk alone; a live stack posts on what the Board has adopted. The list is `data/settings.toml`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from retiro.on_demand import Loaded
from retiro.rules.forms import Sentence, form_error

SAVINGS_SETTINGS = (
    "average_balance_method",
    "cmt_semester_conversion",
    "portfolio_fee_treatment",
    "no_selection",
    "negative_yield",
)
"""The settings that a semester's yield rests on: each must be adopted, in force on the semester's last day."""

HYBRID_RETURN_SETTINGS = ("average_balance_method", "negative_yield")
"""The settings that the hybrid accounts' return rests on: how the balance is averaged, and what a loss does."""

_OPTION_CODE = r"[A-Za-z][A-Za-z0-9_]{0,39}"


@dataclass(frozen=True, slots=True)
class Setting:
    """One choice that the law leaves. `takes_option` says that an investment option's code is a value too."""

    name: str
    default: str
    alternatives: tuple[str, ...]
    takes_option: bool
    citation: str
    decides: Sentence
    why: Sentence

    def admits(self, value: str) -> bool:
        """Whether it may be set so."""
        return (
            value == self.default
            or value in self.alternatives
            or (self.takes_option and re.fullmatch(_OPTION_CODE, value) is not None)
        )


def _load() -> Mapping[str, Setting]:
    import tomllib  # noqa: PLC0415  # with the data, when they are asked for

    rows = tomllib.loads(files("retiro.rules").joinpath("data/settings.toml").read_text("utf-8"))["setting"]
    return {
        row["name"]: Setting(
            name=row["name"],
            default=row["default"],
            alternatives=tuple(row["alternatives"]),
            takes_option=row.get("takes_option", False),
            citation=row["citation"],
            decides=Sentence(**row["decides"]),
            why=Sentence(**row["why"]),
        )
        for row in rows
    }


SETTINGS: Mapping[str, Setting] = Loaded(_load)


def check(name: str, value: str) -> None:
    """Check that a setting exists and may have a value.

    Raises:
        PydanticCustomError: a ValueError, `setting_unknown` or `setting_value`.
    """
    if name not in SETTINGS:
        raise form_error("setting_unknown")
    if not SETTINGS[name].admits(value):
        raise form_error("setting_value")


def value_of(name: str, settings: Mapping[str, str]) -> str:
    """The value given, or the default."""
    return settings.get(name, SETTINGS[name].default)
