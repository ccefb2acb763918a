"""The frame around a small portal of its own: a till that takes money."""

import base64
import json
import re
import time
from http import HTTPStatus
from types import SimpleNamespace
from typing import Annotated
from uuid import uuid4

import pytest
from pydantic import StringConstraints

from retiro.ledger.evidence import Evidence, EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind, KeyRecord
from retiro.ledger.retries import BusyError
from retiro.portal import (
    Amount,
    Answer,
    Body,
    Language,
    PageQuery,
    Portal,
    Principal,
    Problem,
    conflict,
    cursor,
    not_found,
)
from retiro.portal.problems import FieldError, ProblemDocument
from retiro.portal.routes import CSV
from retiro.registry.clients import Party
from retiro.registry.table import Table
from retiro.rules.calendar import Date
from retiro.rules.forms import Sentence
from retiro.rules.money import Money
from retiro.rules.receipts import Receipt
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import Selection

TILL = "T-1"
TillId = Annotated[str, StringConstraints(pattern=r"^T-[0-9]{1,6}$")]


class Payment(Body):
    amount: Money
    on: Date
    note: str | None = None


class Choice(Body):
    selection: Selection


class Paid(Answer):
    till_id: str
    total: Amount
    by: str


class Listed(Answer):
    items: list[str]
    after: str | None


class Till:
    """A till with state: what it was paid, and what it answers."""

    def __init__(self) -> None:
        self.amounts_cents: list[int] = []
        self.faulty = False
        self.failure: Exception | None = None
        self.killed: BaseException | None = None
        # A name of its own: a logger keeps the stream of the test that it was made in.
        self.portal = Portal(f"till-{uuid4()}")
        portal = self.portal

        @portal.post("/tills/{till_id}/payments", scopes="till.write")
        def pay(till_id: TillId, body: Payment, principal: Principal) -> Paid:
            if till_id != TILL:
                raise not_found(
                    "till_not_found", en="There is no such till.", es="No existe esa caja.", field="till_id"
                )
            if self.killed is not None:
                raise self.killed
            if self.failure is not None:
                raise self.failure
            by = principal.person
            self.amounts_cents.append(body.amount)
            if self.faulty:
                return Paid.model_construct(till_id=till_id, total=1.5, by="987654321")
            return Paid(till_id=till_id, total=sum(self.amounts_cents), by=by)

        @portal.get("/tills", scopes=("till.read", "till.write"))
        def tills(query: PageQuery) -> Listed:
            return Listed(items=[TILL], after=query.after)

        @portal.put("/tills/{till_id}/note", scopes="till.write")
        def put_note(till_id: TillId, body: Payment, language: Language) -> Paid:
            self.amounts_cents.append(body.amount)
            return Paid(till_id=till_id, total=sum(self.amounts_cents), by=language)

        @portal.post("/choices", scopes="till.write", status=200, stores=False)
        def choose(body: Choice) -> Listed:
            return Listed(items=list(body.selection), after=None)

        @portal.post("/quotes", scopes="till.write", status=200, stores=False)
        def quote(body: Payment) -> Paid:
            return Paid(till_id=TILL, total=body.amount, by="nobody")


@pytest.fixture
def till():
    return Till()


@pytest.fixture
def pay(call, till):
    def paid(body=None, path="/tills/T-1/payments", **request):
        request.setdefault("scopes", "till.write")
        body = {"amount": "214.36", "on": "2025-06-30"} if body is None else body
        return call(till.portal.handler, "POST", path, body=body, **request)

    return paid


def test_a_request_in_order_is_answered_with_the_routes_status_and_model(pay):
    answer = pay()
    assert answer.status == 201
    assert answer.body == {"till_id": "T-1", "total": "214.36", "by": "u-ana"}
    assert answer.headers["Content-Type"] == "application/json"


# Who asks


def test_a_client_without_the_scope_is_refused_even_past_the_gateway(pay, till):
    """AP-05: https://github.com/auth0-samples/jwt-rsa-aws-custom-authorizer/pull/8. The handler asks again."""
    for scopes in ("", "till.read", "till.writes", "participants.write"):
        refused = pay(scopes=scopes)
        assert (refused.status, refused.code) == (403, "scope_missing")
    assert till.amounts_cents == []


