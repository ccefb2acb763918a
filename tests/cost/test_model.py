"""`retiro cost`: units × price, by hand; and the goal of a million postings."""

import json
import tomllib
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.cost.command import cost, usd, usd_in_four_places
from cli.cost.model import JOBS, Fleet, Line, lines_of, million_postings, total, year
from cli.cost.prices import prices
from cli.cost.units import unit

DATA = Path(__file__).parent.parent.parent / "cli" / "data" / "cost"
SYSTEM_2000 = Fleet.of(64_482, 80)


def lines(job: str, fleet: Fleet = SYSTEM_2000) -> dict[str, Line]:
    return {line.price.name: line for line in lines_of(job, JOBS[job][1](fleet))}


@pytest.mark.parametrize(
    ("price", "units", "dollars"),
    [
        ("dynamodb_write", 2_000_000, "1.25"),  # 2 × 0.625
        ("dynamodb_read", 500_000, "0.0625"),  # half of 0.125
        ("cognito_clients", 12, "72"),  # a client's year
        ("cognito_tokens", 100, "0.225"),
        ("lambda_seconds", 1_000_000, "13.3334"),
        ("state_transitions", 40, "0.001"),
        ("alarms", 132, "13.2"),
    ],
)
def test_units_times_price(price: str, units: int, dollars: str) -> None:
    assert prices()[price].of(units) == Fraction(dollars)


def test_a_million_postings_cost_less_than_the_goal() -> None:
    """1,000,000 × 0.625 ÷ 10⁶ for the lines and 1,000,000 × 0.125 ÷ 10⁶ for reading before and after are 0.75."""
    found = {line.price.name: line for line in million_postings()}
    assert found["dynamodb_write"].units >= 1_000_000
    assert found["dynamodb_read"].units >= 1_000_000
    assert Fraction("0.75") < total(list(found.values())) <= Fraction("0.95")


def test_a_run_over_a_million_by_hand() -> None:
    """A shard has 976.56 accounts, so that a chunk of 5,000 takes 6 shards: 171 chunks, 1,000 parts."""
    found = {line.price.name: line.units for line in million_postings()}
    assert found["state_transitions"] == 3 * (171 * 3 + 5)
    assert found["s3_put"] == 2 * 1000
    assert found["lambda_requests"] == 3 * 173
    # Moves: 4 a part, of 134 + 1,000 ÷ 171 × 2 × 178 × ¾ = 1,695 bytes, two units. Chunks: 7 each. The run: 10.
    assert found["dynamodb_write"] == 1_000_000 + 4 * 1000 * 2 + 171 * 7 + 10


def test_a_remittance_by_hand() -> None:
    """One employer, forty participants, no plan: twelve pages of forty, and six half ones that are counted on top."""
    fleet = Fleet.of(40, 1, plans=0, annuitants=0)
    assert (fleet.credits, fleet.remittances, fleet.credit_pages) == (480, 12, 18)
    found = lines("remittances", fleet)
    assert found["dynamodb_write"].units == 480 * 2 + 18 * 11 + 12 * 22
    assert found["dynamodb_read"].units == 480 * 2 + 18 * 5 + 12 * 24


def test_an_audit_by_hand() -> None:
    """A thousand people for three years: 36,000 credits and 6,000 yields of 469 bytes, and 41 pages of passbooks.

    Each credit's evidence is a unit, each page four, and each of 1,002 passbooks has half a unit that isn't full.
    """
    found = lines("audits", Fleet.of(1000, 2, plans=0, annuitants=0, years=3))
    nightly = Fraction(42_000 * 469, 4096) + 501 + 36_000 + 41 * 4
    assert found["dynamodb_read"].units == round(365 * nightly)
    assert found["dynamodb_write"].units == 365 * 41 * 9


def test_the_fixed_part_is_the_clients_most_of_all() -> None:
    """80 employers and four others, twelve months at 6 dollars: 6,048."""
    found = lines("fixed")
    assert found["cognito_clients"].units == 84 * 12
    assert found["cognito_clients"].usd == 6048
    assert found["kms_keys"].usd == 36
    assert found["alarms"].usd == Fraction("13.2")
    assert found["kms_requests"].units == 17 * 2 * 365 * 24 * 12


