"""4 L.P.R.A. § 242b: what its cases can't say: receipts, open questions, refusals in words, and the plain functions."""

import json
from datetime import date
from fractions import Fraction

import pytest

from retiro.rules.calendar import Semester
from retiro.rules.determinations import DETERMINATIONS, determine
from retiro.rules.judiciary_hybrid import (
    FACTOR_TABLE,
    FactorTable,
    check_table,
    complete_months,
    factor_at,
    first_month_fraction,
    format_age,
    monthly_annuity_cents,
    parse_age,
    payment_cents,
    payments_through_cents,
)
from retiro.rules.receipts import Act, Receipt
from retiro.rules.refusals import Refusal

SEPARATION = {
    "separated_on": "2026-03-31",
    "birth_date": "1961-04-01",
    "cause": "voluntary",
    "credited_service": {"years": 12},
    "balance": "90000.00",
}
ANNUITY = {
    "retirement_date": "2026-03-17",
    "birth_date": "1961-02-17",
    "credited_service": {"years": 12},
    "balance": "100000.00",
    "factor_table": {"unit": "months", "points": {"65y0m": "106.8062", "66y0m": "104.2000"}},
}
PAYMENTS = {
    "retirement_date": "2026-03-17",
    "monthly_annuity": "636.82",
    "death_date": "2026-09-02",
    "paid_through": "2026-12",
}
REFUND = {
    "death_date": "2025-04-10",
    "contributions": "9500.00",
    "posted_yield": "400.00",
    "debts": [{"name": "personal loan", "amount": "100.00"}],
    "designation": {
        "filed_on": "2020-01-05",
        "recognized": True,
        "beneficiaries": [{"name": "A", "died_on": "2024-01-01"}, {"name": "B"}],
    },
}
RETURN = {
    "semester": "FY2025-S2",
    "opening_balance": "10000.00",
    "selection": {"fixed_income": 50, "system_portfolio": 50},
    "option_yields": {
        "fixed_income": {"monthly_percent": ["4.27", "4.21", "3.97"]},
        "system_portfolio": {"return_percent": "2.00", "management_fees_percent": "0.10"},
    },
    "as_of": "2025-04-10",
}
BENEFIT = {
    "retirement_date": "2024-01-01",
    "death_date": "2025-04-10",
    "balance_at_retirement": "50000.00",
    "annuity_payments_total": "9552.30",
    "transfer_annuity_due": True,
    "debts": [{"name": "personal loan", "amount": "100.00"}],
    "designation": {"filed_on": "2020-01-05", "recognized": True, "beneficiaries": [{"name": "A"}]},
}
FACTS = {
    "separation_benefit": SEPARATION,
    "life_annuity": ANNUITY,
    "annuity_payments": PAYMENTS,
    "active_death_refund": REFUND,
    "provisional_yield": RETURN,
    "pensioner_death_benefit": BENEFIT,
}


# The receipt


@pytest.mark.parametrize("name", FACTS)
def test_a_result_comes_again_from_the_inputs_and_settings_of_its_receipt(name):
    result = determine(name, FACTS[name])
    stored = json.loads(result.model_dump_json())
    receipt = Receipt.model_validate(stored["receipt"])
    assert determine(name, receipt.inputs) == result
    with_settings = receipt.inputs | {"settings": {used.name: used.value for used in receipt.settings}}
    assert determine(name, with_settings).model_dump(exclude={"receipt"}) == result.model_dump(exclude={"receipt"})
    assert DETERMINATIONS[name].result.model_validate_json(result.model_dump_json()) == result


@pytest.mark.parametrize("name", FACTS)
def test_every_step_cites_the_section_in_both_languages(name):
    steps = determine(name, FACTS[name]).receipt.steps
    assert steps
    for step in steps:
        assert step.citation.startswith("4 L.P.R.A. § 242b(")
        assert all((step.label.en, step.label.es, step.formula.en, step.formula.es, step.value))


def test_the_ages_of_a_table_stay_texts_in_the_receipt():
    inputs = determine("life_annuity", ANNUITY).receipt.inputs
    assert inputs["factor_table"] == {"unit": "months", "points": {"65y0m": "106.8062", "66y0m": "104.2"}}


def test_the_factor_is_shown_with_six_places_and_kept_exact():
    receipt = determine("life_annuity", ANNUITY).receipt
    (factor,) = (step for step in receipt.steps if step.label.en == "Factor in months")
    # 106.8062 − 2.6062/12 = 1279.0682/12
    assert (factor.value, Fraction(factor.exact)) == ("106.589017", Fraction("1279.0682") / 12)


def test_a_factor_says_that_no_act_adopted_it():
    steps = determine("life_annuity", ANNUITY).receipt.steps
    (source,) = (step for step in steps if step.label.en == "Source of the factor")
    assert source.value.startswith("given with the case; no act of the Board")


