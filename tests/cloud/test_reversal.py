"""A posted semester taken back by new lines, the latest one first, and posted again."""

from datetime import date
from uuid import uuid4

from retiro.ledger.lines import LineKind


def test_a_reversal_leaves_what_was_settled_since_to_a_person_and_the_semester_is_posted_anew(office, behind):
    """LE-09: https://github.com/etendosoftware/etendo_core/issues/887.

    Everybody brings 10,000.00 on the first day, all in fixed income.
    FY2023-S2: 4.21 + 4.53 + 4.30 + 4.02 + 4.13 + 4.64 = 25.83; 10,000.00 × 25.83 / 12 % = 215.25.
    FY2024-S1: 4.83 + 4.90 + 5.02 + 5.07 + 4.88 + 4.46 = 29.16; 10,215.25 × 29.16 / 12 % = 248.23.
    """
    earlier, semester, ids = "FY2023-S2", "FY2024-S1", [f"P-105{number:03d}" for number in range(8)]
    office.enrol(ids, on="2023-01-03")
    office.post(earlier)
    office.post(semester)
    settled, credited, *_ = ids
    behind.change_status(settled, LineKind.CLOSING, date(2024, 1, 15))
    office.contribute(credited, 10_000, "2024-01-20")
    reason = {"reason": "The portfolio's return was misread."}

    approver = office.people.approver
    office.refused(
        lambda: approver.post(f"/yield-runs/{earlier}/reversal", reason), 409, "later_semester_stands", field="semester"
    )

    office.preparer.post(f"/yield-runs/{semester}/reversal", reason)
    reversal = office.wait_for_reversal("prepared", semester)
    assert office.exceptions(semester, "yield_reversal")[settled]["code"] == "status_forbids"
    approval = {"hash": reversal["hash"]}
    office.refused(
        lambda: office.preparer.post(f"/yield-runs/{semester}/approval", approval, key=str(uuid4())),
        403,
        "same_person",
        field="Acting-User",
    )
    approver.post(f"/yield-runs/{semester}/approval", approval)
    office.wait_for_reversal("posted", semester)
    assert office.standing(semester)["status"] == "reversed"
    assert [(line.kind, line.savings_cents) for line in behind.lines(credited)[3:]] == [
        (LineKind.SEMESTER_YIELD, 24_823),
        (LineKind.CONTRIBUTION, 10_000),
        (LineKind.REVERSAL, -24_823),
    ]
    assert behind.lines(credited)[-1].effective_on == behind.lines(credited)[3].effective_on == date(2023, 12, 29)

    again = office.post(semester)

    assert again["run"]["attempt"] == 2
    assert office.exceptions(semester)[settled]["code"] == "already_posted"
    last = {one: behind.lines(one)[-1] for one in ids}
    assert last[settled].kind is LineKind.CLOSING
    assert {last[one].savings_cents for one in ids if one != settled} == {24_823}
    # 10,000.00 + 215.25 + 248.23, and 100.00 credited meanwhile.
    assert last[credited].balance_cents("savings") == 1_000_000 + 21_525 + 24_823 + 10_000
    mark = last[credited].runs["yield"]
    assert (mark.period, mark.attempt, mark.sequence) == (semester, 2, last[credited].sequence)
