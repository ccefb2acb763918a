"""`retiro law`: the statutes, a line a clause, none claimed that no case holds."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.law import Clause, Status, cited, clauses, missing_code
from cli.main import main

CASE = """\
- name: A case
  law: {law}
  determination: semester_calendar
  given: {{semester: FY2025-S2}}
  expect: {{yield_date: 2025-06-30}}
"""


def test_every_clause_that_is_claimed_has_its_code_and_its_cases():
    result = CliRunner().invoke(main, ["law"])
    assert result.stderr == ""
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "3 L.P.R.A. § 786-7" in lines
    assert "4 L.P.R.A. § 242b" in lines
    assert "3 L.P.R.A. § 830q" in lines
    assert len(lines) == len(clauses()) + 3
    (late,) = [line for line in lines if "retiro.rules.savings_accounts:late_credit" in line]
    assert re.match(r"  \(a\)\(2\) +[1-9]\d* cases  ", late)


def test_the_list_has_every_clause_of_the_three_statutes_once():
    found = [clause.citation for clause in clauses()]
    savings = ["(a)(1)", "(a)(2)", "(a)(3)", "(b)(1)", "(b)(2)", "(b)(3)(A)", "(b)(3)(B)", "(b)(3)(C)", "(c)"]
    assert [each for each in found if "786-7" in each] == [f"3 L.P.R.A. § 786-7{path}" for path in savings]
    for section, letters in (("4 L.P.R.A. § 242b", "abcdef"), ("3 L.P.R.A. § 830q", "abcdefg")):
        heads = [each[: len(section) + 3] for each in found if each.startswith(section)]
        assert list(dict.fromkeys(heads)) == [f"{section}({letter})" for letter in letters]
    assert len(found) == len(set(found))


def test_vesting_has_nothing_to_compute_and_says_why():
    (vesting,) = [clause for clause in clauses() if clause.citation == "3 L.P.R.A. § 786-7(c)"]
    assert vesting.status is Status.NOTHING_TO_COMPUTE
    assert "nothing forfeits" in str(vesting.reason)


def test_a_claimed_clause_without_a_case_fails(tmp_path: Path):
    (tmp_path / "one.yaml").write_text(CASE.format(law="3 L.P.R.A. § 786-7(a)(3)"), "utf-8")
    result = CliRunner().invoke(main, ["law", "--cases", str(tmp_path)])
    assert result.exit_code == 1
    assert "3 L.P.R.A. § 786-7(a)(1) is claimed, and no case holds it" in result.stderr
    assert "§ 786-7(a)(3) is claimed" not in result.stderr
    assert re.search(r"^  \(a\)\(3\) +1 case   ", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "law", ["3 L.P.R.A. § 786-8(a)", "the law", "3 L.P.R.A. § 786-7 (a)(3)", "3 L.P.R.A. § 786-7(z)"]
)
def test_a_case_that_cites_no_clause_is_an_error_of_its_file(tmp_path: Path, law: str):
    (tmp_path / "one.yaml").write_text(CASE.format(law=law), "utf-8")
    result = CliRunner().invoke(main, ["law", "--cases", str(tmp_path)])
    assert result.exit_code == 2
    assert "A case" in result.stderr


@pytest.mark.parametrize(
    ("law", "paths"),
    [
        ("(a)(3)", ["(a)(3)"]),
        ("(a)(3), (b)(3)", ["(a)(3)", "(b)(3)"]),
        ("(b)(1), (2)", ["(b)(1)", "(b)(2)"]),
        ("(a)(2)-(3)", ["(a)(2)", "(a)(3)"]),
        ("(a)(1)-(3), (c)", ["(a)(1)", "(a)(2)", "(a)(3)", "(c)"]),
        ("(b)(3)(A), (B)", ["(b)(3)(A)", "(b)(3)(B)"]),
        ("(a)-(c)", ["(a)", "(b)", "(c)"]),
        ("(a)(2); (b)(3)(C)", ["(a)(2)", "(b)(3)(C)"]),
    ],
)
def test_a_citation_names_each_of_its_clauses(law: str, paths: list[str]):
    assert cited(f"3 L.P.R.A. § 786-7{law}") == [f"3 L.P.R.A. § 786-7{path}" for path in paths]


def test_code_that_is_not_there_is_found():
    names = ("retiro.rules.savings_accounts:late_credit", "retiro.rules.savings_accounts:x", "retiro.nowhere:x")
    clause = Clause(citation="x", says="x", status=Status.DONE, code=names)
    assert missing_code(clause) == list(names[1:])


@pytest.mark.parametrize(
    "more",
    [
        {"status": "done"},
        {"status": "not_done_yet", "code": ["x:y"]},
        {"status": "nothing_to_compute"},
        {"status": "done", "code": ["x:y"], "reason": "because"},
    ],
)
def test_a_clause_names_code_if_done_and_a_reason_if_there_is_nothing(more):
    with pytest.raises(ValueError, match="must"):
        Clause.model_validate({"citation": "x", "says": "x", **more})
