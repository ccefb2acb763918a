"""The lines of a savings passbook, and what its last line doesn't allow."""

from collections.abc import Callable, Sequence

import pytest

from retiro.ledger import savings
from retiro.ledger.lines import Draft, Line, LineError, LineKind
from retiro.ledger.month_ends import IncompleteError
from retiro.ledger.savings import Status, YieldPosting
from retiro.ledger.store import LedgerStore, MovedError
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal, RefusalCode
from tests.ledger.makers import (
    ANA,
    PARTICIPANT,
    RUN,
    S1,
    S2,
    account_of_readings,
    contributed,
    day,
    enrolled,
    grown,
    posted,
    stored_items,
)

FY2026_S1 = Semester.parse("FY2026-S1")
FY2026_S2 = Semester.parse("FY2026-S2")


def yield_of(last: Line, semester: Semester, cents: int = 1, history: Sequence[Line] | None = None) -> Draft:
    posting = YieldPosting(semester, 1, cents, semester.ends_on, last.sequence)
    return savings.semester_yield(last, posting, RUN, history)


def with_status(kind: LineKind) -> list[Line]:
    history = account_of_readings()
    return grown([savings.status_change(kind, day("2025-06-01"), ANA)], history)


def test_the_figures_of_the_readings_account_come_from_its_last_line() -> None:
    figures = savings.semester_figures(account_of_readings()[-1], S2)
    assert figures == (0, 1_020_000, 1_040_000, 1_060_000, 1_080_000, 1_100_000, 1_120_000)
    assert sum(figures[1:]) == 6 * 1_070_000  # the average is 10,700.00


def test_a_semester_posted_twice_is_refused_and_adds_no_line(store: LedgerStore) -> None:
    """SY-03, https://github.com/apache/fineract/pull/5328: interest was posted again within one period."""
    history = posted(account_of_readings(), S2, 21_436)
    for line in history:
        store.put_line(line)
    before = stored_items(store.client)
    with pytest.raises(Refusal) as refused:
        yield_of(history[-1], S2, 21_436)
    assert refused.value.code is RefusalCode.ALREADY_POSTED
    # And the very line that a second run had prepared meets the first one's.
    second = posted(account_of_readings(), S2, 21_436, attempt=2)[-1]
    with pytest.raises(MovedError):
        store.put_line(second)
    last = store.last_line(PARTICIPANT)
    assert last is not None
    # 10,000.00 + 6 × 200.00 + 214.36
    assert last.balances["savings"] == 1_141_436
    assert stored_items(store.client) == before


