"""`retiro law`: the three statutes, a line a clause.

A clause that is claimed names the code that does it and is held by at least one case; else the command fails. The list
is data: `retiro/rules/data/clauses.toml`.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from importlib import import_module
from importlib.resources import files
from itertools import groupby
from pathlib import Path

import click
from pydantic import BaseModel, ConfigDict, model_validator

from cli.cases import load
from cli.files import FileError

EXIT_UNHELD = 1
EXIT_UNREADABLE = 2
CASES = Path(__file__).resolve().parent.parent / "tests" / "law"

_SECTION = re.compile(r"^(\d+ L\.P\.R\.A\. § [0-9]+[a-z]?(?:-[0-9]+)?)(.*)$")
_PATH = re.compile(r"^(?:\([A-Za-z0-9]+\))+$")
_PARTS = re.compile(r"\([A-Za-z0-9]+\)")


class Status(StrEnum):
    """What the program claims of a clause."""

    DONE = "done"
    NOTHING_TO_COMPUTE = "nothing_to_compute"
    NOT_DONE_YET = "not_done_yet"


class Clause(BaseModel):
    """A clause in a few words of our own, and what does it or why nothing does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    citation: str
    says: str
    status: Status
    code: tuple[str, ...] = ()
    reason: str | None = None

    @model_validator(mode="after")
    def _says_how(self) -> "Clause":
        """What is done names its code, what has nothing to compute its reason, and nothing else names either."""
        if bool(self.code) != (self.status is Status.DONE):
            raise ValueError(f"{self.citation} must name code if it is done, and only then")
        if bool(self.reason) != (self.status is Status.NOTHING_TO_COMPUTE):
            raise ValueError(f"{self.citation} must give a reason if there is nothing to compute, and only then")
        return self


def clauses() -> list[Clause]:
    """Every clause of the statutes, in their order."""
    rows = tomllib.loads(files("retiro.rules").joinpath("data/clauses.toml").read_text("utf-8"))["clause"]
    return [Clause.model_validate(row) for row in rows]


def cited(law: str) -> list[str]:
    """The clauses that a case's `law` cites: "3 L.P.R.A. § 786-7(a)(2)-(3), (c)" cites (a)(2), (a)(3) and (c).

    After a comma or a semicolon a clause may leave out what it shares with the one before: "(b)(1), (2)" cites (b)(1)
    and (b)(2).

    Raises:
        ValueError: it isn't such a citation.
    """
    section = _SECTION.match(law)
    if section is None:
        raise ValueError(f"{law!r} cites no section")
    found: list[str] = []
    before: list[str] = []
    for path in re.split(r"[,;] *", section[2]):
        first, *last = path.split("-")
        if not all(_PATH.fullmatch(each) for each in (first, *last)) or len(last) > 1:
            raise ValueError(f"{law!r} cites no clause with {path!r}")
        before = _whole_path(_PARTS.findall(first), before)
        found.append("".join(before))
        for end in last:
            for part in _parts_through(before[-1], end):
                before = [*before[:-1], part]
                found.append("".join(before))
    return [section[1] + clause for clause in found]


def _whole_path(parts: list[str], before: list[str]) -> list[str]:
    """A path with the head that it left out: (2) after (b)(1) is (b)(2), (c) after it is (c)."""
    kinds = [_kind(part) for part in before]
    if _kind(parts[0]) in kinds:
        return [*before[: kinds.index(_kind(parts[0]))], *parts]
    return parts


def _kind(part: str) -> str:
    return "number" if part[1].isdigit() else "upper" if part[1].isupper() else "lower"


def _parts_through(first: str, last: str) -> list[str]:
    """What follows a part through another: (1) through (3) are (2), (3)."""
    return [f"({chr(code)})" for code in range(ord(first[1]) + 1, ord(last[1]) + 1)]


def count_cases(places: Iterable[Path]) -> Counter[str]:
    """How many cases of the files hold each clause. A case of (b)(3)(A) holds it alone, and not the whole of (b).

    Raises:
        FileError: a file can't be read, or a case cites no clause of a statute.
    """
    held: Counter[str] = Counter()
    known = {clause.citation for clause in clauses()}
    for place in places:
        for case in load(str(place)):
            try:
                of_case = set(cited(case.law))
            except ValueError as error:
                raise FileError(f"{place}: {case.name}: {error}") from error
            if not of_case & known:
                raise FileError(f"{place}: {case.name}: {case.law} is no clause of the statutes")
            held.update(of_case)
    return held


def missing_code(clause: Clause) -> list[str]:
    """The names of a clause's code that don't exist."""
    missing = []
    for name in clause.code:
        module, _, attribute = name.partition(":")
        try:
            getattr(import_module(module), attribute)
        except (ImportError, AttributeError):
            missing.append(name)
    return missing


def line(clause: Clause, held: Mapping[str, int]) -> str:
    """A clause as it is printed: its path, how many cases hold it, what it says, and the code or the reason."""
    path = clause.citation[clause.citation.index("(") :]
    match clause.status:
        case Status.DONE:
            number = held.get(clause.citation, 0)
            cases = "case " if number == 1 else "cases"
            return f"  {path:<10}{number:>4} {cases}  {clause.says}: {', '.join(clause.code)}"
        case Status.NOTHING_TO_COMPUTE:
            return f"  {path:<10} nothing   {clause.says}: {clause.reason}"
        case Status.NOT_DONE_YET:
            return f"  {path:<10} not yet   {clause.says}"


@click.command()
@click.option(
    "--cases",
    "folder",
    type=click.Path(path_type=Path),
    default=CASES,
    help="Where the case files lie; the project's own unless given.",
)
@click.pass_context
def law(context: click.Context, folder: Path) -> None:
    """Print the statutes, a line a clause: in a few words, the code that does it, and how many cases hold it.

    Exits 1 if a clause is claimed that no case holds or whose code isn't there, 2 if a case file can't be read.
    """
    try:
        held = count_cases(sorted(folder.glob("*.yaml")))
    except FileError as error:
        click.echo(str(error), err=True)
        context.exit(EXIT_UNREADABLE)
    faults = []
    for section, of_section in groupby(clauses(), key=lambda clause: clause.citation.partition("(")[0]):
        click.echo(section)
        for clause in of_section:
            click.echo(line(clause, held))
            if clause.status is Status.DONE and not held[clause.citation]:
                faults.append(f"{clause.citation} is claimed, and no case holds it")
            faults += [f"{clause.citation} names {name}, which isn't there" for name in missing_code(clause)]
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        context.exit(EXIT_UNHELD)
