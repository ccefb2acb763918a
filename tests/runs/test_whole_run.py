"""A run from request to posted, with another kind than yields."""

from tests.runs.conftest import ANA, LUIS, Office


def test_a_run_is_prepared_approved_by_another_person_posted_and_proved(office: Office) -> None:
    office.enrol("P-000011", savings_cents=0)

    run = office.prepared()

    assert run.status == "prepared"
    # Ten have something, one has nothing: 10 × 1.00.
    assert run.details["totals"] == {"lines": 10, "cents": 1_000, "population": 11}
    assert run.details["exceptions"] == {"has_nothing": 1}
    assert set(office.gifts().values()) == {0}

    office.approve(run)
    office.work_off()

    run = office.run(run.id)
    assert run.status == "posted"
    assert run.details["result"] == {"posted": 10, "cents": 1_000, "withheld": {}, "late": 0}
    assert (run.requested_by, run.details["approved_by"]) == (ANA, LUIS)
    assert office.gifts() == {f"P-{number:06d}": 1 for number in range(1, 11)} | {"P-000011": 0}
    assert office.last("P-000001").balance_cents("savings") == 10_100