def test_a_scope_of_another_resource_server_is_none(till, call, api_event):
    event = api_event("POST", "/tills/T-1/payments", body={"amount": "1.00", "on": "2025-06-30"})
    event["requestContext"]["authorizer"]["claims"]["scope"] = "other/till.write till.write"
    assert till.portal.handler(event, None)["statusCode"] == 403


def test_one_token_reaches_its_own_routes_and_no_other_in_any_order(till, call):
    def statuses():
        read = call(till.portal.handler, "GET", "/tills", scopes="till.read").status
        write = call(till.portal.handler, "POST", "/tills/T-1/payments", scopes="till.read", body={}).status
        return [read, write]

    assert statuses() + statuses() == [200, 403, 200, 403]


def test_the_scope_comes_before_the_body(pay):
    assert pay(body="{", scopes="").code == "scope_missing"


def test_any_one_of_a_routes_scopes_is_enough(till, call):
    assert [call(till.portal.handler, "GET", "/tills", scopes=f"till.{way}").status for way in ("read", "write")] == [
        200
    ] * 2


def test_a_client_that_is_bound_to_no_party_is_refused(pay):
    refused = pay(client="stranger")
    assert (refused.status, refused.code) == (403, "client_not_bound")


def test_a_request_without_an_authorizer_is_refused(pay):
    refused = pay(client=None)
    assert (refused.status, refused.code) == (401, "not_authenticated")


def test_a_write_names_the_acting_user(pay, till):
    refused = pay(user=None)
    assert (refused.status, refused.code, refused.body["field"]) == (400, "acting_user_missing", "Acting-User")
    assert till.amounts_cents == []


@pytest.mark.parametrize(
    "user", ["", "ab", "584111234", "584-11-1234", "ana@example.org", "Ana Ruiz", "ñandú", "x" * 65]
)
def test_an_acting_user_is_an_opaque_id(pay, user):
    assert pay(user=user).code == "acting_user_malformed"


@pytest.mark.parametrize("user", ["u-1", "x" * 64, "HR.0042_b:7"])
def test_an_acting_user_may_be_any_opaque_id(pay, user):
    assert pay(user=user).body["by"] == user.lower()


def test_a_read_needs_no_acting_user(till, call):
    assert call(till.portal.handler, "GET", "/tills", scopes="till.read", user=None).status == 200


def test_an_employers_client_reaches_its_own_agency_only():
    principal = Principal("c", Party.EMPLOYER, frozenset(), "u-1", employer_id="E-001")
    principal.must_reach_employer("E-001")
    with pytest.raises(Problem, match="other_employer") as refused:
        principal.must_reach_employer("E-002")
    assert refused.value.status == 403


@pytest.mark.parametrize("party", [party for party in Party if party is not Party.EMPLOYER])
def test_other_parties_reach_every_agency(party):
    Principal("c", party, frozenset(), "u-1").must_reach_employer("E-002")


# Bodies


def test_a_number_for_money_is_refused_and_shown_as_it_came(pay, till):
    body = '{"amount": 1234567890123456.78, "on": "2025-06-30"}'

    refused = pay(body)

    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", "amount")
    [error] = refused.body["errors"]
    assert error["location"] == ["body", "amount"]
    assert error["received"] == "1234567890123456.78"
    assert "214.36" in error["detail"]
    assert till.amounts_cents == []


@pytest.mark.parametrize("number", ["1E99999999999999999999", "-1e-99999999999999999999", "1" * 4000, "1.50E+2"])
def test_a_number_of_any_size_is_a_number_like_another(pay, till, number):
    """RFC 8259 § 6 sets no bounds, and neither a float nor a Decimal goes on without end."""
    refused = pay(f'{{"amount": {number}, "on": "2025-06-30", "note": {number}}}')
    assert refused.status == 422
    amount, note = refused.body["errors"]
    assert (amount["code"], amount["received"]) == ("money", number)
    assert (note["field"], note.get("received")) == ("note", None)
    assert till.amounts_cents == []


