"""The Board's figures, participants with accounts, the doors of the runs, and the state machine run in process."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

import pytest

from retiro.ledger import board
from retiro.ledger.late_credits import AsPosted, Late, late_credit
from retiro.ledger.lines import Line
from retiro.ledger.resolutions import RESOLUTION, hash_of
from retiro.ledger.savings import Origin
from retiro.registry import aws
from retiro.registry.runs import Run, RunId
from retiro.rules.calendar import Semester
from retiro.runs.workshop import Sizes
from semester_yields import api, schedule, worker
from semester_yields.kinds import YieldKind, YieldReversalKind
from tests.conftest import Called, Context, Stack, StoppedClock
from tests.runs.conftest import Office, few_shards, make_office
from tests.runs.states_language import execute

ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2025-07",
    "date": "2024-07-01",
    "document_sha256": "ab" * 32,
}
# Federal Reserve H.15, monthly averages: 24.55 and 24.04 in sum.
TREASURY = {
    "FY2025-S1": {
        "2024-07": "4.50",
        "2024-08": "3.97",
        "2024-09": "3.62",
        "2024-10": "3.97",
        "2024-11": "4.26",
        "2024-12": "4.23",
    },
    "FY2025-S2": {
        "2025-01": "4.27",
        "2025-02": "4.21",
        "2025-03": "3.97",
        "2025-04": "3.78",
        "2025-05": "3.92",
        "2025-06": "3.89",
    },
}
SETTINGS = {
    "average_balance_method": "month_end",
    "cmt_semester_conversion": "half",
    "portfolio_fee_treatment": "fees_before_share",
    "no_selection": "hold",
    "negative_yield": "post",
}
PREPARE, APPROVE = "runs.prepare", "runs.approve"


@dataclass
class Yields(Office):
    """The office of yields: what people do goes through the doors, what the machine does through the worker."""

    call: Callable[..., Called] = lambda: None  # type: ignore[assignment, return-value]

    # the Board

    def adopt(self, kind: str, **content: Any) -> None:
        body = {"fund": "ERS", "act": ACT, "source": "H.15", "vintage": "2025-07-01", "kind": kind} | content
        resolution = RESOLUTION.validate_json(json.dumps(body))
        board.BoardBook(self.ledger).adopt(
            f"RB-{hash_of(resolution)[:12]}", resolution, proposed_by="u-eva", adopted_by="u-leo", now=self.clock()
        )

    def adopt_settings(self, **changed: str) -> None:
        for name, value in (SETTINGS | changed).items():
            self.adopt("setting", name=name, value=value, in_force_from="2000-01-01")

    def adopt_figures(self, semester: str, months: Mapping[str, str] | None = None, **portfolio: str) -> None:
        self.adopt("treasury_yields", months=dict(months or TREASURY[semester]))
        portfolio = {"return_percent": "3.50", "management_fees_percent": "0.40"} | portfolio
        self.adopt("portfolio_return", semester=semester, **portfolio)

    # the doors

    def post(self, path: str, body: Any = None, *, user: str = "u-ana", scopes: str = PREPARE, **more: Any) -> Called:
        return self.call(api.handler, "POST", path, body=body, user=user, scopes=scopes, **{"client": "office", **more})

    def get(self, path: str, **more: Any) -> Called:
        return self.call(api.handler, "GET", path, **{"client": "office", "scopes": PREPARE, "user": None, **more})

    def approve_by_hash(self, semester: str, user: str = "u-luis", *, reversal: bool = False) -> Called:
        standing = self.get(f"/yield-runs/{semester}").body
        told = standing["reversal" if reversal else "run"]
        return self.post(f"/yield-runs/{semester}/approval", {"hash": told["hash"]}, user=user, scopes=APPROVE)

    def prepare_semester(self, semester: str) -> dict[str, Any]:
        """Prepare through the door, and work off; what the door says then."""
        answer = self.post("/yield-runs", {"semester": semester})
        assert answer.status == 202, answer.text
        self.work_off()
        return self.get(f"/yield-runs/{semester}").body

    def post_semester(self, semester: str) -> dict[str, Any]:
        """Prepare, approve and post through the doors; what the door says then."""
        self.prepare_semester(semester)
        answer = self.approve_by_hash(semester)
        assert answer.status == 202, answer.text
        self.work_off()
        standing = self.get(f"/yield-runs/{semester}").body
        assert standing["status"] == "posted"
        return standing

    def reverse_semester(self, semester: str) -> dict[str, Any]:
        """Reverse through the doors; what the door says then."""
        reason = {"reason": "The May figure was published wrong."}
        answer = self.post(f"/yield-runs/{semester}/reversal", reason, scopes=APPROVE)
        assert answer.status == 202, answer.text
        self.work_off()
        answer = self.approve_by_hash(semester, reversal=True)
        assert answer.status == 202, answer.text
        self.work_off()
        return self.get(f"/yield-runs/{semester}").body

    def exceptions(self, semester: str, **query: str) -> dict[str, str]:
        items = self.get(f"/yield-runs/{semester}/exceptions", query=query or None).body["items"]
        return {item["participant_id"]: item["code"] for item in items}

    # what the machine does

    def worker(self, event: dict[str, Any]) -> dict[str, Any]:
        return worker.handler(event, Context())  # type: ignore[arg-type]

    def work_off(self, on_wait: Callable[[], None] = lambda: None) -> None:
        while self.executions.waiting:
            execute(self.worker, self.executions.waiting.pop(0), on_wait=on_wait)

    def fail(self, semester: str, attempt: int = 1) -> None:
        """The machine has given up."""
        run = self.yield_run(semester, attempt)
        self.worker(self.event(run, "fail", run.phase) | {"error": "States.Timeout"})

    def scheduled(self, **event: Any) -> dict[str, Any]:
        return schedule.handler(event, Context())  # type: ignore[arg-type]

    # what there is

    def savings(self, passbook: str) -> int:
        return self.last(passbook).balance_cents("savings")

    def yield_line(self, passbook: str) -> Line:
        mark = self.last(passbook).runs["yield"]
        return next(line for line in self.ledger.lines(passbook) if line.sequence == mark.sequence)

    def yield_run(self, semester: str, attempt: int = 1) -> Run:
        return self.run(RunId("yield", semester, attempt))

    # who there is

    def enrol_account_of_readings(self, passbook: str = "P-000001") -> None:
        """10,000.00 brought on 2025-01-01, 200.00 credited in each month to June, all in fixed income."""
        self.enrol(passbook, savings_cents=1_000_000)
        for month in range(1, 7):
            self.credit(passbook, 20_000, f"2025-{month:02d}-15")

    def credit_late(self, passbook: str, cents: int, legal_date: str) -> Line:
        """A credit of a posted semester, the only one from then on, with its difference of yield."""
        semester = str(Semester.containing(date.fromisoformat(legal_date)))
        figures = {semester: AsPosted.of_body(self.yield_run(semester).context)}
        late = Late(cents, date.fromisoformat(legal_date), date(2025, 7, 10))
        return self.add(
            passbook, lambda _: late_credit(self.passbooks.history(passbook), late, figures, Origin("u-eva"))[0]
        )


@pytest.fixture
def yields(
    stack: Stack, clock: StoppedClock, few_shards: None, call: Callable[..., Called], monkeypatch: pytest.MonkeyPatch
) -> Yields:
    """The office of yields, with the settings adopted by name, on 2025-07-10. Chunks of seven, three an invocation."""
    for name, value in {
        "RUNS_STATE_MACHINE_ARN": "arn:machine",
        "YIELD_WORKER_ARN": "arn:worker",
        "CHUNK_ACCOUNTS": "7",
        "INVOCATION_ACCOUNTS": "3",
    }.items():
        monkeypatch.setenv(name, value)
    kinds = {"yield": YieldKind(clock), "yield_reversal": YieldReversalKind()}
    office = make_office(stack, clock, kinds, Sizes())
    monkeypatch.setattr(aws, "stepfunctions", cache(lambda: office.executions))
    yields = Yields(office.shop, office.desk, office.executions, clock, kind="yield", period="FY2025-S2", call=call)
    yields.adopt_settings()
    return yields


__all__ = ["Yields", "few_shards", "yields"]
