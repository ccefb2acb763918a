"""`retiro cost`: dollars a year for every job and every part, each line units × price."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click
from rich.console import Console
from rich.table import Table as Grid

from cli.cost.model import JOBS, Fleet, Line, million_postings, total, year
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents, round_half_away

_PLACES = 4
_HEADINGS = {
    "en": ("what", "a year", "unit", "price", "USD a year"),
    "es": ("qué", "al año", "unidad", "precio", "USD al año"),
}
_SAYS = {
    "title": Sentence(
        "{participants:,} participants, {employers:,} employers, {plans:,} plans, {annuitants:,} annuitants; the ledger"
        " holds {years} years",
        "{participants:,} participantes, {employers:,} patronos, {plans:,} planes, {annuitants:,} anualidades; el libro"
        " guarda {years} años",
    ),
    "total": Sentence("All", "Todo"),
    "million": Sentence(
        "A million postings, prepared, posted and closed: {usd} USD.",
        "Un millón de asientos, preparados, asentados y cerrados: {usd} USD.",
    ),
    "prices": Sentence("List prices of us-east-1, no free tier.", "Precios de lista de us-east-1, sin nivel gratuito."),
    "unconfirmed": Sentence(
        "Not confirmed by a stored copy of a page that says so (*): {names}.",
        "Sin confirmar por una copia de una página que lo diga (*): {names}.",
    ),
}


@click.command()
@click.option("--participants", type=click.IntRange(min=0), required=True, help="How many participants there are.")
@click.option("--employers", type=click.IntRange(min=0), required=True, help="How many employers.")
@click.option("--plans", type=click.IntRange(min=0), help="Payment plans. [default: 20 a thousand participants]")
@click.option("--annuitants", type=click.IntRange(min=0), help="Annuities paid. [default: 5 a thousand participants]")
@click.option("--years", type=click.IntRange(min=1), default=10, show_default=True, help="Years that the ledger holds.")
@click.option("--language", type=click.Choice(["en", "es"]), default="en", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Every line with its units, its price and where that is from.")
def cost(  # noqa: PLR0913, PLR0917  # click's options
    participants: int,
    employers: int,
    plans: int | None,
    annuitants: int | None,
    years: int,
    language: str,
    *,
    as_json: bool,
) -> None:
    """Tell what a year costs: every job and every fixed part, from measured units and dated list prices."""
    fleet = Fleet.of(participants, employers, plans=plans, annuitants=annuitants, years=years)
    lines = year(fleet)
    if as_json:
        click.echo(json.dumps(document(fleet, lines), indent=2, ensure_ascii=False))
        return
    show(Console(), fleet, lines, language)


def usd(amount: Fraction) -> str:
    """Dollars with two places."""
    return format_cents(round_half_away(amount * 100))


def usd_in_four_places(amount: Fraction) -> str:
    """Dollars with four places, where two would hide the figure."""
    scaled = round_half_away(amount * 10**_PLACES)
    return f"{scaled // 10**_PLACES}.{scaled % 10**_PLACES:0{_PLACES}d}"


def document(fleet: Fleet, lines: Sequence[Line]) -> dict[str, Any]:
    """The year as JSON: money and prices as texts."""
    return {
        "fleet": {
            "participants": fleet.participants,
            "employers": fleet.employers,
            "plans": fleet.plans,
            "annuitants": fleet.annuitants,
            "years": fleet.years,
        },
        "usd_a_year": usd(total(list(lines))),
        "usd_per_million_postings": usd_in_four_places(total(million_postings())),
        "jobs": {job: usd(total([line for line in lines if line.job == job])) for job in JOBS},
        "lines": [
            {
                "job": line.job,
                "price": line.price.name,
                "units": line.units,
                "unit": line.price.unit.en,
                "usd": line.price.usd,
                "per": line.price.per,
                "usd_a_year": usd(line.usd),
                "since": line.price.since.isoformat(),
                "source": line.price.source,
                **({"unconfirmed": line.price.unconfirmed} if line.price.unconfirmed else {}),
            }
            for line in lines
        ],
    }


def show(console: Console, fleet: Fleet, lines: Sequence[Line], language: str) -> None:
    """The year for a person: a line a job and price, a sum a job."""

    def say(sentence: Sentence, **facts: object) -> str:
        return (sentence.es if language == "es" else sentence.en).format(**facts)

    title = say(_SAYS["title"], **document(fleet, [])["fleet"])
    grid = Grid(title=title, title_justify="left", title_style="bold")
    for place, heading in enumerate(_HEADINGS[language]):
        grid.add_column(heading, justify="left" if place in {0, 2} else "right")
    for job, (name, _) in JOBS.items():
        own = [line for line in lines if line.job == job]
        grid.add_row(say(name), "", "", "", usd(total(own)), style="bold")
        for line in own:
            price = line.price
            label = f"  {say(price.label)}{'*' if price.unconfirmed else ''}"
            per = "" if price.per == 1 else f" / {price.per:,}"
            grid.add_row(label, f"{line.units:,}", say(price.unit), f"{price.usd}{per}", usd(line.usd))
    grid.add_section()
    grid.add_row(say(_SAYS["total"]), "", "", "", usd(total(list(lines))), style="bold")
    console.print(grid)
    console.print(say(_SAYS["million"], usd=usd_in_four_places(total(million_postings()))))
    console.print(say(_SAYS["prices"]))
    if names := {line.price.name: say(line.price.label) for line in lines if line.price.unconfirmed}:
        console.print(say(_SAYS["unconfirmed"], names="; ".join(names.values())))
