"""The doors: no route is open, a client does what its scopes say, and a request sent again gets the first answer."""

import re
from functools import cache
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from cli.stacks import PARTIES
from tests.cloud.office import Office, enrolment, remittance

KNOWN = "P-202000"
ALL_SCOPES = [
    *("participants.read", "participants.write", "payroll.remit", "payroll.confirm"),
    *("benefits.quote", "benefits.settle", "benefits.approve", "benefits.read", "plans.write", "plans.approve"),
    *("runs.prepare", "runs.approve", "board.write", "board.approve", "board.read"),
]
REFUSED_BY_GATEWAY = (401, 403)
"""API Gateway answers 403 where a scope is missing; the local cloud's authorizer 401, which is no difference here."""


class Route(NamedTuple):
    """A method of the deployed API."""

    method: str
    path: str
    scopes: frozenset[str]

    @property
    def place(self) -> str:
        """Its path with ids in it, that nothing has."""
        return re.sub(r"\{[^}]*\}", "none", self.path)


@pytest.fixture(scope="module")
def routes(office: Office) -> list[Route]:
    """Each method of each resource that the gateway has."""
    pages = (
        office.stack.client("apigateway")
        .get_paginator("get_resources")
        .paginate(restApiId=office.stack.outputs["ApiId"], embed=["methods"])
    )
    found = [
        Route(name, resource["path"], frozenset(method.get("authorizationScopes", [])))
        for page in pages
        for resource in page["items"]
        for name, method in resource.get("resourceMethods", {}).items()
    ]
    assert {"/participants", "/yield-runs", "/payroll-remittances"} <= {route.path for route in found}
    return found


@pytest.fixture(scope="module")
def known(office: Office) -> str:
    """Somebody who is enrolled."""
    office.preparer.post("/participants", enrolment(KNOWN, on="2019-01-02"))
    return KNOWN


def sent(office: Office, route: Route, token: str | None) -> Any:
    return office.send(
        route.method, route.place, token=token, body=None if route.method == "GET" else "{}", key=str(uuid4())
    )


def test_no_route_answers_without_a_token(office, routes):
    answers = {(route.method, route.path): sent(office, route, None).status for route in routes}
    assert answers == dict.fromkeys(answers, 401)


def test_no_route_answers_to_a_token_that_another_made(office, routes):
    header, claims, signature = office.token("office").split(".")
    forged = f"{header}.{claims}.{signature[::-1]}"
    assert {sent(office, route, forged).status for route in routes} == {401}


def test_every_route_has_a_scope_and_refuses_a_client_that_lacks_it(office, routes):
    described = {party: scopes_of(office, office.stack.client_id(party)) for party in PARTIES}
    token = cache(office.token)
    for route in routes:
        assert route.scopes, route
        others = [party for party, scopes in described.items() if scopes.isdisjoint(route.scopes)]
        assert others, route
        for party in others:
            assert sent(office, route, token(party)).status in REFUSED_BY_GATEWAY, (route, party)


def test_a_client_that_is_bound_to_nobody_may_do_nothing(office, routes):
    """Its token has every scope."""
    token = office.stack.token(office.new_client("unbound", ALL_SCOPES))
    for route in routes:
        answer = sent(office, route, token)
        assert (answer.status, answer.body["code"]) == (403, "client_not_bound"), route


def test_a_handler_asks_for_the_scope_again_where_the_gateway_has_not(office, behind):
    """As the gateway's event has it, but for the scope."""
    event = {
        "resource": "/participants",
        "path": "/participants",
        "httpMethod": "POST",
        "headers": {"Acting-User": "test-person-1", "Idempotency-Key": "bypassed", "Content-Type": "application/json"},
        "multiValueHeaders": {},
        "requestContext": {
            "requestId": "bypassed",
            "stage": "v1",
            "authorizer": {
                "claims": {"client_id": office.stack.client_id("office"), "scope": "retiro/participants.read"}
            },
        },
        "body": "{}",
        "isBase64Encoded": False,
    }
    answer = behind.invoke("ParticipantsApi", event)
    assert answer["statusCode"] == 403
    assert '"scope_missing"' in answer["body"]


