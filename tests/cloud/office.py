"""What the end-to-end tests do with a stack through its doors, as its people."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import urllib3

from cli.api import Api, ApiProblemError
from cli.board import TREASURY_FILE, treasury_months
from cli.demo import resolutions
from cli.demo.people import People
from retiro.registry import clients
from retiro.registry.clients import Party
from retiro.rules.money import format_cents, parse_cents
from tests.cloud.backstage import Backstage
from tests.cloud.waiting import until

SETTINGS_IN_FORCE_FROM = "2018-07-01"
FIRST_MONTH = "2019-01"
MONTH_NOT_ADOPTED = "2019-06"
SEMESTERS = [f"FY{year}-S{half}" for year in range(2019, 2025) for half in (1, 2)][1:-1]
"""FY2019-S2 through FY2024-S1: those that the tests post. The first one lacks its June."""


class Answered(NamedTuple):
    """What a door answered, to the byte."""

    status: int
    text: str
    content_type: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)


class Office:
    """A stack and its people."""

    def __init__(self, behind: Backstage) -> None:
        self.behind = behind
        self.stack = behind.stack
        self.people = People(self.stack)
        self.people.introduce()
        self._pool = urllib3.PoolManager(timeout=35, retries=False)

    @property
    def preparer(self) -> Api:
        return self.people.preparer

    def api(self, party: str, person: str) -> Api:
        """The API as another person uses it, through the client of a party."""
        return Api(self.stack, client_id=self.stack.client_id(party), acting_user=person)

    def token(self, party: str) -> str:
        return self.stack.token(self.stack.client_id(party))

    def new_client(self, name: str, scopes: Sequence[str], party: Party | None = None) -> str:
        """Another API client of the pool; bound to nobody unless a party is named."""
        made = self.stack.client("cognito-idp").create_user_pool_client(
            UserPoolId=self.stack.outputs["UserPoolId"],
            ClientName=name,
            GenerateSecret=True,
            AllowedOAuthFlowsUserPoolClient=True,
            AllowedOAuthFlows=["client_credentials"],
            AllowedOAuthScopes=[f"retiro/{scope}" for scope in scopes],
        )
        client_id = str(made["UserPoolClient"]["ClientId"])
        if party is not None:
            clients.bind(self.behind.registry, clients.Binding(client_id, party))
        return client_id

    def send(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        body: str | Mapping[str, Any] | None = None,
        key: str | None = None,
        user: str = "test-person-1",
    ) -> Answered:
        """A request as it is written here, with no client's help. `body` as text goes as it stands."""
        headers = {"Acting-User": user, "Content-Type": "application/json"}
        headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        text = json.dumps(body) if isinstance(body, Mapping) else body
        answer = self._pool.request(method, self.stack.api_url + path, body=text, headers=headers)
        return Answered(answer.status, answer.data.decode(), answer.headers.get("Content-Type", ""))

    # --- the Board ---

    def adopt_all(self) -> None:
        """Settings, the real Treasury series but for one month, and a made-up portfolio's return of each semester."""
        for setting in resolutions.settings():
            self.adopt(setting | {"in_force_from": SETTINGS_IN_FORCE_FROM})
        months = treasury_months(TREASURY_FILE.read_text("utf-8"))
        kept = {month: months[month] for month in months if FIRST_MONTH <= month != MONTH_NOT_ADOPTED}
        self.adopt(resolutions.treasury_yields() | {"months": kept})
        for semester in SEMESTERS:
            self.adopt(resolutions.portfolio_return() | {"semester": semester})

    def adopt(self, resolution: Mapping[str, Any]) -> dict[str, Any]:
        """Proposed by one person, adopted by another."""
        proposed = self.people.proposer.post("/board-resolutions", resolution)
        path = f"/board-resolutions/{proposed['resolution_id']}/adoption"
        return self.people.adopter.post(path, {"content_hash": proposed["content_hash"]})

    # --- participants and their employers ---

    def enrol(self, ids: Sequence[str], *, on: str, cents: int = 1_000_000) -> None:
        """A file of participants who bring so much, all in fixed income, worked off."""
        rows = [enrolment(one, on=on, cents=cents) for one in ids]
        received = self.preparer.post(
            "/participant-files",
            {
                "reference": f"F-{ids[0]}-{len(ids)}",
                "control": {"count": len(rows), "transfers_total": format_cents(cents * len(rows))},
                "participants": rows,
            },
        )
        ended = until(lambda: self._ended_file(received["place"]), "the file's end")
        assert (ended["status"], ended["errors"], ended["done"]) == ("done", [], len(ids))

    def contribute(self, passbook: str, cents: int, on: str) -> None:
        """A remittance with one line, confirmed by the fund for a day, and credited."""
        reference, amount = f"{passbook}-{on}", format_cents(cents)
        sent = self.people.clerks["E-001"].post(
            "/payroll-remittances", remittance(reference, {passbook: amount}, on[:7])
        )
        place = f"/payroll-remittances/{sent['remittance_id']}"
        deposit = {"reference": f"D-{reference}", "amount": amount, "value_date": on}
        self.people.treasurer.post(f"{place}/deposit", deposit)
        until(lambda: self.people.treasurer.get(place)["status"] == "closed", "the remittance's credit")

    # --- runs ---

    def standing(self, semester: str) -> dict[str, Any]:
        return self.preparer.get(f"/yield-runs/{semester}")

    def prepare(self, semester: str) -> dict[str, Any]:
        """The semester's standing once it is prepared."""
        self.preparer.post("/yield-runs", {"semester": semester}, key=str(uuid4()))
        return self.wait_for("prepared", semester)

    def approve(self, run_hash: str, semester: str) -> None:
        self.people.approver.post(f"/yield-runs/{semester}/approval", {"hash": run_hash})

    def post(self, semester: str) -> dict[str, Any]:
        """Prepare, approve, and wait until it is posted."""
        self.approve(self.prepare(semester)["run"]["hash"], semester)
        return self.wait_for("posted", semester)

    def pause(self, semester: str) -> None:
        self.preparer.post(f"/yield-runs/{semester}/pause", key=str(uuid4()))

    def resume(self, semester: str) -> None:
        self.preparer.post(f"/yield-runs/{semester}/resume", key=str(uuid4()))

    def wait_for(self, status: str, semester: str) -> dict[str, Any]:
        """The semester's standing once it has this status."""

        def look() -> dict[str, Any] | None:
            standing = self.standing(semester)
            assert standing["status"] != "failed", standing["run"]["failure"]
            return standing if standing["status"] == status else None

        return until(look, f"{semester} {status}")

    def wait_for_reversal(self, status: str, semester: str) -> dict[str, Any]:
        """The semester's reversal once it has this status."""

        def look() -> dict[str, Any] | None:
            reversal = self.standing(semester)["reversal"]
            return reversal if reversal is not None and reversal["status"] == status else None

        return until(look, f"the reversal of {semester} {status}")

    def exceptions(self, semester: str, kind: str = "yield") -> dict[str, dict[str, Any]]:
        """The exceptions of the latest run, by participant."""
        found: dict[str, dict[str, Any]] = {}
        place = f"/yield-runs/{semester}/exceptions?kind={kind}&limit=100"
        cursor = ""
        while True:
            page = self.preparer.get(place + cursor)
            found |= {one["participant_id"]: one for one in page["items"]}
            if page["next_cursor"] is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    # --- what is refused ---

    def refused(self, act: Callable[[], object], status: int, code: str, *, field: str | None) -> dict[str, Any]:
        """The problem document that an act meets: it names field, rule and citation, and the ledger is as it was."""
        before = self.behind.ledger_items()
        try:
            done = act()
        except ApiProblemError as problem:
            document = dict(problem.document)
        else:
            assert isinstance(done, Answered), f"not refused: {done}"
            assert done.content_type == "application/problem+json", done
            document = done.body
        assert self.behind.ledger_items() == before
        assert (document["status"], document["code"], document.get("field")) == (status, code, field), document
        assert document["detail"]
        assert document["citation"]
        return document

    def _ended_file(self, place: str) -> dict[str, Any] | None:
        file = self.preparer.get(place)
        return file if file["status"] in {"done", "failed"} else None


def enrolment(passbook: str, *, on: str, cents: int = 1_000_000, **more: Any) -> dict[str, Any]:
    """A participant who brings so much, all in fixed income."""
    return {
        "participant_id": passbook,
        "fund": "ERS",
        "birth_date": "1978-04-12",
        "employer_id": "E-001",
        "enrolled_on": on,
        "selection": {"fixed_income": 100},
        "initial_transfer": {"amount": format_cents(cents), "credited_on": on, "reference": f"T-{passbook}"},
    } | more


def remittance(reference: str, amounts: Mapping[str, str], period: str, *, total: str | None = None) -> dict[str, Any]:
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
