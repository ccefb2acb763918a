"""The demonstration's second part, 4 L.P.R.A. § 242b: three made-up judges, their annuities, payrolls and deaths.

The first retires at 65 with 100,000.00, is paid three months and dies. The second retires with as much and dies on the
30th day. The third dies in active service, owing 1,500.01, with three beneficiaries. All of it is safe to do again.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cli.demo.people import People
from cli.demo.scenes import POLL_SECONDS, DemoFailedError
from cli.factor_tables import Assumptions, build, proposal
from retiro.registry import employers
from retiro.registry.employers import Employer
from retiro.registry.table import Table
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM
from retiro.rules.settings import SETTINGS

COURTS = "E-901"
PENSIONER, THIRTIETH_DAY, IN_SERVICE = "P-900001", "P-900002", "P-900003"
PERIODS = ("2025-07", "2025-08", "2025-09")
IN_FORCE_FROM = "2025-01-01"
DECIDED_ON = "2024-12-20"
RUN_SECONDS_MAX = 120

_CREDITED_ON = "2025-07-01"
_RETURN_SETTINGS = ("average_balance_method", "negative_yield")
_BALANCES = {PENSIONER: "100000.00", THIRTIETH_DAY: "100000.00", IN_SERVICE: "40000.00"}
# Born so that the two who retire on 2025-07-20 are 65 on that very day.
_BIRTH_DATES = {PENSIONER: "1960-07-20", THIRTIETH_DAY: "1960-07-20", IN_SERVICE: "1968-03-14"}
_SERVICE_YEARS = {PENSIONER: 14, THIRTIETH_DAY: 12, IN_SERVICE: 9}
_BENEFICIARIES = {PENSIONER: ["A"], THIRTIETH_DAY: ["B", "C"], IN_SERVICE: ["D", "E", "F"]}
_RETIRED = {"separated_on": "2025-07-19", "retirement_date": "2025-07-20"}
# The 30th day after 2025-07-20 is 2025-08-19.
_DEATHS = {THIRTIETH_DAY: "2025-08-19", IN_SERVICE: "2025-09-15", PENSIONER: "2025-09-18"}


@dataclass(frozen=True)
class Judiciary:
    """What happens to the judges, done through the API by two persons."""

    people: People

    def play(self) -> dict[str, Any]:
        """Everything, in order, and its figures."""
        self.adopt()
        for judge in _BALANCES:
            self.enrol(judge)
        annuities = {judge: self.annuity(judge) for judge in (PENSIONER, THIRTIETH_DAY)}
        payrolls = [self.payroll(PERIODS[0])]
        self.report(THIRTIETH_DAY)
        payrolls += [self.payroll(period) for period in PERIODS[1:]]
        for judge in (PENSIONER, IN_SERVICE):
            self.report(judge)
        return {
            "annuities": [_of_annuity(annuities[judge]) for judge in annuities],
            "payrolls": payrolls,
            "deaths": [self.settle(judge) for judge in _DEATHS],
        }

    def adopt(self) -> None:
        """The Board's settings, factor table and returns, each proposed by one person and adopted by another."""
        registry = Table(self.people.stack.client("dynamodb"), self.people.stack.outputs["RegistryTable"])
        employers.register(registry, Employer(COURTS, SYSTEM))
        for resolution in (*_settings(), _factor_table(), _return(1, "0.40"), _return(2, "0.80")):
            proposed = self.people.proposer.post("/board-resolutions", resolution)
            path = f"/board-resolutions/{proposed['resolution_id']}/adoption"
            self.people.adopter.post(path, {"content_hash": proposed["content_hash"]})

    def enrol(self, judge: str) -> None:
        """A judge with a balance, a service, a designation, and the third with a debt."""
        self.people.preparer.post(
            "/participants",
            {
                "participant_id": judge,
                "fund": SYSTEM,
                "birth_date": _BIRTH_DATES[judge],
                "employer_id": COURTS,
                "enrolled_on": "2011-01-10",
                "person_identifier": f"demo-{judge}",
                "initial_transfer": {
                    "amount": _BALANCES[judge],
                    "credited_on": _CREDITED_ON,
                    "reference": f"DEMO-{judge}",
                },
            },
        )
        service = {"years": _SERVICE_YEARS[judge], "months": 0, "days": 0}
        through = {"reference": "SERV-1", "through": "2025-06-30", "credited_service": service}
        self._filed(judge, "service-credits", "approval", through)
        shares = [{"name": f"Beneficiary {name}"} for name in _BENEFICIARIES[judge]]
        order = {"reference": "DES-1", "filed_on": "2024-02-01", "beneficiaries": shares}
        self._filed(judge, "designations", "recognition", order)
        if judge == IN_SERVICE:
            owed = {"reference": "DEUDA-1", "owed_from": "2025-01-31", "amount": "1500.01"}
            self._filed(judge, "debts", "approval", owed)

    def annuity(self, judge: str) -> dict[str, Any]:
        """An annuity, entered by one person and issued by another."""
        entered = self.people.preparer.post("/annuities", {"participant_id": judge, **_RETIRED})
        path = f"/annuities/{entered['annuity_id']}"
        self.people.approver.post(f"{path}/approval", {"content_hash": entered["content_hash"]})
        return self.people.preparer.get(path)

    def payroll(self, period: str) -> dict[str, Any]:
        """A month's annuities, prepared by one person and approved by another; the payment file's totals."""
        place = f"/annuity-payrolls/{period}"
        if self.people.preparer.get(place)["status"] != "posted":
            self.people.preparer.post("/annuity-payrolls", {"period": period}, key=f"demo-{period}-{time.time_ns()}")
            prepared = self._watched(place, "prepared")
            self.people.approver.post(f"{place}/approval", {"hash": prepared["run"]["hash"]})
        run = self._watched(place, "posted")["run"]
        made = self.people.approver.post(f"{place}/payment-file")
        return {
            "period": period,
            "posted": run["posted"],
            "exceptions": run["exceptions"],
            **{name: made[name] for name in ("gross_total", "deductions_total", "net_total")},
        }

    def report(self, judge: str) -> None:
        """A death, reported by one person and confirmed by another."""
        told = {
            "participant_id": judge,
            "death_date": _DEATHS[judge],
            "reference": f"DEF-{judge}",
            "source": "Registro Demográfico (demostración)",
        }
        reported = self.people.preparer.post("/death-reports", told)
        self.people.approver.post(f"/death-reports/{reported['report_id']}/approval")

    def settle(self, judge: str) -> dict[str, Any]:
        """What the death pays, entered by one person and approved by another."""
        entered = self.people.preparer.post("/death-refunds", {"participant_id": judge})
        path = f"/death-refunds/{entered['refund_id']}"
        if entered["status"] != "settled":
            self.people.approver.post(f"{path}/approval", {"content_hash": entered["content_hash"]})
        settled = self.people.preparer.get(path)
        if settled["status"] != "settled":
            raise DemoFailedError(f"the death of {judge} is {settled['status']}: {settled['question']}")
        figures = settled["figures"]
        return {
            "participant_id": judge,
            "death_date": settled["death_date"],
            "route": settled["route"],
            **{name: figures[name] for name in ("provisional_yield", "gross", "debts_collected", "net")},
            **{name: figures[name] for name in ("overpaid", "unpaid")},
            "payees": [{name: payee[name] for name in ("name", "amount", "status")} for payee in settled["payees"]],
        }

    def _filed(self, judge: str, what: str, approval: str, body: Mapping[str, Any]) -> None:
        place = f"/participants/{judge}/{what}"
        filed = self.people.preparer.post(place, body)
        self.people.approver.post(f"{place}/{filed['sequence']}/{approval}")

    def _watched(self, place: str, wanted: str) -> dict[str, Any]:
        until = time.monotonic() + RUN_SECONDS_MAX
        while time.monotonic() < until:
            standing = self.people.preparer.get(place)
            if standing["status"] == wanted:
                return standing
            if standing["status"] == "failed":
                raise DemoFailedError(f"{place} is {standing['status']}: {standing['run']['failure']}")
            time.sleep(POLL_SECONDS)
        raise DemoFailedError(f"{place} isn't {wanted} after {RUN_SECONDS_MAX} seconds")