@pytest.mark.parametrize("refused_first", [False, True])
def test_ap_05_an_answer_for_one_route_is_never_taken_for_another(office, known, refused_first):
    """Https://github.com/auth0-samples/jwt-rsa-aws-custom-authorizer/pull/8: one fresh token, both orders."""
    token = office.token("portal")  # participants.read, and nothing of runs

    def read() -> int:
        return office.send("GET", f"/participants/{known}", token=token).status

    def prepare() -> int:
        body = {"semester": "FY2022-S2"}
        return office.send("POST", "/yield-runs", token=token, body=body, key=str(uuid4())).status

    asked = [prepare, read, prepare] if refused_first else [read, prepare, read]
    assert [ask() for ask in asked] == [200 if ask is read else pytest.approx(401, abs=2) for ask in asked]


def test_ap_05_an_employer_reaches_its_own_agency_whoever_asked_before(office, known):
    sent_by_own = office.people.clerks["E-001"].post(
        "/payroll-remittances", remittance("AP-05", {known: "100.00"}, "2019-02")
    )
    path = f"/payroll-remittances/{sent_by_own['remittance_id']}"
    own, other = office.people.clerks["E-001"], office.people.clerks["E-002"]
    assert own.get(path) == sent_by_own
    office.refused(lambda: other.get(path), 403, "other_employer", field="employer_id")
    assert own.get(path) == sent_by_own


def test_the_same_request_again_gets_the_first_answer_byte_for_byte(office, behind):
    token, key = office.token("office"), str(uuid4())
    body = enrolment("P-202001", on="2019-01-02")

    first = office.send("POST", "/participants", token=token, body=body, key=key)
    assert first.status == 201
    before = behind.ledger_items()
    again = office.send("POST", "/participants", token=token, body=body, key=key)
    assert again == first
    # In another order of its members, it is the same request.
    assert office.send("POST", "/participants", token=token, body=dict(reversed(body.items())), key=key) == first
    # With a key of its own it meets the passbook's: the ledger answers what it holds.
    assert office.send("POST", "/participants", token=token, body=body, key=str(uuid4())) == first
    assert behind.ledger_items() == before


def test_a_key_that_comes_again_with_another_payload_is_refused(office):
    token, key = office.token("office"), str(uuid4())
    first = office.send("POST", "/participants", token=token, body=enrolment("P-202002", on="2019-01-02"), key=key)
    assert first.status == 201
    office.refused(
        lambda: office.send("POST", "/participants", token=token, body=enrolment("P-202003", on="2019-01-02"), key=key),
        422,
        "idempotency_key_reused",
        field="Idempotency-Key",
    )


def test_a_refused_request_leaves_its_key_free_and_no_key_is_refused(office):
    token, key = office.token("office"), str(uuid4())

    def enrol(amount: str, key: str | None):
        transfer = {"amount": amount, "credited_on": "2019-01-02", "reference": "T-P-202004"}
        body = enrolment("P-202004", on="2019-01-02", initial_transfer=transfer)
        return office.send("POST", "/participants", token=token, body=body, key=key)

    office.refused(lambda: enrol("1.005", key), 422, "invalid_input", field="initial_transfer.amount")
    office.refused(lambda: enrol("1.00", None), 400, "idempotency_key_missing", field="Idempotency-Key")
    assert enrol("1.00", key).status == 201


def test_a_problem_is_told_in_spanish_where_spanish_is_asked_for(office):
    answer = office.api("office", "test-person-2")
    answer._headers["Accept-Language"] = "es"
    document = office.refused(
        lambda: answer.get("/participants/P-999998"), 404, "unknown_participant", field="participant_id"
    )
    assert document["detail"] == "No existe el participante P-999998."


def scopes_of(office: Office, client_id: str) -> frozenset[str]:
    described = office.stack.client("cognito-idp").describe_user_pool_client(
        UserPoolId=office.stack.outputs["UserPoolId"], ClientId=client_id
    )
    return frozenset(described["UserPoolClient"]["AllowedOAuthScopes"])
