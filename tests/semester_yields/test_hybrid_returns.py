"""4 L.P.R.A. § 242b: the hybrid accounts' own return, the Board's percent on the same average balance, fund JRS."""

from datetime import date
from typing import Any

import pytest

from retiro.ledger import hybrid, savings
from retiro.ledger import lines as line_items
from retiro.ledger.encoding import size_bytes
from retiro.ledger.lines import Draft, LineKind, next_line
from retiro.ledger.savings import Origin
from retiro.ledger.verify import verify_passbook
from retiro.registry.roster import Holder, roster_item
from tests.semester_yields.conftest import APPROVE, Yields

EVA = Origin("u-eva")
JUDGE = "P-000101"


@pytest.fixture
def judges(yields: Yields) -> Yields:
    """A judge with 10,000.00 since 2025-01-01 and 200.00 in each month to June; a participant of ERS with the same."""
    write(yields, JUDGE, hybrid.enrolment(None, date(2025, 1, 1), EVA))
    yields.shop.roster.insert(roster_item(JUDGE, "JRS", Holder.PARTICIPANT))
    write(yields, JUDGE, savings.initial_transfer(None, 1_000_000, date(2025, 1, 1), EVA))
    for month in range(1, 7):
        write(yields, JUDGE, savings.contribution(yields.last(JUDGE), 20_000, date(2025, month, 15), EVA))
    yields.enrol_account_of_readings("P-000001")
    adopt(yields, "setting", name="average_balance_method", value="month_end", in_force_from="2000-01-01")
    adopt(yields, "setting", name="negative_yield", value="post", in_force_from="2000-01-01")
    return yields


def write(yields: Yields, passbook: str, draft: Draft) -> None:
    last = yields.ledger.last_line(passbook)
    yields.ledger.put_line(next_line(last, draft, passbook=passbook, fund="JRS", recorded_at=yields.clock()))


def adopt(yields: Yields, kind: str, **content: Any) -> None:
    yields.adopt(kind, fund="JRS", **content)


def adopt_return(yields: Yields, percent: str) -> None:
    adopt(yields, "hybrid_return", semester="FY2025-S2", percent=percent)


def post_return(yields: Yields) -> dict[str, Any]:
    assert yields.post("/yield-runs", {"semester": "FY2025-S2", "fund": "JRS"}).status == 202
    yields.work_off()
    told = yields.get("/yield-runs/FY2025-S2", query={"fund": "JRS"}).body
    approval = {"hash": told["run"]["hash"]}
    path = "/yield-runs/FY2025-S2/approval"
    assert yields.post(path, approval, user="u-luis", scopes=APPROVE, query={"fund": "JRS"}).status == 202
    yields.work_off()
    return yields.get("/yield-runs/FY2025-S2", query={"fund": "JRS"}).body


def test_the_boards_percent_is_posted_on_the_average_balance_to_the_judges_alone(judges: Yields) -> None:
    adopt_return(judges, "2.5")

    standing = post_return(judges)

    # Month-ends 10,200 to 11,200, their mean 10,700.00; x 2.5 % = 267.50.
    assert standing["run"]["result"] == {"posted": 1, "withheld": {}, "late": 0, "total_yield": "267.50"}
    line = judges.last(JUDGE)
    assert (line.kind, line.fund, line.effective_on, line.savings_cents) == (
        LineKind.SEMESTER_YIELD,
        "JRS",
        date(2025, 6, 30),
        26_750,
    )
    assert line.determination == "yield_jrs/FY2025-S2/1"
    assert judges.savings("P-000001") == 1_120_000  # 10,000 + 6 x 200, and no return of another fund
    assert size_bytes(line_items.to_item(line)) < 1024
    assert verify_passbook(JUDGE, judges.ledger.items(line_items.partition(JUDGE)), None).findings == ()


def test_without_a_return_in_force_nothing_is_posted_and_it_is_named(judges: Yields) -> None:
    refused = judges.post("/yield-runs", {"semester": "FY2025-S2", "fund": "JRS"})

    assert (refused.status, refused.code) == (422, "yield_not_in_force")
    assert refused.body["missing"] == ["hybrid_return FY2025-S2"]
    assert refused.body["citation"] == "4 L.P.R.A. § 242b"
    assert judges.executions.waiting == []
    assert judges.savings(JUDGE) == 1_120_000


def test_a_return_of_the_first_months_posts_no_semester(judges: Yields) -> None:
    adopt(judges, "hybrid_return", semester="FY2025-S2", percent="1.2", months_covered=5)

    assert judges.post("/yield-runs", {"semester": "FY2025-S2", "fund": "JRS"}).code == "yield_not_in_force"


def test_a_loss_is_posted_or_floored_as_the_board_has_adopted(judges: Yields) -> None:
    adopt(judges, "setting", name="negative_yield", value="floor_at_zero", in_force_from="2025-01-01")
    adopt_return(judges, "-2.5")

    assert post_return(judges)["run"]["result"]["total_yield"] == "0.00"
    assert judges.last(JUDGE).kind is LineKind.SEMESTER_YIELD


def test_each_fund_has_its_own_run_of_a_semester(judges: Yields) -> None:
    adopt_return(judges, "2.5")
    judges.adopt_figures("FY2025-S2")

    post_return(judges)
    judges.post_semester("FY2025-S2")

    # The account of the readings: 10,700.00 x 2.003333... % = 214.3567, so 214.36.
    assert judges.savings("P-000001") == 1_120_000 + 21_436
    assert judges.savings(JUDGE) == 1_120_000 + 26_750


def test_a_return_is_posted_once_and_reversed_as_a_whole(judges: Yields) -> None:
    adopt_return(judges, "2.5")
    post_return(judges)

    again = post_return(judges)
    assert again["run"]["exceptions"] == {"already_posted": 1}

    reason = {"reason": "The Board corrected the percent."}
    path = "/yield-runs/FY2025-S2/reversal"
    assert judges.post(path, reason, scopes=APPROVE, query={"fund": "JRS"}).status == 202
    judges.work_off()
    told = judges.get("/yield-runs/FY2025-S2", query={"fund": "JRS"}).body["reversal"]
    path = "/yield-runs/FY2025-S2/approval"
    judges.post(path, {"hash": told["hash"]}, user="u-luis", scopes=APPROVE, query={"fund": "JRS"})
    judges.work_off()

    assert judges.last(JUDGE).kind is LineKind.REVERSAL
    assert judges.savings(JUDGE) == 1_120_000
    items = judges.ledger.items(line_items.partition(JUDGE))
    assert verify_passbook(JUDGE, items, None).findings == ()


def test_the_daily_look_names_what_the_hybrid_accounts_lack(judges: Yields) -> None:
    found = judges.scheduled(scheduled_time="2025-07-09T22:00:00Z")

    assert found["hybrid"]["semester"] == "FY2025-S2"
    assert found["hybrid"]["missing"] == ["hybrid_return FY2025-S2"]

    adopt_return(judges, "2.5")
    found = judges.scheduled(scheduled_time="2025-07-10T22:00:00Z")
    assert found["hybrid"]["run"] == "yield_jrs/FY2025-S2/1"


def test_a_client_of_the_other_fund_cannot_run_it(judges: Yields) -> None:
    refused = judges.post("/yield-runs", {"semester": "FY2025-S2", "fund": "JRS"}, client="fund")

    assert (refused.status, refused.code) == (403, "other_fund")
