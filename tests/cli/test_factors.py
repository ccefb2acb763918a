"""The Board's factor at the desk: annuity_factor, its tables, and the document that says how."""

import csv
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cli import published
from cli.annuity_factor import AnnuityFactorGiven, annuity_factor, values
from cli.main import main
from cli.mortality import NoTableError, blended, of_death_rates, of_makeham, soa_death_rates, soa_table_name
from retiro.rules.determinations import DETERMINATIONS, determine
from retiro.rules.judiciary_hybrid import FactorTable
from retiro.rules.refusals import Refusal

PUBLISHED = Path(published.__file__).parent / "data" / "published_annuity_values.csv"
SULT = {"law": "makeham", "A": "0.00022", "B": "0.0000027", "c": "1.124"}
SULT_LIVES = of_makeham(0.00022, 0.0000027, 1.124)
GAM_1983_FEMALE, GAM_1983_MALE = 825, 826
IAM_2012_FEMALE = 2586

REQUIRED = ["--actuary", "Firm", "--consulted-on", "2026-01-15", "--in-force-from", "2026-07-01"]
BY_SULT = ["--makeham", "0.00022,0.0000027,1.124", "--interest", "5"]


def factor(mortality=SULT, interest="5", age=65, method="udd", **more):
    facts = {"mortality": mortality, "interest_percent": interest, "age": age, "method": method} | more
    return annuity_factor(annuity_factor.parse(facts))


def build(folder, *arguments):
    return CliRunner().invoke(main, ["factors", "build", *arguments, *REQUIRED, "--out", str(folder)])


# Printed values


def test_every_printed_value_is_found_to_its_places():
    rows = list(csv.DictReader(PUBLISHED.read_text("utf-8").splitlines()))
    printed = sum(2 if row["monthly_due_udd"] else 1 for row in rows)
    found = published.recomputed()
    assert len(found) == printed == 13
    assert [each for each in found if each.printed != each.found] == []
    assert all(row["source"] for row in rows)


def test_an_annuity_in_arrears_or_deferred_by_a_year_does_not_appear():
    # lifecontingencies #4, #19, #32. In advance, 100000.00 ÷ 13.085951 ÷ 12 = 636.8152. In arrears the factor is
    # 13.085951 − 1/12 = 13.002618, 640.90; deferred by a year the annual one is 13.5498 − 1 = 12.5498.
    found = factor()
    assert (found.annual_due, found.periodic_due) == ("13.5498", "13.085951")
    annuity = determine(
        "life_annuity",
        {
            "retirement_date": "2026-03-17",
            "birth_date": "1961-03-17",
            "credited_service": {"years": 12},
            "balance": "100000.00",
            "factor": {"value": found.periodic_due, "unit": "years"},
        },
    )
    assert annuity.monthly_annuity == 63682


# Properties

ages = st.integers(40, 110)
methods = st.sampled_from(["udd", "woolhouse3"])


@given(ages, methods, st.integers(1, 52), st.integers(0, 12))
def test_a_periodic_value_lies_within_a_year_under_the_annual_one(age, method, frequency, percent):
    found = values(SULT_LIVES, percent / 100, age, frequency, method)
    assert found.annual_due - 1 <= found.periodic_due <= found.annual_due
    assert found.periodic_due > 0


@given(ages, methods, st.integers(0, 12))
def test_paid_once_a_year_it_is_the_annual_value_exactly(age, method, percent):
    found = values(SULT_LIVES, percent / 100, age, 1, method)
    assert found.periodic_due == found.annual_due


@pytest.mark.parametrize("age", range(40, 91))
def test_the_two_methods_agree_within_a_hundredth(age):
    by_udd = values(SULT_LIVES, 0.05, age, 12, "udd").periodic_due
    assert abs(by_udd - values(SULT_LIVES, 0.05, age, 12, "woolhouse3").periodic_due) < 0.01


@pytest.mark.parametrize("method", ["udd", "woolhouse3"])
@pytest.mark.parametrize("table", [GAM_1983_FEMALE, GAM_1983_MALE, IAM_2012_FEMALE])
def test_no_age_of_a_table_has_a_value_below_zero_or_above_the_one_before(table, method):
    lives = of_death_rates(soa_death_rates(table))
    found = [values(lives, 0.04, age, 12, method) for age in range(60, lives.last_age + 1)]
    assert all(each.periodic_due > 0 for each in found)
    assert all(later.annual_due <= earlier.annual_due for earlier, later in pairwise(found))


