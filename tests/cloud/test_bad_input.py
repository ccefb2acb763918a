"""Bad input through the real gateway: a problem names the field, the rule and its citation, and nothing changes."""

import json
from datetime import date, timedelta
from uuid import uuid4

import pytest

from cli.api import Api
from cli.demo.people import PREPARES
from retiro.ledger.lines import LineKind
from retiro.registry.clients import Party
from retiro.registry.clock import utc_now
from retiro.rules.calendar import puerto_rico_date
from tests.cloud.office import MONTH_NOT_ADOPTED, Office, enrolment, remittance

KNOWN = "P-201000"
ENROLLED_ON = "2019-01-02"
SEMESTER = "FY2022-S1"
SELECTION = f"/participants/{KNOWN}/investment-selection"


@pytest.fixture(scope="module")
def known(office: Office) -> str:
    """Somebody who is enrolled."""
    office.preparer.post("/participants", enrolment(KNOWN, on=ENROLLED_ON))
    return KNOWN


@pytest.fixture(scope="module")
def hashes(office: Office) -> tuple[str, str]:
    """Of a run that was prepared twice: the first hash, which is stale, and the one that waits for approval.

    P-201001 began in the semester. P-201002 began in the one before, which nobody has posted.
    """
    office.preparer.post("/participants", enrolment("P-201001", on="2021-07-01"))
    office.preparer.post("/participants", enrolment("P-201002", on="2021-01-04"))
    stale = office.prepare(SEMESTER)["run"]["hash"]
    office.preparer.post("/participants", enrolment("P-201003", on="2021-07-01"))
    return stale, office.prepare(SEMESTER)["run"]["hash"]


def sent_by(office: Office, party: str, path: str, body: str | dict):
    """A POST as it is written here: `body` as text goes as it stands."""
    return office.send("POST", path, token=office.token(party), body=body, key=str(uuid4()))


# --- participants ---


def test_an_unknown_participant(office):
    document = office.refused(
        lambda: office.preparer.get("/participants/P-999999"), 404, "unknown_participant", field="participant_id"
    )
    assert "P-999999" in document["detail"]


@pytest.mark.parametrize(
    ("amount", "received"),
    [("1234567890123456.78", "1234567890123456.78"), ("100.00", "100.00"), ("100", "100")],
)
def test_a_json_number_for_money(office, known, amount, received):
    """What came is shown as it came, though a double would have changed it."""
    body = f'{{"amount": {amount}, "credited_on": "2019-02-01", "reference": "T-number"}}'
    document = office.refused(
        lambda: sent_by(office, "office", f"/participants/{known}/transfers", body),
        422,
        "invalid_input",
        field="amount",
    )
    (error,) = document["errors"]
    assert (error["location"], error["received"]) == (["body", "amount"], received)


@pytest.mark.parametrize("amount", ["100.005", "1_000.00", "１00.00", " 1.00", "1e2", "-0.00"])
def test_an_amount_that_is_no_amount_of_cents(office, known, amount):
    body = json.dumps({"amount": amount, "credited_on": "2019-02-01", "reference": "T-places"})
    office.refused(
        lambda: sent_by(office, "office", f"/participants/{known}/transfers", body),
        422,
        "invalid_input",
        field="amount",
    )


@pytest.mark.parametrize("days", [date.fromisoformat("1999-12-31"), timedelta(days=1)])
def test_a_date_outside_the_fiscal_calendar(office, days):
    """The last day before the calendar, and tomorrow."""
    day = days if isinstance(days, date) else puerto_rico_date(utc_now()) + days
    document = office.refused(
        lambda: office.preparer.post("/participants", enrolment("P-201900", on=day.isoformat())),
        422,
        "invalid_input",
        field="enrolled_on",
    )
    assert "§ 786-7" in document["citation"]


def test_a_selection_of_twenty_five_percent(office, known):
    document = office.refused(
        lambda: office.preparer.put(
            SELECTION, {"requested_on": "2019-03-01", "selection": {"fixed_income": 25, "system_portfolio": 75}}
        ),
        422,
        "not_multiple_of_ten",
        field="selection",
    )
    assert "§ 786-7(b)" in document["citation"]


def test_a_second_change_of_the_selection_in_a_fiscal_year(office):
    one = "P-201004"
    office.preparer.post("/participants", enrolment(one, on=ENROLLED_ON))
    path = f"/participants/{one}/investment-selection"
    office.preparer.put(path, {"requested_on": "2019-03-01", "selection": {"system_portfolio": 100}})
    document = office.refused(
        lambda: office.preparer.put(path, {"requested_on": "2019-04-01", "selection": {"fixed_income": 100}}),
        422,
        "already_changed_this_fiscal_year",
        field="requested_on",
    )
    assert "§ 786-7(b)" in document["citation"]
    assert document["receipt"]


# --- remittances ---