@pytest.mark.parametrize(
    "text",
    ["1", "1.1", "1.100", "1.105", " 1.00", "1.00 ", "+1.00", "-0.00", "1e2", "1_000.00", "1,000.00", "1.000,00", ".50",
     "1.", "０.50", "00.50", "NaN", "Infinity", ""],
)  # fmt: skip
def test_money_has_one_form(pay, till, text):
    refused = pay({"amount": text, "on": "2025-06-30"})
    assert (refused.status, refused.body["field"]) == (422, "amount")
    assert till.amounts_cents == []


@pytest.mark.parametrize("text", ["0.00", "100.10", "-245.78", "90071992547409.93"])
def test_money_comes_back_as_it_went_in(till, call, text):
    answer = call(
        till.portal.handler, "POST", "/quotes", scopes="till.write", body={"amount": text, "on": "2025-06-30"}
    )
    assert answer.body["total"] == text


@pytest.mark.parametrize(
    "text",
    [
        "1744243200",
        '"1744243200"',
        "0",
        '"0"',
        '"2025-04-10T00:00:00"',
        '"2025-04-10T00:00:00Z"',
        '"2025-4-10"',
        "true",
    ],
)
def test_a_date_has_one_form(pay, till, text):
    """AP-01: https://github.com/pydantic/pydantic/issues/1185. Six of these would be a day around 1970."""
    refused = pay(f'{{"amount": "1.00", "on": {text}}}')
    assert (refused.status, refused.body["field"]) == (422, "on")
    assert till.amounts_cents == []


def test_every_error_of_a_body_is_named_with_its_place(pay):
    refused = pay({"amount": 1, "on": "2025-02-30", "colour": "blue"})
    assert [error["location"] for error in refused.body["errors"]] == [
        ["body", "amount"],
        ["body", "on"],
        ["body", "colour"],
    ]
    assert [error["field"] for error in refused.body["errors"]] == ["amount", "on", "colour"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "body_missing"),
        (None, "body_missing"),
        ("{", "not_json"),
        ("{'amount': '1.00'}", "not_json"),
        ('{"amount": NaN, "on": "2025-06-30"}', "not_json"),
        ('{"amount": -Infinity, "on": "2025-06-30"}', "not_json"),
        ('{"amount": "1.00", "on": "2025-06-30"} {}', "not_json"),
        ("\ufeff{}", "not_json"),
        ("[" * 100_000, "not_json"),
        ('{"amount": "1.00", "amount": "2.00", "on": "2025-06-30"}', "name_twice"),
    ],
)
def test_what_is_not_json_cannot_be_read(till, call, body, code):
    answer = call(till.portal.handler, "POST", "/tills/T-1/payments", scopes="till.write", body=body)
    assert (answer.status, answer.code, answer.body["citation"]) == (400, code, "RFC 8259")
    assert till.amounts_cents == []


def test_a_name_that_comes_twice_among_very_many_is_found_at_once(pay):
    names = [*range(30_000), 29_999]
    began = time.process_time()
    refused = pay("{" + ",".join(f'"{name:x}":0' for name in names) + "}")
    assert (refused.code, refused.body["field"]) == ("name_twice", "752f")
    assert time.process_time() - began < 3


def test_a_lone_surrogate_is_refused(pay):
    assert pay('{"amount": "1.00", "on": "2025-06-30", "note": "\\ud800"}').status in {400, 422}


@pytest.mark.parametrize("body", ['[{"amount": "1.00", "on": "2025-06-30"}]', '"x"', "7", "null"])
def test_a_body_of_another_shape_is_refused(pay, till, body):
    assert pay(body).status == 422
    assert till.amounts_cents == []


@pytest.mark.parametrize(("more", "status"), [(0, 201), (1, 413)])
def test_a_body_stays_under_a_megabyte(pay, more, status):
    text = '{"amount": "1.00", "on": "2025-06-30", "note": ""}'
    padded = text.replace('""', f'"{"x" * (1_000_000 - len(text) + more)}"')
    assert pay(padded).status == status


