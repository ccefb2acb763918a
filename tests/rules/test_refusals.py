"""Every refusal can be reached, says itself in two languages, and carries how far the determination came."""

import itertools
import re
import string
from datetime import date
from pathlib import Path

import pytest

from cli.cases import load
from retiro.rules import parameters
from retiro.rules.determinations import determine
from retiro.rules.parameters import pick
from retiro.rules.receipts import Act
from retiro.rules.refusals import SENTENCES, Refusal, RefusalCode

ROOT = Path(__file__).parents[2]
RULES = ROOT / "shared" / "retiro" / "rules"
LAW = ROOT / "tests" / "law"

TREASURY = {"fixed_income": {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]}}
PORTFOLIO = {"system_portfolio": {"return_percent": "4.00", "management_fees_percent": "0.20"}}
YIELD = {"semester": "FY2004-S2", "opening_balance": "1000.00", "option_yields": TREASURY | PORTFOLIO}
SELECTION = {"requested_on": "2025-06-30", "options_in_force": ["fixed_income", "growth"], "initial": False}

# § 786-7, each refusal once: what is asked, and the sentence that must come back.
TABLE = [
    ("invalid_input", "semester_calendar", {"semester": "2025"}, 'must be a semester of the fiscal calendar, like "FY'),
    ("unknown_option", "investment_selection", SELECTION | {"selection": {"gold": 100}}, "No investment option gold"),
    ("not_multiple_of_ten", "investment_selection", SELECTION | {"selection": {"growth": 95}}, "growth has 95"),
    ("does_not_total_100", "investment_selection", SELECTION | {"selection": {"growth": 90}}, "totals 90 percent"),
    (
        "already_changed_this_fiscal_year",
        "investment_selection",
        SELECTION | {"selection": {"growth": 100}, "earlier_changes": ["2024-07-01"]},
        "already changed in FY2025, on 2024-07-01",
    ),
    ("no_selection", "semester_yield", YIELD | {"selection": {}}, "no yield can be credited for FY2004-S2"),
    (
        "movement_outside_semester",
        "semester_yield",
        YIELD | {"selection": {"fixed_income": 100}, "movements": [{"date": "2004-07-01", "amount": "1.00"}]},
        "movement of 2004-07-01 lies outside FY2004-S2",
    ),
    ("yield_not_in_force", "semester_yield", YIELD | {"selection": {"gold": 100}}, "takes: semester_percent"),
    (
        "not_in_force",
        "semester_yield",
        YIELD | {"selection": {"system_portfolio": 100}},
        "system_portfolio_share_percent is not in force on 2004-06-30. The nearest period in force is from 2004",
    ),
]


@pytest.mark.parametrize(("code", "name", "facts", "sentence"), TABLE, ids=[row[0] for row in TABLE])
def test_each_refusal_of_the_savings_accounts_is_reached(code, name, facts, sentence):
    with pytest.raises(Refusal) as refused:
        determine(name, facts)
    assert refused.value.code == code
    assert sentence in refused.value.sentence.en
    assert refused.value.sentence.es != refused.value.sentence.en
    assert refused.value.citation.startswith("3 L.P.R.A. § 786-7")
    assert refused.value.field


def test_the_table_has_every_refusal_that_the_savings_accounts_raise_in_their_order():
    raised = {code for place in (RULES / "savings_accounts").glob("*.py") for code in codes_raised_in(place)}
    everywhere = {RefusalCode.INVALID_INPUT, RefusalCode.NOT_IN_FORCE}
    assert [row[0] for row in TABLE] == [code for code in RefusalCode if code in raised | everywhere]


def codes_raised_in(place: Path) -> set[RefusalCode]:
    return {RefusalCode[name] for name in re.findall(r"RefusalCode\.([A-Z][A-Z0-9_]+)", place.read_text("utf-8"))}


def test_every_refusal_that_the_rules_raise_is_held_by_a_case():
    raised = {code for place in RULES.rglob("*.py") if place.name != "refusals.py" for code in codes_raised_in(place)}
    held = {case.refused for place in LAW.glob("*.yaml") for case in load(str(place))}
    assert {code.value for code in raised} <= held


