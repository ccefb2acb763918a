"""The lines of a judge's passbook: what each may move, and what the last line says."""

import pytest

from retiro.ledger import hybrid
from retiro.ledger.lines import Line, LineError, LineKind, Posting
from retiro.ledger.savings import Origin, semester_figures, status_change
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.service_lengths import ServiceLength
from tests.ledger.makers import ANA, S2, contributed, day, grown

TODAY = day("2025-07-10")
CASE = {"id": 3, "settled": 4}


def judge() -> list[Line]:
    """A judge with 100.00, enrolled on 2025-01-15."""
    opened = grown([hybrid.enrolment(None, day("2025-01-15"), ANA)])
    return contributed(opened, ("2025-02-10", 10_000))


def reported() -> list[Line]:
    history = judge()
    return grown([hybrid.death_report(history[-1], day("2025-04-10"), TODAY, ANA)], history)


def settled() -> list[Line]:
    """60.00 to the first payee and 40.00 held for the second."""
    postings = [Posting("savings", -10_000), Posting("payable:1", 6_000), Posting("held:2", 4_000)]
    return grown([hybrid.settlement(TODAY, postings, CASE, ANA)], reported())


def test_a_judge_s_account_has_one_option_from_the_first_day() -> None:
    assert judge()[0].state == {"status": "active", "selections": {"2025-01-15": {"hybrid_return": 100}}}


def test_debts_are_paid_in_the_order_of_their_entry() -> None:
    history = judge()
    for reference, cents in [("FIRST", 3_000), ("SECOND", 2_000), ("THIRD", 1_000)]:
        draft = hybrid.debt(history[-1], hybrid.Debt(reference, cents), TODAY, None, ANA)
        history = grown([draft], history)
    collected = [Posting("savings", -4_500), Posting("debts", 4_500)]
    history = grown([hybrid.settlement(TODAY, collected, CASE, ANA)], history)
    # 45.00: all of the first, 15.00 of the second
    assert hybrid.debts(history) == [hybrid.Debt("SECOND", 500), hybrid.Debt("THIRD", 1_000)]
    assert hybrid.owed_cents(history[-1]) == 1_500


def test_service_is_read_from_the_line_that_the_state_names() -> None:
    history = judge()
    assert hybrid.service_of(history) is None
    service = hybrid.Service(ServiceLength(years=12), ServiceLength(years=11, months=11, days=30), day("2025-06-30"))
    history = grown([hybrid.service_credit(history[-1], service, ANA)], history)
    history = contributed(history, ("2025-03-10", 1))
    assert hybrid.service_of(history) == service


def test_the_last_separation_counts() -> None:
    history = judge()
    assert hybrid.separated_on(history) is None
    history = grown([status_change(LineKind.SEPARATION, day("2025-03-01"), ANA)], history)
    assert hybrid.separated_on(history) == day("2025-03-01")


def test_a_designation_falls_with_a_change_of_system() -> None:
    history = judge()
    history = grown([hybrid.designation(history[-1], TODAY, Origin("u-ana", "designation/1"))], history)
    assert history[-1].state["designation"] == 3
    history = grown([hybrid.system_change(history[-1], TODAY, ANA)], history)
    assert "designation" not in history[-1].state


def test_an_allocation_moves_what_stands_for_payees_and_nothing_else() -> None:
    history = settled()
    moved = [Posting("held:2", -4_000), Posting("payable:3", 4_000)]
    history = grown([hybrid.allocation(history[-1], moved, TODAY, CASE, ANA)], history)
    assert history[-1].balances == {"contributions": -10_000, "payable:1": 6_000, "payable:3": 4_000}
    with pytest.raises(LineError, match="nothing else"):
        hybrid.allocation(history[-1], [Posting("payable:1", -1), Posting("cash", 1)], TODAY, CASE, ANA)
    with pytest.raises(Refusal) as refused:
        hybrid.allocation(reported()[-1], moved, TODAY, CASE, ANA)
    assert refused.value.code is RefusalCode.STATUS_FORBIDS


def test_a_settlement_taken_back_mirrors_it_and_all_since() -> None:
    history = settled()
    moved = [Posting("held:2", -4_000), Posting("payable:3", 4_000)]
    history = grown([hybrid.allocation(history[-1], moved, TODAY, CASE, ANA)], history)
    drafts = hybrid.death_withdrawn(history, TODAY, ANA)
    assert [draft.kind for draft in drafts] == [LineKind.SETTLEMENT_REVERSED, LineKind.DEATH_WITHDRAWN]
    after = grown(drafts, history)[-1]
    assert (after.balances, after.state) == (judge()[-1].balances, judge()[-1].state)
    assert semester_figures(after, S2) == semester_figures(judge()[-1], S2) == (0, 0, *[10_000] * 5)


def test_what_no_report_allows_is_refused() -> None:
    for forbidden in (
        lambda: hybrid.refund_entered(judge()[-1], TODAY, CASE, ANA),
        lambda: hybrid.death_withdrawn(judge(), TODAY, ANA),
        lambda: hybrid.death_report(reported()[-1], TODAY, TODAY, ANA),
        lambda: hybrid.death_report(settled()[-1], TODAY, TODAY, ANA),
        lambda: hybrid.debt(settled()[-1], hybrid.Debt("LATE", 1), TODAY, None, ANA),
        lambda: hybrid.designation(settled()[-1], TODAY, ANA),
    ):
        with pytest.raises(Refusal) as refused:
            forbidden()
        assert refused.value.code is RefusalCode.STATUS_FORBIDS