REFUSED: dict[str, tuple[Callable[[], list[Line]], Semester, RefusalCode]] = {
    "before the first credit": (enrolled, S2, RefusalCode.NO_CREDIT_YET),
    "the semester before that of the first credit": (account_of_readings, S1, RefusalCode.NO_CREDIT_YET),
    "out of order": (account_of_readings, FY2026_S1, RefusalCode.SEMESTER_OUT_OF_ORDER),
    "out of order after a yield": (
        lambda: posted(account_of_readings(), S2, 1),
        FY2026_S2,
        RefusalCode.SEMESTER_OUT_OF_ORDER,
    ),
    "posted already": (lambda: posted(account_of_readings(), S2, 1), S2, RefusalCode.ALREADY_POSTED),
    "posted already, earlier": (lambda: posted(account_of_readings(), S2, 1), S1, RefusalCode.ALREADY_POSTED),
    "a death reported": (lambda: with_status(LineKind.DEATH_REPORT), S2, RefusalCode.STATUS_FORBIDS),
    "retired": (lambda: with_status(LineKind.RETIREMENT), S2, RefusalCode.STATUS_FORBIDS),
    "closed": (lambda: with_status(LineKind.CLOSING), S2, RefusalCode.STATUS_FORBIDS),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_yield_is_refused(case: str) -> None:
    account, semester, code = REFUSED[case]
    with pytest.raises(Refusal) as refused:
        yield_of(account()[-1], semester)
    assert refused.value.code is code
    with pytest.raises(Refusal):
        savings.semester_figures(account()[-1], semester)


def test_a_semester_out_of_order_names_the_open_one_in_both_languages() -> None:
    """RU-05, https://github.com/apache/fineract/pull/2777: catching up ran days out of order."""
    account = contributed(enrolled(), ("2024-12-31", 100))
    with pytest.raises(Refusal) as refused:
        yield_of(account[-1], S2)
    assert "FY2025-S1" in refused.value.sentence.en
    assert "FY2025-S1" in refused.value.sentence.es


def test_a_separated_participant_s_balance_still_earns() -> None:
    assert yield_of(with_status(LineKind.SEPARATION)[-1], S2).run == ("yield", "FY2025-S2", 1)


def test_nothing_earned_is_a_line_that_marks_the_semester() -> None:
    history = posted(account_of_readings(), S2, 0)
    assert history[-1].postings == ()
    assert savings.is_late(history[-1], day("2025-06-30"))


def test_a_loss_is_a_debit() -> None:
    # -245.78 on 11,200.00
    assert posted(account_of_readings(), S2, -24_578)[-1].balances["savings"] == 1_095_422


@pytest.mark.parametrize(("on", "late"), [("2025-06-29", True), ("2025-06-30", True), ("2025-07-01", False)])
def test_what_belongs_to_a_posted_semester_is_late(on: str, late: bool) -> None:  # noqa: FBT001
    assert savings.is_late(posted(account_of_readings(), S2, 1)[-1], day(on)) is late
    assert not savings.is_late(account_of_readings()[-1], day(on))
    assert not savings.is_late(None, day(on))


def test_the_initial_transfer_is_credited_once() -> None:
    last = account_of_readings()[-1]
    with pytest.raises(Refusal) as refused:
        savings.initial_transfer(last, 1, day("2025-06-30"), ANA)
    assert refused.value.code is RefusalCode.INITIAL_TRANSFER_ALREADY_CREDITED


def test_a_participant_is_enrolled_once() -> None:
    with pytest.raises(Refusal) as refused:
        savings.enrolment(enrolled()[-1], day("2025-01-01"), None, ANA)
    assert refused.value.code is RefusalCode.ALREADY_ENROLLED


def test_a_closed_account_takes_no_credit() -> None:
    closed = with_status(LineKind.CLOSING)[-1]
    for refused_draft in (savings.contribution, savings.initial_transfer):
        with pytest.raises(Refusal):
            refused_draft(closed, 100, day("2025-06-30"), ANA)


def test_a_line_that_is_no_change_of_status_cannot_be_made_as_one() -> None:
    with pytest.raises(LineError):
        savings.status_change(LineKind.CONTRIBUTION, day("2025-06-01"), ANA)


def changed(history: list[Line], requested_on: str, effective_on: str, options: dict[str, int]) -> list[Line]:
    draft = savings.selection(
        history[-1], options, requested_on=day(requested_on), effective_on=day(effective_on), origin=ANA
    )
    return grown([draft], history)


def test_a_selection_is_in_force_from_its_day() -> None:
    history = changed(enrolled(), "2025-06-30", "2025-07-01", {"system_portfolio": 100})
    in_force = [savings.selection_in_force(history[-1].state, day(on)) for on in ("2025-06-30", "2025-07-01")]
    assert in_force == [{"fixed_income": 100}, {"system_portfolio": 100}]
    assert savings.selection_in_force(history[-1].state, day("2024-06-30")) == {}
    assert savings.selection_in_force({}, day("2024-06-30")) == {}


def test_selections_that_no_open_semester_needs_are_dropped() -> None:
    history = contributed(enrolled({"fixed_income": 100}), ("2024-07-15", 100))
    history = changed(history, "2024-08-01", "2025-07-01", {"system_portfolio": 100})
    assert set(history[-1].state["selections"]) == {"2024-07-01", "2025-07-01"}
    for semester in (S1, S2, FY2026_S1):
        history = posted(history, semester, 1)
    history = changed(history, "2026-01-15", "2026-07-01", {"fixed_income": 100})
    assert set(history[-1].state["selections"]) == {"2025-07-01", "2026-07-01"}
    assert history[-1].facts["requested_on"] == "2026-01-15"


def test_figures_past_the_carried_months_come_from_the_history() -> None:
    months = [f"{2025 + month // 12}-{month % 12 + 1:02d}-15" for month in range(20)]
    history = contributed(enrolled(), *((on, 100) for on in months))
    history = posted(posted(history, S2, 0), FY2026_S1, 0)
    with pytest.raises(IncompleteError):
        savings.semester_figures(history[-1], FY2026_S2)
    with pytest.raises(IncompleteError):
        grown([yield_of(history[-1], FY2026_S2)], history)
    # Twelve months of 100 before it, then one more at each month-end.
    figures = savings.semester_figures(history[-1], FY2026_S2, history)
    assert figures == (1_200, 1_300, 1_400, 1_500, 1_600, 1_700, 1_800)
    last = grown([yield_of(history[-1], FY2026_S2, 5, history)], history)[-1]
    assert last.month_ends is not None
    assert (last.month_ends.since, last.month_ends.savings) == ("2026-06", (1_805, 1_905, 2_005))
    assert last.month_ends.complete


@pytest.mark.parametrize("status", Status)
def test_a_status_that_forbids_a_posting_is_said_in_words(status: Status) -> None:
    said = Refusal(RefusalCode.STATUS_FORBIDS, "3 L.P.R.A. § 786-7(a)(3)", status=status).sentence
    assert said.en.startswith("The account is ")
    assert said.es.startswith("La cuenta ")
    assert "_" not in said.en + said.es
