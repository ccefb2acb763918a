"""`retiro factors build`: a factor table for the Board, § 242b(c)(2), and the document that says how it was made."""

import json
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from cli.annuity_factor import CITATION
from cli.factor_document import document, source_in_words
from cli.factor_tables import Assumptions, build, proposal
from cli.mortality import NoTableError
from cli.published import recomputed
from retiro.rules.refusals import Refusal, refuse_form

EXIT_DIFFERS = 1
EXIT_REFUSED = 3
MAKEHAM_CONSTANTS = ("A", "B", "c")


@click.group()
def factors() -> None:
    """Factor tables for the Board."""


@factors.command("build")
@click.option("--makeham", metavar="A,B,c", help="Makeham's law by its constants.")
@click.option(
    "--soa-table", "soa_tables", multiple=True, metavar="ID[:WEIGHT]", help="An SOA table; several blend, in percent."
)
@click.option("--interest", required=True, metavar="PERCENT", help="Interest a year.")
@click.option("--method", type=click.Choice(["udd", "woolhouse3"]), default="udd", show_default=True)
@click.option("--ages", default="65-80", show_default=True, metavar="FROM-THROUGH", help="Whole ages.")
@click.option("--unit", type=click.Choice(["years", "months"]), default="years", show_default=True)
@click.option("--payment", type=click.Choice(["start", "end"]), default="start", show_default=True, help="In a month.")
@click.option("--actuary", required=True, help="Who was consulted.")
@click.option("--consulted-on", required=True, metavar="DATE")
@click.option("--in-force-from", required=True, metavar="DATE")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Folder to write into.")
@click.pass_context
def build_command(context: click.Context, /, out: Path, **options: Any) -> None:
    """Build a factor table and write factor-table.json, to be proposed, and factor-table.md, that says how.

    First every printed value that the program knows is worked out again: exit 1 if one differs. A table that could not
    be used, or whose assumptions break their form, exits 3 and writes nothing.
    """
    checked = recomputed()
    differing = [each for each in checked if not each.same]
    for each in differing:
        click.echo(f"{each.table} {each.age} {each.value}: printed {each.printed}, found {each.found}", err=True)
    if differing:
        context.exit(EXIT_DIFFERS)
    try:
        assumptions = _assumptions(**options)
        points = build(assumptions)
        source = f"retiro factors build: {source_in_words(assumptions.mortality)}"
    except NoTableError as error:
        raise click.BadParameter(str(error), param_hint="--soa-table") from None
    except Refusal as refusal:
        refused = f"{refusal.code} ({refusal.field})"
        click.echo(f"{refused}\n{refusal.sentence.en}\n{refusal.sentence.es}\n{refusal.citation}", err=True)
        context.exit(EXIT_REFUSED)
    out.mkdir(parents=True, exist_ok=True)
    proposed = json.dumps(proposal(assumptions, points, source), indent=2, ensure_ascii=False)
    (out / "factor-table.json").write_text(proposed + "\n", "utf-8")
    (out / "factor-table.md").write_text(document(assumptions, points, checked), "utf-8")
    click.echo(f"{len(points)} ages, {len(checked)} printed values found again: {out / 'factor-table.json'}")


def _assumptions(
    *, makeham: str | None, soa_tables: tuple[str, ...], ages: str, interest: str, **options: Any
) -> Assumptions:
    """The assumptions of the options.

    Raises:
        Refusal: `invalid_input`, with the field.
    """
    first_age, last_age = _ages(ages)
    try:
        return Assumptions.model_validate(
            {
                "mortality": _mortality(makeham, soa_tables),
                "interest_percent": interest,
                "first_age": first_age,
                "last_age": last_age,
                **options,
            }
        )
    except ValidationError as error:
        refuse_form(error, CITATION)


def _ages(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise click.BadParameter("must be two whole ages, like 65-80", param_hint="--ages")
    return int(first), int(last)


def _mortality(makeham: str | None, soa_tables: tuple[str, ...]) -> dict[str, Any]:
    if (makeham is None) == (not soa_tables):
        raise click.UsageError("Give --makeham or --soa-table, and not both.")
    if makeham is not None:
        constants = makeham.split(",")
        if len(constants) != len(MAKEHAM_CONSTANTS):
            raise click.BadParameter("must be three constants, like 0.00022,0.0000027,1.124", param_hint="--makeham")
        return {"law": "makeham", **dict(zip(MAKEHAM_CONSTANTS, constants, strict=True))}
    parts = [_part(text) for text in soa_tables]
    if len(parts) == 1 and "weight_percent" not in parts[0]:
        return parts[0]
    return {"blend": parts}


def _part(text: str) -> dict[str, Any]:
    number, colon, weight = text.partition(":")
    if not (number.isascii() and number.isdecimal()):
        raise click.BadParameter("must be a table's number, like 2586 or 825:50", param_hint="--soa-table")
    return {"soa_table": int(number), **({"weight_percent": weight} if colon else {})}
