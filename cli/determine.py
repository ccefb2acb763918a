"""`retiro determine NAME [FILE]`: one determination from facts in JSON or YAML, with its receipt."""

import json

import click

from cli.desk import DESK
from cli.files import FileError, read
from retiro.rules.refusals import Refusal

EXIT_UNREADABLE = 2
EXIT_REFUSED = 3


@click.command("determine")
@click.argument("name", type=click.Choice(list(DESK)), metavar="NAME")
@click.argument("file", default="-")
@click.pass_context
def determine_command(context: click.Context, name: str, file: str) -> None:
    """Determine NAME from the facts in FILE, JSON or YAML (- is standard input), and print the result as JSON.

    A refusal exits 3, with its code, sentence and citation on standard error. Settings that FILE doesn't give are at
    their defaults: this is the desk, and posts nothing.
    """
    try:
        result = DESK[name](DESK[name].parse(read(file)))
    except FileError as error:
        click.echo(str(error), err=True)
        context.exit(EXIT_UNREADABLE)
    except Refusal as refusal:
        click.echo("\n".join([refusal.code, *_sentences(refusal), refusal.citation]), err=True)
        context.exit(EXIT_REFUSED)
    shown = result.model_dump(mode="json")
    shown["receipt"] = shown.pop("receipt")  # last, since it is the longest
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))


def _sentences(refusal: Refusal) -> list[str]:
    """The refusal in both languages; one of form names every other field that is at fault too."""
    return [
        refusal.sentence.en,
        refusal.sentence.es,
        *(f"  {fault.field}: {fault.rule.en} / {fault.rule.es}" for fault in refusal.faults[1:]),
    ]
