"""Made-up passbooks of savings accounts, by the ledger's own code, and how they get into the tables quickly."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from bench.accounts import FIGURES, PERCENTS, SELECTIONS, SEMESTER
from retiro.ledger import savings
from retiro.ledger.encoding import Item
from retiro.ledger.lines import Draft, Line, next_line, to_item
from retiro.ledger.savings import Origin, YieldPosting
from retiro.registry.roster import Holder, roster_item
from retiro.registry.table import to_attributes
from retiro.rules.calendar import Semester
from retiro.rules.savings_accounts import average_monthly_balance_cents, semester_percent, yield_cents
from retiro.rules.settings import SAVINGS_SETTINGS, SETTINGS
from retiro.rules.version import RULES_VERSION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RECORDED_AT = datetime(2025, 7, 1, 16, tzinfo=UTC)
FUND = "ERS"
_BATCH = 25
_SEMESTER_BEFORE = SEMESTER.previous()

CONTEXT = {
    "semester": str(SEMESTER),
    "yield_date": SEMESTER.ends_on.isoformat(),
    "option_yields": FIGURES,
    "settings": {name: SETTINGS[name].default for name in SAVINGS_SETTINGS},
    "acts": {},
    "closure_days": [],
    "rules_version": RULES_VERSION,
}
"""What a run of the semester computes from, as it is fixed when one is requested."""


def passbook(number: int) -> str:
    """The id of a participant."""
    return f"P-{number:06d}"


def year_of_lines(number: int) -> list[Line]:
    """Fifteen lines: an account opened as the fiscal year begins, twelve contributions, the first semester posted."""
    history = _opened(number, _SEMESTER_BEFORE.starts_on)
    for semester in (_SEMESTER_BEFORE, SEMESTER):
        for month in semester.months:
            history.append(_contributed(history[-1], number, date.fromisoformat(f"{month}-15")))
        if semester == _SEMESTER_BEFORE:
            history.append(_after(history[-1], _yield_of(history[-1], semester)))
    return history


def few_lines(number: int) -> list[Line]:
    """Three lines, all in the semester to be posted."""
    history = _opened(number, SEMESTER.starts_on)
    return [*history, _contributed(history[-1], number, SEMESTER.ends_on)]


def _opened(number: int, on: date) -> list[Line]:
    """An enrolment, and what was brought."""
    enrolment = savings.enrolment(None, on, SELECTIONS[number % len(SELECTIONS)], Origin("office"))
    first = next_line(None, enrolment, passbook=passbook(number), fund=FUND, recorded_at=RECORDED_AT)
    return [first, _after(first, savings.initial_transfer(first, 1_000_000, on, Origin("office")))]


def _contributed(last: Line, number: int, on: date) -> Line:
    return _after(last, savings.contribution(last, 20_000 + number, on, Origin("employer")))


def _after(last: Line, draft: Draft) -> Line:
    return next_line(last, draft, passbook=last.passbook, fund=FUND, recorded_at=RECORDED_AT)


def _yield_of(last: Line, semester: Semester) -> Draft:
    """The yield of a semester, at the percents of the one that is measured."""
    average = average_monthly_balance_cents(savings.semester_figures(last, semester), "month_end")
    percent = semester_percent(savings.selection_in_force(last.state, semester.ends_on), PERCENTS)
    cents = yield_cents(average, percent, "post")
    posting = YieldPosting(semester, 1, cents, semester.ends_on, last.sequence)
    return savings.semester_yield(last, posting, Origin("run", f"yield/{semester}/1"))


def fill(client: "DynamoDBClient", ledger: str, registry: str, histories: Iterable[Sequence[Line]]) -> None:
    """Put the passbooks into the ledger's table, and whose they are on the registry's roster."""
    requests: list[tuple[str, Item]] = []
    for history in histories:
        requests += [(ledger, to_item(line)) for line in history]
        requests.append((registry, to_attributes(roster_item(history[-1].passbook, FUND, Holder.PARTICIPANT))))
        while len(requests) >= _BATCH:
            _put(client, requests[:_BATCH])
            del requests[:_BATCH]
    if requests:
        _put(client, requests)


def _put(client: "DynamoDBClient", requests: Iterable[tuple[str, Item]]) -> None:
    by_table: dict[str, list[Any]] = {}
    for table, item in requests:
        by_table.setdefault(table, []).append({"PutRequest": {"Item": item}})
    answer = client.batch_write_item(RequestItems=by_table)
    if answer.get("UnprocessedItems"):
        raise RuntimeError("the local table left items unwritten")
