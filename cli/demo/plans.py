"""The demonstration's plan: twenty-two years bought back, paid from a payroll, from a pension, and after a death.

3 L.P.R.A. § 830q, by a made-up participant of 1986. A step that is sent again is answered, and not done again.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.api import ApiProblemError
from cli.demo import resolutions
from cli.demo.people import People
from cli.demo.population import EMPLOYERS, FUND
from cli.demo.scenes import POLL_SECONDS, RUN_ENDED, DemoFailedError, Scenes
from retiro.ledger.plans import PENSION_PAYROLL
from retiro.rules.money import format_cents

PARTICIPANT = "P-830001"
EMPLOYER = EMPLOYERS[0]
INSTALLMENT_CENTS = 8_923
SHORT_CENTS = 5_000

BY_PAYROLL = [f"2008-{month:02d}" for month in range(10, 13)] + [f"2009-{month:02d}" for month in range(1, 10)]
SHORT = "2009-03"
"""The month in which the employer remits 50.00 of 89.23. The next one's order asks for the rest, apart."""

BY_PENSION = ["2009-10", "2009-11", "2009-12", "2010-01", "2010-02"]
BY_SURVIVORS = ["2010-04"]
ORDERED = ["2008-10", "2009-04", "2009-10", "2010-04"]
"""The months whose orders are issued here. Every month's would be; these show what changes."""

APPLICATION = {
    "applied_on": "2008-09-01",
    "status": "active_service",
    "first_joined_on": "1986-06-30",
    "time_to_merit_pension": {"years": 5},
    "debts": [{"kind": "unaccounted_service", "principal": "4000.00", "owed_from": "1986-06-30"}],
    "cost_notified_on": "2008-10-01",
}


@dataclass(frozen=True)
class PlanScenes:
    """What happens, in order. `play` is all of it."""

    people: People

    def play(self) -> dict[str, Any]:
        """All of it, and what is left of the plan at the end."""
        for resolution in resolutions.plan_settings():
            Scenes(self.people).adopt(resolution)
        self._enrol()
        quote = self.people.preparer.post(
            "/payment-plans/quotes", APPLICATION | {"approved_on": "2008-10-10", "principal_paid_on": "2008-10-15"}
        )
        place = self._granted()
        orders = [self._ordered("2008-10")]
        for month in BY_PAYROLL:
            if month == "2009-04":
                orders.append(self._ordered(month))
            self._remit(EMPLOYER, month, _amount_cents(month))
        self._fact({"kind": "service_end", "ended_on": "2009-10-14"})
        self._fact({"kind": "pension", "starts_on": "2009-10-15", "monthly_amount": "1200.00"})
        orders.append(self._ordered("2009-10", PENSION_PAYROLL))
        for month in BY_PENSION:
            self._remit(PENSION_PAYROLL, month, INSTALLMENT_CENTS)
        self._fact({"kind": "death_benefit", "death_date": "2010-03-04", "amount": "2000.00"})
        self._fact({"kind": "survivors_pension", "starts_on": "2010-04-01", "monthly_amount": "600.00"})
        orders.append(self._ordered("2010-04", PENSION_PAYROLL))
        self._remit(PENSION_PAYROLL, "2010-04", INSTALLMENT_CENTS)
        return _told(quote, orders, self.people.preparer.get(f"{place}?as_of=2010-05-31"))

    def _enrol(self) -> None:
        """The participant, whose account in this program begins with the program."""
        self.people.preparer.post(
            "/participants",
            {
                "participant_id": PARTICIPANT,
                "fund": FUND,
                "birth_date": "1955-04-04",
                "employer_id": EMPLOYER,
                "enrolled_on": "2000-01-01",
            },
        )

    def _granted(self) -> str:
        """Applied for by one person, granted by another, the principal paid within the year."""
        applied = self.people.preparer.post(
            "/payment-plans", APPLICATION | {"participant_id": PARTICIPANT, "reference": "DEMO-1"}
        )
        place = f"/payment-plans/{applied['plan_id']}"
        approval = {"approved_on": "2008-10-10", "content_hash": applied["content_hash"]}
        self.people.approver.post(f"{place}/approval", approval)
        payment = {"reference": "DEMO-C1", "paid_on": "2008-10-15", "amount": "4000.00"}
        self.people.preparer.post(f"{place}/principal-payments", payment)
        return place

    def _fact(self, fact: dict[str, str]) -> None:
        """Entered by one person, adopted by another."""
        body = fact | {"participant_id": PARTICIPANT, "source": "made up for the demonstration"}
        entered = self.people.preparer.post("/pension-facts", body)
        self.people.approver.post(
            f"/pension-facts/{entered['fact_id']}/adoption", {"content_hash": entered["content_hash"]}
        )

    def _ordered(self, month: str, payer_id: str = EMPLOYER) -> dict[str, Any]:
        """A month's orders, prepared by one person and approved by another; what this payer reads of this plan."""
        place = f"/deduction-order-runs/{month}"
        if not self._is_posted(place):
            self.people.preparer.post("/deduction-order-runs", {"period": month}, key=f"demo-{month}-{time.time_ns()}")
            prepared = self._watch(place, "prepared")
            self.people.approver.post(f"{place}/approval", {"hash": prepared["hash"]})
            self._watch(place, "posted")
        order = self.people.clerks[payer_id].get(f"/deduction-orders/{payer_id}/{month}")
        lines = [one for one in order["items"] if one["participant_id"] == PARTICIPANT]
        return {"month": month, "payer": payer_id, **{name: lines[0][name] for name in ("installment", "arrears")}}

    def _is_posted(self, place: str) -> bool:
        try:
            return bool(self.people.preparer.get(place)["status"] == "posted")
        except ApiProblemError as problem:
            if problem.code != "run_not_found":
                raise
            return False

    def _watch(self, place: str, wanted: str) -> dict[str, Any]:
        for run in self._seen(place):
            if run["status"] == wanted:
                return run
            if run["status"] in RUN_ENDED:
                raise DemoFailedError(f"{place} is {run['status']}: {run['failure']}")
        raise AssertionError("watching ends with an answer")

    def _seen(self, place: str) -> Iterator[dict[str, Any]]:
        while True:
            yield self.people.preparer.get(place)
            time.sleep(POLL_SECONDS)

    def _remit(self, payer_id: str, month: str, cents: int) -> None:
        """What the payer withheld, sent by its clerk, confirmed by the fund, and credited."""
        amount = format_cents(cents)
        Scenes(self.people).remit_one(
            {
                "reference": f"DEMO-830Q-{month}",
                "employer_id": payer_id,
                "period": month,
                "control": {"count": 1, "total": amount},
                "lines": [{"participant_id": PARTICIPANT, "amount": amount, "kind": "installment"}],
            }
        )


def _amount_cents(month: str) -> int:
    """What the employer remits in a month: one short, and the next with its arrear."""
    if month == SHORT:
        return SHORT_CENTS
    return 2 * INSTALLMENT_CENTS - SHORT_CENTS if month == "2009-04" else INSTALLMENT_CENTS


def _told(quote: dict[str, Any], orders: list[dict[str, Any]], plan: dict[str, Any]) -> dict[str, Any]:
    """What `build/demo.json` says of it."""
    return {
        "plan_id": plan["plan_id"],
        "principal": quote["principal"],
        "interest": quote["plan"]["total_interest"],
        "installments": quote["plan"]["installments"],
        "orders": orders,
        "status": plan["status"],
        "paid": plan["debts"][0]["paid"],
        "balance": plan["balance"],
        "discounts": plan["schedule"],
    }
