"""Reports of deaths: what stops, what is refused, what follows when one was made in error."""

from collections.abc import Callable
from datetime import date

import pytest

from retiro.ledger import annuities, savings
from retiro.ledger.keys import BusinessKey, KeyRecord
from retiro.ledger.store import LedgerStore
from retiro.rules.calendar import Semester, parse_month
from retiro.rules.refusals import Refusal, RefusalCode
from tests.death_refunds.judges import JUDGE, Judges


def test_a_report_is_a_line_and_stops_what_comes_after_the_death(judges: Judges) -> None:
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    reported = judges.report("2025-04-10")
    assert (reported.status, reported.body["status"]) == (201, "reported")
    assert reported.body["report_id"] == f"{JUDGE}-3"
    assert judges.last().state["status"] == "death_reported"
    with pytest.raises(Refusal) as refused:
        savings.check_yield(judges.last(), Semester.parse("FY2025-S2"))
    assert refused.value.code is RefusalCode.STATUS_FORBIDS


@pytest.mark.parametrize(("died", "may_be_posted"), [("2025-06-29", False), ("2025-06-30", True), ("2025-07-01", True)])
def test_a_semester_complete_by_the_day_of_death_may_still_be_posted(
    judges: Judges, died: str, *, may_be_posted: bool
) -> None:
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    judges.report(died)
    if may_be_posted:
        savings.check_yield(judges.last(), Semester.parse("FY2025-S2"))
    else:
        with pytest.raises(Refusal):
            savings.check_yield(judges.last(), Semester.parse("FY2025-S2"))


def of_pensioner(judges: Judges) -> None:
    judges.enrol()
    judges.credit(5_000_000, "2023-07-31")
    judges.post_return("FY2024-S1", 0)
    judges.retire("2024-01-01", 63_682)


def of_judge(judges: Judges) -> None:
    judges.enrol()


BAD_DAYS: dict[str, tuple[Callable[[Judges], None], str, str]] = {
    # Puerto Rico's today is 2025-07-10
    "in the future": (of_judge, "2025-07-11", "must not be in the future"),
    "before the birth": (of_judge, "1955-03-16", "must not be before the birth"),
    "before the enrolment": (of_judge, "2014-01-14", "must not be before the enrolment"),
    "before the retirement": (of_pensioner, "2023-12-31", "must not be before the retirement"),
}


@pytest.mark.parametrize("case", BAD_DAYS)
def test_a_death_on_an_impossible_day_is_refused_and_changes_nothing(judges: Judges, case: str) -> None:
    prepare, day, rule = BAD_DAYS[case]
    prepare(judges)
    before = (judges.stack.ledger_items(), judges.stack.registry_items())
    refused = judges.report(day)
    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", "death_date")
    assert rule in refused.body["detail"]
    assert refused.body["citation"] == "4 L.P.R.A. § 242b(e), (f)"
    assert (judges.stack.ledger_items(), judges.stack.registry_items()) == before
    quoted = judges.settle("/death-refunds/quotes", {"participant_id": JUDGE, "death_date": day}, key=None)
    assert (quoted.status, quoted.code) == (422, "invalid_input")


def test_today_in_puerto_rico_is_not_the_future(judges: Judges) -> None:
    judges.enrol()
    assert judges.report("2025-07-10").status == 201


def test_a_claim_for_somebody_alive_is_refused_and_changes_nothing(judges: Judges) -> None:
    judges.enrol()
    before = judges.stack.ledger_items()
    refused = judges.enter()
    assert (refused.status, refused.code, refused.body["field"]) == (422, "no_death_reported", "participant_id")
    assert refused.body["citation"] == "4 L.P.R.A. § 242b(e), (f)"
    quoted = judges.settle("/death-refunds/quotes", {"participant_id": JUDGE}, key=None)
    assert (quoted.status, quoted.code) == (422, "no_death_reported")
    assert judges.stack.ledger_items() == before


