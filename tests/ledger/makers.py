"""Accounts, drafts and faults that the ledger's tests share."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ReadTimeoutError

from retiro.ledger import savings
from retiro.ledger.late_credits import AsPosted
from retiro.ledger.lines import Draft, Line, LineKind, Posting, next_line
from retiro.ledger.savings import Origin, YieldPosting
from retiro.rules.calendar import Semester

TABLE = "retiro-ledger"
NOW = datetime(2025, 7, 10, 16, 0, tzinfo=UTC)
ANA = Origin("u-ana")
RUN = Origin("run", "yield/FY2025-S2/1")
PARTICIPANT = "P-000001"
EMPLOYER = "E-001"

S1, S2 = Semester.parse("FY2025-S1"), Semester.parse("FY2025-S2")
# The Two-Year Treasury averages of July 2024 to June 2025: 24.55 and 24.04 in sum.
FIGURES = {
    "FY2025-S1": AsPosted({"fixed_income": {"monthly_percent": ["4.50", "3.97", "3.62", "3.97", "4.26", "4.23"]}}),
    "FY2025-S2": AsPosted({"fixed_income": {"monthly_percent": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"]}}),
}


def day(text: str) -> date:
    return date.fromisoformat(text)


def grown(drafts: Iterable[Draft], history: Sequence[Line] = (), passbook: str = PARTICIPANT) -> list[Line]:
    """The history with the lines that these drafts make, one a draft."""
    lines = list(history)
    for draft in drafts:
        lines.append(next_line(lines[-1] if lines else None, draft, passbook=passbook, fund="ERS", recorded_at=NOW))
    return lines


def enrolled(selection: dict[str, int] | None = None, on: str = "2024-07-01") -> list[Line]:
    return grown([savings.enrolment(None, day(on), selection or {"fixed_income": 100}, ANA)])


def contributed(history: Sequence[Line], *credited: tuple[str, int]) -> list[Line]:
    """The history with a contribution on each of these days, in cents."""
    return grown([savings.contribution(history[-1], cents, day(on), ANA) for on, cents in credited], history)


def account_of_readings() -> list[Line]:
    """10,000.00 brought on 2025-01-01, and 200.00 credited in each month to June: savings 11,200.00."""
    opened = enrolled(on="2025-01-01")
    opened = grown([savings.initial_transfer(opened[-1], 1_000_000, day("2025-01-01"), ANA)], opened)
    return contributed(opened, *((f"2025-{month:02d}-15", 20_000) for month in range(1, 7)))


def posted(history: Sequence[Line], semester: Semester, cents: int, attempt: int = 1) -> list[Line]:
    """The history with a semester's yield on its last day."""
    posting = YieldPosting(semester, attempt, cents, semester.ends_on, history[-1].sequence)
    origin = Origin("run", f"yield/{semester}/{attempt}")
    return grown([savings.semester_yield(history[-1], posting, origin)], history)


def two_semesters_posted() -> list[Line]:
    """9,800.00 brought on 2024-07-01 and 200.00 in each month of 2025; both semesters of FY2025 posted.

    S1: 9,800.00 × 24.55 / 12 % = 200.4917 → 200.49. S2: opening 10,000.49, average 10,700.49,
    × 24.04 / 12 % = 214.3665 → 214.37. Savings: 9,800.00 + 200.49 + 1,200.00 + 214.37 = 11,414.86.
    """
    opened = enrolled()
    opened = grown([savings.initial_transfer(opened[-1], 980_000, day("2024-07-01"), ANA)], opened)
    first = posted(opened, S1, 20_049)
    return posted(contributed(first, *((f"2025-{month:02d}-15", 20_000) for month in range(1, 7))), S2, 21_437)


def drafted(kind: LineKind = LineKind.CONTRIBUTION, cents: int = 20_000, on: str = "2025-01-15", **more: Any) -> Draft:
    postings = (Posting("savings", cents), Posting("contributions", -cents))
    return Draft(kind, day(on), "u-ana", **({"postings": postings} | more))


def stored_items(client: Any) -> list[dict[str, Any]]:
    """Every byte of the ledger's table."""
    return client.scan(TableName=TABLE, ConsistentRead=True)["Items"]


def drop_answer(client: Any, operation: str) -> None:
    """The next call is done, its answer never comes, and botocore tries again by itself."""
    left = [operation]

    def drop(response: Any, **_: Any) -> float | None:
        # A number is how long to wait before trying again; nothing is the ordinary course.
        return left.pop() and 0.0 if response and left else None

    client.meta.events.register_first(f"needs-retry.dynamodb.{operation}", drop)


def lose_answer(client: Any, operation: str) -> None:
    """The next call is done, and its answer is lost for good: botocore gives up with a time-out."""
    left = [operation]

    def lose(**_: Any) -> None:
        if left:
            left.pop()
            raise ReadTimeoutError(endpoint_url="https://dynamodb.example")

    client.meta.events.register_first(f"after-call.dynamodb.{operation}", lose)


def refuse(client: Any, operation: str, *errors: dict[str, Any]) -> None:
    """The next calls are answered with these errors and do nothing."""
    left = list(errors)

    def answer(**_: Any) -> Any:
        return (SimpleNamespace(status_code=400), left.pop(0)) if left else None

    client.meta.events.register_first(f"before-call.dynamodb.{operation}", answer)


def error(code: str) -> dict[str, Any]:
    return {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": 400}}


def cancelled(*codes: str) -> dict[str, Any]:
    """A cancelled transaction, with a reason for each item, `None` included."""
    return error("TransactionCanceledException") | {"CancellationReasons": [{"Code": code} for code in codes]}
