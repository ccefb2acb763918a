"""`retiro reproduce`: a stored determination, computed again from its stored receipt."""

import copy
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner

from cli import stacks
from cli.main import main
from cli.reproduce import NothingStoredError, reproduced
from retiro.ledger.evidence import Evidence
from retiro.registry import aws
from retiro.registry.employers import Employer, register
from tests.conftest import ENVIRONMENT
from tests.death_refunds.judges import JUDGE, Judges, judges
from tests.participants.semesters import post_fy2025_s2

__all__ = ["judges"]


@pytest.fixture
def settled(judges: Judges) -> str:
    """The determination of a settlement: 10,000.00 and 90.00 of return, to A and B."""
    judges.enrol()
    judges.credit(1_000_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0.9", months=3)
    judges.designate("A", "B")
    judges.dies("2025-04-10")
    determination: str = judges.settled()["determination"]
    return determination


def test_a_settlement_is_the_same_whatever_the_board_has_adopted_since(judges: Judges, settled: str) -> None:
    """CL-03, https://github.com/openfisca/openfisca-core/issues/458: results rested on inferences nobody saw."""
    judges.adopt_settings(
        return_at_exit="posted_only", predeceased_share="accrue", average_balance_method="month_start"
    )
    judges.adopt("hybrid_return", semester="FY2025-S2", percent="5.0", months_covered=3, vintage="2015-01-02")
    found = reproduced(judges.passbooks.store, settled)
    assert [(one.name, one.differences) for one in found] == [("active_death_refund", ()), ("provisional_yield", ())]
    assert reproduced(judges.passbooks.store, f"{JUDGE}/{judges.last().sequence}") == found


def test_a_stored_result_that_its_receipt_does_not_give_is_different(judges: Judges, settled: str) -> None:
    stored = judges.passbooks.store.get_evidence(*settled.split("/", 1))
    assert stored is not None
    body = copy.deepcopy(stored.body)
    body["results"]["active_death_refund"]["net_refund"] = "10090.01"
    judges.passbooks.store.put_evidence(Evidence("death_settlement", "forged", body))
    [refund, _] = reproduced(judges.passbooks.store, "death_settlement/forged")
    # 10,000.00 + 10,000.00 × 3 month-ends ÷ 3 × 0.9 % = 10,090.00
    assert [str(one) for one in refund.differences] == ["net_refund: stored '10090.01', now '10090.00'"]


@dataclass
class Here:
    """A stack on moto, as the commands see one."""

    def client(self, _service: str) -> Any:
        return aws.dynamodb()

    @property
    def outputs(self) -> dict[str, str]:
        return {"LedgerTable": ENVIRONMENT["LEDGER_TABLE"]}


@pytest.mark.parametrize(
    ("identifier", "code", "says"),
    [
        ("death_settlement/P-000001/00000008", 0, "same  active_death_refund"),
        (
            "death_settlement/forged",
            1,
            "different  active_death_refund\n  payees.0.amount: stored '0.01', now '5045.00'",
        ),
        ("death_settlement/P-000001/00000099", 2, "there is no determination"),
        ("P-000001/99", 2, "has no line 99"),
        ("P-000001/1", 2, "has no receipt"),
        ("P-000001/2", 2, "rests on no determination"),
    ],
)
def test_the_command_says_same_or_different_and_exits_so(
    *, judges: Judges, settled: str, monkeypatch: pytest.MonkeyPatch, identifier: str, code: int, says: str
) -> None:
    stored = judges.passbooks.store.get_evidence(*settled.split("/", 1))
    assert stored is not None
    body = copy.deepcopy(stored.body)
    body["results"]["active_death_refund"]["payees"][0]["amount"] = "0.01"
    judges.passbooks.store.put_evidence(Evidence("death_settlement", "forged", body))
    monkeypatch.setattr(stacks, "Stack", lambda _client, name: Here())  # noqa: ARG005
    answer = CliRunner().invoke(main, ["reproduce", identifier, "--stack", "here"])
    assert says in answer.output
    assert answer.exit_code == code


@pytest.mark.parametrize(
    ("posted_cents", "differences"), [(20_033, []), (20_034, ["yield: stored '200.34', now '200.33'"])]
)
def test_a_semester_s_yield_is_computed_from_the_passbook_and_the_figures(
    judges: Judges, posted_cents: int, differences: list[str]
) -> None:
    register(judges.stack.registry, Employer("E-001", "ERS"))
    enrolment = {
        "participant_id": "P-000007",
        "fund": "ERS",
        "birth_date": "1970-04-04",
        "employer_id": "E-001",
        "enrolled_on": "2025-01-01",
        "selection": {"fixed_income": 100},
        "initial_transfer": {"amount": "10000.00", "credited_on": "2025-01-01", "reference": "T-1"},
    }
    assert judges.write("/participants", enrolment).status == 201
    post_fy2025_s2(judges.stack, "P-000007", posted_cents)
    [found] = reproduced(judges.passbooks.store, f"P-000007/{judges.last('P-000007').sequence}")
    assert found.name == "semester_yield FY2025-S2"
    assert [str(one) for one in found.differences] == differences


def test_nothing_that_these_rules_do_not_know_is_reproduced(judges: Judges) -> None:
    receipt = {
        "determination": "guess",
        "citation": "none",
        "inputs": {},
        "parameters": [],
        "settings": [],
        "steps": [],
        "open_questions": [],
        "rules_version": "0",
    }
    judges.passbooks.store.put_evidence(Evidence("other", "1", receipt))
    with pytest.raises(NothingStoredError, match="no determination guess"):
        reproduced(judges.passbooks.store, "other/1")
