"""The doors on the real gateway: who may do what, and bad input, which changes nothing and is told what it met."""

from collections.abc import Callable
from uuid import uuid4

import pytest
import urllib3

from cli.api import Api, ApiProblemError
from cli.demo import resolutions
from retiro.registry.clients import Binding, Party, bind
from tests.cloud.office import Office, enrolment, remittance

SECTION = "3 L.P.R.A. § 786-7"


@pytest.fixture(scope="module")
def office(open_office) -> Office:
    """FY2025-S1 has all its figures; the series ends in May, so FY2025-S2 lacks June."""
    office = open_office("doors")
    for one in resolutions.settings():
        office.adopt(one)
    series = resolutions.treasury_yields()
    months = {month: percent for month, percent in series["months"].items() if month < "2025-06"}
    office.adopt(series | {"months": months})
    for semester in ("FY2025-S1", "FY2025-S2"):
        office.adopt(resolutions.portfolio_return() | {"semester": semester})
    return office


@pytest.fixture(scope="module")
def member(office) -> str:
    """A participant who brought 10,000.00 on 2024-07-01."""
    office.enrol(["P-200001"], on="2024-07-01")
    return "P-200001"


def fields(problem: ApiProblemError) -> set[str]:
    """What a problem document points at."""
    document = problem.document
    named = {one["field"] for one in document.get("errors", [])}
    return named | ({document["field"]} if document.get("field") else set())


def enrolling(**changes) -> Callable[[Office], object]:
    return lambda office: office.preparer.post("/participants", enrolment("P-299999") | changes)


def transferring(**changes) -> Callable[[Office], object]:
    transfer = {"amount": "100.00", "credited_on": "2025-01-02", "reference": "T-1"} | changes
    return lambda office: office.preparer.post("/participants", enrolment("P-299999") | {"initial_transfer": transfer})


BAD_BODIES = {
    "a JSON number for money": (transferring(amount=100.00), "initial_transfer.amount"),
    "an amount with three places": (transferring(amount="100.001"), "initial_transfer.amount"),
    "an amount below zero": (transferring(amount="-1.00"), "initial_transfer.amount"),
    "a date before the fiscal calendar": (enrolling(enrolled_on="1899-12-31"), "enrolled_on"),
    "a date that has not come": (transferring(credited_on="2199-01-01"), "initial_transfer.credited_on"),
    "a date with a time": (enrolling(enrolled_on="2025-01-01T00:00:00"), "enrolled_on"),
    "a selection of 25 percent": (enrolling(selection={"fixed_income": 25, "system_portfolio": 75}), "selection"),
    "a selection of 90 percent in all": (enrolling(selection={"fixed_income": 90}), "selection"),
    "an option that isn't there": (enrolling(selection={"gold": 100}), "selection"),
    "an unknown field": (enrolling(salary="100.00"), "salary"),
    "an unknown employer": (enrolling(employer_id="E-999"), "employer_id"),
}


@pytest.mark.parametrize("case", BAD_BODIES)
def test_a_bad_enrolment_is_refused_by_its_field_and_changes_nothing(office, case):
    act, field = BAD_BODIES[case]
    problem = office.refused(lambda: act(office))
    assert problem.status == 422, problem.document
    assert any(field in one for one in fields(problem)), problem.document
    assert problem.document["citation"]


def test_an_unknown_participant_is_named(office):
    transfer = {"amount": "100.00", "credited_on": "2025-02-01", "reference": "T-unknown"}
    problem = office.refused(lambda: office.preparer.post("/participants/P-200999/transfers", transfer))
    assert (problem.status, fields(problem)) == (404, {"participant_id"})


def test_a_second_change_of_selection_in_a_fiscal_year_is_refused(office):
    office.enrol(["P-200002"], on="2024-07-01")
    place = "/participants/P-200002/investment-selection"
    change = {"requested_on": "2025-08-01", "selection": {"fixed_income": 50, "system_portfolio": 50}}
    accepted = office.preparer.put(place, change)
    assert (accepted["effective_on"], accepted["fiscal_year"]) == ("2026-07-01", "FY2027")
    again = change | {"requested_on": "2026-06-30", "selection": {"fixed_income": 100}}
    problem = office.refused(lambda: office.preparer.put(place, again))
    assert (problem.status, problem.code) == (422, "already_changed_this_fiscal_year")
    assert problem.document["citation"].startswith(f"{SECTION}(b)(2)")


