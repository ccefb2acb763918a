"""Late credits, corrections and reversals: what belongs to a posted semester, put right by new lines."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from retiro.ledger import savings
from retiro.ledger.credits import PostedFigures
from retiro.ledger.evidence import Evidence
from retiro.ledger.late_credits import (
    AsPosted,
    Correction,
    Late,
    correction,
    late_credit,
    late_yield,
    left_out,
    posted_semesters,
    reversal_of,
)
from retiro.ledger.lines import Line, LineError, LineKind, RunMark, to_item
from retiro.ledger.month_ends import MonthEnds
from retiro.ledger.savings import YieldPosting
from retiro.ledger.verify import verify_passbook
from retiro.rules.calendar import Semester
from retiro.rules.receipts import Act
from retiro.rules.refusals import Refusal, RefusalCode
from tests.ledger.makers import (
    ANA,
    FIGURES,
    NOW,
    PARTICIPANT,
    S1,
    S2,
    account_of_readings,
    contributed,
    day,
    enrolled,
    grown,
    posted,
    two_semesters_posted,
)

TODAY = day("2025-07-10")
FY2024_S2 = Semester.parse("FY2024-S2")


def credited_late(history: list[Line], cents: int, legal_date: str) -> list[Line]:
    return grown([late_credit(history, Late(cents, day(legal_date), TODAY), FIGURES, ANA)[0]], history)


def is_sound(history: Sequence[Line]) -> bool:
    return verify_passbook(PARTICIPANT, [to_item(line) for line in history]).findings == ()


def code_of(history: Sequence[Line], semester: Semester) -> RefusalCode:
    with pytest.raises(Refusal) as refused:
        reversal_of(history, semester, ANA)
    return refused.value.code


def test_a_late_credit_brings_the_difference_of_every_semester_since() -> None:
    """§ 786-7(a)(2), (3).

    300.00 of 2024-09-10: in four of S1's six month-ends, 200.00 more on average. S1: 10,000.00 × 24.55 / 12 %
    = 204.58, 4.09 more than 200.49. S2: 10,700.49 + 304.09 = 11,004.58, × 24.04 / 12 % = 220.46, 6.09 more than 214.37.
    """
    history = two_semesters_posted()
    draft, result = late_credit(history, Late(30_000, day("2024-09-10"), TODAY), FIGURES, ANA)
    assert draft.differences == {"FY2025-S1": 409, "FY2025-S2": 609}
    assert result.total_difference == 1_018
    assert (draft.effective_on, draft.belongs_on) == (TODAY, day("2024-09-10"))
    last = grown([draft], history)[-1]
    # 11,414.86 + 300.00 + 10.18
    assert last.balances["savings"] == 1_172_504
    assert last.balances["yields"] == -(20_049 + 21_437 + 1_018)
    assert last.balances["contributions"] == -(120_000 + 30_000)
    # All of it is in the opening of the open semester.
    assert last.month_ends == MonthEnds("2025-06", (1_172_504,))
    assert is_sound([*history, last])


def test_a_second_late_credit_counts_on_the_first() -> None:
    """Two halves, one after the other, bring the same cents as the whole, since each is determined on what stands."""
    history = credited_late(two_semesters_posted(), 15_000, "2024-09-10")
    history = credited_late(history, 15_000, "2024-09-10")
    assert history[-1].balances["savings"] == 1_172_504
    assert {name: history[-2].differences[name] + history[-1].differences[name] for name in FIGURES} == {
        "FY2025-S1": 409,
        "FY2025-S2": 609,
    }
    assert is_sound(history)


@pytest.mark.parametrize(
    ("legal_date", "semesters"),
    [("2024-12-31", ["FY2025-S1", "FY2025-S2"]), ("2025-01-01", ["FY2025-S2"]), ("2025-06-30", ["FY2025-S2"])],
)
def test_a_late_credit_reaches_the_posted_semesters_from_its_own_on(legal_date: str, semesters: list[str]) -> None:
    history = two_semesters_posted()
    assert [str(one.semester) for one in posted_semesters(history, day(legal_date))] == semesters
    assert list(credited_late(history, 100, legal_date)[-1].differences) == semesters


def test_a_late_credit_names_the_figures_that_it_needs() -> None:
    determinations = [one.determination for one in posted_semesters(two_semesters_posted(), day("2024-07-01"))]
    assert determinations == ["yield/FY2025-S1/1", "yield/FY2025-S2/1"]


def test_a_semester_before_the_first_posted_one_is_reached_too() -> None:
    earlier = posted_semesters(posted(account_of_readings(), S2, 21_436), day("2024-11-15"))
    assert [(one.semester, one.line is None) for one in earlier] == [(S1, True), (S2, False)]


def test_a_credit_of_a_semester_without_any_credit_earns_from_then_on() -> None:
    """P-000001 had nothing before 2025, and no selection either until 2025-01-01."""
    history = posted(account_of_readings(), S2, 21_436)
    with pytest.raises(Refusal) as refused:
        credited_late(history, 60_000, "2024-11-15")
    assert refused.value.code is RefusalCode.NO_SELECTION
    by_order = FIGURES | {"FY2025-S1": AsPosted(FIGURES["FY2025-S1"].option_yields, {"no_selection": "fixed_income"})}
    draft, _ = late_credit(history, Late(60_000, day("2024-11-15"), TODAY), by_order, ANA)
    # S1: 600.00 in two of six month-ends, 200.00 × 24.55 / 12 % = 4.0917 → 4.09.
    # S2: (10,700.00 + 604.09) × 24.04 / 12 % = 226.4586 → 226.46, 12.10 more than 214.36.
    assert draft.differences == {"FY2025-S1": 409, "FY2025-S2": 1_210}
    history = grown([draft], history)
    assert is_sound(history)
    # Taking S2 back would open S1, whose yield this line has brought: that is for a person.
    assert code_of(history, S2) is RefusalCode.NEEDS_DECISION


def selected_three_times() -> list[Line]:
    """All in the portfolio until 2024-07-01, then fixed income; 10,000.00 that day, and FY2025-S1 posted, 204.58.

    A third selection, asked for after that, leaves only the second and itself in the last line.
    """
    history = enrolled({"system_portfolio": 100}, on="2023-08-01")
    history = _selected(history, {"fixed_income": 100}, "2024-02-01", "2024-07-01")
    history = posted(contributed(history, ("2024-07-01", 1_000_000)), S1, 20_458)
    return _selected(history, {"system_portfolio": 100}, "2025-01-10", "2025-07-01")


def _selected(history: list[Line], options: dict[str, int], requested: str, effective: str) -> list[Line]:
    draft = savings.selection(
        history[-1], options, requested_on=day(requested), effective_on=day(effective), origin=ANA
    )
    return grown([draft], history)


def test_a_semester_before_the_first_credit_earns_by_the_selection_of_its_own_time() -> None:
    """1,000.00 of January 15. FY2024-S2: 0.9 × (3.50 − 0.40) = 2.79 %, 27.90. Then 1,027.90 × 24.55 / 12 % = 21.03."""
    portfolio = {"system_portfolio": {"return_percent": "3.50", "management_fees_percent": "0.40"}}
    figures = FIGURES | {"FY2024-S2": AsPosted(portfolio)}
    draft, _ = late_credit(selected_three_times(), Late(100_000, day("2024-01-15"), TODAY), figures, ANA)
    assert draft.differences == {"FY2024-S2": 2_790, "FY2025-S1": 2_103}


def test_the_boards_figures_of_a_semester_before_the_first_credit_are_of_the_option_then_selected() -> None:
    asked: list[list[str]] = []
    adopted = SimpleNamespace(
        option_yields=lambda _, options: asked.append(options),
        settings=lambda _: {},
        acts=lambda _: {},
        closure_days=tuple,
    )
    evidence = Evidence("yield", "FY2025-S1/1", {"acts": {}, "option_yields": {}, "settings": {}, "closure_days": []})
    store: Any = SimpleNamespace(get_evidence=lambda *_: evidence)
    board: Any = SimpleNamespace(adopted=lambda _: adopted)
    PostedFigures(store, board).of(selected_three_times(), day("2024-01-15"))
    assert asked == [["system_portfolio"]]


def test_a_credit_in_an_open_semester_is_not_late() -> None:
    with pytest.raises(LineError):
        late_credit(two_semesters_posted(), Late(1, day("2025-07-01"), TODAY), FIGURES, ANA)


def test_figures_that_do_not_give_what_was_posted_are_for_a_person() -> None:
    """Audit finding 9: none of 40 recalculations could be reproduced."""
    with pytest.raises(Refusal) as refused:
        late_credit(
            two_semesters_posted(),
            Late(100, day("2025-01-15"), TODAY),
            {"FY2025-S2": AsPosted({"fixed_income": {"monthly_percent": ["4.28"] * 6}})},
            ANA,
        )
    assert refused.value.code is RefusalCode.NEEDS_DECISION
    assert "214.37" in refused.value.sentence.en


def test_a_closed_account_takes_no_late_credit() -> None:
    history = grown([savings.status_change(LineKind.CLOSING, TODAY, ANA)], two_semesters_posted())
    with pytest.raises(Refusal) as refused:
        late_credit(history, Late(100, day("2025-01-15"), TODAY), FIGURES, ANA)
    assert refused.value.code is RefusalCode.STATUS_FORBIDS


def overtaken() -> list[Line]:
    """600.00 of 2025-03-10 recorded after S2 was prepared and before it was posted: its figures don't have it."""
    prepared = account_of_readings()
    moved = contributed(prepared, ("2025-03-10", 60_000))
    posting = YieldPosting(S2, 1, 21_436, S2.ends_on, prepared[-1].sequence)
    return grown([savings.semester_yield(moved[-1], posting, savings.Origin("run"))], moved)


