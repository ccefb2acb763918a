"""Who lives how long: one-year survival and the force of mortality, by Makeham's law or from SOA tables.

Floats, at a desk, for the Board's actuary. The tables are those of the package pymort, which the desk alone has.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

_LAST_AGE_OF_LAW = 200  # long after the last survivor of any law that `Makeham` lets in
_OLDEST = 95  # a table that ends earlier, with people alive, says nothing of a life annuity
_TABLES_OF_DEATH_RATES = {
    "Annuitant Mortality",
    "CSO / CET",
    "CSO/CET",
    "Disabled Lives Mortality",
    "Group Life",
    "Healthy Lives Mortality",
    "Insured Lives Mortality",
    "Population Mortality",
}


class NoTableError(Exception):
    """An SOA table that can't serve: why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Lives:
    """Lives by whole age: the chance to live another year, and the force of mortality. Nobody outlives the last age."""

    first_age: int
    last_age: int
    survival: Callable[[int], float]
    force: Callable[[int], float]


def of_makeham(a: float, b: float, c: float) -> Lives:
    """Makeham's law, force A + B·c^x at every age."""

    def force(age: int) -> float:
        return a + b * c**age

    def survival(age: int) -> float:
        return math.exp(-a - b * c**age * (c - 1) / math.log(c))

    return Lives(0, _LAST_AGE_OF_LAW, survival, force)


def of_death_rates(rates: Mapping[int, float]) -> Lives:
    """A table of death rates by age. The force at an age is the mean of the two years around it.

    Nobody outlives the table: whoever is alive after its last age is taken to be dead. At its first age the force is
    that of the year after.
    """
    first, last = min(rates), max(rates)

    def survival(age: int) -> float:
        return 1 - rates[age] if age < last else 0.0

    def hazard(age: int) -> float:
        return -math.log(survival(age)) if survival(age) > 0 else math.inf

    def force(age: int) -> float:
        return (hazard(max(age - 1, first)) + hazard(age)) / 2

    return Lives(first, last, survival, force)


def soa_death_rates(table_id: int) -> dict[int, float]:
    """The death rates by age of an SOA table; of one that is select and ultimate, the ultimate ones.

    Raises:
        NoTableError: there is no such table, or it isn't one of death rates by age.
    """
    root = _table(table_id)
    content = root.findtext("ContentClassification/ContentType", "")
    if content not in _TABLES_OF_DEATH_RATES:
        raise NoTableError(f"SOA table {table_id} is of {content}, not of death rates")
    by_age = [part for part in root.findall("Table") if _axes(part) == ["Age"]]
    if len(by_age) != 1:
        raise NoTableError(f"SOA table {table_id} has {len(by_age)} tables by age, and one is needed")
    rates = {int(rate.attrib["t"]): float(rate.text) for rate in by_age[0].iterfind("Values//Y") if rate.text}
    if any(not 0 <= rate <= 1 for rate in rates.values()) or any(b - a != 1 for a, b in pairwise(sorted(rates))):
        raise NoTableError(f"SOA table {table_id} isn't a table of death rates at every age")
    last_age = max(rates)
    if rates[last_age] < 1 and last_age < _OLDEST:
        raise NoTableError(f"SOA table {table_id} ends at age {last_age} with people alive")
    return rates


def soa_table_name(table_id: int) -> str:
    """The name of an SOA table, as the Society gives it.

    Raises:
        NoTableError: there is no such table.
    """
    return _table(table_id).findtext("ContentClassification/TableName", "").strip()


def blended(parts: Sequence[tuple[Mapping[int, float], float]]) -> dict[int, float]:
    """The death rates of several tables, weighed, from the first age that all have to the last that any has.

    After a table's own last age its lives are dead: its rate is 1.
    """
    first = max(min(rates) for rates, _ in parts)
    last = max(max(rates) for rates, _ in parts)
    return {
        age: sum(weight * (rates[age] if age < max(rates) else 1.0) for rates, weight in parts)
        for age in range(first, last + 1)
    }


def _table(table_id: int) -> ET.Element:
    """A table of the package as it lies there, in the Society's XTbML.

    The file is read without importing the package, whose own reader brings pandas and a second of waiting.
    """
    package = find_spec("pymort")
    if package is None or not package.submodule_search_locations:
        raise NoTableError("the package pymort, which holds the SOA tables, isn't installed")
    place = Path(package.submodule_search_locations[0]) / "table_xml" / f"t{table_id}.xml"
    if not place.is_file():
        raise NoTableError(f"there is no SOA table {table_id}")
    return ET.fromstring(place.read_text("utf-8-sig"))  # noqa: S314  # an installed, pinned package's own file


def _axes(part: ET.Element) -> list[str]:
    return [name.text or "" for name in part.iterfind("MetaData/AxisDef/AxisName")]
