"""An employer's passbook, from the deposit to the participants, and the trial balance over both."""

from datetime import timedelta

import pytest

from retiro.ledger import employers, plans
from retiro.ledger.lines import Draft, Line, LineError, to_item
from retiro.ledger.trial_balance import TrialBalance, trial_balance
from retiro.ledger.verify import Audit, verify_passbook
from tests.ledger.makers import ANA, EMPLOYER, NOW, PARTICIPANT, account_of_readings, contributed, day, enrolled, grown

ON = day("2025-01-15")


def deposited(*deposits: tuple[str, int]) -> list[Line]:
    opening = employers.opening(day("2025-01-02"), ANA)
    return grown([opening, *(employers.deposit(name, cents, ON, ANA) for name, cents in deposits)], passbook=EMPLOYER)


def after(history: list[Line], draft: Draft) -> list[Line]:
    return grown([draft], history, passbook=EMPLOYER)


def test_a_deposit_is_cash_against_the_clearing_of_its_remittance() -> None:
    last = deposited(("R-1", 50_000), ("R-2", 100))[-1]
    assert last.balances == {"cash": -50_100, "clearing:R-1": 50_000, "clearing:R-2": 100}
    assert employers.open_remittances(last) == {"R-1": 50_000, "R-2": 100}


def test_a_remittance_is_closed_when_all_of_it_is_passed_on() -> None:
    history = deposited(("R-1", 50_000))
    history = after(history, employers.passing_on(history[-1], "R-1", 20_000, ON, ANA))
    assert employers.clearing_cents(history[-1], "R-1") == 30_000
    history = after(history, employers.passing_on(history[-1], "R-1", 30_000, ON, ANA))
    assert employers.clearing_cents(history[-1], "R-1") == 0
    assert employers.open_remittances(history[-1]) == {}
    assert history[-1].balances == {"cash": -50_000, "contributions": 50_000}
    assert verify_passbook(EMPLOYER, [to_item(line) for line in history]).findings == ()


@pytest.mark.parametrize("cents", [-1, 50_001])
def test_no_more_is_passed_on_or_returned_than_the_clearing_holds(cents: int) -> None:
    last = deposited(("R-1", 50_000))[-1]
    for leaves in (employers.passing_on, employers.deposit_returned):
        with pytest.raises(LineError):
            leaves(last, "R-1", cents, ON, ANA)


def test_a_deposit_that_cannot_be_credited_goes_back() -> None:
    history = deposited(("R-1", 50_000))
    last = after(history, employers.deposit_returned(history[-1], "R-1", 50_000, ON, ANA))[-1]
    assert last.balances == {}
    assert employers.clearing_cents(None, "R-1") == 0


def test_what_a_correction_takes_back_is_in_clearing_again() -> None:
    history = deposited(("R-1", 50_000))
    history = after(history, employers.passing_on(history[-1], "R-1", 50_000, ON, ANA))
    last = after(history, employers.taken_back("R-1", 20_000, ON, ANA))[-1]
    assert last.balances == {"cash": -50_000, "clearing:R-1": 20_000, "contributions": 30_000}


def test_the_trial_balance_is_zero_and_names_what_is_in_transit() -> None:
    """Audit finding 6: a fund total is the sum of its accounts."""
    participant = contributed(enrolled(), ("2025-01-15", 20_000))[-1]
    history = deposited(("R-1", 50_000))
    employer = after(history, employers.passing_on(history[-1], "R-1", 20_000, ON, ANA))[-1]
    balance = trial_balance([participant, employer])
    assert balance.totals_cents == {"ERS": {"savings": 20_000, "contributions": 0, "cash": -50_000, "clearing": 30_000}}
    assert balance.in_transit_cents == {"ERS": {EMPLOYER: 30_000}}
    assert balance.differences_cents() == {}
    assert balance.contributions_cents() == {}


def test_chunks_of_a_trial_balance_add_up() -> None:
    participant = account_of_readings()[-1]
    employer = deposited(("R-1", 50_000))[-1]
    whole = trial_balance([participant, employer])
    chunk = trial_balance([employer])
    chunk.merge(TrialBalance.from_document(trial_balance([participant]).to_document()))
    assert chunk == whole


def test_what_was_passed_on_and_not_credited_is_a_fault_that_the_audit_names() -> None:
    """Audit finding 4: 15 employers kept $2,922,689 withheld. Here: passed on by the employer, in nobody's savings."""
    history = deposited(("R-1", 50_000))
    history = after(history, employers.passing_on(history[-1], "R-1", 20_000, ON, ANA))
    audit = Audit()
    audit.add(EMPLOYER, [to_item(line) for line in history])
    assert audit.trial_balance.contributions_cents() == {"ERS": 20_000}
    assert not audit.is_clean
    audit.add(PARTICIPANT, [to_item(line) for line in contributed(enrolled(), ("2025-01-15", 20_000))])
    assert audit.is_clean
    assert (audit.passbooks, audit.lines) == (2, 5)


def test_a_credit_that_comes_between_two_passbooks_is_no_finding_of_an_audit_as_of_before() -> None:
    """The employer's passbook was read before 200.00 were credited, the participant's after."""
    credited = [to_item(line) for line in contributed(enrolled(), ("2025-01-15", 20_000))]
    for as_of, found in ((None, {"ERS": -20_000}), (NOW - timedelta(seconds=1), {}), (NOW, {"ERS": -20_000})):
        audit = Audit(as_of=as_of)
        audit.add(EMPLOYER, [to_item(line) for line in deposited(("R-1", 50_000))])
        audit.add(PARTICIPANT, credited)
        assert audit.trial_balance.contributions_cents() == found
        assert audit.trial_balance.totals_cents["ERS"]["savings"] == 20_000


def test_installments_that_are_passed_on_and_in_nobodys_plan_are_a_fault_too() -> None:
    history = deposited(("R-1", 50_000))
    passed_on = employers.passing_on(history[-1], "R-1", 0, ON, ANA, installments_cents=8_923)
    last = after(history, passed_on)[-1]
    assert last.balances == {"cash": -50_000, "clearing:R-1": 41_077, "installments": 8_923}
    assert trial_balance([last]).contributions_cents() == {"ERS": 8_923}
    assert employers.INSTALLMENTS == plans.INSTALLMENTS


def test_a_deposit_that_the_bank_takes_back_is_owed_until_the_credits_are_taken_back() -> None:
    history = deposited(("R-1", 50_000))
    history = after(history, employers.passing_on(history[-1], "R-1", 20_000, ON, ANA, installments_cents=8_923))
    history = after(history, employers.deposit_taken_back("R-1", 50_000, ON, ANA))
    # 500.00 went back; 289.23 of it had been passed on.
    assert employers.clearing_cents(history[-1], "R-1") == -28_923
    last = after(history, employers.passing_on_reversed("R-1", 20_000, 8_923, ON, ANA))[-1]
    assert last.balances == {}


def test_no_more_is_passed_on_in_both_together_than_the_clearing_holds() -> None:
    last = deposited(("R-1", 100))[-1]
    with pytest.raises(LineError):
        employers.passing_on(last, "R-1", 60, ON, ANA, installments_cents=41)
