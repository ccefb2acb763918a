"""`retiro openapi`: the API's description, made from the handlers themselves."""

import json
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from retiro.portal.openapi import document

FUNCTIONS = Path(__file__).resolve().parents[1] / "functions"
APIS = ("annuities", "board_resolutions", "death_refunds", "participants", "payroll_deductions", "semester_yields")


def described() -> dict[str, Any]:
    """The description of all the project's routes."""
    if str(FUNCTIONS) not in sys.path:
        sys.path.append(str(FUNCTIONS))
    return document([import_module(f"{name}.api").portal for name in APIS], version("retiro"))


def text_of(description: dict[str, Any]) -> str:
    """The description as `docs/openapi.json` has it."""
    return json.dumps(description, indent=2, ensure_ascii=False) + "\n"


@click.command()
def openapi() -> None:
    """Print the API's description (OpenAPI 3.1). docs/openapi.json is this, and a test compares them."""
    click.echo(text_of(described()), nl=False)