def test_a_line_between_preparation_and_posting_is_named_and_its_yield_brought_by_a_line_of_its_own() -> None:
    history = overtaken()
    assert [line.sequence for line in left_out(history)] == [9]
    draft, _ = late_yield(history, 9, FIGURES, TODAY, ANA)
    # 600.00 in four of six month-ends: 10,700.00 + 400.00 = 11,100.00 × 24.04 / 12 % = 222.37, 8.01 more than 214.36.
    assert draft.differences == {"FY2025-S2": 801}
    history = grown([draft], history)
    # 11,200.00 + 600.00 + 214.36 + 8.01
    assert history[-1].balances["savings"] == 1_202_237
    assert left_out(history) == []
    assert is_sound(history)
    # A later late credit counts on both: 11,100.00 + 6.00 → 222.4902, 0.12 more than 222.37.
    assert credited_late(history, 600, "2025-01-31")[-1].differences == {"FY2025-S2": 12}


def test_such_a_line_is_in_no_figure_of_a_late_credit_while_its_own_yield_is_open() -> None:
    # 10,700.00 + 6.00 = 10,706.00 × 24.04 / 12 % = 214.4769 → 214.48, 0.12 more than 214.36.
    assert credited_late(overtaken(), 600, "2025-01-31")[-1].differences == {"FY2025-S2": 12}


