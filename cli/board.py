"""`retiro board`: the Board's figures and settings, proposed by one person and adopted by another, through the API."""

import csv
import json
from collections.abc import Callable, Mapping
from datetime import date
from functools import wraps
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from cli.api import Api
from cli.files import FileError, read
from cli.stacks import Stack, stack_option

TREASURY_FILE = files("cli").joinpath("data/two_year_cmt_monthly.csv")
TREASURY_SOURCE = "Federal Reserve H.15, Two-Year Constant Maturity Treasury, monthly averages (FRED series GS2)"
COLUMNS = ["month", "percent"]


def api_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the argument `api`: the Board's client (or another), and who acts through it."""

    @click.option("--client-id", envvar="RETIRO_CLIENT_ID", help="The API client. [default: the stack's Board client]")
    @click.option("--acting-user", envvar="RETIRO_ACTING_USER", required=True, help="The opaque id of who acts.")
    @click.option("--language", type=click.Choice(["en", "es"]), default="en", show_default=True)
    @stack_option
    @wraps(command)
    def with_api(
        *args: Any, stack: Stack, client_id: str | None, acting_user: str, language: str, **kwargs: Any
    ) -> Any:
        client_id = client_id or stack.client_id("board")
        return command(*args, api=Api(stack, client_id=client_id, acting_user=acting_user, language=language), **kwargs)

    return with_api


@click.group()
def board() -> None:
    """The Board's figures and settings: proposed by one person, adopted by another."""


@board.command("load-treasury")
@click.option("--fund", default="ERS", show_default=True)
@click.option("--act", "act_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True,
              help="JSON or YAML: kind, body, number, date, document_sha256 of the act that adopts.")  # fmt: skip
@click.option("--vintage", required=True, help="The day as of which the source says so: 2025-11-04.")
@click.option("--file", "series", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A CSV of month and percent. [default: the series that ships with the project]")  # fmt: skip
@api_options
def load_treasury(fund: str, act_file: Path, vintage: str, series: Path | None, *, api: Api) -> None:
    """Propose the Treasury's monthly yields. Another person adopts them."""
    text = (series or TREASURY_FILE).read_text("utf-8")
    _propose(api, treasury_resolution(fund, _document(act_file), vintage, treasury_months(text)))


@board.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@api_options
def propose(file: Path, *, api: Api) -> None:
    """Propose the resolution in FILE (JSON or YAML)."""
    _propose(api, _document(file))


@board.command()
@click.argument("resolution_id")
@click.option("--content-hash", help="The hash that you were shown. Without it you are asked, with the content.")
@api_options
def adopt(resolution_id: str, content_hash: str | None, *, api: Api) -> None:
    """Adopt RESOLUTION_ID, which another person proposed."""
    path = f"/board-resolutions/{resolution_id}"
    if content_hash is None:
        proposed = api.get(path)
        click.echo(json.dumps(proposed["resolution"], indent=2, ensure_ascii=False))
        click.confirm(f"Proposed by {proposed['proposed_by']}. Adopt this?", abort=True)
        content_hash = proposed["content_hash"]
    _say(api.post(f"{path}/adoption", {"content_hash": content_hash}))


@board.command("list")
@click.option("--kind", help="Of one kind alone: setting.")
@api_options
def list_resolutions(kind: str | None, *, api: Api) -> None:
    """List the resolutions, those of the newest acts first."""
    cursor = ""
    while True:
        query = "&".join(f"{name}={value}" for name, value in (("kind", kind), ("cursor", cursor)) if value)
        page = api.get(f"/board-resolutions?{query}")
        for one in page["items"]:
            _say(one)
        cursor = page["next_cursor"]
        if cursor is None:
            return


def treasury_months(text: str) -> dict[str, str]:
    """The months and percents of a CSV, as they stand in it. Raises `click.ClickException` naming the line."""
    rows = list(csv.reader(text.splitlines()))
    if not rows or rows[0] != COLUMNS:
        raise click.ClickException(f"line 1: the columns must be {','.join(COLUMNS)}")
    months: dict[str, str] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS):
            raise click.ClickException(f"line {number}: two columns are needed, {len(row)} are there")
        month, percent = row
        if month in months:
            raise click.ClickException(f"line {number}: {month} stands in it twice")
        months[month] = percent
    return months


def treasury_resolution(fund: str, act: Mapping[str, Any], vintage: str, months: Mapping[str, str]) -> dict[str, Any]:
    """The resolution that adopts these months. Those that weren't over on the vintage's day aren't final: left out."""
    final = {month: percent for month, percent in months.items() if month < _month_of(vintage)}
    return {
        "fund": fund,
        "act": dict(act),
        "source": TREASURY_SOURCE,
        "vintage": vintage,
        "kind": "treasury_yields",
        "months": final,
    }


def _month_of(vintage: str) -> str:
    try:
        return date.fromisoformat(vintage).isoformat()[:7]
    except ValueError as wrong:
        raise click.BadParameter("a date is needed, like 2025-11-04", param_hint="--vintage") from wrong


def _document(file: Path) -> dict[str, Any]:
    try:
        document = read(str(file))
    except FileError as unreadable:
        raise click.ClickException(str(unreadable)) from unreadable
    if not isinstance(document, dict):
        raise click.ClickException(f"{file}: not a mapping of fields")
    return document


def _propose(api: Api, resolution: Mapping[str, Any]) -> None:
    _say(api.post("/board-resolutions", resolution))


def _say(state: Mapping[str, Any]) -> None:
    click.echo(f"{state['resolution_id']}  {state['status']:8}  {state['kind']:16}  {state['content_hash']}")
