"""§ 830q(a): the dated facts of who may apply: the filing windows with their debt kinds, and the joining limit.

They are `data/payment_plans.toml`. A window's two ends are included, as the acts have them.
"""

import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.resources import files
from typing import Any

from retiro.rules.parameters import pick
from retiro.rules.payment_plans.section import SECTION, DebtKind
from retiro.rules.receipts import ParameterUsed


@dataclass(frozen=True, slots=True)
class FilingWindow:
    """A term in which the special rate could be applied for, and for which debts."""

    opens_on: date
    closes_on: date
    debt_kinds: tuple[DebtKind, ...]
    citation: str
    source: str
    checked_on: date

    @property
    def in_force_from(self) -> date:
        """Its first day."""
        return self.opens_on

    @property
    def until(self) -> date:
        """The day after its last: intervals are half-open inside."""
        return self.closes_on + timedelta(days=1)

    def used(self, on: date) -> ParameterUsed:
        """The window as a receipt writes it down."""
        return ParameterUsed(
            name="plan_filing_window",
            value=f"{self.opens_on} through {self.closes_on}",
            unit=" and ".join(self.debt_kinds),
            on=on,
            in_force_from=self.in_force_from,
            until=self.until,
            citation=self.citation,
            source=self.source,
            checked_on=self.checked_on,
        )


@dataclass(frozen=True, slots=True)
class JoiningLimit:
    """The last day on which a participant may have joined the System for the first time."""

    on_or_before: date
    in_force_from: date
    citation: str
    source: str
    checked_on: date

    def used(self, on: date) -> ParameterUsed:
        """The limit as a receipt writes it down."""
        return ParameterUsed(
            name="plan_first_joined_limit",
            value=str(self.on_or_before),
            unit="first joined on or before this day",
            on=on,
            in_force_from=self.in_force_from,
            until=None,
            citation=self.citation,
            source=self.source,
            checked_on=self.checked_on,
        )


def window_open_on(day: date) -> FilingWindow | None:
    """The window that was open on a day, if any."""
    return next((window for window in WINDOWS if window.opens_on <= day <= window.closes_on), None)


def check_kind_admitted(kind: DebtKind, applied_on: date) -> None:
    """Check that a debt of this kind could have the special rate when it was applied for.

    Raises:
        Refusal: `not_in_force`, naming the kind, the day and the nearest window that admits it.
    """
    of_kind = [window for window in WINDOWS if kind in window.debt_kinds]
    pick(f"The special rate for {kind}", of_kind, applied_on, citation=f"{SECTION}(c)")


def _window(row: dict[str, Any]) -> FilingWindow:
    return FilingWindow(**{**row, "debt_kinds": tuple(row["debt_kinds"])})


_DATA = tomllib.loads(files("retiro.rules").joinpath("data/payment_plans.toml").read_text("utf-8"))
WINDOWS = tuple(_window(row) for row in _DATA["filing_window"])
JOINING_LIMIT = JoiningLimit(**_DATA["first_joined"])