def test_a_report_that_another_person_has_not_confirmed_is_not_settled(judges: Judges) -> None:
    judges.enrol()
    reported = judges.report("2025-04-10")
    refused = judges.enter()
    assert (refused.status, refused.code) == (409, "death_not_confirmed")
    path = f"/death-reports/{reported.body['report_id']}/approval"
    same = judges.settle(path, user="u-ana", client="office")
    assert (same.status, same.code) == (403, "same_person")
    confirmed = judges.settle(path, user="u-berta")
    assert (confirmed.body["status"], confirmed.body["confirmed_by"]) == ("confirmed", "u-berta via portal")
    assert judges.settle(path, user="u-berta").body == confirmed.body


def test_a_third_person_is_told_that_a_report_was_confirmed_or_withdrawn(judges: Judges) -> None:
    """What stands in the way is said in the words of the door, not of its keys, and it is what is so now."""
    judges.enrol()
    report_id = judges.dies("2025-04-10")
    confirmation, withdrawal = f"/death-reports/{report_id}/approval", f"/death-reports/{report_id}/withdrawal"
    told = judges.settle(confirmation, user="u-carla")
    assert (told.status, told.code) == (409, "already_confirmed")
    spanish = judges.settle(confirmation, user="u-carla", headers={"Accept-Language": "es"})
    assert spanish.body["detail"] == "El informe ya fue confirmado, por otra persona."
    reason = {"reason": "Another person of the same name had died"}
    assert judges.settle(withdrawal, reason, user="u-berta").status == 201
    for path, body in ((confirmation, None), (withdrawal, reason)):
        told = judges.settle(path, body, user="u-carla")
        assert (told.status, told.code, told.body["detail"]) == (
            409,
            "report_not_standing",
            "The report was withdrawn.",
        )


def test_a_death_is_reported_once(judges: Judges) -> None:
    judges.enrol()
    first = judges.report("2025-04-10")
    again = judges.report("2025-04-11", user="u-carla")
    assert (again.status, again.code) == (422, "status_forbids")
    assert judges.read(f"/death-reports/{first.body['report_id']}") == first.body


def test_somebody_unknown_is_not_found(judges: Judges) -> None:
    assert judges.report("2025-04-10", "P-999999").code == "unknown_participant"
    assert judges.enter("P-999999").code == "unknown_participant"
    assert judges.settle("/death-reports/P-999999-1/approval").code == "unknown_participant"
    judges.enrol()
    assert judges.settle(f"/death-reports/{JUDGE}-1/approval").code == "report_not_found"
    assert judges.settle(f"/death-refunds/{JUDGE}-1/approval", {"content_hash": "0" * 64}).code == "refund_not_found"


def test_a_report_made_in_error_is_withdrawn_and_what_was_withheld_follows(judges: Judges) -> None:
    # Given a pensioner paid through March 2025, and a death reported of April 10
    of_pensioner(judges)
    judges.pay("2024-01", "2025-03")
    report_id = judges.dies("2025-04-10")
    with pytest.raises(Refusal) as withheld:
        annuities.due(judges.last(), parse_month("2025-05"))
    assert withheld.value.code is RefusalCode.DEATH_REPORTED
    # When another person than who reported withdraws it
    path = f"/death-reports/{report_id}/withdrawal"
    body = {"reason": "Another person of the same name had died"}
    assert judges.settle(path, body, user="u-ana").code == "same_person"
    withdrawn = judges.settle(path, body, user="u-berta")
    assert (withdrawn.status, withdrawn.body["status"]) == (201, "withdrawn")
    # Then the months withheld are due: April and May
    assert judges.last().state["status"] == "retired"
    due = annuities.due(judges.last(), parse_month("2025-05"))
    assert due is not None
    assert due.base_cents == 2 * 63_682
    assert judges.balances()["annuity_reserve"] == 5_000_000 - 15 * 63_682
    assert judges.enter().code == "no_death_reported"
    again = judges.settle(path, body, user="u-carla")
    assert (again.status, again.code) == (409, "report_not_standing")


