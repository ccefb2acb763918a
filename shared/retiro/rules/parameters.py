"""Dated parameters: figures that a statute states, each with its dates, unit, citation and source.

The list is `data/parameters.toml`. Nothing is carried forward: outside its periods a parameter is refused by name, with
the nearest period in force.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from importlib.resources import files
from typing import Protocol, TypeVar

from retiro.on_demand import Loaded
from retiro.rules.money import parse_percent
from retiro.rules.refusals import Refusal, RefusalCode


class Dated(Protocol):
    """Anything in force from a day until another, that one not included; `until` None is open."""

    @property
    def in_force_from(self) -> date: ...
    @property
    def until(self) -> date | None: ...


D = TypeVar("D", bound=Dated)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value in its unit, in force on [in_force_from, until), with where it comes from and when that was checked."""

    name: str
    value: Fraction
    unit: str
    in_force_from: date
    until: date | None
    citation: str
    source: str
    checked_on: date


def in_force(name: str, on: date, *, field: str | None = None) -> Parameter:
    """The parameter on a date. `field` is what could have been given in its place.

    Raises:
        Refusal: `not_in_force`, naming the parameter, the date and the nearest period in force.
    """
    periods = PARAMETERS[name]
    return pick(name, periods, on, citation=periods[0].citation, field=field)


def pick(name: str, periods: Sequence[D], on: date, *, citation: str, field: str | None = None) -> D:
    """The one of several dated things that is in force on a date.

    Raises:
        Refusal: `not_in_force`, naming the thing, the date and the nearest period in force.
    """
    for period in periods:
        if period.in_force_from <= on and (period.until is None or on < period.until):
            return period
    nearest_en, nearest_es = _nearest(periods, on)
    raise Refusal(
        RefusalCode.NOT_IN_FORCE, citation, field=field, name=name, day=on, nearest_en=nearest_en, nearest_es=nearest_es
    )


def _nearest(periods: Sequence[Dated], on: date) -> tuple[str, str]:
    """The period nearest to a date outside all of them, in words that name its last day and not the day after."""
    if not periods:
        return "none", "ninguno"

    def distance(period: Dated) -> timedelta:
        if on < period.in_force_from:
            return period.in_force_from - on
        return on - (period.until or on) + timedelta(days=1)

    nearest = min(periods, key=distance)
    start = nearest.in_force_from
    if nearest.until is None:
        return f"from {start} on", f"desde el {start}"
    last = nearest.until - timedelta(days=1)
    return f"{start} through {last}", f"del {start} al {last}"


def _load() -> Mapping[str, tuple[Parameter, ...]]:
    import tomllib  # noqa: PLC0415  # with the data, when they are asked for

    rows = tomllib.loads(files("retiro.rules").joinpath("data/parameters.toml").read_text("utf-8"))["parameter"]
    periods: dict[str, list[Parameter]] = {}
    for row in rows:
        periods.setdefault(row["name"], []).append(
            Parameter(
                name=row["name"],
                value=parse_percent(row["value"]),
                unit=row["unit"],
                in_force_from=row["in_force_from"],
                until=row.get("until"),
                citation=row["citation"],
                source=row["source"],
                checked_on=row["checked_on"],
            )
        )
    return {name: tuple(of_name) for name, of_name in periods.items()}


PARAMETERS: Mapping[str, tuple[Parameter, ...]] = Loaded(_load)