def test_a_factor_names_the_act_that_adopted_its_table():
    act = Act("Resolution 2026-03 of 2026-01-15, Junta de Retiro", date(2026, 1, 1))
    steps = determine("life_annuity", ANNUITY, acts={FACTOR_TABLE: act}).receipt.steps
    (source,) = (step for step in steps if step.label.en == "Source of the factor")
    assert source.value == "Resolution 2026-03 of 2026-01-15, Junta de Retiro, 2026-01-01"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("separation_benefit", {}),
        ("life_annuity", {"first_payment_days": "2026-03-17"}),
        ("annuity_payments", {"first_payment_days": "2026-03-17"}),
        ("active_death_refund", {"predeceased_share": "2025-04-10"}),
        ("pensioner_death_benefit", {"lump_sum_with_transfer_annuity": "2025-04-10", "pensioner_debts": "2025-04-10"}),
        (
            "provisional_yield",
            dict.fromkeys(
                (
                    "return_at_exit",
                    "average_balance_method",
                    "cmt_semester_conversion",
                    "portfolio_fee_treatment",
                    "negative_yield",
                ),
                "2025-04-10",
            ),
        ),
    ],
)
def test_the_settings_at_work_are_written_down_with_the_day_that_matters(name, settings):
    used = determine(name, FACTS[name]).receipt.settings
    assert {each.name: str(each.on) for each in used} == settings


def test_settings_that_change_nothing_are_not_written_down():
    alive = {"filed_on": "2020-01-05", "recognized": True, "beneficiaries": [{"name": "B"}]}
    assert determine("active_death_refund", REFUND | {"designation": alive}).receipt.settings == []
    on_the_thirtieth_day = BENEFIT | {"death_date": "2024-01-31"}
    assert determine("pensioner_death_benefit", on_the_thirtieth_day).receipt.settings == []


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("separation_benefit", {"judge_service_years": "12", "judge_annuity_age_years": "65"}),
        ("life_annuity", {"judge_service_years": "12", "judge_annuity_age_years": "65"}),
        ("annuity_payments", {"judge_death_as_in_service_days": "30"}),
        ("pensioner_death_benefit", {"judge_death_as_in_service_days": "30"}),
        ("provisional_yield", {"system_portfolio_share_percent": "90"}),
    ],
)
def test_the_figures_of_the_statute_are_written_down_with_their_source(name, parameters):
    used = determine(name, FACTS[name]).receipt.parameters
    assert {each.name: each.value for each in used} == parameters
    assert all(each.source and each.citation for each in used)


# Open questions


@pytest.mark.parametrize("due", [True, False])
def test_a_lump_sum_that_is_paid_leaves_the_question_of_the_annuity_by_transfer_open(due):
    (question,) = determine("pensioner_death_benefit", BENEFIT | {"transfer_annuity_due": due}).receipt.open_questions
    assert "§ 237" in question.en
    assert "§ 773" in question.es


@pytest.mark.parametrize("value", ["hold", "none"])
def test_a_lump_sum_that_the_board_has_settled_leaves_none(value):
    settled = BENEFIT | {"settings": {"lump_sum_with_transfer_annuity": value}}
    assert determine("pensioner_death_benefit", settled).receipt.open_questions == []


# Refusals


@pytest.mark.parametrize(
    ("name", "change", "code", "field", "says"),
    [
        ("separation_benefit", {"cause": "removal"}, "cause_excluded", "cause", "removal from office"),
        ("separation_benefit", {"permanent": False}, "needs_decision", "permanent", "isn't permanent"),
        ("separation_benefit", {"open_debt": True}, "needs_decision", "open_debt", "a debt to the System is open"),
        (
            "separation_benefit",
            {"service_as_judge": {"years": 11}},
            "needs_decision",
            "service_as_judge",
            "12 years are credited, and fewer as a judge",
        ),
        ("separation_benefit", {"birth_date": "2026-04-01"}, "invalid_input", "separated_on", "before the birth"),
        ("life_annuity", {"transfer_annuity_elected": True}, "needs_decision", "transfer_annuity_elected", "transfer"),
        (
            "life_annuity",
            {"credited_service": {"years": 11, "months": 6}},
            "insufficient_service",
            "credited_service",
            "12 years as a judge; there are 11 years, 6 months and 0 days",
        ),
        (
            "life_annuity",
            {"birth_date": "1961-03-18"},
            "under_age_65",
            "retirement_date",
            "age of 65, reached on 2026-03-18; the retirement is on 2026-03-17",
        ),
        (
            "life_annuity",
            {"retirement_date": "2027-03-17"},
            "no_factor_for_age",
            "factor_table",
            "no factor for 66y1m; it goes from 65y0m to 66y0m",
        ),
        (
            "life_annuity",
            {"factor_table": {"unit": "years", "points": {"65y0m": "106.8062", "66y0m": "104.2000"}}},
            "factor_out_of_range",
            "factor_table",
            "106.589017 years lies outside 5 to 30",
        ),
        ("life_annuity", {"factor_table": None}, "invalid_input", "factor", "or a factor_table"),
        ("annuity_payments", {"death_date": "2026-03-16"}, "invalid_input", "death_date", "before the retirement"),
        ("annuity_payments", {"paid_through": "2026-9"}, "invalid_input", "paid_through", "a month as YYYY-MM"),
        (
            "active_death_refund",
            {"separated_on": "2025-04-09"},
            "needs_decision",
            "separated_on",
            "neither (e) nor (f)",
        ),
        (
            "active_death_refund",
            {"debts": [{"name": "x", "amount": "1.00", "system": "ERS"}]},
            "needs_decision",
            "debts.0.system",
            "another system",
        ),
        (
            "active_death_refund",
            {"designation": None, "heirs": [{"name": "H", "share_percent": "99.9"}]},
            "shares_do_not_total_100",
            "heirs",
            "total 99.9 percent",
        ),
        ("provisional_yield", {"selection": {"gold": 100}}, "yield_not_in_force", "option_yields.gold", "gold"),
        (
            "pensioner_death_benefit",
            {"death_date": "2023-12-31"},
            "invalid_input",
            "death_date",
            "before the retirement",
        ),
    ],
)
def test_a_refusal_names_its_field_and_says_why(name, change, code, field, says):
    with pytest.raises(Refusal) as refused:
        determine(name, FACTS[name] | change)
    assert (refused.value.code, refused.value.field) == (code, field)
    assert says in refused.value.sentence.en
    assert refused.value.citation.startswith("4 L.P.R.A. § 242b(")
    assert refused.value.sentence.es != refused.value.sentence.en


