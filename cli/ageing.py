"""`retiro ageing`: which employers are late with what they withheld, by month and by age."""

from datetime import UTC, date, datetime

import click
from rich.console import Console
from rich.table import Table as Grid

from cli.stacks import Stack, stack_option
from retiro.ledger.store import LedgerStore
from retiro.registry.ageing import BUCKETS_DAYS, Ageing, EmployerAge
from retiro.registry.table import Table
from retiro.rules.calendar import parse_date, puerto_rico_date
from retiro.rules.money import format_cents


def _day(_: click.Context, __: click.Parameter, text: str | None) -> date:
    """The day of a report. Raises `BadParameter` for what is no date, and for one ahead: nothing is known of it."""
    today = puerto_rico_date(datetime.now(UTC))
    if text is None:
        return today
    try:
        day = parse_date(text)
    except ValueError as wrong:
        raise click.BadParameter("must be a date as YYYY-MM-DD") from wrong
    if day > today:
        raise click.BadParameter("must not be after today")
    return day


@click.command()
@click.option("--as-of", callback=_day, help="The day that the report is of: YYYY-MM-DD. Today, where it is left out.")
@click.option("--employer-id", help="One employer alone: E-001.")
@click.option("--all", "everybody", is_flag=True, help="Those who aren't late too.")
@stack_option
def ageing(as_of: date, employer_id: str | None, *, everybody: bool, stack: Stack) -> None:
    """Show which employers are late. What was withheld for a month is due on the 15th of the next."""
    client = stack.client("dynamodb")
    store = LedgerStore(client, stack.outputs["LedgerTable"])
    ages = list(Ageing(store, Table(client, stack.outputs["RegistryTable"])).report(as_of, employer_id))
    show_ages(Console(), as_of, [age for age in ages if everybody or age.months or not age.is_known])


def show_ages(console: Console, as_of: date, ages: list[EmployerAge]) -> None:
    """The report for a person."""
    grid = Grid(title=f"Late as of {as_of}", title_justify="left")
    for heading in ("employer", "month", "due on", "days", "why", "withheld", "ordered"):
        grid.add_column(heading, justify="right" if heading in {"days", "withheld", "ordered"} else "left")
    for age in ages:
        if not age.months:
            known = "in time" if age.is_known else "nothing known"
            grid.add_row(age.employer.employer_id, "", "", "", known, "", "")
        for month in age.months:
            grid.add_row(
                age.employer.employer_id,
                month.period,
                month.due_on.isoformat(),
                str(month.days),
                month.reason.value.replace("_", " "),
                format_cents(month.withheld_cents),
                format_cents(month.ordered_cents),
            )
    console.print(grid)
    sums = [sum(column) for column in zip(*(age.withheld_by_age_cents for age in ages), strict=True)]
    names = [*(f"to {bound} days" for bound in BUCKETS_DAYS), "more"]
    parts = [f"{name} {format_cents(cents)}" for name, cents in zip(names, sums or [0] * len(names), strict=True)]
    console.print(f"withheld and late: {', '.join(parts)}")
