"""A posted semester taken back by new lines, and posted again."""

from datetime import date
from uuid import uuid4

import pytest

from retiro.ledger.lines import LineKind
from tests.cloud.office import SEMESTER, Office

EARLIER = "FY2025-S1"


@pytest.fixture(scope="module")
def office(open_office) -> Office:
    office = open_office("reversal")
    office.adopt_all(EARLIER, SEMESTER)
    return office


def test_a_reversal_with_later_lines_and_a_passbook_settled_since(office):
    """LE-09, https://github.com/etendosoftware/etendo_core/issues/887: a closed period is also un-posted in order only.

    10,000.00 brought on 2024-07-01, all fixed income. S1: 24.55 / 12 % of 10,000.00 = 204.58.
    S2: 24.04 / 12 % of 10,204.58 = 204.4317… = 204.43.
    """
    ids = [f"P-3000{number:02d}" for number in range(10)]
    settled, moved, *untouched = ids
    office.enrol(ids, on="2024-07-01")
    office.post(EARLIER)
    first = office.post(SEMESTER)
    assert first["run"]["result"] == {"posted": 10, "withheld": {}, "late": 0, "total_yield": "2044.30"}

    office.contribute(moved, 50_000, "2025-07-10", "later-line")
    office.change_status(settled, LineKind.CLOSING, date(2025, 7, 11))

    # The earlier semester can't be taken back while the later one stands.
    reason = {"reason": "The portfolio's return was entered wrongly."}
    problem = office.refused(lambda: office.people.approver.post(f"/yield-runs/{EARLIER}/reversal", reason))
    assert (problem.status, problem.code) == (409, "later_semester_stands")

    office.preparer_of_reversals.post(f"/yield-runs/{SEMESTER}/reversal", reason, key=str(uuid4()))
    prepared = office.reversal("prepared")
    same = office.refused(
        lambda: office.preparer_of_reversals.post(f"/yield-runs/{SEMESTER}/approval", _approval(prepared))
    )
    assert same.code == "same_person"
    office.people.approver.post(f"/yield-runs/{SEMESTER}/approval", _approval(prepared))
    office.reversal("posted")

    # 10,204.58 is back, the later 500.00 stays; who was settled stands as he was, for a person to look at.
    for passbook in untouched:
        assert office.lines(passbook)[-1].balance_cents("savings") == 1_020_458
    assert office.lines(moved)[-1].balance_cents("savings") == 1_070_458
    assert office.lines(settled)[-1].kind is LineKind.CLOSING
    assert set(office.exceptions(kind="yield_reversal")) == {settled}
    (taken_back,) = [line for line in office.lines(moved) if line.kind is LineKind.REVERSAL]
    assert (taken_back.reverses, taken_back.effective_on) == (4, date(2025, 6, 30))

    # Posted again, the same cents; the credit of July counts in no month of the semester.
    again = office.post(SEMESTER)
    assert again["run"]["attempt"] > first["run"]["attempt"]
    assert office.lines(moved)[-1].savings_cents == 20_443
    assert office.exceptions()[settled]
    assert office.audit()["status"] == "clean"


def _approval(run: dict) -> dict[str, str]:
    return {"hash": run["hash"]}