def test_a_remittance_whose_total_is_not_its_sum_is_not_taken_at_all(office, member):
    clerk = office.people.clerks["E-001"]
    wrong = remittance("R-total", {member: "200.00"}, total="200.01")
    problem = office.refused(lambda: clerk.post("/payroll-remittances", wrong))
    assert problem.status == 422
    assert any("control.total" in one for one in fields(problem)), problem.document
    # LE-07: the corrected file may use the same reference.
    taken = clerk.post("/payroll-remittances", remittance("R-total", {member: "200.00"}))
    assert (taken["status"], taken["total"]) == ("awaiting_deposit", "200.00")


def test_a_remittance_sent_twice_is_one_and_another_content_is_a_conflict(office, member):
    clerk = office.people.clerks["E-001"]
    sent = remittance("R-twice", {member: "200.00"})
    first = clerk.post("/payroll-remittances", sent, key=str(uuid4()))
    again = clerk.post("/payroll-remittances", sent, key=str(uuid4()))
    assert again == first
    other = remittance("R-twice", {member: "300.00"})
    problem = office.refused(lambda: clerk.post("/payroll-remittances", other, key=str(uuid4())))
    assert problem.status == 409


def test_a_deposit_of_another_amount_is_refused(office, member):
    clerk, treasurer = office.people.clerks["E-001"], office.people.treasurer
    sent = clerk.post("/payroll-remittances", remittance("R-deposit", {member: "200.00"}))
    place = f"/payroll-remittances/{sent['remittance_id']}/deposit"
    deposit = {"reference": "D-1", "amount": "199.99", "value_date": "2025-01-31"}
    problem = office.refused(lambda: treasurer.post(place, deposit))
    assert problem.status in {409, 422}
    assert "amount" in "".join(fields(problem))


def test_a_run_without_the_june_figure_names_it(office):
    problem = office.refused(lambda: office.preparer.post("/yield-runs", {"semester": "FY2025-S2"}))
    assert (problem.status, problem.code) == (422, "yield_not_in_force")
    assert problem.document["missing"] == ["fixed_income 2025-06"]
    assert problem.document["citation"].startswith(SECTION)


def test_a_run_is_approved_once_by_another_person_as_it_stands(office, member):
    prepared = office.prepare("FY2025-S1")
    approval, run_hash = "/yield-runs/FY2025-S1/approval", prepared["run"]["hash"]

    # The preparer, through another client of the office.
    same_person = Api(office.stack, client_id=_second_office_client(office), acting_user=prepared["run"]["prepared_by"])
    problem = office.refused(lambda: same_person.post(approval, {"hash": run_hash}, key=str(uuid4())))
    assert (problem.status, problem.code) == (403, "same_person")

    stale = office.refused(lambda: office.people.approver.post(approval, {"hash": "0" * 64}, key=str(uuid4())))
    assert (stale.status, stale.code) == (409, "stale_hash")

    office.approve(run_hash, "FY2025-S1")
    office.wait_for("posted", "FY2025-S1")
    third = office.api("office", "demo-person-9")
    twice = office.refused(lambda: third.post(approval, {"hash": run_hash}, key=str(uuid4())))
    assert (twice.status, twice.code) == (409, "already_approved")
    assert office.yields([member], "FY2025-S1") == {member: 1}


def _second_office_client(office: Office) -> str:
    made = office.stack.client("cognito-idp").create_user_pool_client(
        UserPoolId=office.stack.outputs["UserPoolId"],
        ClientName="office-2",
        GenerateSecret=True,
        AllowedOAuthFlowsUserPoolClient=True,
        AllowedOAuthFlows=["client_credentials"],
        AllowedOAuthScopes=["retiro/runs.approve", "retiro/runs.prepare"],
    )["UserPoolClient"]
    bind(office.registry, Binding(made["ClientId"], Party.OFFICE))
    return made["ClientId"]


