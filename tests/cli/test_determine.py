"""`retiro determine`: one determination at the desk."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main

FACTS = """\
semester: FY2025-S2
opening_balance: "10000.00"
movements: [{date: 2025-01-31, amount: "1200.00"}, {date: 2025-02-28, amount: "-100.00"}]
selection: {fixed_income: 100}
option_yields: {fixed_income: {monthly_percent: ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]}}
"""
# (11200 + 5 × 11100)/6 = 11116.666…; × 24.04/1200 = 222.7039
YIELD = "222.70"


def determine(*arguments: str, text: str | None = None):
    return CliRunner().invoke(main, ["determine", *arguments], input=text)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_facts_are_json_or_yaml_and_the_result_is_json_with_its_receipt(tmp_path: Path, form: str):
    facts = tmp_path / "facts"
    in_json = json.dumps(
        {
            "semester": "FY2025-S2",
            "opening_balance": "10000.00",
            "movements": [{"date": "2025-01-31", "amount": "1200.00"}, {"date": "2025-02-28", "amount": "-100.00"}],
            "selection": {"fixed_income": 100},
            "option_yields": {"fixed_income": {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]}},
        },
        indent="\t",
    )
    facts.write_text(in_json if form == "json" else FACTS, "utf-8")
    result = determine("semester_yield", str(facts))
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["yield"] == YIELD
    assert found["average_monthly_balance"] == "11116.67"
    assert list(found)[-1] == "receipt"
    assert found["receipt"]["inputs"]["movements"][1] == {"date": "2025-02-28", "amount": "-100.00"}


@pytest.mark.parametrize("arguments", [("semester_yield",), ("semester_yield", "-")])
def test_standard_input_is_a_file_too(arguments):
    assert json.loads(determine(*arguments, text=FACTS).stdout)["yield"] == YIELD


def test_a_refusal_exits_3_with_code_sentence_and_citation_on_standard_error():
    result = determine("semester_yield", text=FACTS.replace("{fixed_income: 100}", "{}"))
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "no_selection",
        "The participant has selected no investment, so that no yield can be credited for FY2025-S2.",
        "El participante no ha seleccionado inversión, por lo que no se puede acreditar rendimiento para FY2025-S2.",
        "3 L.P.R.A. § 786-7(b)(1)",
    ]


def test_faults_of_form_are_all_named():
    result = determine("semester_yield", text=FACTS.replace('"10000.00"', "10000.00").replace("FY2025-S2", "FY2025"))
    assert result.exit_code == 3
    lines = result.stderr.splitlines()
    assert lines[0] == "invalid_input"
    assert lines[1].startswith("The field semester must be")
    assert lines[3].startswith("  opening_balance: must be money")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "expected"),
        ('{"semester": "FY2025-S2", "semester": "FY2025-S1"}', "'semester' is doubled"),
        ("a: 1\na: 2\n", "'a' is doubled"),
        ("1" * 5000, "4300"),
    ],
)
def test_what_cannot_be_read_exits_2(text, says):
    result = determine("semester_calendar", text=text)
    assert result.exit_code == 2
    assert says in result.stderr


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a": ' * 20_000 + "1" + "}" * 20_000, "- " * 3_000 + "a", "a: " + "[" * 3_000 + "]" * 3_000],
    ids=["open lists", "mappings", "lists of YAML", "lists in YAML"],
)
def test_what_is_nested_too_deep_exits_2(text):
    result = determine("semester_calendar", text=text)
    assert result.exit_code == 2
    assert result.stderr == "-: it is nested too deep to be read / está anidado a demasiada profundidad\n"


@pytest.mark.parametrize("text", ["", "[]", "FY2025-S2"])
def test_facts_that_are_no_mapping_are_refused(text):
    result = determine("semester_calendar", text=text)
    assert result.exit_code == 3
    assert "The field given must be a mapping" in result.stderr


@pytest.mark.parametrize("written", ["0100", "1_00", "0x64", "1:40", "100.0"])
def test_a_whole_number_has_one_form(written):
    # YAML 1.1 reads these as 64, 100, 100, 100 and a float
    result = determine("semester_yield", text=FACTS.replace("{fixed_income: 100}", f"{{fixed_income: {written}}}"))
    assert result.exit_code == 3
    assert "The field selection.fixed_income must be a whole number" in result.stderr


def test_an_unknown_determination_is_an_error_of_use():
    result = determine("semester_yeild", text=FACTS)
    assert result.exit_code == 2
    assert "semester_yield" in result.stderr


def test_spanish_comes_out_as_it_is_written():
    assert "último día laborable" in determine("semester_calendar", text="semester: FY2025-S2").stdout
