"""`retiro cases`: what passes, what fails, and what can't mean what it says."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main

CASE = """\
- name: Half a cent of gain rounds up
  law: 3 L.P.R.A. § 786-7(a)(3)
  determination: semester_yield
  given:
    semester: FY2025-S2
    opening_balance: "101.00"
    selection: {other: 100}
    option_yields: {other: {semester_percent: "0.5"}}
  expect: {yield: "0.51", option_percents: {other: "0.500000"}}
"""
REFUSED = """\
- name: A year has two semesters
  law: 3 L.P.R.A. § 786-7(a)(3)
  determination: semester_calendar
  given: {semester: FY2025-S3}
  refused: invalid_input
"""


@pytest.fixture
def cases(tmp_path: Path):
    def run(*texts: str) -> Result:
        places = []
        for number, text in enumerate(texts):
            place = tmp_path / f"{number}.yaml"
            place.write_text(text, "utf-8")
            places.append(str(place))
        return CliRunner().invoke(main, ["cases", *places])

    return run


def test_a_line_a_case_and_the_count_at_the_end(cases):
    result = cases(CASE, REFUSED)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "pass  Half a cent of gain rounds up",
        "pass  A year has two semesters",
        "2 passed, 0 failed",
    ]


def test_cl_03_a_failure_says_what_was_wanted_what_came_and_the_difference(cases):
    """https://github.com/plaintextaccounting/hledger/issues/561: an assertion failed with "difference 0"."""
    result = cases(CASE.replace('"0.51"', '"0.50"'))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        'FAIL  Half a cent of gain rounds up: yield wanted "0.50", got "0.51", difference 0.01',
        "0 passed, 1 failed",
    ]


def test_a_difference_inside_a_mapping_is_named_by_its_path(cases):
    result = cases(CASE.replace('"0.500000"', '"0.5"'))
    assert result.exit_code == 1
    assert 'option_percents.other wanted "0.5", got "0.500000"' in result.stdout
    assert "difference" not in result.stdout


def test_a_key_that_the_mapping_of_a_result_has_not_fails(cases):
    result = cases(CASE.replace('{other: "0.500000"}', '{another: "0.500000"}'))
    assert result.exit_code == 1
    assert 'option_percents.another wanted "0.500000", got nothing' in result.stdout


def test_a_refusal_where_a_result_was_wanted_fails_and_says_why(cases):
    result = cases(CASE.replace("{other: 100}", "{}"))
    assert result.exit_code == 1
    assert 'wanted nothing, got "no_selection: The participant has selected no investment' in result.stdout


def test_a_result_where_a_refusal_was_wanted_fails(cases):
    result = cases(REFUSED.replace("FY2025-S3", "FY2025-S2"))
    assert result.exit_code == 1
    assert 'refused wanted "invalid_input", got "a result"' in result.stdout


def test_another_refusal_than_the_one_wanted_fails(cases):
    result = cases(REFUSED.replace("invalid_input", "not_in_force"))
    assert result.exit_code == 1
    assert 'refused wanted "not_in_force", got "invalid_input: ' in result.stdout


def test_a_list_is_compared_whole_and_in_order(cases):
    late = """\
- name: Two semesters
  law: 3 L.P.R.A. § 786-7(a)(2)
  determination: late_credit
  given:
    movement: {date: 2024-07-01, amount: "100.00"}
    semesters:
    - {semester: FY2025-S1, opening_balance: "0.00", selection: {o: 100}, option_yields: {o: {semester_percent: "1"}}}
    - {semester: FY2025-S2, opening_balance: "0.00", selection: {o: 100}, option_yields: {o: {semester_percent: "1"}}}
  expect:
    differences: [{semester: FY2025-S1, amount: "1.00"}, {semester: FY2025-S2, amount: "1.01"}]
"""
    assert cases(late).exit_code == 0
    assert cases(late.replace(', {semester: FY2025-S2, amount: "1.01"}]', "]")).exit_code == 1


def test_a_text_is_no_whole_number_and_true_is_no_one(cases):
    assert cases(CASE.replace('{yield: "0.51",', "{yield: 51,")).exit_code == 1


def test_cl_03_a_float_is_an_error_of_the_file_and_never_a_pass(cases):
    """https://github.com/openfisca/openfisca-core/issues/458: results rested on inferences that nobody saw."""
    result = cases(CASE.replace('"0.51"', "0.51"))
    assert result.exit_code == 2
    assert "expect.yield is a number with a point" in result.stderr
    assert "passed" not in result.stdout.replace("0 passed", "")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (CASE.replace('"0.51"', "0.51"), "expect.yield is a number with a point"),
        (CASE.replace("yield:", "yeild:"), "the result has no field expect.yeild"),
        (CASE.replace("yield:", "receipt: {step"), "flow mapping"),
        (CASE.replace('yield: "0.51"', "receipt: {stepz: 1}"), "the result has no field expect.receipt.stepz"),
        (CASE.replace("law:", "lawful:"), "case 0.lawful isn't known here"),
        (CASE.replace("  law: 3 L.P.R.A. § 786-7(a)(3)\n", ""), "case 0.law is missing"),
        (CASE + "  refused: no_selection\n", "expect or refused, and not both"),
        (CASE.split("  expect", maxsplit=1)[0], "expect or refused, and not both"),
        (CASE.split("  expect", maxsplit=1)[0] + "  expect: {}\n", "expect is empty"),
        (CASE.split("  expect", maxsplit=1)[0] + "  expect: [1]\n", "case 0.expect must be a mapping"),
        (CASE + "  name: Again\n", "the key 'name' is doubled"),
        (CASE.replace('{yield: "0.51"', '{yield: "0.51", yield: "0.52"'), "the key 'yield' is doubled"),
        (CASE.replace("semester: FY2025-S2", "semester: FY2025-S2\n    semester: FY2025-S1"), "'semester' is doubled"),
        (CASE.replace("semester_yield", "semestre_yield"), "there is no determination semestre_yield"),
        (REFUSED.replace("invalid_input", "invalid_imput"), "there is no refusal invalid_imput"),
        ("[]", "it has no cases"),
        ("name: not a list\n", "must be a list"),
        ("{", "expected"),
        ("", "must be a list"),
    ],
)
def test_a_case_that_cannot_mean_what_it_says_is_an_error_of_its_file(cases, broken, says):
    result = cases(broken)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "pass " not in result.stdout


def test_a_file_that_cannot_be_read_does_not_hide_the_others(cases):
    result = cases(CASE, "{")
    assert result.exit_code == 2
    assert result.stdout.splitlines() == ["pass  Half a cent of gain rounds up", "1 passed, 0 failed"]


def test_a_file_that_is_not_there_exits_2():
    result = CliRunner().invoke(main, ["cases", "no such file.yaml"])
    assert result.exit_code == 2
    assert "no such file.yaml" in result.stderr


def test_a_float_in_the_facts_is_for_the_rules_to_refuse(cases):
    result = cases(REFUSED.replace("{semester: FY2025-S3}", "{semester: 2025.2}"))
    assert result.exit_code == 0
