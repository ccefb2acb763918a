"""`retiro cases FILE…`: examples of the law, each a sentence, its facts, and what must come out.

A case that can't mean what it says is an error of its file, so that a misspelt one can't pass: an unknown or doubled
key, an expected field that the result hasn't, a float.
"""

import json
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import click
from pydantic import BaseModel, StringConstraints, TypeAdapter, ValidationError

from cli.desk import DESK
from cli.files import FileError, read
from retiro.rules.forms import Form, field_faults
from retiro.rules.money import format_cents, parse_cents
from retiro.rules.refusals import Refusal, RefusalCode

EXIT_FAILED = 1
EXIT_UNREADABLE = 2

Text = Annotated[str, StringConstraints(min_length=1)]


class Case(Form):
    """One case of a file: facts, and either what the result has or the code of its refusal."""

    name: Text
    law: Text
    determination: Text
    given: dict[str, Any]
    expect: dict[str, Any] | None = None
    refused: str | None = None


_CASES = TypeAdapter(list[Case])


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a result isn't as a case wants it. `got` None is nothing there."""

    path: str
    wanted: object
    got: object

    def __str__(self) -> str:
        """`yield wanted "214.36", got "214.37", difference 0.01`."""
        return f"{self.path} wanted {_shown(self.wanted)}, got {_shown(self.got)}{self._in_money()}"

    def _in_money(self) -> str:
        try:
            cents = parse_cents(str(self.got)) - parse_cents(str(self.wanted))
        except ValueError:
            return ""
        return f", difference {format_cents(cents)}"


def _shown(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


# Reading a file


def load(place: str) -> list[Case]:
    """The cases of a file.

    Raises:
        FileError: it can't be read, or a case of it can't mean what it says.
    """
    try:
        cases = _CASES.validate_python(read(place))
    except ValidationError as error:
        raise FileError(
            "\n".join(f"{place}: case {fault.field} {fault.rule.en}" for fault in field_faults(error))
        ) from None
    if not cases:
        raise FileError(f"{place}: it has no cases")
    faults = [
        f"{place}: case {number} ({case.name}): {fault}" for number, case in enumerate(cases) for fault in _faults(case)
    ]
    if faults:
        raise FileError("\n".join(faults))
    return cases


def _faults(case: Case) -> Iterator[str]:
    """What keeps a case of the right form from meaning anything."""
    if case.determination not in DESK:
        yield f"there is no determination {case.determination}"
        return
    if (case.expect is None) == (case.refused is None):
        yield "it must have expect or refused, and not both"
    if case.refused is not None and case.refused not in set(RefusalCode):
        yield f"there is no refusal {case.refused}"
    if case.expect is not None:
        if not case.expect:
            yield "expect is empty"
        yield from _unknown_fields(case.expect, DESK[case.determination].result, "expect")
        yield from _floats(case.expect, "expect")


def _unknown_fields(expect: dict[str, Any], model: type[BaseModel], path: str) -> Iterator[str]:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    for name, wanted in expect.items():
        if name not in fields:
            yield f"the result has no field {path}.{name}"
        elif isinstance(wanted, dict) and (inner := _model_in(fields[name].annotation)) is not None:
            yield from _unknown_fields(wanted, inner, f"{path}.{name}")


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model of a field that holds one, or one or null."""
    for each in get_args(annotation) if get_origin(annotation) is types.UnionType else (annotation,):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each
    return None


def _floats(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float):
        yield f"{path} is a number with a point; money, percents and dates are texts, in quotes"
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield from _floats(inside, f"{path}.{key}")
    elif isinstance(value, list):
        for place, inside in enumerate(value):
            yield from _floats(inside, f"{path}.{place}")


# Running a case


def run(case: Case) -> list[Difference]:
    """Determine a case's facts: nothing if all is as it wants, else each difference."""
    chosen = DESK[case.determination]
    try:
        result = chosen(chosen.parse(case.given)).model_dump(mode="json")
    except Refusal as refusal:
        if case.refused == refusal.code:
            return []
        return [Difference("refused", case.refused, f"{refusal.code}: {refusal.sentence.en}")]
    if case.refused is not None:
        return [Difference("refused", case.refused, "a result")]
    return list(_differences(case.expect, result, ""))


def _differences(wanted: object, got: object, path: str) -> Iterator[Difference]:
    """A mapping names what matters; all else is compared whole, by its JSON text, so that true is not 1."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name, inside in wanted.items():
            yield from _differences(inside, got.get(name), f"{path}.{name}" if path else name)
    elif json.dumps(wanted, sort_keys=True) != json.dumps(got, sort_keys=True):
        yield Difference(path, wanted, got)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.pass_context
def cases(context: click.Context, files: tuple[str, ...]) -> None:
    """Run the cases of each FILE: a line a case, and how many passed.

    Exits 1 if a case failed, 2 if a file can't be read or a case of it can't mean what it says.
    """
    passed = failed = unreadable = 0
    for place in files:
        try:
            of_file = load(place)
        except FileError as error:
            click.echo(str(error), err=True)
            unreadable += 1
            continue
        for case in of_file:
            differences = run(case)
            passed, failed = (passed, failed + 1) if differences else (passed + 1, failed)
            found = f": {'; '.join(map(str, differences))}" if differences else ""
            click.echo(f"{'FAIL' if differences else 'pass'}  {case.name}{found}")
    click.echo(f"{passed} passed, {failed} failed")
    if unreadable:
        context.exit(EXIT_UNREADABLE)
    if failed:
        context.exit(EXIT_FAILED)