@pytest.mark.parametrize(
    ("content_type", "status"),
    [("application/json", 201), ("application/json; charset=utf-8", 201), ("text/plain", 415),
     ("application/x-www-form-urlencoded", 415), ("application/jsonp", 415)],
)  # fmt: skip
def test_a_body_is_json_alone(pay, content_type, status):
    assert pay(headers={"Content-Type": content_type}).status == status


def test_a_body_in_base64_is_read(till, api_event, replay):
    event = api_event("POST", "/tills/T-1/payments", scopes="till.write", body={"amount": "1.00", "on": "2025-06-30"})
    event["body"] = base64.b64encode(event["body"].encode()).decode()
    event["isBase64Encoded"] = True
    assert replay(till.portal.handler, event).status == 201
    event["body"] = base64.b64encode(b"\xff\xfe").decode()
    assert replay(till.portal.handler, event).code == "not_json"


@pytest.mark.parametrize("till_id", ["T-x", "T-1234567", "t-1"])
def test_a_path_of_another_form_is_refused(pay, till_id):
    refused = pay(path=f"/tills/{till_id}/payments")
    assert (refused.status, refused.body["field"]) == (422, "till_id")
    assert refused.body["errors"][0]["location"] == ["path", "till_id"]


def test_an_unknown_route_is_not_found(till, call):
    answer = call(till.portal.handler, "GET", "/nowhere", scopes="till.read")
    assert (answer.status, answer.code) == (404, "no_such_route")


def test_a_header_that_came_twice_is_refused(till, api_event, replay):
    event = api_event("POST", "/tills/T-1/payments", scopes="till.write", body={"amount": "1.00", "on": "2025-06-30"})
    event["multiValueHeaders"]["Acting-User"] = ["u-ana", "u-berta"]
    assert replay(till.portal.handler, event).code == "name_twice"


def test_languages_that_came_in_two_headers_are_one_list(till, api_event, replay):
    event = api_event("POST", "/tills/T-2/payments", body={"amount": "1.00", "on": "2025-06-30"}, scopes="till.write")
    event["multiValueHeaders"]["Accept-Language"] = ["en;q=0.5", "es"]
    event["headers"]["Accept-Language"] = "es"
    refused = replay(till.portal.handler, event)
    assert (refused.code, refused.headers["Content-Language"]) == ("till_not_found", "es")


def test_a_correlation_id_that_came_twice_is_none(till, api_event, replay, capsys):
    event = api_event("GET", "/tills", scopes="till.read")
    event["multiValueHeaders"]["X-Correlation-Id"] = ["case-2025-0001", "case-2025-0002"]
    event["headers"]["X-Correlation-Id"] = "case-2025-0002"
    assert replay(till.portal.handler, event).status == 200
    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert line["correlation_id"] == event["requestContext"]["requestId"]


# Problems


def test_a_problem_document_has_its_members(pay):
    refused = pay(path="/tills/T-2/payments")
    document = refused.body
    assert document.pop("instance").startswith("urn:retiro:request:")
    assert document == {
        "type": "urn:problem-type:retiro:till_not_found",
        "title": "Not found",
        "status": 404,
        "detail": "There is no such till.",
        "code": "till_not_found",
        "citation": "RFC 9110 § 15.5.5",
        "field": "till_id",
    }
    assert refused.headers["Content-Language"] == "en"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("es", "es"),
        ("es-PR", "es"),
        ("ES-pr,en;q=0.9", "es"),
        ("en;q=0.8, es;q=0.9", "es"),
        ("es;q=0.1, en;q=0.2", "en"),
        ("es;q=0, en;q=0.1", "en"),
        ("fr, es;q=0.5", "es"),
        ("fr", "en"),
        ("*", "en"),
        ("es;q=zebra, en;q=0.3", "en"),
        ("en;q=0, *", "es"),
        ("*, en;q=0", "es"),
        ("es;q=0, *", "en"),
        ("en;q=0.5, *", "es"),
        ("es, *", "es"),
        ("*, es", "en"),
        ("en, es;q=0.5, *;q=0.9", "en"),
        ("en;q=0", "en"),
    ],
)
def test_a_problem_speaks_the_language_that_is_preferred(pay, accepted, language):
    headers = {} if accepted is None else {"Accept-Language": accepted}
    refused = pay(path="/tills/T-2/payments", headers=headers)
    assert refused.headers["Content-Language"] == language
    assert refused.body["detail"] == {"en": "There is no such till.", "es": "No existe esa caja."}[language]