def test_a_settlement_of_a_report_in_error_is_mirrored_to_the_same_payees(judges: Judges) -> None:
    """DR-05, https://github.com/RubyMoney/money/issues/652: splitting -X gave other shares than splitting X."""
    # Given 10,000.00 settled in thirds
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    judges.designate("A", "B", "C")
    report_id = judges.dies("2025-04-10")
    refund_id = judges.settled()["refund_id"]
    settlement = judges.last()
    judges.change(refund_id, "held", payee=2, reason="rival_claims", note="Two persons claim to be B")
    # When the report turns out to be wrong
    body = {"reason": "Another person of the same name had died"}
    assert judges.settle(f"/death-reports/{report_id}/withdrawal", body, user="u-berta").status == 201
    # Then each payee's account is at zero, and the balance is back where it was, month-ends too
    reversed_line, withdrawn = judges.history()[-2:]
    assert (reversed_line.kind, withdrawn.kind) == ("settlement_reversed", "death_withdrawn")
    assert {one.account: one.amount_cents for one in reversed_line.postings} == {
        "savings": 1_000_000, "payable:1": -333_334, "held:2": -333_333, "payable:3": -333_333,
    }  # fmt: skip
    assert reversed_line.reverses == settlement.sequence
    assert judges.balances() == {"savings": 1_000_000, "contributions": -1_000_000}
    assert judges.last().state["status"] == "active"
    assert savings.semester_figures(judges.last(), Semester.parse("FY2025-S2")) == (0, *[1_000_000] * 6)
    case = judges.read(f"/death-refunds/{refund_id}")
    assert (case["status"], case["content_hash"]) == ("withdrawn", None)
    told = judges.settle(
        f"/death-refunds/{refund_id}/heirs", {"event": "released", "payee": 1, "note": "Nobody may any more"}
    )
    assert (told.status, told.code) == (409, "report_not_standing")
    # And when the judge does die, it is settled anew
    judges.dies("2025-05-10")
    judges.adopt_return("FY2025-S2", "0", months=4)
    assert [one["amount"] for one in judges.settled()["payees"]] == ["3333.34", "3333.33", "3333.33"]


def test_a_member_of_another_program_has_no_refund_here(judges: Judges) -> None:
    from retiro.registry.employers import Employer, register  # noqa: PLC0415

    register(judges.stack.registry, Employer("E-001", "ERS"))
    body = {
        "participant_id": "P-000009",
        "fund": "ERS",
        "birth_date": "1970-04-04",
        "employer_id": "E-001",
        "enrolled_on": "2025-01-01",
    }
    assert judges.write("/participants", body).status == 201
    assert judges.report("2025-04-10", "P-000009").status == 201
    assert judges.enter("P-000009").code == "not_in_program"


def test_a_client_without_the_scope_or_of_an_employer_is_turned_away(judges: Judges) -> None:
    judges.enrol()
    assert judges.report("2025-04-10", scopes="benefits.read").code == "scope_missing"
    turned_away = judges.report("2025-04-10", client="employer-001")
    assert (turned_away.status, turned_away.code) == (403, "party_not_allowed")
    assert judges.last().effective_on == date(2014, 1, 15)


def test_a_confirmation_or_an_approval_sent_twice_at_once_is_answered_as_one(
    judges: Judges, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second looks for the key before the first is posted, and for the passbook after."""
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)
    report_id = judges.dies("2025-04-10")
    entered = judges.enter()
    approved = judges.approve(entered)
    store = type(judges.passbooks.store)
    found, looked = store.get_key, []

    def looked_too_early(self: LedgerStore, key: BusinessKey) -> KeyRecord | None:
        looked.append(key)
        return None if len(looked) == 1 else found(self, key)

    monkeypatch.setattr(store, "get_key", looked_too_early)
    lines = judges.last().sequence
    again = judges.approve(entered)
    assert (again.status, again.body) == (201, approved.body)
    looked.clear()
    confirmed = judges.settle(f"/death-reports/{report_id}/approval", user="u-berta")
    assert (confirmed.status, confirmed.body["status"]) == (201, "confirmed")
    assert judges.last().sequence == lines
