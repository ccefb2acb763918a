"""Prove that a passbook stood where it stood when an audit sealed the ledger."""

import json
from typing import Any

import click

from cli.stacks import Stack, stack_option
from retiro.ledger import seal
from retiro.ledger.store import LedgerStore
from retiro.registry.table import Table

SEALS = "seals"


@click.command()
@click.argument("passbook_id")
@click.option("--audit", "period", help="The audit whose seal is asked for, as `2025-07-10`. [default: the latest]")
@stack_option
def prove(stack: Stack, passbook_id: str, period: str | None) -> None:
    """Print a proof that an audit has sealed PASSBOOK_ID's last line of that day, as JSON.

    `docs/verify_proof.py` holds it against the seal, without this program. With the sealed hash, every line up to that
    one is fixed, since each line's hash covers the one before it.
    """
    click.echo(json.dumps(proof(stack, passbook_id, period or _latest(stack)), indent=2))


def proof(stack: Stack, passbook_id: str, period: str) -> dict[str, Any]:
    """The head of the passbook, its place among all, and the hashes beside its way up to the root."""
    evidence = LedgerStore(stack.client("dynamodb"), stack.outputs["LedgerTable"]).get_evidence(seal.EVIDENCE, period)
    if evidence is None:
        raise click.ClickException(f"no audit of {period} has sealed anything")
    sealed = evidence.body
    stored = stack.client("s3").get_object(Bucket=stack.outputs["FilesBucket"], Key=sealed["heads"])
    heads = stored["Body"].read().decode().splitlines()
    if seal.seal(heads).hash.hex() != sealed["seal"]:
        raise click.ClickException(f"{sealed['heads']} isn't what was sealed")
    index = next((place for place, head in enumerate(heads) if head.split(" ")[0] == passbook_id), None)
    if index is None:
        raise click.ClickException(f"{passbook_id} had no line when the audit of {period} sealed the ledger")
    return {
        "audit": period,
        "head": heads[index],
        "index": index,
        "count": len(heads),
        "path": [beside.hex() for beside in seal.path(heads, index)],
        "seal": sealed["seal"],
    }


def _latest(stack: Stack) -> str:
    registry = Table(stack.client("dynamodb"), stack.outputs["RegistryTable"])
    latest = registry.page(SEALS, backward=True, limit=1).items
    if not latest:
        raise click.ClickException("no audit has sealed this ledger yet")
    return str(latest[0]["sk"])
