"""The frame around a small portal of its own: a till that takes money."""

import json
from typing import Annotated

import pytest
from pydantic import StringConstraints

from retiro.portal import Amount, Answer, Body, PageQuery, Portal, Principal, not_found
from retiro.registry.clients import Party
from retiro.rules.calendar import Date
from retiro.rules.money import Money, Percent
from retiro.rules.refusals import Refusal, RefusalCode

TILL = "T-1"
TillId = Annotated[str, StringConstraints(pattern=r"^T-[0-9]{1,6}$")]


class Payment(Body):
    amount: Money
    on: Date
    note: str | None = None


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
        self.portal = Portal("till")
        portal = self.portal

        @portal.post("/tills/{till_id}/payments", scopes="till.write")
        def pay(till_id: TillId, body: Payment, principal: Principal) -> Paid:
            if till_id != TILL:
                raise not_found(
                    "till_not_found", en="There is no such till.", es="No existe esa caja.", field="till_id"
                )
            if self.failure is not None:
                raise self.failure
            self.amounts_cents.append(body.amount)
            if self.faulty:
                return Paid.model_construct(till_id=till_id, total=1.5, by="987654321")
            return Paid(till_id=till_id, total=sum(self.amounts_cents), by=principal.person)

        @portal.get("/tills", scopes=("till.read", "till.write"))
        def tills(query: PageQuery) -> Listed:
            return Listed(items=[TILL], after=query.after)

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


def test_smoke(pay, till):
    assert pay(scopes="").code == "scope_missing"
    answer = pay({"amount": 1234567890123456.78, "on": 1744243200})
    print(answer.text)