def test_every_sentence_is_there_in_spanish(pay):
    refused = pay({"amount": 1}, headers={"Accept-Language": "es"})
    assert refused.body["title"] == "Denegado"
    assert refused.body["detail"].startswith("El campo amount debe ser dinero")
    assert [error["detail"] for error in refused.body["errors"]][1] == "falta"


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("en", "And 74999 more. The first 1000 errors are listed, and 74000 more are not."),
        ("es", "Y 74999 más. Se indican los primeros 1000 errores, y otros 74000 no."),
    ],
)
def test_of_very_many_errors_the_first_are_listed_and_the_rest_counted(pay, language, says):
    """A function answers 6 MB at most."""
    members = ",".join(f'"{number:x}":0' for number in range(75_000))
    refused = pay(f'{{"amount": "1.00", "on": "2025-06-30", {members}}}', headers={"Accept-Language": language})
    assert refused.status == 422
    assert refused.body["detail"].endswith(says)
    assert [error["field"] for error in refused.body["errors"]] == [f"{number:x}" for number in range(1_000)]


@pytest.mark.parametrize("number", [1_000, 1_001])
def test_no_more_is_said_where_all_errors_are_listed(number):
    problem = Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "refused",
        Sentence("No.", "No."),
        citation="-",
        errors=[FieldError(("body", index), "x", Sentence("Wrong.", "Mal.")) for index in range(number)],
    )
    document = problem.document(Language.ES, "-")
    assert len(document["errors"]) == 1_000
    more = "" if number == 1_000 else " Se indican los primeros 1000 errores, y otros 1 no."
    assert document["detail"] == f"No.{more}"


def test_a_name_as_long_as_a_body_isnt_said_over_and_over(pay):
    name = "ñ" * 400_000
    refused = pay(f'{{"amount": "1.00", "on": "2025-06-30", "{name}": 0}}')
    assert refused.body["errors"][0]["location"] == ["body", "ñ" * 100 + "…"]
    assert len(refused.text) < 2_000


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ('{"\\ud800": 1, "\\ud800": 2}', "name_twice", "?"),
        ('{"a\\udfff\\ud83d\\ude00": 1, "a\\udfff\\ud83d\\ude00": 2}', "name_twice", "a?😀"),
    ],
)
def test_an_answer_is_utf_8_whatever_was_named(pay, body, code, field):
    refused = pay(body)
    assert (refused.status, refused.code, refused.body["field"]) == (400, code, field)
    assert refused.text.encode()


def test_a_text_that_isnt_json_is_utf_8_too(till, call):
    @till.portal.get("/names", scopes="till.read", media_type=CSV)
    def names() -> str:
        return "Ana\ud800,Íñigo"

    assert call(till.portal.handler, "GET", "/names", scopes="till.read").text.encode() == "Ana?,Íñigo".encode()


def test_a_rules_refusal_brings_its_citation_and_the_receipt_so_far(pay, till):
    refusal = Refusal(RefusalCode.NO_SELECTION, "3 L.P.R.A. § 786-7(b)(1)", field="selection", semester="FY2025-S2")
    refusal.receipt = Receipt(
        determination="semester_yield",
        citation="3 L.P.R.A. § 786-7(a)(3)",
        inputs={"semester": "FY2025-S2"},
        parameters=[],
        settings=[],
        steps=[],
        open_questions=[],
    )
    till.failure = refusal

    refused = pay()

    assert (refused.status, refused.code, refused.body["field"]) == (422, "no_selection", "selection")
    assert refused.body["citation"] == "3 L.P.R.A. § 786-7(b)(1)"
    assert refused.body["receipt"]["inputs"] == {"semester": "FY2025-S2"}


