"""What an operator asks of the ledger: the audit, one passbook, the trial balance."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.table import Table as Grid

from cli.stacks import Stack, stack_option
from retiro.ledger.lines import Line, Posting, partition
from retiro.ledger.store import LedgerStore
from retiro.ledger.trial_balance import TrialBalance
from retiro.ledger.verify import verify_passbook
from retiro.ledger.witness import Witness
from retiro.portal.spreadsheets import Figure, amount, count, csv_text
from retiro.registry import roster
from retiro.registry.runs import RunId
from retiro.registry.table import Item, Table
from retiro.rules.money import format_cents
from retiro.runs.start import start_execution

AUDIT = "audit"
PHASE = "verify"
POLL_SECONDS = 0.5
"""How often a running audit is looked at."""


def start_audit(stack: Stack) -> RunId:
    """Start an audit of now."""
    run = RunId(AUDIT, datetime.now(UTC).strftime("%Y-%m-%dT%H%M%S.%f"), 1)
    start_execution(
        stack.client("stepfunctions"),
        state_machine_arn=stack.outputs["RunsStateMachineArn"],
        worker_arn=stack.outputs["AuditWorkerArn"],
        run=run,
        number=1,
        phase=PHASE,
    )
    return run


def watch_audit(stack: Stack, run: RunId) -> Iterator[Item]:
    """The audit's item as it stands, again and again, until it is answered."""
    registry = Table(stack.client("dynamodb"), stack.outputs["RegistryTable"])
    while True:
        item = registry.get(*run.key) or {"status": "running"}
        passbooks = sum(chunk["passbooks"] for chunk in registry.items(run.partition, prefix="chunk#"))
        yield {"passbooks": passbooks, **item}
        if item["status"] != "running":
            return
        time.sleep(POLL_SECONDS)


def audited(stack: Stack) -> Item:
    """Start an audit and wait for its answer."""
    *_, answer = watch_audit(stack, start_audit(stack))
    return answer


@click.command()
@stack_option
def audit(stack: Stack) -> None:
    """Recompute every passbook of the stack from its first line. Exits 1 where anything is found."""
    console = Console()
    with console.status("verifying") as status:
        for answer in watch_audit(stack, start_audit(stack)):
            status.update(f"verified {answer['passbooks']} passbooks")
    show_audit(console, answer)
    if answer["status"] != "clean":
        raise SystemExit(1)


def show_audit(console: Console, answer: Item) -> None:
    """The audit's answer for a person."""
    if answer["status"] == "failed":
        console.print("The audit did not come to an end: it has no answer.")
        return
    console.print(f"{answer['status']}: {answer['passbooks']} passbooks, {answer['lines']} lines")
    for finding in answer["named"]:
        console.print(f"  {finding['passbook']} line {finding['sequence']}: {finding['code']} ({finding['detail']})")
    if "seal" in answer:
        console.print(f"seal {answer['seal']}")
    if (unnamed := answer["findings"] - len(answer["named"])) > 0:
        console.print(f"  and {unnamed} more")


@click.command(name="trial-balance")
@stack_option
def trial_balance(stack: Stack) -> None:
    """The balances by fund and account, from every last line. Exits 1 where a fund is out of balance."""
    balance = read_trial_balance(stack)
    show_trial_balance(Console(), balance)
    if balance.differences_cents():
        raise SystemExit(1)


def read_trial_balance(stack: Stack) -> TrialBalance:
    """The trial balance of this moment: not of one moment for all passbooks, but each passbook is in balance."""
    dynamodb = stack.client("dynamodb")
    ledger = LedgerStore(dynamodb, stack.outputs["LedgerTable"])
    registry = Table(dynamodb, stack.outputs["RegistryTable"])
    balance = TrialBalance()
    for shard in range(roster.SHARDS):
        for entry in roster.entries(registry, shard):
            if (last := ledger.last_line(entry.passbook_id)) is not None:
                balance.add(last)
    return balance


