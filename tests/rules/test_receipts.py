"""A receipt is plain JSON from which the result can be worked out again."""

import json
from fractions import Fraction

import pytest

from retiro.rules.determinations import DETERMINATIONS, RULES_VERSION, determine
from retiro.rules.money import format_percent, parse_cents, round_half_away
from retiro.rules.receipts import Receipt

TREASURY = {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]}
PORTFOLIO = {"return_percent": "3.50", "management_fees_percent": "0.40"}
YIELD = {
    "semester": "FY2025-S2",
    "opening_balance": "1002.10",
    "movements": [{"date": "2025-02-10", "amount": "100.01"}],
    "selection": {"fixed_income": 30, "system_portfolio": 70, "board_option": 0},
    "option_yields": {"fixed_income": TREASURY, "system_portfolio": PORTFOLIO},
}
FACTS = {
    "semester_calendar": {"semester": "FY2024-S2", "closure_days": ["2024-06-28"]},
    "investment_selection": {
        "requested_on": "2025-06-30",
        "selection": {"fixed_income": 100},
        "options_in_force": ["fixed_income"],
        "initial": False,
    },
    "semester_yield": YIELD,
    "late_credit": {"movement": {"date": "2025-01-31", "amount": "10.00"}, "semesters": [YIELD]},
}


@pytest.mark.parametrize("name", FACTS)
def test_a_result_comes_again_from_the_inputs_and_settings_of_its_receipt(name):
    result = determine(name, FACTS[name])
    stored = json.loads(result.model_dump_json())
    receipt = Receipt.model_validate(stored["receipt"])
    assert receipt == result.receipt
    assert receipt.rules_version == RULES_VERSION
    again = determine(name, receipt.inputs)
    assert again == result
    with_settings = receipt.inputs | {"settings": {used.name: used.value for used in receipt.settings}}
    assert determine(name, with_settings).model_dump(exclude={"receipt"}) == result.model_dump(exclude={"receipt"})


@pytest.mark.parametrize("name", FACTS)
def test_a_result_is_accepted_by_its_own_schema(name):
    result = determine(name, FACTS[name])
    model = DETERMINATIONS[name].result
    assert model.model_validate_json(result.model_dump_json()) == result


def test_the_inputs_are_as_they_were_taken():
    receipt = determine("semester_yield", YIELD).receipt
    assert receipt.inputs["selection"] == {"fixed_income": 30, "system_portfolio": 70}  # the zero is dropped
    assert receipt.inputs["option_yields"]["system_portfolio"] == {
        "return_percent": "3.5",
        "management_fees_percent": "0.4",
    }
    assert "settings" not in receipt.inputs


def test_the_steps_can_be_worked_again_by_hand():
    result = determine("semester_yield", YIELD)
    steps = {step.label.en: step for step in result.receipt.steps}
    # 1002.10 + 100.01 × 5/6, exact: (6 × 100210 + 5 × 10001)/600
    average = steps["Average monthly balance"]
    assert average.value == "1085.44"
    assert Fraction(average.exact) == Fraction(651265, 600)
    # 24.04/12, and 0.9 × 3.10
    assert Fraction(steps["Percent of fixed_income"].exact) == Fraction(2404, 1200)
    assert steps["Percent of fixed_income"].value == "2.003333"
    assert steps["Percent of system_portfolio"].value == "2.790000"
    assert steps["Percent of system_portfolio"].exact is None
    percent = steps["Semester percent"]
    assert percent.value == format_percent(Fraction("0.3") * Fraction(2404, 1200) + Fraction("0.7") * Fraction("2.79"))
    # 1085.441666… × 2.554 % = 27.722180
    worked = Fraction(average.exact) * Fraction(percent.exact or percent.value)
    assert round_half_away(worked) == parse_cents(steps["Yield"].value) == parse_cents("27.72") == result.yield_amount
    assert steps["Closing balance"].value == "1129.83"  # 1002.10 + 100.01 + 27.72
    assert all(step.citation.startswith("3 L.P.R.A. § 786-7") for step in result.receipt.steps)


def test_the_parameter_and_the_settings_stand_with_their_dates_and_sources():
    receipt = determine("semester_yield", YIELD | {"settings": {"negative_yield": "floor_at_zero"}}).receipt
    (share,) = receipt.parameters
    assert (share.name, share.value) == ("system_portfolio_share_percent", "90")
    assert share.in_force_from.isoformat() == "2004-07-01"
    assert "Act 296-2004" in share.source
    assert {used.name: used.value for used in receipt.settings} == {
        "average_balance_method": "month_end",
        "cmt_semester_conversion": "half",
        "portfolio_fee_treatment": "fees_before_share",
        "negative_yield": "floor_at_zero",
    }
    assert {used.on.isoformat() for used in receipt.settings} == {"2025-06-30"}
    assert {used.name for used in receipt.settings if used.source.en == "given with the case"} == {"negative_yield"}


def test_a_share_that_was_entered_uses_no_parameter():
    figures = {"system_portfolio": PORTFOLIO | {"share_percent": "75"}}
    facts = YIELD | {"option_yields": figures, "selection": {"system_portfolio": 100}}
    assert determine("semester_yield", facts).receipt.parameters == []


def test_a_loss_leaves_an_open_question_since_subsection_c_vests_what_was_posted():
    loss = YIELD | {"selection": {"x": 100}, "option_yields": {"x": {"semester_percent": "-4.2"}}}
    (question,) = determine("semester_yield", loss).receipt.open_questions
    assert "(c) vests" in question.en
    assert "45.59" in question.es  # 1085.441666… × 4.2 %
    assert determine("semester_yield", YIELD).receipt.open_questions == []
    floored = loss | {"settings": {"negative_yield": "floor_at_zero"}}
    assert determine("semester_yield", floored).receipt.open_questions == []


def test_a_late_credit_shows_each_semester_before_and_after():
    receipt = determine("late_credit", FACTS["late_credit"]).receipt
    assert [step.label.en for step in receipt.steps] == [
        "Yield of FY2025-S2 as posted",
        "Yield of FY2025-S2 determined again",
        "Difference of FY2025-S2",
        "Total difference",
    ]


def test_a_late_debit_leaves_an_open_question_and_a_late_credit_none():
    debit = FACTS["late_credit"] | {"movement": {"date": "2025-06-30", "amount": "-600.00"}}
    receipt = determine("late_credit", debit).receipt
    (question,) = receipt.open_questions
    # one month-end of six: -600/6 = -100 of the average, 985.441666…; × 2.554 % = 25.168180
    # as posted 27.722180: 25.17 - 27.72 = -2.55
    assert "2.55 of the yield of FY2025-S2 is taken back" in question.en
    assert determine("late_credit", FACTS["late_credit"]).receipt.open_questions == []
