"""What comes in is strict, and what is wrong with it is said in two languages without repeating it."""

from typing import Any

import pytest

from retiro.rules.determinations import DETERMINATIONS, determine
from retiro.rules.forms import FORMS
from retiro.rules.refusals import Refusal
from retiro.rules.settings import SETTINGS

YIELD = {
    "semester": "FY2025-S2",
    "opening_balance": "10000.00",
    "selection": {"fixed_income": 100},
    "option_yields": {"fixed_income": {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]}},
}


def refusal_of(name: str, facts: object) -> Refusal:
    with pytest.raises(Refusal) as refused:
        determine(name, facts)
    return refused.value


@pytest.mark.parametrize(
    ("change", "field", "kind"),
    [
        ({"opening_balance": 10000.0}, "opening_balance", "money"),
        ({"opening_balance": 10000}, "opening_balance", "money"),
        ({"semester": "FY2025-S3"}, "semester", "semester"),
        ({"semester": 2025}, "semester", "semester"),
        ({"movements": [{"date": 1744243200, "amount": "1.00"}]}, "movements.0.date", "date"),
        ({"movements": [{"date": "2025-01-01T00:00:00", "amount": "1.00"}]}, "movements.0.date", "date"),
        ({"movements": [{"date": "2025-01-01"}]}, "movements.0.amount", "missing"),
        ({"movements": {}}, "movements", "list_type"),
        ({"movements": ["x"]}, "movements.0", "model_type"),
        ({"selection": {"fixed_income": 90}}, "selection", "selection_total"),
        ({"selection": {"fixed_income": 110, "system_portfolio": -10}}, "selection", "selection_negative"),
        ({"selection": {"fixed_income": "100"}}, "selection.fixed_income", "int_type"),
        ({"selection": {"fixed_income": 100.0}}, "selection.fixed_income", "int_type"),
        ({"selection": {"fixed_income": True}}, "selection.fixed_income", "int_type"),
        ({"selection": [100]}, "selection", "dict_type"),
        ({"selection": {"": 100}}, "selection.", "string_too_short"),
        (
            {"option_yields": {"fixed_income": {"monthly_percent": [4.27]}}},
            "option_yields.fixed_income.monthly_percent.0",
            "percent",
        ),
        (
            {"option_yields": {"fixed_income": {"monthly_percent": ["-100.01"]}}},
            "option_yields.fixed_income.monthly_percent",
            "percent_below_minus_100",
        ),
        ({"option_yields": {"fixed_income": {"rate": "1"}}}, "option_yields.fixed_income.rate", "extra_forbidden"),
        ({"closing_balance": "1.00"}, "closing_balance", "extra_forbidden"),
        ({"settings": {"average": "month_end"}}, "settings", "setting_unknown"),
        ({"settings": {"no_selection": "not a code"}}, "settings", "setting_value"),
        ({"settings": {"negative_yield": True}}, "settings.negative_yield", "string_type"),
    ],
)
def test_a_fault_of_form_names_its_field_and_rule(change: dict[str, Any], field: str, kind: str):
    refusal = refusal_of("semester_yield", YIELD | change)
    assert refusal.code == "invalid_input"
    assert refusal.field == field
    assert refusal.faults[0].rule == FORMS[kind]
    assert FORMS[kind].en in refusal.sentence.en
    assert FORMS[kind].es in refusal.sentence.es
    assert refusal.citation == "3 L.P.R.A. § 786-7(a)(3), (b)(3)"


def test_every_fault_is_found_and_not_the_first_alone():
    refusal = refusal_of("semester_yield", {"opening_balance": 1, "selection": {}, "extra": 1, "option_yields": {}})
    assert [fault.field for fault in refusal.faults] == ["semester", "opening_balance", "extra"]


@pytest.mark.parametrize("facts", [None, [], "x", 1, [YIELD]])
def test_facts_that_are_no_mapping_are_refused(facts: object):
    assert refusal_of("semester_yield", facts).field == "given"


def test_a_fault_never_repeats_the_value():
    secret = "123-45-6789"
    refusal = refusal_of("semester_yield", YIELD | {"opening_balance": secret, "semester": secret})
    assert secret not in f"{refusal} {refusal.sentence} {refusal.faults} {refusal.__cause__} {refusal.args}"


def test_a_semester_closed_throughout_is_a_fault_of_form():
    days = [f"2025-0{month}-{day:02d}" for month in range(1, 7) for day in range(1, 29)]
    tails = ["2025-01-29", "2025-01-30", "2025-01-31", "2025-03-31", "2025-04-29", "2025-04-30", "2025-05-29"]
    more = ["2025-05-30", "2025-03-29", "2025-03-30", "2025-05-31", "2025-06-29", "2025-06-30"]
    refusal = refusal_of("semester_calendar", {"semester": "FY2025-S2", "closure_days": days + tails + more})
    assert (refusal.code, refusal.field) == ("invalid_input", "closure_days")


def test_what_is_optional_may_be_left_out_or_null():
    spelt_out = YIELD | {"movements": [], "closure_days": None, "settings": {}}
    assert determine("semester_yield", spelt_out).yield_amount == determine("semester_yield", YIELD).yield_amount


def kinds_of_numbers(schema: object) -> list[str]:
    """The places in a JSON schema where a number with a point may stand."""
    if isinstance(schema, dict):
        here = [str(schema)] if schema.get("type") == "number" else []
        return here + [found for value in schema.values() for found in kinds_of_numbers(value)]
    if isinstance(schema, list):
        return [found for value in schema for found in kinds_of_numbers(value)]
    return []


@pytest.mark.parametrize("name", DETERMINATIONS)
def test_no_schema_has_a_number_with_a_point(name: str):
    chosen = DETERMINATIONS[name]
    for model in (chosen.given, chosen.result):
        for mode in ("validation", "serialization"):
            assert kinds_of_numbers(model.model_json_schema(mode=mode)) == []


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_admits_its_own_values_and_no_other(name: str):
    setting = SETTINGS[name]
    for value in (setting.default, *setting.alternatives):
        determine("semester_calendar", {"semester": "FY2025-S2", "settings": {name: value}})
    assert not setting.admits("no such value")
    assert setting.admits("system_portfolio") == (name == "no_selection")
    assert setting.decides.en
    assert setting.why.es
