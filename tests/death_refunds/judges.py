"""Judges at work for tests of deaths, and the office that keeps their accounts.

What other functions write (contributions, returns, annuities, payments) is written here with the ledger's own drafts;
what a death does goes through the handlers.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from death_refunds import api as deaths
from participants import api as participants
from retiro.ledger import annuities, savings
from retiro.ledger.board import BoardBook
from retiro.ledger.encoding import content_hash
from retiro.ledger.lines import SAVINGS, Draft, Line, next_line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.resolutions import RESOLUTION
from retiro.ledger.savings import Origin, YieldPosting
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import verify_passbook
from retiro.registry import aws
from retiro.registry.employers import Employer, register
from retiro.rules.calendar import Semester, add_months, parse_month
from retiro.rules.settings import SETTINGS
from tests.conftest import ENVIRONMENT, Called, Stack, StoppedClock

JUDGE = "P-000001"
SETTINGS_242B = [
    "lump_sum_with_transfer_annuity", "pensioner_debts", "return_at_exit", "predeceased_share", "first_payment_days",
    "average_balance_method", "negative_yield",
]  # fmt: skip
ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2014-01",
    "date": "2014-01-02",
    "document_sha256": "ab" * 32,
}
BY_THE_OFFICE = Origin("u-sistema via office")


@dataclass
class Judges:
    """The office."""

    call: Callable[..., Called]
    stack: Stack
    clock: StoppedClock
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    @property
    def passbooks(self) -> Passbooks:
        return Passbooks(LedgerStore(aws.dynamodb(), ENVIRONMENT["LEDGER_TABLE"]), self.clock)

    def today(self, day: str) -> None:
        """Noon of a day in Puerto Rico."""
        self.clock.now = datetime.fromisoformat(f"{day}T16:00:00+00:00").astimezone(UTC)

    # the Board

    def adopt(self, kind: str, **content: Any) -> None:
        """A resolution of the Board, adopted."""
        given = {
            "fund": "JRS",
            "act": ACT,
            "source": "Junta de Retiro",
            "vintage": "2014-01-02",
            "kind": kind,
        } | content
        BoardBook(self.passbooks.store).adopt(
            f"RB-{content_hash(given).hex()[:12]}",
            RESOLUTION.validate_json(json.dumps(given)),
            proposed_by="u-eva",
            adopted_by="u-luis",
            now=datetime(2014, 2, 1, 12, tzinfo=UTC),
        )

    def adopt_settings(self, **values: str) -> None:
        """The settings of § 242b, by name, in force since 2000: their defaults where no other value is given."""
        for name in SETTINGS_242B:
            value = values.get(name, SETTINGS[name].default)
            self.adopt("setting", name=name, value=value, in_force_from="2000-01-01")

    def adopt_return(self, semester: str, percent: str, months: int = 6) -> None:
        """The Board's percent for a semester, or for its complete months."""
        self.adopt("hybrid_return", semester=semester, percent=percent, months_covered=months)

    # passbooks

    def last(self, judge: str = JUDGE) -> Line:
        last = self.passbooks.last(judge)
        assert last is not None
        return last

    def history(self, judge: str = JUDGE) -> list[Line]:
        return self.passbooks.history(judge)

    def balances(self, judge: str = JUDGE) -> Mapping[str, int]:
        """The accounts that aren't at zero. The audit's own check of the passbook comes first."""
        verified = verify_passbook(judge, self.passbooks.store.items(f"passbook#{judge}"))
        assert verified.findings == ()
        return self.last(judge).balances

    def enrol(self, judge: str = JUDGE, *, enrolled_on: str = "2014-01-15", born: str = "1955-03-17") -> None:
        body = {
            "participant_id": judge,
            "fund": "JRS",
            "birth_date": born,
            "employer_id": "E-010",
            "enrolled_on": enrolled_on,
        }
        assert self.write("/participants", body).status == 201

    def append(self, judge: str, *decided: Callable[[Line], Draft | Sequence[Draft]]) -> Line:
        """Lines as another function would write them, put as a run puts them; the last of them."""
        last = self.last(judge)
        for decide in decided:
            drafts = decide(last)
            for draft in [drafts] if isinstance(drafts, Draft) else drafts:
                last = next_line(last, draft, passbook=judge, fund=last.fund, recorded_at=self.clock())
                self.passbooks.store.put_line(last)
        return last

    def credit(self, cents: int, on: str, judge: str = JUDGE) -> Line:
        day = date.fromisoformat(on)
        return self.append(judge, lambda last: savings.contribution(last, cents, day, BY_THE_OFFICE))

    def post_return(self, semester: str, cents: int, judge: str = JUDGE) -> Line:
        """The return of a semester, as a run posts it."""
        of = Semester.parse(semester)

        def decide(last: Line) -> Draft:
            return savings.semester_yield(last, YieldPosting(of, 1, cents, of.ends_on, last.sequence), BY_THE_OFFICE)

        return self.append(judge, decide)

    def retire(self, on: str, monthly_cents: int, judge: str = JUDGE, provisional_cents: int = 0) -> Line:
        """An annuity issued on the whole balance."""
        day = date.fromisoformat(on)

        def decide(last: Line) -> Sequence[Draft]:
            balance = annuities.Balance(last.balance_cents(SAVINGS), 0, provisional_cents)
            leaving = annuities.Exit(day, day, day, balance)
            return annuities.issue(last, leaving, monthly_cents, "actual", BY_THE_OFFICE)

        return self.append(judge, decide)

    def pay(self, first: str, last: str, judge: str = JUDGE) -> Line:
        """The annuity of each month from the first through the last, paid on its last day; the last payment."""
        months = [parse_month(first)]
        while months[-1] < parse_month(last):
            months.append(add_months(months[-1], 1))
        return self.append(judge, *(payment_of(month) for month in months))

    # the doors

    def write(self, path: str, body: Any = None, **request: Any) -> Called:
        """A POST to the doors of participants."""
        return self.call(participants.handler, "POST", path, body=body, **{"scopes": "participants.write"} | request)

    def file(self, judge: str, what: str, body: Mapping[str, Any]) -> int:
        """Something filed by u-ana and approved by u-berta: the sequence of the filing."""
        filed = self.write(f"/participants/{judge}/{what}", body)
        assert filed.status == 201, filed.text
        sequence: int = filed.body["sequence"]
        approval = "recognition" if what == "designations" else "approval"
        path = f"/participants/{judge}/{what}/{sequence}/{approval}"
        approved = self.write(path, user="u-berta")
        assert approved.status == 201, approved.text
        return sequence

    def designate(self, *names: str, judge: str = JUDGE, filed_on: str = "2015-02-02", **shares: str) -> int:
        """A designation of these in equal shares, or by name and share, filed and recognized."""
        people: list[dict[str, str]] = [{"name": name} for name in names]
        people += [{"name": name, "share_percent": share} for name, share in shares.items()]
        body = {"reference": f"D-{next(self.numbers)}", "filed_on": filed_on, "beneficiaries": people}
        return self.file(judge, "designations", body)

    def owe(self, amount: str, judge: str = JUDGE, **given: str) -> int:
        """A debt to the System, filed and approved."""
        body = {"reference": f"L-{next(self.numbers)}", "owed_from": "2015-01-01", "amount": amount} | given
        return self.file(judge, "debts", body)

    def settle(self, path: str, body: Any = None, **request: Any) -> Called:
        """A POST to the doors of deaths."""
        scopes = "benefits.settle benefits.approve benefits.quote"
        return self.call(deaths.handler, "POST", path, body=body, **{"scopes": scopes} | request)

    def read(self, path: str) -> dict[str, Any]:
        answer = self.call(deaths.handler, "GET", path, scopes="benefits.read")
        assert answer.status == 200, answer.text
        return answer.body

    def report(self, death_date: str, judge: str = JUDGE, **request: Any) -> Called:
        body = {
            "participant_id": judge,
            "death_date": death_date,
            "reference": f"R-{next(self.numbers)}",
            "source": "Demographic Registry",
        }
        return self.settle("/death-reports", body, **request)

    def dies(self, death_date: str, judge: str = JUDGE) -> str:
        """A death reported by u-ana and confirmed by u-berta: the report's id."""
        reported = self.report(death_date, judge)
        assert reported.status == 201, reported.text
        report_id: str = reported.body["report_id"]
        confirmed = self.settle(f"/death-reports/{report_id}/approval", user="u-berta")
        assert confirmed.status == 201, confirmed.text
        return report_id

    def enter(self, judge: str = JUDGE, **given: Any) -> Called:
        """The settlement, entered by u-ana unless `user` is another."""
        request = {name: given.pop(name) for name in ("user", "key", "client", "headers") if name in given}
        return self.settle("/death-refunds", {"participant_id": judge} | given, **request)

    def approve(self, entered: Called, *, user: str = "u-berta", heirs: bool = False) -> Called:
        """What was entered, approved by its own hash."""
        path = f"/death-refunds/{entered.body['refund_id']}" + ("/heirs/approval" if heirs else "/approval")
        return self.settle(path, {"content_hash": entered.body["content_hash"]}, user=user)

    def settled(self, judge: str = JUDGE, **given: Any) -> dict[str, Any]:
        """The settlement, entered and approved."""
        entered = self.enter(judge, **given)
        assert entered.status == 201, entered.text
        approved = self.approve(entered)
        assert approved.status == 201, approved.text
        return approved.body

    def change(self, refund_id: str, event: str, **given: Any) -> dict[str, Any]:
        """An event of who takes, entered by u-ana and approved by u-berta."""
        entered = self.settle(f"/death-refunds/{refund_id}/heirs", {"event": event} | given)
        assert entered.status == 201, entered.text
        approved = self.approve(entered, heirs=True)
        assert approved.status == 201, approved.text
        return approved.body


def payment_of(month: date) -> Callable[[Line], Draft]:
    """The payment of a month, on its last day."""

    def decide(last: Line) -> Draft:
        paid = annuities.due(last, month)
        assert paid is not None
        return annuities.payment(paid, add_months(month, 1) - timedelta(days=1), 1, BY_THE_OFFICE)

    return decide


def payees(answer: Mapping[str, Any]) -> list[tuple[str, str, str, str | None]]:
    """Name, amount, status and reason of the payees."""
    return [(one["name"], one["amount"], one["status"], one["reason"]) for one in answer["payees"]]


@pytest.fixture
def judges(stack: Stack, clock: StoppedClock, call: Callable[..., Called], monkeypatch: pytest.MonkeyPatch) -> Judges:
    """The office on 2025-07-10, with the settings of § 242b adopted by name, and the agency of the judges known."""
    for name in ("RUNS_STATE_MACHINE_ARN", "FILE_WORKER_ARN", "PERSON_KEY_SECRET_ARN"):
        monkeypatch.setenv(name, "arn:not-used")
    monkeypatch.setattr(aws, "stepfunctions", cache(lambda: None))
    register(stack.registry, Employer("E-010", "JRS"))
    office = Judges(call, stack, clock)
    office.adopt_settings()
    return office
