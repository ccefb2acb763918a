"""Two persons for all that is posted, § 242b(e), (f): who decides a question is never the second of the decision."""

from typing import Any

from tests.death_refunds.judges import Judges

LEAVE_OUT = {
    "about": "debt_to_another_system",
    "choice": "leave_out",
    "reason": "Section 245: debts to the System",
}


def seconds(body: dict[str, Any]) -> list[str]:
    """Who decided and who seconded, as the receipt has them."""
    steps = body["receipts"]["active_death_refund"]["steps"]
    return [one["formula"]["en"] for one in steps if "Decision" in one["label"]["en"]]


def test_who_decided_is_not_the_second_and_the_second_stays(judges: Judges) -> None:
    """Berta decides, Carla enters the heirs, Dora approves: Dora is the second, whoever approves what comes after."""
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.owe("50.00", system="ERS")
    judges.dies("2025-04-10")
    refund_id = judges.enter(user="u-ana").body["refund_id"]
    judges.settle(f"/death-refunds/{refund_id}/decision", LEAVE_OUT, user="u-berta")
    path = f"/death-refunds/{refund_id}/heirs"
    entered = judges.settle(path, {"event": "heirs_declared", "heirs": [{"name": "X"}]}, user="u-carla")
    lines = judges.last().sequence
    # Berta hasn't entered what waits, but has decided what it rests on.
    refused = judges.approve(entered, user="u-berta")
    assert (refused.status, refused.code) == (403, "same_person")
    assert refused.body["detail"] == "Who decided a question can't second the decision, by whatever client."
    assert judges.last().sequence == lines
    approved = judges.approve(entered, user="u-dora")
    by_dora = ["Section 245: debts to the System (decided by u-berta, seconded by u-dora)"]
    assert (approved.status, seconds(approved.body)) == (201, by_dora)
    # An allocation decides nothing: Berta may approve it, and is no second by it.
    for user, event in (("u-berta", "held"), ("u-eva", "released")):
        given = {"event": event, "payee": 2, "note": "Another person claims it"}
        given |= {"reason": "rival_claims"} if event == "held" else {}
        changed = judges.settle(path, given, user="u-carla")
        assert changed.status == 201, changed.text
        allocated = judges.approve(changed, user=user, heirs=True)
        assert (allocated.status, seconds(allocated.body)) == (201, by_dora)