@pytest.mark.parametrize("body", [{"amount": 1.5}, "{"])
def test_a_problem_document_is_as_the_api_describes_it(pay, body):
    described = ProblemDocument.model_validate_json(pay(body).text, extra="forbid")
    assert described.code in {"invalid_input", "not_json"}


def test_a_key_that_stands_for_other_content_is_a_conflict(pay, till):
    record = KeyRecord(BusinessKey(KeyKind.DEPOSIT, "D-7"), bytes(32), ())
    till.failure = KeyConflictError(record, b"x" * 32)
    refused = pay()
    assert (refused.status, refused.code) == (409, "key_conflict")
    assert "D-7" in refused.body["detail"]


def test_evidence_that_is_there_with_another_body_is_a_conflict(pay, till):
    till.failure = EvidenceConflictError(Evidence("deposit", "D-7", {}))
    refused = pay()
    assert (refused.status, refused.code) == (409, "evidence_conflict")


def test_a_route_may_be_one_partys_alone(pay, till):
    principal = Principal("c", Party.PORTAL, frozenset(), "u-1")
    principal.must_be(Party.FUND, Party.PORTAL)
    with pytest.raises(Problem, match="party_not_allowed"):
        principal.must_be(Party.FUND)


def test_who_has_no_acting_user_writes_nothing():
    with pytest.raises(Problem, match="acting_user_missing"):
        _ = Principal("c", Party.PORTAL, frozenset()).label


def test_a_store_that_is_busy_asks_to_try_again(pay, till):
    till.failure = BusyError("throttled")
    refused = pay()
    assert (refused.status, refused.code) == (503, "try_again")


# Faults of our own


def test_a_faulty_answer_of_ours_is_ours(pay, till, capsys):
    """AP-03: https://github.com/aws-powertools/powertools-lambda-python/issues/5888. 500 without data, and an alarm."""
    till.faulty = True

    broken = pay()

    assert (broken.status, broken.code) == (500, "own_fault")
    assert "987654321" not in broken.text
    assert "1.5" not in broken.text
    out = capsys.readouterr().out
    [metric] = [line for line in map(json.loads, out.splitlines()) if "_aws" in line]
    assert metric["OwnFault"] == [1.0]
    assert metric["service"] == till.portal.name
    assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Retiro"


def test_after_a_faulty_answer_the_key_is_free_so_that_a_replay_finds_what_was_done(pay, till):
    till.faulty = True
    assert pay(key="k-1").status == 500
    till.faulty = False
    again = pay(key="k-1")
    assert again.status == 201
    assert (
        again.body["total"] == "428.72"
    )  # 2 × 214.36: it's the business key, not this one, that keeps a posting single


@pytest.mark.parametrize("failure", [RuntimeError("584111234 Ruiz"), KeyError("584111234"), ValueError("584111234")])
def test_a_failure_of_ours_says_nothing_of_itself(pay, till, failure, capsys):
    till.failure = failure
    broken = pay()
    assert (broken.status, broken.code) == (500, "own_fault")
    assert "584111234" not in broken.text + capsys.readouterr().out


# Idempotency


def test_the_same_request_again_gets_the_first_answer_byte_for_byte(pay, till):
    first = pay('{"amount": "1.10", "on": "2025-06-30"}', key="k-1")
    again = pay('{ "on":"2025-06-30" , "amount":"1.10", "note": null }', key="k-1")
    assert (again.status, again.text, again.headers) == (first.status, first.text, first.headers)
    assert till.amounts_cents == [110]


@pytest.mark.parametrize("key", [None, "with space", "ñ", "x" * 256])
def test_a_post_that_stores_needs_a_key(pay, till, key):
    refused = pay(key=key)
    assert (refused.status, refused.body["field"]) == (400, "Idempotency-Key")
    assert till.amounts_cents == []


def test_a_quote_needs_no_key_and_no_acting_user(till, call):
    body = {"amount": "1.00", "on": "2025-06-30"}
    assert (
        call(till.portal.handler, "POST", "/quotes", scopes="till.write", body=body, key=None, user=None).status == 200
    )


