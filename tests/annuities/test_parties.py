"""Who enters and approves what a judge is paid: the office, the fund and the portal. Never the judge's agency."""

import pytest

from tests.annuities.conftest import APPROVE, JUDGE, READ, SETTLE

SEPARATING = {"participant_id": JUDGE, "separated_on": "2026-09-09", "cause": "voluntary", "paid_on": "2026-09-10"}


def doors_of_annuities(program):
    """Each door with what it is asked, in the order in which they can be asked, and who asks."""
    yield "/annuities", program.retiring(), "u-ana", SETTLE
    yield "/annuities/{id}/approval", None, "u-luis", APPROVE
    correction = {"ground": "error", "citation": "Birth certificate", "reason": "The record had another day."}
    yield "/annuities/{id}/corrections", correction | {"birth_date": "1960-09-10"}, "u-ana", SETTLE
    yield "/annuities/{id}/corrections/2/approval", None, "u-luis", APPROVE


def doors_of_refunds(_program):
    yield "/separation-refunds", SEPARATING, "u-ana", SETTLE
    yield "/separation-refunds/{id}/approval", None, "u-luis", APPROVE


@pytest.mark.parametrize("turned_away", ["employer-001", "board"])
@pytest.mark.parametrize(
    ("doors", "service"), [(doors_of_annuities, (12, 0, 0)), (doors_of_refunds, (5, 0, 0))], ids=["annuity", "refund"]
)
def test_an_agency_and_the_board_settle_nothing_and_whoever_may_does(program, turned_away, doors, service):
    """The agency is the judge's own: it reaches him, and may read. What it is turned away from leaves no line."""
    program.enrol(born="1961-09-10", service=service)
    identifier = content_hash = ""
    for path, body, user, scopes in doors(program):
        place = path.replace("{id}", identifier)
        asked = {"user": user, "scopes": scopes}
        content = body or {"content_hash": content_hash}
        before = program.history()

        refused = program.post(place, content, client=turned_away, **asked)

        assert (refused.status, refused.code, program.history()) == (403, "party_not_allowed", before)
        done = program.post(place, content, client="portal", **asked)
        assert done.status in {200, 201}, done.text
        identifier = done.body.get("annuity_id") or done.body["refund_id"]
        content_hash = done.body["content_hash"]


def test_an_agency_reads_its_own_judges_annuity_and_enters_none(program):
    program.enrol(born="1961-09-10")
    annuity = program.issue()

    read = program.get(f"/annuities/{annuity['annuity_id']}", scopes=READ, client="employer-001")
    assert (read.status, read.body["status"]) == (200, "in_force")
    refused = program.post("/annuities", program.retiring(), scopes=SETTLE, client="employer-001")
    assert refused.body["detail"] == "Only a client of these parties may do this: office, fund, portal."