def test_a_remittance_whose_total_is_not_the_sum_of_its_lines(office, known):
    """LE-07: nothing of it is taken, and its reference is free for the corrected one."""
    clerk = office.people.clerks["E-001"]
    wrong = remittance("WRONG-TOTAL", {known: "200.00"}, "2019-02", total="200.01")
    office.refused(lambda: clerk.post("/payroll-remittances", wrong), 422, "remittance_refused", field="control.total")
    office.refused(
        lambda: clerk.get("/payroll-remittances/E-001_WRONG-TOTAL"), 404, "unknown_remittance", field="remittance_id"
    )
    right = remittance("WRONG-TOTAL", {known: "200.00"}, "2019-02")
    assert clerk.post("/payroll-remittances", right)["status"] == "awaiting_deposit"


def test_a_remittance_for_somebody_unknown_is_not_taken_for_those_known(office, known):
    body = remittance("UNKNOWN-LINE", {known: "200.00", "P-999999": "100.00"}, "2019-02")
    document = office.refused(
        lambda: office.people.clerks["E-001"].post("/payroll-remittances", body),
        422,
        "remittance_refused",
        field="lines.1.participant_id",
    )
    assert [error["code"] for error in document["errors"]] == ["unknown_participant"]


def test_the_same_remittance_twice_is_the_first_answer_and_with_another_content_a_conflict(office, known, behind):
    clerk = office.people.clerks["E-001"]
    body = remittance("TWICE", {known: "200.00"}, "2019-03")
    first = clerk.post("/payroll-remittances", body, key=str(uuid4()))
    before = behind.ledger_items()
    assert clerk.post("/payroll-remittances", body, key=str(uuid4())) == first
    assert behind.ledger_items() == before
    other = remittance("TWICE", {known: "200.01"}, "2019-03")
    office.refused(
        lambda: clerk.post("/payroll-remittances", other), 409, "remittance_reference_used", field="reference"
    )


def test_a_deposit_of_another_amount(office, known):
    sent = office.people.clerks["E-001"].post("/payroll-remittances", remittance("SHORT", {known: "200.00"}, "2019-04"))
    deposit = {"reference": "D-SHORT", "amount": "199.99", "value_date": "2019-04-30"}
    path = f"/payroll-remittances/{sent['remittance_id']}/deposit"
    document = office.refused(
        lambda: office.people.treasurer.post(path, deposit), 422, "deposit_amount_differs", field="amount"
    )
    assert "§ 786-7(a)(2)" in document["citation"]


# --- runs ---


def test_a_run_prepared_without_the_figure_of_june(office, behind):
    document = office.refused(
        lambda: office.preparer.post("/yield-runs", {"semester": "FY2019-S2"}),
        422,
        "yield_not_in_force",
        field="semester",
    )
    assert document["missing"] == [f"fixed_income {MONTH_NOT_ADOPTED}"]
    assert "§ 786-7(b)(3)" in document["citation"]
    assert behind.attempts("FY2019-S2") == []


def test_a_run_of_a_semester_that_is_not_over(office):
    office.refused(
        lambda: office.preparer.post("/yield-runs", {"semester": "FY2099-S2"}),
        422,
        "semester_not_over",
        field="semester",
    )


def test_approval_by_the_preparer_through_another_client(office, hashes):
    _, waiting = hashes
    other = office.new_client("second-office", ["runs.approve"], Party.OFFICE)
    same_person = Api(office.stack, client_id=other, acting_user=PREPARES)
    office.refused(
        lambda: same_person.post(f"/yield-runs/{SEMESTER}/approval", {"hash": waiting}),
        403,
        "same_person",
        field="Acting-User",
    )


def test_approval_of_a_stale_hash(office, hashes):
    stale, _ = hashes
    office.refused(lambda: office.approve(stale, SEMESTER), 409, "stale_hash", field="hash")


def test_a_run_approved_twice(office, hashes):
    """By another person a conflict, by the same one the first answer."""
    _, waiting = hashes
    office.approve(waiting, SEMESTER)
    office.wait_for("posted", SEMESTER)
    third = office.api("office", "test-person-3")
    office.refused(
        lambda: third.post(f"/yield-runs/{SEMESTER}/approval", {"hash": waiting}, key=str(uuid4())),
        409,
        "already_approved",
        field="hash",
    )
    office.approve(waiting, SEMESTER)
    assert [run.status for run in office.behind.attempts(SEMESTER)] == ["superseded", "posted"]
    assert office.behind.yields(["P-201001", "P-201003"], SEMESTER) == {"P-201001": 1, "P-201003": 1}


def test_a_semester_out_of_order_is_named_for_the_participant_and_nothing_posted(office, hashes, behind):
    """RU-05: https://github.com/apache/fineract/pull/2777."""
    assert hashes
    found = office.exceptions(SEMESTER)["P-201002"]
    assert found["code"] == "semester_out_of_order"
    assert "FY2021-S2" in found["detail"]
    assert [line.kind for line in behind.lines("P-201002")] == [LineKind.ENROLMENT, LineKind.INITIAL_TRANSFER]