def test_a_factor_out_of_range_names_what_its_unit_allows_in_spanish():
    table = {"unit": "months", "points": {"65y0m": "13.085951", "66y0m": "12.791786"}}
    with pytest.raises(Refusal) as refused:
        determine("life_annuity", ANNUITY | {"factor_table": table})
    assert "meses queda fuera de 60 a 360" in refused.value.sentence.es


# Factors


@pytest.mark.parametrize(("text", "months"), [("0y0m", 0), ("65y0m", 780), ("65y11m", 791), ("110y1m", 1321)])
def test_an_age_is_its_completed_months_and_back(text, months):
    assert (parse_age(text), format_age(months)) == (months, text)


@pytest.mark.parametrize("text", ["65", "65y", "65y12m", "065y0m", "65Y0M", "-1y0m", " 65y0m", "65y00m", "６５y0m"])
def test_an_age_has_one_form(text):
    with pytest.raises(ValueError, match="65y0m"):
        parse_age(text)


def test_a_table_is_linear_between_its_points_and_nothing_outside():
    table = FactorTable.model_validate({"unit": "years", "points": {"70y0m": "11", "65y0m": "13", "66y0m": "12.5"}})
    assert factor_at(table, 65 * 12) == 13
    assert factor_at(table, 65 * 12 + 6) == Fraction("12.75")
    assert factor_at(table, 68 * 12) == Fraction("11.75")  # halfway from 12.5 to 11
    assert factor_at(table, 70 * 12) == 11
    for months in (65 * 12 - 1, 70 * 12 + 1):
        with pytest.raises(Refusal, match="no_factor_for_age"):
            factor_at(table, months)


def test_the_board_files_no_table_with_a_point_out_of_range():
    check_table(FactorTable.model_validate({"unit": "years", "points": {"65y0m": "30", "90y0m": "5"}}))
    with pytest.raises(Refusal, match="factor_out_of_range") as refused:
        check_table(FactorTable.model_validate({"unit": "years", "points": {"65y0m": "13", "90y0m": "4.712848"}}))
    assert refused.value.field == "points.90y0m"


def test_a_factor_in_months_is_twelve_of_one_in_years():
    # 120000.00 ÷ 10 ÷ 12 = 120000.00 ÷ 120 = 1000.00
    assert monthly_annuity_cents(12_000_000, Fraction(10), "years") == 100_000
    assert monthly_annuity_cents(12_000_000, Fraction(120), "months") == 100_000


# Payments, as the payroll asks for them


def test_each_month_has_its_payment():
    retired = date(2026, 3, 17)
    assert payment_cents(63682, retired, date(2026, 2, 28), "actual") == 0
    assert payment_cents(63682, retired, date(2026, 3, 1), "actual") == 30814  # × 15/31 = 308.1387
    assert payment_cents(63682, retired, date(2026, 4, 1), "actual") == 63682
    assert payments_through_cents(63682, retired, date(2026, 2, 1), "actual") == 0
    assert payments_through_cents(63682, retired, date(2026, 5, 31), "actual") == 30814 + 2 * 63682


def test_a_setting_that_does_not_exist_is_no_fraction():
    with pytest.raises(ValueError, match="sixty"):
        first_month_fraction(date(2026, 3, 17), "sixty")


@pytest.mark.parametrize(
    ("as_of", "months"),
    [("2025-01-30", 0), ("2025-01-31", 1), ("2025-02-27", 1), ("2025-02-28", 2), ("2025-06-29", 5), ("2025-06-30", 6)],
)
def test_a_month_is_complete_on_its_last_day(as_of, months):
    assert complete_months(Semester.parse("FY2025-S2"), date.fromisoformat(as_of)) == months