def test_such_a_line_is_for_a_person_once_a_later_semester_has_it_in_its_opening() -> None:
    history = posted(overtaken(), Semester.parse("FY2026-S1"), 100)
    with pytest.raises(Refusal) as refused:
        late_yield(history, 9, FIGURES, TODAY, ANA)
    assert refused.value.code is RefusalCode.NEEDS_DECISION


def test_a_reversal_takes_the_yield_back_with_what_late_credits_have_added() -> None:
    history = credited_late(two_semesters_posted(), 30_000, "2024-09-10")
    draft = reversal_of(history, S2, ANA, run=("yield_reversal", "FY2025-S2", 1))
    assert (draft.effective_on, draft.reverses) == (S2.ends_on, 10)
    reversed_ = grown([draft], history)
    last = reversed_[-1]
    # 11,725.04 − 214.37 − 6.09
    assert last.balances["savings"] == 1_150_458
    assert last.runs == {"yield": RunMark("FY2025-S1", 1, 3), "yield_reversal": RunMark("FY2025-S2", 1, 12)}
    # The opening has the late credit and S1's difference: 9,800.00 + 200.49 + 300.00 + 4.09.
    assert savings.semester_figures(last, S2) == (
        1_030_458, 1_050_458, 1_070_458, 1_090_458, 1_110_458, 1_130_458, 1_150_458,
    )  # fmt: skip
    assert is_sound(reversed_)
    # Posted again on an average of 11,004.58: 220.46, the same in sum as before.
    again = posted(reversed_, S2, 22_046, attempt=2)
    assert again[-1].balances["savings"] == 1_172_504
    assert is_sound(again)
    # And a late credit after that counts on the second attempt: 6.00 in each month-end, 220.5786 → 220.58.
    assert credited_late(again, 600, "2025-01-31")[-1].differences == {"FY2025-S2": 12}