def status(office: Office, method: str, path: str, token: str | None, body: bytes | None = None) -> int:
    headers = {"Acting-User": "demo-person-1", "Idempotency-Key": str(uuid4()), "Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return urllib3.request(method, office.stack.api_url + path, body=body, headers=headers, retries=False).status


def test_a_token_opens_the_routes_of_its_scopes_and_no_others_in_any_order(office, member):
    """AP-05, https://github.com/ministackorg/ministack/pull/1367: one token, one authorizer, within one lifetime.

    Cognito's authorizer answers 401 where the scope is missing; the handler behind it would answer 403.
    """
    read, prepare = f"/participants/{member}", "/yield-runs"
    run = b'{"semester": "FY2030-S1"}'
    portal = office.stack.token(office.stack.client_id("portal"))
    assert status(office, "GET", read, portal) == 200
    assert status(office, "POST", prepare, portal, run) in {401, 403}
    assert status(office, "GET", read, portal) == 200

    fresh = office.stack.token(office.stack.client_id("portal"))
    assert status(office, "POST", prepare, fresh, run) in {401, 403}
    assert status(office, "GET", read, fresh) == 200

    fund = office.stack.token(office.stack.client_id("fund"))
    assert status(office, "GET", read, fund) in {401, 403}


def test_another_employers_client_does_not_reach_this_agencys_remittance(office, member):
    sent = office.people.clerks["E-001"].post("/payroll-remittances", remittance("R-own", {member: "10.00"}))
    place = f"/payroll-remittances/{sent['remittance_id']}"
    assert office.people.clerks["E-001"].get(place)["total"] == "10.00"
    problem = office.refused(lambda: office.people.clerks["E-002"].get(place))
    assert problem.status == 403


ROUTES = [
    ("POST", "/participants"),
    ("GET", "/participants/P-200001/passbook"),
    ("POST", "/payroll-remittances"),
    ("POST", "/board-resolutions"),
    ("GET", "/yield-runs/FY2025-S1"),
    ("POST", "/yield-runs/FY2025-S1/approval"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_is_open(office, method, path):
    assert status(office, method, path, None) == 401
    forged = office.stack.token(office.stack.client_id("office"))[:-6] + "AAAAAA"
    assert status(office, method, path, forged) == 401


def test_a_client_that_is_bound_to_no_party_reaches_nothing(office, member):
    made = office.stack.client("cognito-idp").create_user_pool_client(
        UserPoolId=office.stack.outputs["UserPoolId"],
        ClientName="stranger",
        GenerateSecret=True,
        AllowedOAuthFlowsUserPoolClient=True,
        AllowedOAuthFlows=["client_credentials"],
        AllowedOAuthScopes=["retiro/participants.read"],
    )["UserPoolClient"]
    assert status(office, "GET", f"/participants/{member}", office.stack.token(made["ClientId"])) == 403


def test_the_same_key_gets_the_same_answer_and_another_payload_none(office):
    key = str(uuid4())
    body = enrolment("P-200003", on="2024-07-01")
    first = office.preparer.post("/participants", body, key=key)
    assert office.preparer.post("/participants", body, key=key) == first
    problem = office.refused(lambda: office.preparer.post("/participants", enrolment("P-200004"), key=key))
    assert problem.status == 422


def test_a_refused_request_leaves_its_key_free(office):
    key = str(uuid4())
    wrong = enrolment("P-200005") | {"selection": {"fixed_income": 25}}
    office.refused(lambda: office.preparer.post("/participants", wrong, key=key))
    taken = office.preparer.post("/participants", enrolment("P-200005", on="2024-07-01"), key=key)
    assert taken["participant_id"] == "P-200005"


def test_a_problem_is_told_in_spanish_to_who_asks_for_it(office):
    client = office.stack.client_id("office")
    spanish = Api(office.stack, client_id=client, acting_user="demo-person-1", language="es")
    problem = office.refused(lambda: spanish.get("/participants/P-200999"))
    assert "No existe" in problem.document["detail"] + problem.document["title"]