def test_an_annual_value_follows_the_recursion_in_exact_fractions():
    # ä(x) = 1 + v·p(x)·ä(x+1), from the last age down, on the table's own rates: another way than the sum.
    rates = soa_death_rates(GAM_1983_MALE)
    exact = Fraction(1)
    for age in range(max(rates) - 1, 64, -1):
        exact = 1 + (1 - Fraction(str(rates[age]))) / Fraction("1.04") * exact
    assert factor({"soa_table": GAM_1983_MALE}, "4", 65).annual_due == f"{float(exact):.4f}"


# Mortality


def test_a_blend_weighs_rates_and_goes_on_where_one_table_has_ended():
    short, long = {60: 0.1, 61: 1.0}, {60: 0.2, 61: 0.4, 62: 1.0}
    assert blended([(short, 0.25), (long, 0.75)]) == pytest.approx({60: 0.175, 61: 0.55, 62: 1.0})


def test_a_table_that_is_select_and_ultimate_gives_its_ultimate_rates():
    # 2015 VBT, male nonsmoker, relative risk 100: ages 18 to 120, the last rates a half.
    rates = soa_death_rates(3252)
    assert (min(rates), max(rates), rates[120]) == (18, 120, 0.5)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (919, "Projection Scale, not of death rates"),
        (1473, "has 3 tables by age"),
        (1554, "has 0 tables by age"),
        (1594, "ends at age 70 with people alive"),
        (2835, "isn't a table of death rates at every age"),
        (999999, "there is no SOA table"),
    ],
)
def test_a_table_that_cannot_serve_says_why(table, says):
    with pytest.raises(NoTableError, match=says):
        soa_death_rates(table)


def test_without_the_package_of_tables_there_is_none(monkeypatch):
    monkeypatch.setattr("cli.mortality.find_spec", lambda _: None)
    with pytest.raises(NoTableError, match="pymort"):
        soa_death_rates(GAM_1983_FEMALE)


def test_a_table_has_the_name_that_the_society_gives_it():
    assert soa_table_name(GAM_1983_FEMALE) == "1983 GAM Table - Female"


def test_constants_may_be_numbers_for_they_are_no_money():
    as_numbers = {"law": "makeham", "A": 0.00022, "B": 2.7e-06, "c": 1.124}
    assert factor(as_numbers).periodic_due == "13.085951"


def test_a_formula_that_fails_leaves_an_open_question():
    found = factor({"soa_table": GAM_1983_FEMALE}, "4", 110, "woolhouse3")
    (question,) = found.receipt.open_questions
    assert "fails at this age" in question.en
    assert factor(method="woolhouse3").receipt.open_questions == []


# The desk and the layer


def test_the_factor_is_a_determination_of_the_desk_and_not_of_the_layer():
    assert "annuity_factor" not in DETERMINATIONS
    text = json.dumps({"mortality": SULT, "interest_percent": "5", "age": 65, "method": "udd"})
    answer = CliRunner().invoke(main, ["determine", "annuity_factor"], input=text)
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["periodic_due"] == "13.085951"


def test_the_inputs_of_a_receipt_give_the_factor_again():
    found = factor({"blend": [{"soa_table": 825, "weight_percent": "60"}, {"soa_table": 826, "weight_percent": "40"}]})
    again = annuity_factor(AnnuityFactorGiven.model_validate(found.receipt.inputs))
    assert again == found


def test_an_age_that_a_table_lacks_names_its_ends():
    with pytest.raises(Refusal, match="no factor for 111; it goes from 5 to 110"):
        factor({"soa_table": GAM_1983_FEMALE}, "4", 111)


# retiro factors build


