"""Any order of remittances, deposits, payments and deaths keeps every debt at principal + interest − paid.

None goes below zero, and a plan's payments sum to its total, to the cent. The use cases are the real ones, over the
simulated tables in peace; after each write they are held against the plain model (`tests/simulation/plan_watch.py`),
and at the end the sums are taken again, from the passbooks' postings alone.
"""

from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retiro.rules.money import format_cents
from tests.simulation import plan_lives, remitting
from tests.simulation.asking import expect_done, expect_refused
from tests.simulation.plan_lives import LATE, LOOKS, PAYERS, PAYS, RETIRES
from tests.simulation.plan_model import Debt, Payment, Plan, Row
from tests.simulation.plan_watch import APPROVED_ON
from tests.simulation.scheduler import AbortedError, ViolationError
from tests.simulation.world import Refused, World, installed, principal

DEBTORS = (PAYS, RETIRES, LATE)
MONTHS = ("2008-10", "2008-11", "2008-12", "2009-03", "2012-01")
OWED_FROM = date(1986, 6, 30)

debtors = st.sampled_from(DEBTORS)
debts = st.builds(
    Debt,
    st.sampled_from(["unaccounted_service", "withdrawn_contributions"]),
    st.integers(1, 60_000),
    st.just(OWED_FROM),
)
remitted = st.lists(st.tuples(debtors, st.integers(1, 4_000)), min_size=1, max_size=3, unique_by=lambda row: row[0])
acts = st.one_of(
    st.tuples(st.just("remit"), st.sampled_from(MONTHS), remitted),
    st.tuples(st.just("remit"), st.sampled_from(MONTHS), remitted),
    st.tuples(st.just("remit"), st.sampled_from(MONTHS), remitted),
    st.tuples(st.just("file"), st.sampled_from(MONTHS), remitted),
    st.tuples(st.just("deposit"), st.integers(0, 5), st.none()),
    st.tuples(st.just("take back"), st.integers(0, 5), st.none()),
    st.tuples(st.just("place"), st.integers(0, 5), st.none()),
    st.tuples(st.just("pay principal"), debtors, st.integers(1, 60_000)),
    st.tuples(st.just("pay all principal"), debtors, st.none()),
    st.tuples(st.just("pay off"), debtors, st.none()),
    st.tuples(st.just("retire"), debtors, st.none()),
    st.tuples(st.just("die"), debtors, st.integers(0, 60_000)),
    st.tuples(st.just("survive"), debtors, st.integers(1, 60_000)),
    st.tuples(st.just("lapse"), st.none(), st.none()),
)


_ON_REMITTANCE = {
    "deposit": remitting.deposit,
    "take back": remitting.take_back,
    "place": remitting.place_held,
}