@pytest.mark.parametrize(
    "other", [{"body": {"amount": "1.11", "on": "2025-06-30"}}, {"user": "u-berta"}, {"path": "/tills/T-2/payments"}]
)
def test_a_key_that_came_with_another_request_is_refused(pay, till, other):
    """LE-07: https://github.com/formancehq/ledger/pull/921. 422, never the first answer and never 500."""
    assert pay({"amount": "1.10", "on": "2025-06-30"}, key="k-1").status == 201
    refused = pay(**{"body": {"amount": "1.10", "on": "2025-06-30"}, "key": "k-1"} | other)
    assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert till.amounts_cents == [110]


def test_a_key_is_its_clients_own(pay, till):
    assert [pay(key="k-1", client=client).status for client in ("portal", "office")] == [201, 201]
    assert len(till.amounts_cents) == 2


def test_a_refused_request_leaves_its_key_free(pay, till):
    """LE-07: https://github.com/LerianStudio/midaz/issues/709."""
    assert pay({"amount": "1.105", "on": "2025-06-30"}, key="k-1").status == 422
    till.failure = conflict("till_closed", en="Closed.", es="Cerrada.")
    assert pay({"amount": "1.10", "on": "2025-06-30"}, key="k-1").code == "till_closed"
    till.failure = None
    assert pay({"amount": "1.11", "on": "2025-06-30"}, key="k-1").status == 201
    assert till.amounts_cents == [111]


def test_a_request_that_is_in_flight_is_a_conflict(pay, till, monkeypatch):
    inner = []

    def meanwhile(*args, **kwargs):
        if not inner:
            inner.append(None)
            inner[0] = pay(key="k-1")
        return "u-ana"

    monkeypatch.setattr(Principal, "person", property(meanwhile))

    assert pay(key="k-1").status == 201
    assert (inner[0].status, inner[0].code) == (409, "idempotency_key_in_flight")
    assert till.amounts_cents == [21436]


def test_a_record_of_a_function_that_was_killed_does_not_hold_its_key_for_ever(pay, till, stack, api_event):
    """Powertools #4759: without the Lambda context such a record would stay in progress."""

    class Killed(BaseException):
        pass

    till.failure = None
    event = api_event(
        "POST", "/tills/T-1/payments", scopes="till.write", body={"amount": "1.00", "on": "2025-06-30"}, key="k-1"
    )
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: -1, aws_request_id="r")
    till.killed = Killed()
    with pytest.raises(Killed):
        till.portal.handler(event, context)
    till.killed = None

    assert pay({"amount": "1.00", "on": "2025-06-30"}, key="k-1").status == 201


def test_a_put_heeds_a_key_where_one_comes(till, call):
    def put(key):
        body = {"amount": "1.00", "on": "2025-06-30"}
        return call(till.portal.handler, "PUT", "/tills/T-1/note", scopes="till.write", body=body, key=key)

    assert [put(key).body["total"] for key in ("k-1", "k-1", None, None)] == ["1.00", "1.00", "2.00", "3.00"]


def test_a_put_names_the_acting_user(till, call):
    answer = call(till.portal.handler, "PUT", "/tills/T-1/note", scopes="till.write", body={}, user=None)
    assert answer.code == "acting_user_missing"


def test_a_function_may_ask_for_the_language(till, call):
    answer = call(
        till.portal.handler,
        "PUT",
        "/tills/T-1/note",
        scopes="till.write",
        body={"amount": "1.00", "on": "2025-06-30"},
        headers={"Accept-Language": "es-PR"},
    )
    assert answer.body["by"] == "es"


def test_nothing_is_done_while_the_records_cannot_be_kept(pay, till, stack):
    stack.dynamodb.delete_table(TableName="retiro-idempotency")
    refused = pay()
    assert (refused.status, refused.code) == (503, "try_again")
    assert till.amounts_cents == []


# Pages


