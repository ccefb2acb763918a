"""The `retiro` command. Each of its commands is a row of `COMMANDS`, and is imported only when it is called."""

from importlib import import_module

import click

# name: (module, attribute, what it does)
COMMANDS = {
    "cases": ("cli.cases", "cases", "Run case files of the law, a line a case."),
    "determine": ("cli.determine", "determine_command", "Determine from facts, and print the result with its receipt."),
    "law": ("cli.law", "law", "The statutes, a line a clause: what does it, and how many cases hold it."),
    "factors": ("cli.factors", "factors", "Factor tables for the Board."),
    "board": ("cli.board", "board", "The Board's figures and settings."),
    "clients": ("cli.clients", "clients", "The clients of the API, and whom each acts for."),
    "openapi": ("cli.openapi", "openapi", "The API's description, as OpenAPI."),
    "cloud": ("cli.cloud", "cloud", "The local cloud."),
    "demo": ("cli.demo", "demo", "A semester from enrolment to posted yields, on the local cloud."),
    "rebuild": ("cli.rebuild.command", "rebuild", "Post accounts again from their history, offline or to a ledger."),
    "audit": ("cli.audit", "audit", "Recompute every passbook from its first line."),
    "ageing": ("cli.ageing", "ageing", "Which employers are late with what they withheld."),
    "passbook": ("cli.audit", "passbook", "Read and verify one passbook."),
    "reproduce": ("cli.reproduce", "reproduce", "Compute a stored determination again from its receipt."),
    "cost": ("cli.cost.command", "cost", "What a year costs, each line units × price."),
    "prove": ("cli.prove", "prove", "Prove that a passbook's head was sealed by an audit."),
    "trial-balance": ("cli.audit", "trial_balance", "The balances by fund and account."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by the table, so that one command never waits for, or fails by, another."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click gives it
        """The names, in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command by its row."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command = getattr(import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}.{attribute} isn't a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands in the help without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, _, says) in COMMANDS.items()])


@click.group(cls=LazyGroup)
@click.version_option(package_name="retiro")
def main() -> None:
    """Administer a public retirement system's accounts by the letter of the law."""