def _of_annuity(certificate: Mapping[str, Any]) -> dict[str, Any]:
    contract = certificate["contract"]
    return {
        "participant_id": certificate["participant_id"],
        "age": contract["age"],
        "balance": contract["balance"],
        "factor": contract["factor"],
        "monthly_annuity": contract["monthly_annuity"],
        "first_payment": contract["first_payment"]["amount"],
    }


def _settings() -> list[dict[str, Any]]:
    """Each choice that § 242b leaves, and the two that its return rests on, at the values of the readings."""
    return [
        {**_resolved(f"DEMO-{name}"), "kind": "setting", "name": name, "value": setting.default}
        | {"in_force_from": IN_FORCE_FROM}
        for name, setting in SETTINGS.items()
        if SECTION in setting.citation or name in _RETURN_SETTINGS
    ]


def _factor_table() -> dict[str, Any]:
    """The Standard Ultimate Life Table at 5 %, whose values are printed: 13.085951 years at 65, in monthly advance."""
    assumptions = Assumptions.model_validate(
        {
            "mortality": {"law": "makeham", "A": "0.00022", "B": "0.0000027", "c": "1.124"},
            "interest_percent": "5",
            "method": "udd",
            "first_age": 65,
            "last_age": 75,
            "unit": "years",
            "payment": "start",
            "actuary": "Actuaries of the demonstration",
            "consulted_on": "2024-12-02",
            "in_force_from": IN_FORCE_FROM,
        }
    )
    return proposal(assumptions, build(assumptions), "SULT, Makeham's law at 5 %") | {"act": _act("DEMO-factors")}


def _return(months: int, percent: str) -> dict[str, Any]:
    """What the hybrid accounts earned in the first months of FY2026-S1. Made up."""
    made_up = {"kind": "hybrid_return", "semester": "FY2026-S1", "percent": percent, "months_covered": months}
    act = {"act": _act(f"DEMO-return-{months}", "2025-10-07"), "vintage": "2025-10-07"}
    return _resolved(f"DEMO-return-{months}") | made_up | act


def _resolved(number: str) -> dict[str, Any]:
    return {
        "fund": SYSTEM,
        "act": _act(number),
        "source": "made up for the demonstration",
        "vintage": DECIDED_ON,
    }


def _act(number: str, day: str = DECIDED_ON) -> dict[str, Any]:
    return {
        "kind": "resolution",
        "body": "Junta de Retiro (demostración)",
        "number": f"{number}-JRS",
        "date": day,
        "document_sha256": hashlib.sha256(f"{number}-JRS".encode()).hexdigest(),
    }