@pytest.mark.parametrize("code", RefusalCode)
def test_a_refusal_says_the_same_facts_in_both_languages(code):
    def facts(text: str) -> set[str]:
        return {re.sub("_(en|es)$", "", name) for _, name, _, _ in string.Formatter().parse(text) if name}

    sentence = SENTENCES[code]
    assert facts(sentence.en) == facts(sentence.es)


def test_a_form_is_refused_before_the_law_is_asked():
    with pytest.raises(Refusal) as refused:
        determine("semester_yield", YIELD | {"selection": {}, "opening_balance": 1000})
    assert refused.value.code == "invalid_input"
    assert refused.value.receipt is None


def test_a_refusal_carries_the_receipt_so_far():
    with pytest.raises(Refusal) as refused:
        determine("semester_yield", YIELD | {"selection": {"system_portfolio": 100}})
    receipt = refused.value.receipt
    assert receipt is not None
    assert [step.label.en for step in receipt.steps][-1] == "Average monthly balance"
    assert receipt.steps[-1].value == "1000.00"


# What is in force


def period(since: str, until: str | None) -> parameters.Parameter:
    return parameters.Parameter(
        name="factor_table",
        value=parameters.parse_percent("1"),
        unit="",
        in_force_from=date.fromisoformat(since),
        until=date.fromisoformat(until) if until else None,
        citation="",
        source="",
        checked_on=date(2026, 1, 1),
    )


PERIODS = [period("2025-01-01", "2026-01-01"), period("2027-01-01", None)]


@pytest.mark.parametrize(("on", "number"), [("2025-01-01", 0), ("2025-12-31", 0), ("2027-01-01", 1), ("2099-01-01", 1)])
def test_a_period_holds_from_its_first_day_until_the_day_before_its_end(on, number):
    assert pick("factor_table", PERIODS, date.fromisoformat(on), citation="x") is PERIODS[number]


@pytest.mark.parametrize(
    ("on", "nearest", "nearest_es"),
    [
        ("2024-12-31", "2025-01-01 through 2025-12-31", "del 2025-01-01 al 2025-12-31"),
        ("2026-01-01", "2025-01-01 through 2025-12-31", "del 2025-01-01 al 2025-12-31"),
        ("2026-12-31", "from 2027-01-01 on", "desde el 2027-01-01"),
    ],
)
def test_nothing_is_carried_forward_and_the_nearest_period_is_named(on, nearest, nearest_es):
    with pytest.raises(Refusal) as refused:
        pick("factor_table", PERIODS, date.fromisoformat(on), citation="x")
    assert (
        refused.value.sentence.en == f"factor_table is not in force on {on}. The nearest period in force is {nearest}."
    )
    assert nearest_es in refused.value.sentence.es


def test_what_was_never_in_force_has_no_nearest_period():
    with pytest.raises(Refusal, match="The nearest period in force is none"):
        pick("factor_table", list[parameters.Parameter](), date(2025, 1, 1), citation="x")


@pytest.mark.parametrize("name", parameters.PARAMETERS)
def test_every_parameter_has_its_source_and_its_periods_do_not_overlap(name):
    periods = parameters.PARAMETERS[name]
    for each in periods:
        assert each.citation
        assert each.source
        assert each.unit
        assert each.until is None or each.in_force_from < each.until
    for one, other in itertools.pairwise(periods):
        assert one.until is not None
        assert one.until <= other.in_force_from


def test_an_act_stands_in_the_receipt_of_what_it_adopted():
    acts = {"average_balance_method": Act("Resolution 2025-03, Junta de Retiro", date(2025, 1, 1))}
    result = determine("semester_yield", YIELD | {"selection": {"fixed_income": 100}}, acts=acts)
    used = {setting.name: setting for setting in result.receipt.settings}
    assert used["average_balance_method"].source.en == "Resolution 2025-03, Junta de Retiro"
    assert used["average_balance_method"].in_force_from == date(2025, 1, 1)
    assert used["negative_yield"].source.en == "default of the program; no act of the Board"