@dataclass
class Office:
    """What people ask for, one thing after the other."""

    world: World
    filed: list[str] = field(default_factory=list)
    asked: int = 0

    def grant(self, participant_id: str, owed: list[Debt]) -> None:
        """A plan of these debts."""
        applied = expect_done(self.world, "apply", plan_lives.apply(self.world, participant_id, "A-1", owed))
        expect_done(self.world, "approve", partial(plan_lives.approved, applied, "u-luis"))

    def plan(self, participant_id: str) -> Plan:
        """As the model has it."""
        plan = self.world.model.plans.debtors[participant_id].plan
        assert plan is not None
        return plan

    def act(self, name: str, what: Any, number: Any) -> None:
        """One of the acts. What the plan's standing forbids is refused, and nothing is written."""
        self.asked += 1
        match name:
            case "file" | "remit":
                rows = [Row(participant_id, "installment", cents) for participant_id, cents in number]
                self.filed.append(remitting.file(self.world, PAYERS[0], what, f"M{self.asked}", rows))
                if name == "remit":
                    remitting.deposit(self.world, self.filed[-1])
            case "deposit" | "take back" | "place":
                self._on_remittance(name, what)
            case "pay principal" | "pay all principal" | "pay off":
                self._pay(name, what, number)
            case "retire":
                self._fact(kind="service_end", participant_id=what, ended_on="2008-11-20")
                self._fact(kind="pension", participant_id=what, starts_on="2008-11-21", monthly_amount="1200.00")
            case "die":
                amount = format_cents(number)
                self._fact(kind="death_benefit", participant_id=what, death_date="2009-02-01", amount=amount)
            case "survive":
                monthly = format_cents(number)
                self._fact(
                    kind="survivors_pension", participant_id=what, starts_on="2009-03-01", monthly_amount=monthly
                )
            case "lapse":
                self.world.model.plans.looked_on = LOOKS[-1]
                expect_done(self.world, "look", partial(plan_lives.looked, LOOKS[-1]))

    def _on_remittance(self, name: str, number: int) -> None:
        """On one of those on which it can be done, if there is any."""
        standing = self.world.model.plans.remitted
        fit = [
            one for one in self.filed if standing[one].deposited == (name != "deposit") and not standing[one].returned
        ]
        if fit:
            _ON_REMITTANCE[name](self.world, fit[number % len(fit)])

    def _pay(self, name: str, participant_id: str, number: int | None) -> None:
        plan = self.plan(participant_id)
        plan_id, reference = f"{participant_id}_{plan.line}", f"C-{self.asked}"
        if name == "pay off":
            view = self.world.ask("look", lambda host: host.deductions.plans.read(plan_id, None, principal("u-ana")))
            assert not isinstance(view, Refused)
            figure = view.payoff
            on = date(2008, 11, 25) if plan.status == "paying" else APPROVED_ON
            if figure is not None and plan.status == "paying":
                off = plan_lives.pay_off(self.world, plan_id, f"{reference}-off", Payment(figure + 1, on))
                expect_refused(self.world, "pay off by a cent more", {"payoff_differs"}, off)
                expect_done(
                    self.world, "pay off", plan_lives.pay_off(self.world, plan_id, reference, Payment(figure, on))
                )
            return
        cents = plan.balance_cents if number is None else min(number, plan.balance_cents)
        pay = plan_lives.pay(self.world, plan_id, reference, Payment(max(cents, 1), APPROVED_ON))
        if plan.status == "principal":
            expect_done(self.world, "pay principal", pay)
        else:
            expect_refused(self.world, "pay principal", {"plan_not_open", "plan_lapsed"}, pay)

    def _fact(self, **body: str) -> None:
        plan_lives.facts(self.world, body, may_refuse={"plan_not_open", "plan_lapsed"})

    def check_sums(self) -> None:
        """By the postings alone: what each debt owes less what was paid is what stands open, and none is below zero."""
        for participant_id in DEBTORS:
            owed, paid = [0] * 4, [0] * 4
            lines = list(self.world.hosts[0].ledger.lines(participant_id))
            for line in lines:
                for posting in line.postings:
                    debt, _, number = posting.account.partition(":")
                    if debt != "plan_debt":
                        continue
                    if line.kind in {"plan_approved", "plan_scheduled"}:
                        owed[int(number) - 1] -= posting.amount_cents
                    else:
                        paid[int(number) - 1] += posting.amount_cents
                    assert owed[int(number) - 1] >= paid[int(number) - 1] >= 0
            opened = [-lines[-1].balance_cents(f"plan_debt:{number}") for number in range(1, 5)]
            assert opened == [total - part for total, part in zip(owed, paid, strict=True)]
            if self.plan(participant_id).status == "paid":
                assert owed == paid
                assert sum(owed) == sum(self.plan(participant_id).owed_cents)


_OWED = ([Debt("unaccounted_service", 2_000_00, OWED_FROM)], True)


@settings(max_examples=60)
@example(  # a second fact of one death, which is charged already, is refused
    (_OWED, _OWED, _OWED), [("retire", PAYS, None), ("die", PAYS, 1_00), ("die", PAYS, 2_00), ("survive", PAYS, 50_00)]
)
@given(
    st.tuples(
        *[st.tuples(st.lists(debts, min_size=1, max_size=3), st.sampled_from([True, True, False]))] * len(DEBTORS)
    ),
    st.lists(acts, min_size=10, max_size=25),
)
def test_any_order_of_remittances_deposits_payments_and_deaths_keeps_every_debt(
    granted: tuple[tuple[list[Debt], bool], ...], events: list[tuple[str, Any, Any]]
) -> None:
    with installed():
        world = World(9)
        try:
            plan_lives.settle_in(world)
            office = Office(world)
            for participant_id, (owed, is_paid) in zip(DEBTORS, granted, strict=True):
                office.grant(participant_id, owed)
                if is_paid:
                    office.act("pay all principal", participant_id, None)
            for name, what, number in events:
                office.act(name, what, number)
            office.check_sums()
            remitting.settle_up(world)
            remitting.check_clearing(world)
            office.check_sums()
        except (AbortedError, ViolationError):
            pytest.fail(f"{world.scheduler.violation or world.scheduler.crash!r}")
        finally:
            world.scheduler.close()