def show_trial_balance(console: Console, balance: TrialBalance) -> None:
    """A table a fund; debits are negative."""
    for fund, totals in sorted(balance.totals_cents.items()):
        grid = Grid(title=f"Trial balance, {fund}", title_justify="left")
        grid.add_column("account")
        grid.add_column("balance", justify="right")
        for account, cents in sorted(totals.items()):
            grid.add_row(account, grouped(cents))
        grid.add_section()
        grid.add_row("total", grouped(sum(totals.values())))
        console.print(grid)


@click.group()
def passbook() -> None:
    """One passbook."""


@passbook.command()
@click.argument("passbook_id")
@stack_option
def show(stack: Stack, passbook_id: str) -> None:
    """Every line of a passbook."""
    grid = Grid(title=passbook_id, title_justify="left")
    for heading in ("line", "effective", "recorded", "kind", "postings"):
        grid.add_column(heading)
    grid.add_column("savings", justify="right")
    for line in _lines(stack, passbook_id):
        grid.add_row(*_row(line))
    Console().print(grid)


@passbook.command()
@click.argument("passbook_id")
@stack_option
def export(stack: Stack, passbook_id: str) -> None:
    """Every posting of a passbook as CSV, in which no text is a formula and each amount stays a number."""
    click.echo(passbook_csv(_lines(stack, passbook_id)), nl=False)


@passbook.command()
@click.argument("passbook_id")
@stack_option
def verify(stack: Stack, passbook_id: str) -> None:
    """Recompute a passbook from its first line. Exits 1 where anything is found."""
    dynamodb = stack.client("dynamodb")
    registry = Table(dynamodb, stack.outputs["RegistryTable"])
    item = registry.get(roster.partition(roster.shard_of(passbook_id)), passbook_id)
    if item is None:
        raise click.ClickException(f"{passbook_id} is not on the roster")
    entry = roster.entry(item)
    witness = Witness(entry.head, entry.head_hash) if entry.head and entry.head_hash else None
    ledger = LedgerStore(dynamodb, stack.outputs["LedgerTable"])
    verified = verify_passbook(passbook_id, ledger.items(partition(passbook_id)), witness, ledger.get_evidence)
    for finding in verified.findings:
        click.echo(f"{finding.passbook} line {finding.sequence}: {finding.code} ({finding.detail})")
    click.echo(f"{'findings' if verified.findings else 'clean'}: {verified.lines} lines")
    if verified.findings:
        raise SystemExit(1)


def _lines(stack: Stack, passbook_id: str) -> list[Line]:
    store = LedgerStore(stack.client("dynamodb"), stack.outputs["LedgerTable"])
    lines = list(store.lines(passbook_id))
    if not lines:
        raise click.ClickException(f"there is no passbook {passbook_id}")
    return lines


def _row(line: Line) -> list[str]:
    postings = "\n".join(f"{posting.account} {grouped(posting.amount_cents)}" for posting in line.postings)
    return [
        str(line.sequence),
        line.effective_on.isoformat(),
        line.recorded_at.date().isoformat(),
        str(line.kind),
        postings,
        grouped(line.balance_cents("savings")),
    ]


def grouped(cents: int) -> str:
    """`-1,234.56`, of -123456."""
    whole, _, fraction = format_cents(abs(cents)).partition(".")
    return f"{'-' if cents < 0 else ''}{int(whole):,}.{fraction}"


def passbook_csv(lines: Iterable[Line]) -> str:
    """The postings of these lines, a row each; a line that moves nothing has a row without an account."""
    header = ("line", "kind", "effective_on", "recorded_at", "account", "amount", "principal", "determination")
    return csv_text(header, (_cells(line, posting) for line in lines for posting in line.postings or (None,)))


def _cells(line: Line, posting: Posting | None) -> list[str]:
    return [
        count(line.sequence),
        Figure(line.kind),
        Figure(line.effective_on.isoformat()),
        Figure(line.recorded_at.isoformat()),
        Figure("" if posting is None else posting.account),
        Figure("") if posting is None else amount(posting.amount_cents),
        line.principal,
        line.determination or "",
    ]
