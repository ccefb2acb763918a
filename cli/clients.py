"""`retiro clients`: which party each client of the API acts for. A client that is bound to none reaches nothing."""

import click

from cli.stacks import Stack, stack_option
from retiro.registry import clients as bindings
from retiro.registry import employers
from retiro.registry.clients import Binding, Party
from retiro.registry.employers import Employer
from retiro.registry.table import Table


@click.group()
def clients() -> None:
    """The clients of the API, and whom each acts for."""


@clients.command()
@click.argument("client_id")
@click.option("--party", type=click.Choice([str(party) for party in Party]), required=True, help="Who the client is.")
@click.option("--employer-id", help="Which employer, for an employer's client: E-001.")
@click.option("--fund", help="Which fund, for an employer's or a fund's client: ERS.")
@stack_option
def bind(client_id: str, party: str, employer_id: str | None, fund: str | None, *, stack: Stack) -> None:
    """Bind CLIENT_ID to a party. An employer that isn't known yet is registered.

    Doing it again changes nothing; a client is never bound to another party than its first.
    """
    table = Table(stack.client("dynamodb"), stack.outputs["RegistryTable"])
    try:
        binding = Binding(client_id, Party(party), employer_id, None if party == Party.EMPLOYER else fund)
        if employer_id is not None:
            employers.register(table, Employer(employer_id, _needed(fund)))
        bindings.bind(table, binding)
    except ValueError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    except bindings.OtherBindingError as bound:
        raise click.ClickException(f"{client_id} is bound already, and otherwise") from bound
    except employers.OtherEmployerError as registered:
        raise click.ClickException(f"{employer_id} is registered already, in another fund") from registered
    click.echo(f"{client_id} acts for {_whom(binding)}")


@clients.command()
@click.argument("client_id")
@stack_option
def show(client_id: str, *, stack: Stack) -> None:
    """Show whom CLIENT_ID acts for."""
    binding = bindings.binding_of(Table(stack.client("dynamodb"), stack.outputs["RegistryTable"]), client_id)
    if binding is None:
        raise click.ClickException(f"{client_id} isn't bound")
    click.echo(f"{client_id} acts for {_whom(binding)}")


def _needed(fund: str | None) -> str:
    if fund is None:
        raise click.UsageError("an employer belongs to a fund: --fund")
    return fund


def _whom(binding: Binding) -> str:
    return " ".join(part for part in (str(binding.party), binding.employer_id, binding.fund) if part)
