"""`retiro rebuild DIR`, and `retiro rebuild sample DIR` for something to rebuild."""

import sys
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from cli.files import FileError
from cli.rebuild.accounts import HEADER, Accounts
from cli.rebuild.contributions import CONTRIBUTIONS, add_contributions
from cli.rebuild.credits import MonthlyCredits
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.figures import read_figures
from cli.rebuild.history import read_participants, read_selections, read_transfers
from cli.rebuild.sample import write_sample
from cli.rebuild.writing import put_in_place, write_exceptions
from retiro.rules.calendar import Semester

EXIT_EXCEPTIONS = 1
EXIT_UNREADABLE = 2
FOLDER = click.Path(path_type=Path, file_okay=False)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did."""

    participants: int
    contributions: int
    statements: int
    last: Semester | None
    exceptions: int


def rebuild_folder(folder: Path, progress: Progress) -> Rebuilt:
    """Read the history in a folder, post every semester, and write statements.csv and exceptions.csv there.

    Raises:
        FileError: a file is malformed, and nothing was written.
    """
    exceptions = Exceptions()
    participants = read_participants(folder, exceptions)
    figures = read_figures(folder, exceptions)
    read_selections(folder, participants, exceptions)
    credited = MonthlyCredits(len(participants), figures.semesters())
    for transfer in read_transfers(folder, participants, exceptions):
        credited.credit(*transfer)
    task = progress.add_task("Reading contributions", total=_bytes_of(folder / CONTRIBUTIONS))
    contributions = add_contributions(
        folder, participants, credited, exceptions, lambda done: progress.advance(task, done)
    )
    with put_in_place(folder) as (statements_file, exceptions_file):
        statements_file.write(f"{HEADER}\n")
        statements = 0
        accounts = Accounts(figures, credited, exceptions)
        for number, participant in enumerate(
            progress.track(participants, total=len(participants), description="Posting semesters")
        ):
            lines = list(accounts.statements(number, participant))
            statements_file.writelines(lines)
            statements += len(lines)
        write_exceptions(exceptions_file, exceptions)
    return Rebuilt(len(participants), contributions, statements, figures.last, len(exceptions.rows))


def _bytes_of(place: Path) -> int:
    return place.stat().st_size if place.exists() else 0


class _FolderOrCommand(click.Group):
    """A group whose first argument may be a folder, and then stands for `run FOLDER`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command before a folder."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_FolderOrCommand, subcommand_metavar="DIR | sample DIR --participants N")
def rebuild() -> None:
    """Post the accounts of System 2000 again from their history: CSV files in a folder DIR.

    Writes statements.csv and exceptions.csv into DIR. `sample` makes a history up.
    """


@rebuild.command(hidden=True)
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.pass_context
def run(context: click.Context, folder: Path) -> None:
    """Post every semester of the history in DIR. Needs no cloud and touches no ledger.

    Exits 1 if anything was not taken (exceptions.csv says what), 2 if a file is malformed; then nothing is written.
    """
    console = Console(stderr=True)
    try:
        with Progress(console=console, disable=not sys.stderr.isatty(), transient=True) as progress:
            rebuilt = rebuild_folder(folder, progress)
    except (FileError, OSError) as error:  # OSError: a folder that can't be written, a full disk
        click.echo(str(error), err=True)
        context.exit(EXIT_UNREADABLE)
    through = f" through {rebuilt.last}" if rebuilt.last else ": yields.csv covers no semester in full"
    click.echo(
        f"{rebuilt.participants:,} participants, {rebuilt.contributions:,} contributions, "
        f"{rebuilt.statements:,} statements{through}, {rebuilt.exceptions:,} exceptions"
    )
    if rebuilt.exceptions:
        context.exit(EXIT_EXCEPTIONS)


@rebuild.command()
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--participants", type=click.IntRange(1, 1_000_000), required=True, help="How many there are.")
@click.option("--seed", type=int, default=2000, show_default=True, help="The same seed makes the same history.")
@click.pass_context
def sample(context: click.Context, folder: Path, participants: int, seed: int) -> None:
    """Make up a history of N participants over the 27 semesters from FY2000-S2 to FY2013-S2 in DIR.

    Exits 2 if DIR has a history already.
    """
    try:
        write_sample(folder, participants, seed)
    except FileError as error:
        click.echo(str(error), err=True)
        context.exit(EXIT_UNREADABLE)
