"""What the end-to-end tests do with a stack: as its people through the API, and as an operator behind it."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any, TypeVar

import pytest

from cli.api import Api, ApiProblemError
from cli.audit import audited
from cli.demo import resolutions
from cli.demo.people import People
from cli.stacks import Stack
from retiro.ledger import savings
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from retiro.registry.clock import utc_now
from retiro.registry.table import Table
from retiro.rules.money import format_cents, parse_cents

SEMESTER = "FY2025-S2"
WAIT_SECONDS_MAX = 90
LOOK_SECONDS = 0.05

Answer = TypeVar("Answer")


def until(look: Callable[[], Answer | None], what: str) -> Answer:
    """Look again and again until there is an answer. Raises `AssertionError` when it takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while time.monotonic() < deadline:
        if (answer := look()) is not None:
            return answer
        time.sleep(LOOK_SECONDS)
    raise AssertionError(f"{what} didn't come in {WAIT_SECONDS_MAX} seconds")


class Office:
    """A stack, its people, and its tables."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.people = People(stack)
        self.people.introduce()

    # --- through the doors ---

    @property
    def preparer(self) -> Api:
        return self.people.preparer

    @cached_property
    def preparer_of_reversals(self) -> Api:
        """A third person of the office."""
        return self.api("office", "demo-person-7")

    def api(self, party: str, person: str) -> Api:
        """The API as another person uses it, through the client of a party."""
        return Api(self.stack, client_id=self.stack.client_id(party), acting_user=person)

    def adopt_all(self, *semesters: str) -> None:
        """The settings, the Treasury's series, and a return of the portfolio for each of these semesters."""
        for one in resolutions.settings():
            self.adopt(one | {"in_force_from": "2023-07-01"})
        self.adopt(resolutions.treasury_yields())
        for semester in semesters:
            self.adopt(resolutions.portfolio_return() | {"semester": semester})

    def adopt(self, resolution: dict[str, Any]) -> dict[str, Any]:
        proposed = self.people.proposer.post("/board-resolutions", resolution)
        path = f"/board-resolutions/{proposed['resolution_id']}/adoption"
        return self.people.adopter.post(path, {"content_hash": proposed["content_hash"]})

    def enrol(self, ids: Sequence[str], *, cents: int = 1_000_000, on: str = "2025-01-01") -> None:
        """A file of participants who bring so much, all in fixed income, worked off."""
        rows = [enrolment(one, cents=cents, on=on) for one in ids]
        total = format_cents(cents * len(rows))
        file = self.preparer.post(
            "/participant-files",
            {
                "reference": f"F-{ids[0]}-{len(ids)}",
                "control": {"count": len(rows), "transfers_total": total},
                "participants": rows,
            },
        )
        ended = until(lambda: self._ended_file(file["place"]), "the file's end")
        assert (ended["status"], ended["errors"]) == ("done", [])

    def contribute(self, passbook: str, cents: int, on: str, reference: str) -> None:
        """A remittance with one line, confirmed by the fund, and credited."""
        clerk, amount = self.people.clerks["E-001"], format_cents(cents)
        sent = clerk.post("/payroll-remittances", remittance(reference, {passbook: amount}, on[:7]))
        place = f"/payroll-remittances/{sent['remittance_id']}"
        self.people.treasurer.post(
            f"{place}/deposit", {"reference": f"D-{reference}", "amount": amount, "value_date": on}
        )
        until(lambda: self.people.treasurer.get(place)["status"] == "closed" or None, "the remittance's credit")

    def standing(self, semester: str = SEMESTER) -> dict[str, Any]:
        return self.preparer.get(f"/yield-runs/{semester}")

    def prepare(self, semester: str = SEMESTER) -> dict[str, Any]:
        """Have the semester prepared, and wait for it."""
        until(lambda: self._asked_to_prepare(semester), "another run's end")
        return self.wait_for("prepared", semester)

    def approve(self, run_hash: str, semester: str = SEMESTER) -> None:
        self.people.approver.post(f"/yield-runs/{semester}/approval", {"hash": run_hash})

    def post(self, semester: str = SEMESTER) -> dict[str, Any]:
        """Prepare, approve, and wait until it is posted."""
        self.approve(self.prepare(semester)["run"]["hash"], semester)
        return self.wait_for("posted", semester)

    def wait_for(self, status: str, semester: str = SEMESTER) -> dict[str, Any]:
        """The semester's standing once it has this status."""

        def look() -> dict[str, Any] | None:
            standing = self.standing(semester)
            wrong = {"failed"} - {status}
            assert standing["status"] not in wrong, standing["run"]["failure"]
            return standing if standing["status"] == status else None

        return until(look, f"{semester} {status}")

    def reversal(self, status: str, semester: str = SEMESTER) -> dict[str, Any]:
        """The semester's reversal once it has this status."""

        def look() -> dict[str, Any] | None:
            reversal = self.standing(semester)["reversal"]
            return reversal if reversal is not None and reversal["status"] == status else None

        return until(look, f"the reversal of {semester} {status}")

    def exceptions(self, semester: str = SEMESTER, kind: str = "yield") -> dict[str, str]:
        """Participant → code."""
        items = self.preparer.get(f"/yield-runs/{semester}/exceptions?kind={kind}&limit=100")["items"]
        return {one["participant_id"]: one["code"] for one in items}

    def refused(self, act: Callable[[], object]) -> ApiProblemError:
        """The problem that an act meets, after which the ledger holds what it held."""
        before = self.ledger_items()
        with pytest.raises(ApiProblemError) as refused:
            act()
        assert self.ledger_items() == before
        assert refused.value.document["citation"], refused.value.document
        return refused.value

    # --- behind them ---

    @cached_property
    def dynamodb(self) -> Any:
        return self.stack.client("dynamodb")

    @property
    def registry(self) -> Table:
        return Table(self.dynamodb, self.stack.outputs["RegistryTable"])

    @property
    def passbooks(self) -> Passbooks:
        return Passbooks(LedgerStore(self.dynamodb, self.stack.outputs["LedgerTable"]), utc_now)

    def lines(self, passbook: str) -> list[Line]:
        return self.passbooks.history(passbook)

    def yields(self, ids: Sequence[str], semester: str = SEMESTER) -> dict[str, int]:
        """How many yield lines of the semester each of these has."""
        return {
            one: sum(
                line.kind is LineKind.SEMESTER_YIELD and line.runs["yield"].period == semester
                for line in self.lines(one)
            )
            for one in ids
        }

    def change_status(self, passbook: str, kind: LineKind, on: date) -> None:
        """A line that changes what may be posted, as another part of the system writes it."""
        origin = Origin("test")
        key = BusinessKey(KeyKind.SETTLEMENT, f"test-{passbook}-{kind}")
        self.passbooks.append(
            passbook, lambda _last: savings.status_change(kind, on, origin), key=key, content={"kind": str(kind)}
        )

    def ledger_items(self) -> list[dict[str, Any]]:
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.stack.outputs["LedgerTable"])
        items = [item for page in pages for item in page["Items"]]
        return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))

    def audit(self) -> dict[str, Any]:
        return audited(self.stack)

    def _asked_to_prepare(self, semester: str) -> bool | None:
        try:
            self.preparer.post("/yield-runs", {"semester": semester}, key=f"prepare-{time.time_ns()}")
        except ApiProblemError as problem:
            if problem.code == "run_under_way":
                return None
            raise
        return True

    def _ended_file(self, place: str) -> dict[str, Any] | None:
        file = self.preparer.get(place)
        return file if file["status"] in {"done", "failed"} else None


def enrolment(passbook: str, *, cents: int = 1_000_000, on: str = "2025-01-01") -> dict[str, Any]:
    """A participant who brings so much, all in fixed income."""
    return {
        "participant_id": passbook,
        "fund": "ERS",
        "birth_date": "1978-04-12",
        "employer_id": "E-001",
        "enrolled_on": on,
        "selection": {"fixed_income": 100},
        "initial_transfer": {"amount": format_cents(cents), "credited_on": on, "reference": f"T-{passbook}"},
    }


def remittance(
    reference: str, amounts: Mapping[str, str], period: str = "2025-01", *, total: str | None = None
) -> dict[str, Any]:
    """E-001's remittance of these contributions; `total` where the control is to differ from their sum."""
    cents = sum(parse_cents(amount) for amount in amounts.values())
    return {
        "reference": reference,
        "employer_id": "E-001",
        "period": period,
        "control": {"count": len(amounts), "total": total or format_cents(cents)},
        "lines": [
            {"participant_id": passbook, "amount": amount, "kind": "contribution"}
            for passbook, amount in amounts.items()
        ],
    }
