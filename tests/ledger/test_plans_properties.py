"""Any order of remittances, deposits, payments and deaths keeps each debt at principal + interest − paid.

None of them goes below zero, and what is paid to a plan sums to its total, to the cent.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from retiro.ledger import lines as line_items
from retiro.ledger import plans
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.plans import PlanStatus, Terms, plan_of
from retiro.ledger.verify import verify_passbook
from retiro.rules.payment_plans import month_ends, schedule
from retiro.rules.refusals import Refusal
from tests.ledger.test_plans import ORIGIN, enrolled, then

APPROVED = date(2008, 10, 10)
DEADLINE = date(2009, 10, 10)
ENDS = date(2013, 10, 10)

acts = st.one_of(
    st.tuples(st.just("principal"), st.integers(1, 60_000)),
    st.tuples(st.just("remitted"), st.integers(1, 20_000)),
    st.tuples(st.just("due"), st.just(0)),
    st.tuples(st.just("payoff"), st.integers(-1, 1)),
    st.tuples(st.just("pension"), st.just(120_000)),
    st.tuples(st.just("death"), st.integers(0, 60_000)),
    st.tuples(st.just("survivors"), st.integers(1, 5_000)),
    st.tuples(st.just("lapse"), st.just(0)),
    st.tuples(st.just("undecided"), st.just(0)),
    st.tuples(st.just("charged"), st.integers(0, 60_000)),
    st.tuples(st.just("ended"), st.just(0)),
    st.tuples(st.just("placed"), st.just(0)),
    st.tuples(st.just("days"), st.integers(1, 200)),
)


@dataclass
class Model:
    """The same plan in plain sums: what each debt owes and has paid, whatever the lines say."""

    owed_cents: list[int]
    interest_cents: list[int]
    paid_cents: list[int] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    today: date = date(2008, 10, 20)

    def __post_init__(self) -> None:
        self.paid_cents = [0] * len(self.owed_cents)
        first = enrolled()
        second = then(first, plans.applied(first, date(2008, 9, 1), ORIGIN))
        self.lines = [first, second]
        self.append(plans.approved(second, self.owed_cents, APPROVED, DEADLINE, ORIGIN))

    @property
    def last(self) -> Line:
        return self.lines[-1]

    def append(self, draft: Draft) -> None:
        self.lines.append(then(self.last, draft))

    def pay(self, cents: int) -> None:
        """To the debts in the order listed."""
        for number, owed in enumerate(self.owed_cents):
            piece = min(cents, owed - self.paid_cents[number])
            self.paid_cents[number] += piece
            cents -= piece
        assert cents == 0

    def act(self, name: str, number: int) -> None:  # noqa: C901, PLR0912  # a case an event
        """One event, or nothing where it is refused."""
        plan = plan_of(self.last)
        assert plan is not None
        match name:
            case "days":
                self.today += timedelta(days=number)
            case "principal":
                self._principal(min(number, plan.balance_cents) or 1)
            case "remitted" | "due":
                cents = number or plan.due_cents(self.today)
                if cents:
                    self.append(plans.installment_credit(self.last, cents, self.today, ORIGIN))
                    self.pay(cents)
            case "payoff":
                self.append(plans.payoff(self.last, plan.balance_cents + number, self.today, ORIGIN))
                self.pay(plan.balance_cents)
            case "pension":
                self.append(plans.pension(self.last, plans.Pension(self.today, number), ORIGIN))
            case "death":
                charged = min(number, plan.balance_cents)
                self.append(plans.death_charged(self.last, self.today, charged, ORIGIN))
                self.pay(charged)
            case "survivors" if plan.death is not None and plan.balance_cents:
                self.append(plans.discounts(self.last, number, self.today, ORIGIN))
            case "lapse":
                self.append(plans.lapsed(self.last, self.today, ORIGIN))
                self.owed_cents, self.paid_cents = [0], [0]
            case "undecided":
                self.append(plans.undecided(self.last, self.today, ORIGIN))
            case "charged":
                charged = min(number, plan.balance_cents)
                self.append(plans.death_charged(self.last, self.today, charged, ORIGIN, installment_cents=100))
                self.pay(charged)
            case "ended":
                self.append(plans.ended(self.last, plans.ESTATE, self.today, ORIGIN))
                self.owed_cents = list(self.paid_cents)
            case "placed" if held_cents := self.last.balance_cents(plans.PLAN_HELD):
                self.append(plans.held_placed(self.last, plan.line, held_cents, self.today, ORIGIN))

    def _principal(self, cents: int) -> None:
        self.append(plans.principal_payment(self.last, cents, self.today, ORIGIN))
        self.pay(cents)
        if self.paid_cents != self.owed_cents:
            return
        total = sum(self.interest_cents)
        planned = schedule(total, month_ends(self.today + timedelta(days=1), ENDS), ENDS)
        terms = None if planned is None else Terms(total, planned.amount_cents, len(planned.due_on), planned.due_on[0])
        self.append(plans.scheduled(self.last, self.interest_cents, terms, self.today, ORIGIN))
        self.owed_cents = [owed + more for owed, more in zip(self.owed_cents, self.interest_cents, strict=True)]

    def check(self) -> None:
        plan = plan_of(self.last)
        assert plan is not None
        assert sum(self.last.balances.values()) == 0
        assert all(cents >= 0 for cents in plan.debts_cents)
        if plan.status is PlanStatus.LAPSED:
            assert plan.balance_cents == 0
            kept_cents = self.last.balance_cents("plan_held") + self.last.balance_cents("plan_payable")
            assert kept_cents == -self.last.balance_cents("cash")
            return
        owed = zip(self.owed_cents, self.paid_cents, strict=True)
        assert list(plan.debts_cents) == [due - paid for due, paid in owed]
        over = plan.status in (PlanStatus.PAID, PlanStatus.ENDED)
        assert over == (not plan.balance_cents and plan.status is not PlanStatus.PRINCIPAL)
        for month in (self.today, self.today + timedelta(days=31)):
            installment, arrears = plan.order_cents(month)
            assert installment >= 0
            assert arrears >= 0
            assert installment + arrears <= plan.balance_cents


@given(
    st.lists(st.tuples(st.integers(1, 60_000), st.integers(0, 60_000)), min_size=1, max_size=plans.DEBTS_MAX),
    st.lists(acts, max_size=40),
)
def test_any_order_of_events_keeps_each_debt_at_what_is_owed_less_what_is_paid(
    debts: list[tuple[int, int]], events: list[tuple[str, int]]
) -> None:
    model = Model([principal for principal, _ in debts], [interest for _, interest in debts])
    for name, number in events:
        before = len(model.lines)
        try:
            model.act(name, number)
        except Refusal:
            assert len(model.lines) == before
        model.check()
    verified = verify_passbook("P-000001", map(line_items.to_item, model.lines))
    assert verified.findings == ()


@given(
    st.integers(1, 60_000),
    st.integers(1, 600_000),
    st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 120)), max_size=40),
)
def test_what_is_paid_to_a_plan_sums_to_its_total(principal: int, interest: int, months: list[tuple[int, int]]) -> None:
    """Short and late remittances, then all that is due at the end."""
    model = Model([principal], [interest])
    model.act("principal", principal)
    for cents, days in months:
        model.today += timedelta(days=days)
        plan = plan_of(model.last)
        assert plan is not None
        if credit := min(cents, plan.due_cents(model.today)):
            model.act("remitted", credit)
    model.today = max(model.today, ENDS)
    model.act("due", 0)
    paid = sum(
        posting.amount_cents
        for line in model.lines
        if line.kind in {LineKind.PRINCIPAL_PAYMENT, LineKind.INSTALLMENT}
        for posting in line.postings
        if posting.account == "plan_debt:1"
    )
    assert paid == principal + interest
    plan = plan_of(model.last)
    assert plan is not None
    assert plan.status is PlanStatus.PAID
