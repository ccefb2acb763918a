"""A run while everything goes wrong: the same that `make faults` does over 3,000 accounts, over a few."""

from tests.cloud.faults import expected_cents, faulty_run


def test_a_run_through_kills_cuts_throttles_and_a_restart_posts_every_account_once():
    outcome = faulty_run(40, seed=7, chunk_accounts=10, chance=0.004)
    assert outcome.is_sound, outcome
    assert outcome.restarts == 1
    assert sum(outcome.faults.values()) > outcome.faults["done"]


def test_what_the_accounts_are_expected_to_have():
    # July to December 2023: 4.83 + 4.90 + 5.02 + 5.07 + 4.88 + 4.46 = 29.16; 10,000.00 × 29.16 / 12 % = 243.00
    assert expected_cents(1_000_000) == 1_024_300
