"""A client that is bound to a fund reaches that fund's things and no other's."""

from collections.abc import Callable
from typing import Any

import pytest

from payroll_deductions import api
from retiro.registry.clients import Binding, Party, bind
from tests.payroll_deductions.conftest import REMITTANCE, THREE

PUBLISHED = {
    "kind": "publication",
    "act": "216-2008",
    "date": "2008-09-01",
    "newspaper": "El Vocero",
    "general_circulation": True,
    "document_sha256": "ab" * 32,
}


@pytest.fixture
def judges(stack: Any) -> str:
    """The client of the judges' fund. E-001 and E-002 are of ERS."""
    bind(stack.registry, Binding("judges", Party.FUND, fund="JRS"))
    return "judges"


def test_what_was_refused_is_shown_to_its_own_fund_alone(
    remit: Callable[..., Any], call: Callable[..., Any], judges: str
) -> None:
    """The lines are 500.51 together; the control says a cent more, and the error names both."""
    assert remit(THREE | {"control": {"count": 3, "total": "500.52"}}).code == "remittance_refused"

    def errors(client: str, place: str = REMITTANCE) -> Any:
        return call(api.handler, "GET", f"{place}/errors", scopes="payroll.confirm", client=client)

    answer = errors(judges)
    assert (answer.status, answer.code) == (403, "other_fund")
    assert "500.5" not in answer.text
    assert [one["code"] for one in errors("fund").body["items"]] == ["control_mismatch"]
    assert errors("employer-002").code == "other_employer"
    # Whether anything was refused isn't said to another fund's client either; of no employer there is nothing.
    assert errors(judges, "/payroll-remittances/E-001_2025-099").code == "other_fund"
    assert errors(judges, "/payroll-remittances/E-999_2025-099").code == "unknown_remittance"


def test_disclosures_are_entered_by_the_funds_own_client(call: Callable[..., Any], stack: Any, judges: str) -> None:
    before = (stack.ledger_items(), stack.registry_items())

    def enter(client: str) -> Any:
        return call(api.handler, "POST", "/disclosures", body=PUBLISHED, scopes="plans.write", client=client)

    answer = enter(judges)
    assert (answer.status, answer.code) == (403, "other_fund")
    assert (stack.ledger_items(), stack.registry_items()) == before
    assert enter("fund").status == 201