def test_semesters_are_reversed_latest_first_and_posted_again_to_the_same_cents() -> None:
    """LE-09, https://github.com/etendosoftware/etendo_core/issues/887: un-posting wasn't blocked as posting was.

    10,000.00 and no movement: S1 204.58 (10,000.00 × 24.55 / 12 %), then S2 204.43 (10,204.58 × 24.04 / 12 %).
    """
    opened = grown([savings.initial_transfer(None, 1_000_000, day("2024-07-01"), ANA)], enrolled())
    first = posted(opened, S1, 20_458)
    both = posted(first, S2, 20_443)
    assert code_of(both, S1) is RefusalCode.LATER_SEMESTER_STANDS
    one = grown([reversal_of(both, S2, ANA)], both)
    assert code_of(one, S2) is RefusalCode.NOT_POSTED
    none = grown([reversal_of(one, S1, ANA)], one)
    assert none[-1].runs == {}
    assert none[-1].balances == {"savings": 1_000_000, "transfers": -1_000_000}
    assert code_of(none, S1) is RefusalCode.NOT_POSTED
    assert savings.semester_figures(none[-1], S1) == (0, *[1_000_000] * 6)
    again = posted(posted(none, S1, 20_458, attempt=2), S2, 20_443, attempt=2)
    assert again[-1].balances == both[-1].balances
    assert again[-1].month_ends == both[-1].month_ends
    assert is_sound(again)


def test_a_reversal_after_the_account_was_settled_is_refused() -> None:
    history = grown([savings.status_change(LineKind.RETIREMENT, TODAY, ANA)], two_semesters_posted())
    assert code_of(history, S2) is RefusalCode.STATUS_FORBIDS
    assert code_of(two_semesters_posted(), Semester.parse("FY2026-S1")) is RefusalCode.NOT_POSTED


def test_a_reversal_brings_back_the_selection_that_the_semester_needs() -> None:
    history = contributed(enrolled({"fixed_income": 100}), ("2024-07-15", 100))
    for requested, effective in (("2024-08-01", "2025-07-01"), ("2026-01-15", "2026-07-01")):
        if requested > "2026":
            for semester in (S1, S2, Semester.parse("FY2026-S1")):
                history = posted(history, semester, 1)
        options = {"system_portfolio": 100}
        draft = savings.selection(
            history[-1], options, requested_on=day(requested), effective_on=day(effective), origin=ANA
        )
        history = grown([draft], history)
    for semester in (Semester.parse("FY2026-S1"), S2):
        history = grown([reversal_of(history, semester, ANA)], history)
    assert savings.selection_in_force(history[-1].state, S2.ends_on) == {"fixed_income": 100}
    assert is_sound(history)


def test_a_wrong_credit_of_an_open_semester_is_reversed_and_put_right_on_its_own_day() -> None:
    history = account_of_readings()
    wrong = Correction(4, TODAY, right=(2_000, day("2025-03-31")))
    corrected = grown(correction(history, wrong, FIGURES, ANA), history)
    assert [(line.kind, line.savings_cents, line.effective_on) for line in corrected[-2:]] == [
        (LineKind.CORRECTION, -20_000, day("2025-02-15")),
        (LineKind.CONTRIBUTION, 2_000, day("2025-03-31")),
    ]
    # 200.00 less from February on, 20.00 more from March on.
    assert savings.semester_figures(corrected[-1], S2) == (
        0, 1_020_000, 1_020_000, 1_042_000, 1_062_000, 1_082_000, 1_102_000,
    )  # fmt: skip
    assert is_sound(corrected)
    with pytest.raises(Refusal) as refused:
        correction(corrected, wrong, FIGURES, ANA)
    assert refused.value.code is RefusalCode.NEEDS_DECISION