def test_a_cursor_is_opaque_and_comes_back_as_it_was(till, call):
    opaque = cursor("roster#0001/P-000001")
    assert "P-000001" not in opaque
    answer = call(till.portal.handler, "GET", "/tills", scopes="till.read", query={"cursor": opaque})
    assert answer.body["after"] == "roster#0001/P-000001"


@pytest.mark.parametrize("filled_in", ["", None])
def test_an_empty_cursor_is_the_first_page(till, call, filled_in):
    """`?cursor=` comes as an empty text, and DynamoDB refuses an empty sort key, which moto doesn't."""
    query = {"limit": "2"} if filled_in is None else {"limit": "2", "cursor": filled_in}
    answer = call(till.portal.handler, "GET", "/tills", scopes="till.read", query=query)
    assert (answer.status, answer.body["after"]) == (200, None)
    asked = []
    client = SimpleNamespace(query=lambda **request: asked.append(request) or {"Items": []})
    Table(client, "t").page("p", after=PageQuery(cursor=filled_in).after)
    assert ["ExclusiveStartKey" in request for request in asked] == [False]


@pytest.mark.parametrize("text", ["=", "====", "é", "A", "_w", "A A"])
def test_a_cursor_that_no_page_gave_is_refused(till, call, text):
    refused = call(till.portal.handler, "GET", "/tills", scopes="till.read", query={"cursor": text})
    assert (refused.status, refused.code) == (422, "invalid_cursor")


def test_a_query_name_that_came_twice_is_refused(till, api_event, replay):
    event = api_event("GET", "/tills", scopes="till.read", query={"limit": "1"})
    event["multiValueQueryStringParameters"]["limit"] = ["1", "2"]
    assert replay(till.portal.handler, event).code == "name_twice"


# Logs


def test_no_log_holds_what_a_request_said(pay, till, capsys):
    ssn, name = "584111234", "Íñigo Núñez"
    pay({"amount": "1.00", "on": "2025-06-30", "note": f"{name} {ssn}"})
    pay({"amount": ssn, "on": name, ssn: name})
    pay(f'{{"{ssn}": "{name}", "{ssn}": 1}}')
    pay(path=f"/tills/{ssn}/payments")
    pay(user=ssn, headers={"X-Correlation-Id": ssn})
    pay(key=f"{ssn} {name}")
    till.faulty = True
    pay()
    till.failure = RuntimeError(f"{name} {ssn}")
    pay()

    captured = capsys.readouterr()
    logged = captured.out + captured.err
    # Nine digits that are no part of a UUID.
    assert not re.search(r"(?<![0-9a-f-])[0-9]{3}-?[0-9]{2}-?[0-9]{4}(?![0-9a-f-])", logged)
    assert name not in logged
    assert "Núñez" not in logged.encode().decode("unicode_escape")
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [line["code"] for line in lines if "code" in line] == [
        "invalid_input",
        "name_twice",
        "invalid_input",
        "acting_user_malformed",
        "idempotency_key_malformed",
        "own_fault",
        "own_fault",
    ]


def test_a_log_line_tells_who_asked_what_and_how_it_ended(pay, till, capsys):
    pay(headers={"X-Correlation-Id": "case-2025-0001"})
    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    wanted = {
        "message": "request",
        "service": till.portal.name,
        "method": "POST",
        "route": "/tills/{till_id}/payments",
        "status": 201,
        "client_id": "portal",
        "acting_user": "u-ana",
        "correlation_id": "case-2025-0001",
    }
    assert wanted.items() <= line.items()


# Declarations


def test_no_route_is_open():
    with pytest.raises(TypeError, match="open"):
        Portal("x").get("/x", scopes=())(answer_nothing)


def test_a_function_says_what_it_answers():
    def silent():
        return None

    with pytest.raises(TypeError, match="doesn't say"):
        Portal("x").get("/x", scopes="x")(silent)


def test_a_function_takes_what_its_route_gives():
    with pytest.raises(TypeError, match="doesn't take"):
        Portal("x").get("/x/{x_id}", scopes="x")(answer_nothing)


def answer_nothing() -> Listed:
    return Listed(items=[], after=None)