def test_a_table_is_built_with_a_document_and_a_proposal(tmp_path):
    answer = build(tmp_path, *BY_SULT, "--ages", "65-70")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert answer.stdout.startswith("6 ages, 13 printed values found again: ")
    proposed = json.loads((tmp_path / "factor-table.json").read_text("utf-8"))
    assert proposed["points"]["65y0m"] == "13.085951"
    assert proposed["points"]["70y0m"] == "11.544161"
    assert list(proposed["points"]) == [f"{age}y0m" for age in range(65, 71)]
    assert proposed | {"points": None} == {
        "kind": "factor_table",
        "fund": "JRS",
        "unit": "years",
        "points": None,
        "mortality": SULT,
        "interest_percent": "5",
        "method": "udd",
        "payment": "start",
        "actuary": "Firm",
        "consulted_on": "2026-01-15",
        "in_force_from": "2026-07-01",
        "source": "retiro factors build: Makeham, A = 0.00022, B = 0.0000027, c = 1.124",
        "vintage": "2026-01-15",
    }
    FactorTable.model_validate({"unit": proposed["unit"], "points": proposed["points"]})
    document = (tmp_path / "factor-table.md").read_text("utf-8")
    assert document.startswith("# Tabla de factores de anualidad / Annuity factor table\n")
    for line in (
        "| 65 | 13.5498 | 13.085951 |",
        "| SULT | 65 | monthly | 13.085951 | 13.085951 |",
        "| ILT | 50 | annual",
    ):
        assert line in document
    for heading in ("Supuestos / Assumptions", "Método / Method", "Factores / Factors", "Límites / Limits"):
        assert f"\n## {heading}\n" in document


def test_in_months_a_table_is_twelve_times_and_at_the_end_of_the_month_a_payment_less(tmp_path):
    answer = build(tmp_path, *BY_SULT, "--ages", "65-65", "--unit", "months", "--payment", "end")
    assert answer.exit_code == 0
    # 13.085951 × 12 − 1 = 156.031412, to the sixth place of the unrounded 13.0859512…
    points = json.loads((tmp_path / "factor-table.json").read_text("utf-8"))["points"]
    assert points["65y0m"].startswith("156.0314")


def test_a_single_table_is_named_with_its_number(tmp_path):
    answer = build(tmp_path, "--soa-table", "2586", "--interest", "4", "--ages", "65-66")
    assert answer.exit_code == 0
    assert "| SOA 2586, 2012 IAM Period Table – Female, ANB |" in (tmp_path / "factor-table.md").read_text("utf-8")


def test_a_blend_is_named_with_its_tables_and_weights(tmp_path):
    answer = build(tmp_path, "--soa-table", "825:60", "--soa-table", "826:40", "--interest", "4", "--ages", "65-66")
    assert answer.exit_code == 0
    document = (tmp_path / "factor-table.md").read_text("utf-8")
    assert "60 % SOA 825, 1983 GAM Table - Female; 40 % SOA 826, 1983 GAM Table - Male" in document


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        # Printed at 90 is 5.1835 a year in advance; by months that is some 0.46 less, and under five.
        ([*BY_SULT, "--ages", "65-90"], 3, "factor_out_of_range (points.90y0m)"),
        (["--soa-table", "825", "--interest", "4", "--ages", "65-111"], 3, "no_factor_for_age"),
        (["--soa-table", "825:60", "--soa-table", "826:30", "--interest", "4"], 3, "must total 100 percent"),
        (["--makeham", "0.00022,0.0000027,1", "--interest", "5"], 3, "invalid_input (mortality.law.c)"),
        ([*BY_SULT[:2], "--interest", "five"], 3, "invalid_input (interest_percent)"),
        (["--soa-table", "919", "--interest", "4"], 2, "Projection Scale"),
        (["--soa-table", "female", "--interest", "4"], 2, "a table's number"),
        (["--makeham", "0.00022,1.124", "--interest", "5"], 2, "three constants"),
        ([*BY_SULT, "--ages", "70-65"], 2, "two whole ages"),
        (["--interest", "5"], 2, "--makeham or --soa-table"),
        ([*BY_SULT, "--soa-table", "825"], 2, "--makeham or --soa-table"),
    ],
)
def test_a_table_that_could_not_be_used_is_refused_and_nothing_is_written(tmp_path, arguments, code, says):
    answer = build(tmp_path / "out", *arguments)
    assert answer.exit_code == code
    assert says in answer.stderr
    assert not (tmp_path / "out").exists()


def test_a_printed_value_that_is_not_found_again_stops_the_build(tmp_path, monkeypatch):
    wrong = published.Recomputed("SULT", "65", "monthly", "13.085951", "13.002618")
    monkeypatch.setattr("cli.factors.recomputed", lambda: [wrong])
    answer = build(tmp_path / "out", *BY_SULT)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr == "SULT 65 monthly: printed 13.085951, found 13.002618\n"
    assert not (tmp_path / "out").exists()