def test_a_wrong_credit_of_a_posted_semester_is_put_right_with_its_yield() -> None:
    """300.00 credited late by mistake: taken back, the account is as if it had never come."""
    history = credited_late(two_semesters_posted(), 30_000, "2024-09-10")
    drafts = correction(history, Correction(len(history), TODAY), FIGURES, ANA)
    assert [draft.differences for draft in drafts] == [{"FY2025-S1": -409, "FY2025-S2": -609}]
    corrected = grown(drafts, history)
    assert corrected[-1].balances == two_semesters_posted()[-1].balances
    assert corrected[-1].reverses == len(history)
    assert is_sound(corrected)


def test_the_right_credit_in_place_of_a_wrong_one_is_determined_after_it() -> None:
    history = credited_late(two_semesters_posted(), 15_000, "2024-09-10")
    right = Correction(len(history), TODAY, right=(30_000, day("2024-09-10")))
    corrected = grown(correction(history, right, FIGURES, ANA), history)
    # As if 300.00 had come at once.
    assert corrected[-1].balances["savings"] == 1_172_504
    assert corrected[-1].differences == {"FY2025-S1": 409, "FY2025-S2": 609}
    assert is_sound(corrected)


def test_a_wrong_transfer_is_put_right_as_a_transfer() -> None:
    history = account_of_readings()
    drafts = correction(history, Correction(2, TODAY, right=(900_000, day("2025-01-01"))), FIGURES, ANA)
    assert [draft.kind for draft in drafts] == [LineKind.CORRECTION, LineKind.INITIAL_TRANSFER]
    assert grown(drafts, history)[-1].balances["transfers"] == -900_000


def test_a_wrong_credit_of_a_rebuilt_account_is_put_right_against_its_history() -> None:
    """50.00 of which 20.00 were right: 50.00 off `history` and 20.00 back, and no employer's money moves."""
    opened = enrolled(on="2025-01-01")
    history = grown([savings.rebuilt_contribution(opened[-1], 5_000, day("2025-01-31"), ANA)], opened)
    assert history[-1].balances == {"savings": 5_000, "history": -5_000}
    drafts = correction(history, Correction(2, TODAY, right=(2_000, day("2025-01-31"))), FIGURES, ANA)
    corrected = grown(drafts, history)
    assert corrected[-1].balances == {"savings": 2_000, "history": -2_000}
    assert is_sound(corrected)


def test_only_a_credit_can_be_corrected() -> None:
    with pytest.raises(Refusal) as refused:
        correction(two_semesters_posted(), Correction(3, TODAY), FIGURES, ANA)
    assert refused.value.code is RefusalCode.NEEDS_DECISION


def test_the_receipt_names_for_each_semester_the_act_that_adopted_its_setting() -> None:
    """The settings of each semester are its own, and so is what adopted them."""
    name = "average_balance_method"
    figures = {
        semester: replace(FIGURES[semester], settings={name: "month_end"}, acts={name: Act(source, day(in_force_from))})
        for semester, source, in_force_from in (
            ("FY2025-S1", "Resolution 2024-01", "2024-01-01"),
            ("FY2025-S2", "Resolution 2025-07", "2025-01-01"),
        )
    }
    _, result = late_credit(two_semesters_posted(), Late(30_000, day("2024-09-10"), TODAY), figures, ANA)
    used = [(one.on.isoformat(), one.source.en) for one in result.receipt.settings if one.name == name]
    assert used == [("2024-12-31", "Resolution 2024-01"), ("2025-06-30", "Resolution 2025-07")]


def test_figures_are_read_from_the_body_of_a_run_s_evidence() -> None:
    act = {"source": "Resolution 2025-07", "in_force_from": "2025-01-01"}
    yields = {"OTHER": {"semester_percent": "0.5"}}
    body = {"option_yields": yields, "settings": {"a": "b"}, "closure_days": [], "acts": {"a": act}}
    expected = AsPosted(yields, {"a": "b"}, [], {"a": Act("Resolution 2025-07", day("2025-01-01"))})
    assert AsPosted.of_body(body) == expected
    assert NOW.date() == TODAY
