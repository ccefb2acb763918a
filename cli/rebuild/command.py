"""`retiro rebuild DIR`, and `retiro rebuild sample DIR` for something to rebuild."""

import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from cli.files import FileError
from cli.rebuild.accounts import HEADER, Accounts
from cli.rebuild.approval import run_of
from cli.rebuild.contributions import CONTRIBUTIONS, add_contributions
from cli.rebuild.credits import MonthlyCredits
from cli.rebuild.entries import Entries
from cli.rebuild.evidence import posted_history
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.figures import read_figures
from cli.rebuild.history import read_participants, read_selections, read_transfers
from cli.rebuild.movements import Movements
from cli.rebuild.posting import Ledger, Posting, PostTo
from cli.rebuild.sample import write_sample
from cli.rebuild.writing import put_in_place, write_exceptions
from cli.stacks import Stack, stack_option_if_used
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore
from retiro.portal.principals import ACTING_USER_PATTERN
from retiro.registry.clock import utc_now
from retiro.registry.runs import Run, RunBook, RunChangedError, RunStatus
from retiro.registry.table import Table
from retiro.rules.calendar import Semester, puerto_rico_date

EXIT_EXCEPTIONS = 1
EXIT_UNREADABLE = 2
FOLDER = click.Path(path_type=Path, file_okay=False)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did. `lines`: those that were posted to a ledger, `None` where none was.

    `waiting`: the run that another person has to approve before anything is posted.
    """

    participants: int
    contributions: int
    statements: int
    last: Semester | None
    exceptions: int
    lines: int | None = None
    waiting: Run | None = None


def rebuild_folder(folder: Path, progress: Progress, post_to: PostTo | None = None) -> Rebuilt:
    """Read the history in a folder, post every semester, and write statements.csv and exceptions.csv there.

    To a ledger it is posted once another person than who prepared it asks for it.

    Raises:
        FileError: a file is malformed, and nothing was written.
    """
    exceptions = Exceptions()
    participants = read_participants(folder, exceptions, of_ledger=post_to is not None)
    figures = read_figures(folder, exceptions)
    read_selections(folder, participants, exceptions)
    credited = MonthlyCredits(len(participants), figures.semesters())
    transfers = read_transfers(folder, participants, exceptions)
    for transfer in transfers:
        credited.credit(*transfer)
    movements = Movements(len(participants)) if post_to else None
    task = progress.add_task("Reading contributions", total=_bytes_of(folder / CONTRIBUTIONS))
    contributions = add_contributions(
        folder,
        participants,
        credited,
        exceptions,
        advance=lambda done: progress.advance(task, done),
        movements=movements,
    )
    posting = waiting = None
    if post_to is not None and movements is not None:
        history = posted_history(folder, figures, puerto_rico_date(post_to.ledger.clock()))
        run = run_of(RunBook(post_to.ledger.registry), history, post_to.principal, post_to.ledger.clock)
        entries = Entries(
            history.hash, post_to.principal, figures, {one.participant: one for one in transfers}, movements
        )
        if run.status is RunStatus.PREPARED:
            waiting = run
        else:
            posting = Posting(post_to.ledger, history, run, entries, exceptions)
    statements = 0
    with put_in_place(folder) as (statements_file, exceptions_file):
        statements_file.write(f"{HEADER}\n")
        accounts = Accounts(figures, credited, exceptions)
        with posting or nullcontext():
            for number, participant in enumerate(
                progress.track(participants, total=len(participants), description="Posting semesters")
            ):
                lines = list(accounts.statements(number, participant))
                statements_file.writelines(lines)
                statements += len(lines)
                if posting is not None:
                    posting.take(number, participant, lines)
        write_exceptions(exceptions_file, exceptions)
    posted = None if posting is None else posting.lines
    return Rebuilt(len(participants), contributions, statements, figures.last, len(exceptions.rows), posted, waiting)


def _bytes_of(place: Path) -> int:
    return place.stat().st_size if place.exists() else 0


class _FolderOrCommand(click.Group):
    """A group whose first argument may be a folder or its options, and then stands for `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command before a folder."""
        if args and args[0] not in {*self.commands, *self.get_help_option_names(ctx)}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_FolderOrCommand, subcommand_metavar="DIR [--post …] | sample DIR --participants N")
def rebuild() -> None:
    """Post the accounts of System 2000 again from their history: CSV files in a folder DIR.

    Writes statements.csv and exceptions.csv into DIR; with --post, the same lines into a stack's ledger (`retiro
    rebuild run --help`). `sample` makes a history up.
    """


@rebuild.command()
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option(
    "--post",
    is_flag=True,
    help="Into the ledger of a stack too: the first person prepares it, another posts it. Stopped, it goes on.",
)
@click.option("--acting-user", envvar="RETIRO_ACTING_USER", help="With --post: the opaque id of who asks.")
@stack_option_if_used
@click.pass_context
def run(
    context: click.Context, folder: Path, stack: Callable[[], Stack], *, post: bool, acting_user: str | None
) -> None:
    """Post every semester of the history in DIR. Without --post it needs no cloud and touches no ledger.

    Exits 1 if anything was not taken (exceptions.csv says what), 2 if a file is malformed; then nothing is written.
    """
    post_to = PostTo(principal=_person(acting_user), ledger=_ledger(stack())) if post else None
    console = Console(stderr=True)
    try:
        with Progress(console=console, disable=not sys.stderr.isatty(), transient=True) as progress:
            rebuilt = rebuild_folder(folder, progress, post_to)
    except (FileError, OSError) as error:  # OSError: a folder that can't be written, a full disk
        click.echo(str(error), err=True)
        context.exit(EXIT_UNREADABLE)
    except BusyError as busy:
        raise click.ClickException(f"the ledger takes no more for now: {busy}. Begun again, it goes on") from busy
    except RunChangedError as changed:
        raise click.ClickException("somebody else has prepared this history anew this moment: look again") from changed
    click.echo(_in_words(rebuilt))
    if rebuilt.waiting is not None:
        click.echo(_waits(rebuilt.waiting))
    if rebuilt.exceptions:
        context.exit(EXIT_EXCEPTIONS)


def _in_words(rebuilt: Rebuilt) -> str:
    through = f" through {rebuilt.last}" if rebuilt.last else ": yields.csv covers no semester in full"
    posted = f", {rebuilt.lines:,} lines posted" if rebuilt.lines is not None else ""
    return (
        f"{rebuilt.participants:,} participants, {rebuilt.contributions:,} contributions, "
        f"{rebuilt.statements:,} statements{through}, {rebuilt.exceptions:,} exceptions{posted}"
    )


def _waits(run: Run) -> str:
    return (
        f"Nothing is posted yet: {run.requested_by} has prepared the history {run.id.period}. "
        "Another person approves and posts it, with the same command"
    )


def _person(acting_user: str | None) -> str:
    """Who asks, as each line names it: one person is one spelling, as at the doors."""
    if acting_user is None or not re.fullmatch(ACTING_USER_PATTERN, acting_user):
        raise click.UsageError(
            "--post needs --acting-user (RETIRO_ACTING_USER): the opaque id of a person, like u-0042"
        )
    return acting_user.lower()


def _ledger(stack: Stack) -> Ledger:
    dynamodb = stack.client("dynamodb")
    return Ledger(
        LedgerStore(dynamodb, stack.outputs["LedgerTable"]), Table(dynamodb, stack.outputs["RegistryTable"]), utc_now
    )


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
