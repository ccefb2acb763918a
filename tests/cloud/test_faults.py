"""What `make faults` holds a run's accounts against. The run itself is too long for the suite."""

from tests.cloud.faults import expected_cents


def test_what_the_accounts_are_expected_to_have():
    # July to December 2023: 4.83 + 4.90 + 5.02 + 5.07 + 4.88 + 4.46 = 29.16; 10,000.00 × 29.16 / 12 % = 243.00
    assert expected_cents(1_000_000) == 1_024_300