def test_the_audit_grows_with_the_years_and_nothing_else_but_storage_does() -> None:
    young, old = Fleet.of(1000, 2, years=1), Fleet.of(1000, 2, years=20)
    for job, (_, amounts) in JOBS.items():
        differs = total(lines_of(job, amounts(young))) != total(lines_of(job, amounts(old)))
        assert differs == (job in {"audits", "kept"}), job


def test_a_price_that_nobody_has_confirmed_has_a_star_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["--participants", "10", "--employers", "1"]
    plain = CliRunner().invoke(cost, asked, env={"COLUMNS": "160"}).output
    assert "*" not in plain
    monkeypatch.setitem(prices(), "topics", replace(prices()["topics"], confirmed="", unconfirmed="no page was found"))
    starred = CliRunner().invoke(cost, asked, env={"COLUMNS": "160"}).output
    assert "SNS, messages*" in starred
    assert "says so (*): SNS, messages." in starred


def test_twice_the_participants_never_cost_less() -> None:
    once, twice = Fleet.of(50_000, 10), Fleet.of(100_000, 10)
    for job, (_, amounts) in JOBS.items():
        assert total(lines_of(job, amounts(once))) <= total(lines_of(job, amounts(twice))), job


def test_nobody_costs_what_being_there_costs() -> None:
    assert total(lines_of("remittances", JOBS["remittances"][1](Fleet.of(0, 0)))) == 0
    assert total(year(Fleet.of(0, 0))) > 0


def test_every_price_is_dated_has_a_source_and_is_confirmed_or_says_why_not() -> None:
    for name, price in prices().items():
        assert price.source.startswith("https://"), name
        assert date(2024, 1, 1) <= price.since <= date(2026, 11, 30), name
        assert bool(price.confirmed) != bool(price.unconfirmed), name
        assert isinstance(price.usd, str)
        assert Fraction(price.usd) > 0
        assert price.label.en
        assert price.label.es


def test_every_price_is_of_some_line() -> None:
    used = {line.price.name for line in year(SYSTEM_2000)}
    assert set(prices()) - used == {"warm_writes", "warm_reads"}  # those of docs/scale.md


def test_every_unit_says_how_it_was_found() -> None:
    for name, row in tomllib.loads((DATA / "units.toml").read_text()).items():
        assert isinstance(row["value"], str), name
        assert unit(name) >= 0
        assert row["how"].startswith(("measured", "counted", "taken")), name


def test_shown_dollars_are_rounded_half_away_once() -> None:
    assert usd(Fraction("0.005")) == "0.01"
    assert usd(Fraction("0.00499")) == "0.00"
    assert usd(Fraction("1234.5")) == "1234.50"
    assert usd_in_four_places(Fraction("0.90195")) == "0.9020"
    assert usd_in_four_places(Fraction("12.00005")) == "12.0001"


def test_the_command_shows_each_line_in_both_languages() -> None:
    asked = ["--participants", "1000", "--employers", "2"]
    english = CliRunner().invoke(cost, asked, env={"COLUMNS": "160"}, catch_exceptions=False).output
    spanish = CliRunner().invoke(cost, [*asked, "--language", "es"], env={"COLUMNS": "160"}).output
    assert "1,000 participants, 2 employers, 20 plans, 5 annuitants" in english
    assert "1,000 participantes, 2 patronos, 20 planes, 5 anualidades" in spanish
    for name, _ in JOBS.values():
        assert name.en in english
        assert name.es in spanish
    assert "0.625 / 1,000,000" in english
    assert "A million postings, prepared, posted and closed: 0." in english
    assert "Un millón de asientos" in spanish


def test_the_json_has_what_an_auditor_multiplies() -> None:
    asked = ["--participants", "64482", "--employers", "80", "--json"]
    told = json.loads(CliRunner().invoke(cost, asked, catch_exceptions=False).output)
    assert told["fleet"] == {"participants": 64482, "employers": 80, "plans": 1290, "annuitants": 322, "years": 10}
    exact = Fraction(0)
    for line in told["lines"]:
        dollars = Fraction(line["usd"]) * line["units"] / line["per"]
        assert line["usd_a_year"] == usd(dollars)
        exact += dollars
    assert told["usd_a_year"] == usd(exact)
    assert set(told["jobs"]) == set(JOBS)
