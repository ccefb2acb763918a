"""`python -m bench [PART …]`: measure all parts, or some; print a table, and write build/bench.json."""

import argparse
import importlib
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.measures import Measure

PARTS = ("rule", "posting", "cold_start", "rebuild", "run", "workers", "scale", "cost", "remittances")
WRITTEN = Path("build/bench.json")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is named, or everything, one part after the other. Nothing fails where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}")
    parts: list[str] = parser.parse_args(arguments).parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    console = Console()
    measures: list[Measure] = []
    for part in parts:
        with console.status(f"Measuring {part}"):
            found: list[Measure] = importlib.import_module(f"bench.{part}").measure()
        console.print(table(part, found))
        measures += found
    write(WRITTEN, measures)


def table(part: str, measures: Sequence[Measure]) -> Table:
    """The measures of a part as a person reads them, what each is held against below its name."""
    shown = Table("measure", title=part, title_justify="left", title_style="bold")
    shown.add_column("value", justify="right")
    shown.add_column("goal")
    for one in measures:
        goal = "" if one.goal is None else f"{one.goal.words}{'' if one.goal.is_met(one.value) else ' missed'}"
        value = figure(one.value) if one.unit == "ratio" else f"{figure(one.value)} {one.unit}"
        shown.add_row(f"{one.name}\n  [dim]{escape(one.compared_with)}[/dim]", value, goal)
    return shown


def figure(value: float) -> str:
    """A value with as many places as it is read with."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.3f}"  # noqa: PLR2004


def write(place: Path, measures: Sequence[Measure]) -> None:
    """Write the measures; those of other parts stay as an earlier run has left them."""
    place.parent.mkdir(parents=True, exist_ok=True)
    names = {one.name for one in measures}
    earlier = json.loads(place.read_text()) if place.exists() else []
    kept = [one for one in earlier if one["name"] not in names]
    place.write_text(json.dumps(kept + [one.document() for one in measures], indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
