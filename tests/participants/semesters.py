"""A semester posted by hand, as a yield run posts it, so that what comes late has something to come late to."""

from collections.abc import Mapping
from typing import Any

from retiro.ledger import savings
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import next_line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.savings import Origin, YieldPosting
from retiro.ledger.store import LedgerStore
from retiro.registry import clock
from retiro.rules.calendar import Semester, yield_date

# Two-Year Constant Maturity Treasury, January to June 2025; their sum is 24.04.
FY2025_S2 = ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]
FIXED_INCOME = {"fixed_income": {"monthly_percent": FY2025_S2}}


def passbooks_of(stack: Any) -> Passbooks:
    return Passbooks(LedgerStore(stack.dynamodb, "retiro-ledger"), clock.utc_now)


def post_fy2025_s2(
    stack: Any, participant_id: str, yield_cents: int, option_yields: Mapping[str, Any] = FIXED_INCOME
) -> None:
    """Post the yield of FY2025-S2, all fixed income unless told, on settings of which the Board has adopted one."""
    passbooks = passbooks_of(stack)
    semester = Semester.parse("FY2025-S2")
    figures = {
        "option_yields": option_yields,
        "settings": {"cmt_semester_conversion": "half"},
        "acts": {"cmt_semester_conversion": {"source": "Resolution 2025-07", "in_force_from": "2025-01-01"}},
        "closure_days": [],
    }
    passbooks.store.put_evidence(Evidence("yield", "FY2025-S2/1", figures))
    last = passbooks.last(participant_id)
    assert last is not None
    posting = YieldPosting(semester, 1, yield_cents, yield_date(semester), last.sequence)
    draft = savings.semester_yield(last, posting, Origin("u-ana via board", "yield/FY2025-S2/1"))
    line = next_line(last, draft, passbook=participant_id, fund=last.fund, recorded_at=passbooks.clock())
    passbooks.store.put_line(line)
