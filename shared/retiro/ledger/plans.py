"""The lines of a payment plan, 3 L.P.R.A. § 830q, in the passbook of an ERS participant. Pure.

Each debt has an account of its own, `plan_debt:1` and so on: a debit of principal + interest − paid, never a credit.
The other side of what is owed is `plan_stated`; of what is paid, `cash` where the office took it, and `installments`
where a payroll remitted it (over a fund that is zero: its other half is in the payers' passbooks).

A schedule is a total, an amount, a count and the first day. What is due on a day follows from it, and so do arrears:
what was due and isn't paid. Nothing has to be posted for an arrear to open or to close.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Any

from retiro.ledger.employers import CASH
from retiro.ledger.lines import Draft, Line, LineError, LineKind, Posting, next_line
from retiro.ledger.savings import Origin, Status
from retiro.rules.calendar import last_day_of_month
from retiro.rules.money import format_cents
from retiro.rules.payment_plans.section import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

PLAN_STATED = "plan_stated"
"""The other side of principal and interest, as determined."""

INSTALLMENTS = "installments"
"""What payrolls remitted. The other half is in the payers' passbooks, where it was passed on."""

DEATH_BENEFIT = "death_benefit"
"""What (f) charged to a death benefit, which the System pays elsewhere."""

PLAN_HELD = "plan_held"
"""What was paid to a plan that lapsed. It is held until a person decides."""

PENSION_PAYROLL = "E-000"
"""The payer of deductions from pensions. It gets orders and remits as an employer does, under this reserved id."""

ORDER_RUN = "deduction_order"
"""The run kind whose mark says which month was ordered last."""

DEBTS_MAX = 4
"""Debts of a plan. Their accounts are carried in every line, which has a limit."""

_DEBT = "plan_debt:"


class PlanStatus(StrEnum):
    """Where a plan stands."""

    APPLIED = "applied"
    PRINCIPAL = "principal"
    PAYING = "paying"
    UNDECIDED = "undecided"
    LAPSED = "lapsed"
    PAID = "paid"


OPEN = frozenset({PlanStatus.PRINCIPAL, PlanStatus.PAYING, PlanStatus.UNDECIDED})
"""A participant has one plan in one of these. What is only applied for is replaced by the next application."""

STATE_KEYS: Mapping[LineKind, frozenset[str]] = {
    LineKind.PENSION: frozenset({"pension"}),
    LineKind.SERVICE_END: frozenset({"left"}),
    LineKind.PLAN_APPLIED: frozenset({"plan"}),
    LineKind.PLAN_APPROVED: frozenset({"plan"}),
    LineKind.PRINCIPAL_PAYMENT: frozenset({"plan"}),
    LineKind.PLAN_SCHEDULED: frozenset({"plan"}),
    LineKind.INSTALLMENT: frozenset({"plan"}),
    LineKind.INSTALLMENT_RETURNED: frozenset({"plan"}),
    LineKind.PLAN_PAYOFF: frozenset({"plan"}),
    LineKind.PLAN_WARNED: frozenset({"plan"}),
    LineKind.PLAN_LAPSED: frozenset({"plan"}),
    LineKind.PLAN_DEATH: frozenset({"plan"}),
    LineKind.PLAN_DISCOUNTS: frozenset({"plan"}),
}
"""Which keys of the state a kind of line may change, for who checks a passbook."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Equal installments of `amount_cents` on month-ends from `first_on`, the last one with the rest of the total."""

    total_cents: int
    amount_cents: int
    count: int
    first_on: date

    def due_cents(self, on: date) -> int:
        """What has fallen due by the end of a day."""
        due = self._due_count(on)
        return self.total_cents if due == self.count else due * self.amount_cents

    def _due_count(self, on: date) -> int:
        if on < self.first_on:
            return 0
        months = (on.year - self.first_on.year) * 12 + on.month - self.first_on.month
        # A first day that isn't a month-end is that of a single installment, on the plan's last day.
        return min(self.count, max(1, months + (on == month_end(on))))


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as the last line carries it. `debts_cents`: what is open of each debt, in the order listed.

    `line` is the sequence of the application, which names the plan. The whole principal, its `deadline`, and `warned`,
    the days left when the last warning was given, are there while principal is open. `terms` once there is a schedule.
    `death`: the day of a pensioner's death, from which only survivors' pensions pay.
    """

    line: int
    status: PlanStatus
    debts_cents: tuple[int, ...]
    principal_cents: int = 0
    deadline: date | None = None
    warned: int | None = None
    terms: Terms | None = None
    death: date | None = None

    @property
    def balance_cents(self) -> int:
        """What is open of all debts."""
        return sum(self.debts_cents)

    @property
    def is_open(self) -> bool:
        """Whether it stands in the way of another plan."""
        return self.status in OPEN

    def paid_cents(self) -> int:
        """What was paid under the schedule that stands."""
        return self.terms.total_cents - self.balance_cents if self.terms else 0

    def due_cents(self, through: date) -> int:
        """What is due by the end of a day and isn't paid."""
        if self.status is not PlanStatus.PAYING or self.terms is None:
            return 0
        return max(0, self.terms.due_cents(through) - self.paid_cents())

    def order_cents(self, month: date) -> tuple[int, int]:
        """What the payer of a month (any day of it) withholds: the month's installment, and apart from it arrears."""
        arrears_cents = self.due_cents(month.replace(day=1) - timedelta(days=1))
        return self.due_cents(month_end(month)) - arrears_cents, arrears_cents


def plan_of(last: Line) -> Plan | None:
    """The participant's plan, open or not; `None` where there never was one."""
    held = last.state.get("plan")
    if held is None:
        return None
    terms = held.get("terms")
    return Plan(
        line=held["line"],
        status=PlanStatus(held["status"]),
        debts_cents=tuple(-last.balance_cents(debt_account(number)) for number in range(1, held.get("debts", 0) + 1)),
        principal_cents=held.get("principal", 0),
        deadline=_day(held.get("deadline")),
        warned=held.get("warned"),
        terms=None if terms is None else Terms(terms[0], terms[1], terms[2], date.fromisoformat(terms[3])),
        death=_day(held.get("death")),
    )


def plan_id(passbook: str, line: int) -> str:
    """The id of a plan: the participant's, and the line of the application."""
    return f"{passbook}_{line}"


def debt_account(number: int) -> str:
    """The account of a plan's debt; the first is 1."""
    return f"{_DEBT}{number}"


def month_end(day: date) -> date:
    """The last day of a day's month."""
    return day.replace(day=last_day_of_month(day.year, day.month))


@dataclass(frozen=True, slots=True)
class Pension:
    """An ERS pension as a fact from outside: its first day, and the month's amount."""

    starts_on: date
    monthly_cents: int


def pension_of(last: Line) -> Pension | None:
    """The pension adopted last, if any."""
    held = last.state.get("pension")
    return None if held is None else Pension(date.fromisoformat(held["from"]), held["monthly"])


def left_on(last: Line) -> date | None:
    """The day on which active service ended, if it is known."""
    return _day(last.state.get("left"))


def payer_on(last: Line, employer_id: str, day: date) -> str | None:
    """Who withholds what falls due on a day: the pension payroll from the pension's first day, before it the employer.

    `None` for nobody: service has ended, and no pension has started. A pensioner's survivors are paid by the pension
    payroll too.
    """
    plan = plan_of(last)
    if plan is not None and plan.death is not None:
        return PENSION_PAYROLL if plan.terms is not None else None
    pension = pension_of(last)
    if pension is not None and pension.starts_on <= day:
        return PENSION_PAYROLL
    left = left_on(last)
    if left is not None and left <= day:
        return None
    return employer_id if Status(last.state["status"]) is Status.ACTIVE else None


def after(last: Line, drafts: Sequence[Draft]) -> Line:
    """The line as it would be after these drafts, for what is decided on it in the same transaction."""
    for draft in drafts:
        last = next_line(last, draft, passbook=last.passbook, fund=last.fund, recorded_at=last.recorded_at)
    return last


# Facts from outside


def pension(last: Line, fact: Pension, origin: Origin) -> Draft:
    """An ERS pension, adopted: from its first day its payroll withholds what is due."""
    _check_not_closed(last)
    state = {"pension": {"from": fact.starts_on.isoformat(), "monthly": fact.monthly_cents}}
    return _draft(LineKind.PENSION, fact.starts_on, origin, state=state)


def service_end(last: Line, on: date, origin: Origin) -> Draft:
    """The end of active service, adopted. The savings account isn't touched."""
    _check_not_closed(last)
    return _draft(LineKind.SERVICE_END, on, origin, state={"left": on.isoformat()})


# A plan until its principal is paid


def applied(last: Line, applied_on: date, origin: Origin) -> Draft:
    """A plan applied for, in place of an application not granted. Raises `Refusal` `plan_open` where one is open."""
    _check_not_closed(last)
    plan = plan_of(last)
    if plan is not None and plan.is_open:
        raise Refusal(RefusalCode.PLAN_OPEN, SECTION, plan_id=plan_id(last.passbook, plan.line))
    state = {"plan": {"line": last.sequence + 1, "status": PlanStatus.APPLIED.value}}
    return _draft(LineKind.PLAN_APPLIED, applied_on, origin, state=state)


def approved(last: Line, principals_cents: Sequence[int], approved_on: date, deadline: date, origin: Origin) -> Draft:
    """The plan granted: each debt's principal is owed on its own account. Raises `Refusal` `plan_not_open`."""
    plan = _plan(last, PlanStatus.APPLIED)
    if len(principals_cents) > DEBTS_MAX:
        msg = f"a plan of {len(principals_cents)} debts"
        raise LineError(msg)
    state = {
        "line": plan.line,
        "status": PlanStatus.PRINCIPAL.value,
        "debts": len(principals_cents),
        "principal": sum(principals_cents),
        "deadline": deadline.isoformat(),
    }
    return _draft(LineKind.PLAN_APPROVED, approved_on, origin, _owed(principals_cents), state={"plan": state})


def principal_payment(last: Line, amount_cents: int, paid_on: date, origin: Origin) -> Draft:
    """A payment to the principal, to the debts in the order listed.

    The day and the sum are checked by the determination beforehand. Raises `Refusal` `plan_lapsed`, `plan_not_open`,
    `over_plan_balance`.
    """
    plan = _plan(last, PlanStatus.PRINCIPAL)
    postings = _paid(plan, amount_cents, CASH)
    return _draft(LineKind.PRINCIPAL_PAYMENT, paid_on, origin, postings)


def scheduled(last: Line, interest_cents: Sequence[int], terms: Terms | None, from_on: date, origin: Origin) -> Draft:
    """The principal is paid: each debt bears its interest, and the schedule stands.

    `interest_cents` is what each debt bears beyond what was stated before. `terms` is `None` where installments wait
    for the pension. Nothing to pay: the plan is paid. Raises `Refusal` `plan_not_open`, `plan_lapsed`.
    """
    plan = _plan(last, PlanStatus.PRINCIPAL, PlanStatus.PAYING)
    open_cents = plan.balance_cents + sum(interest_cents)
    status = PlanStatus.PAYING if open_cents else PlanStatus.PAID
    state: dict[str, Any] = {"line": plan.line, "status": status.value, "debts": len(plan.debts_cents)}
    if terms is not None:
        state["terms"] = _terms_state(terms)
    return _draft(LineKind.PLAN_SCHEDULED, from_on, origin, _owed(interest_cents), state={"plan": state})


def warned(last: Line, days_left: int, on: date, origin: Origin) -> Draft:
    """A warning on the record, so many days before the principal's deadline."""
    _plan(last, PlanStatus.PRINCIPAL)
    state = {"plan": {**last.state["plan"], "warned": days_left}}
    return _draft(LineKind.PLAN_WARNED, on, origin, state=state, facts={"days_left": days_left})


def lapsed(last: Line, on: date, origin: Origin) -> Draft:
    """(d): the plan lapses with principal open. What was paid is held for a person; nothing is owed any more."""
    plan = _plan(last, PlanStatus.PRINCIPAL)
    held_cents = plan.principal_cents - plan.balance_cents
    postings = [Posting(debt_account(number), cents) for number, cents in enumerate(plan.debts_cents, 1) if cents]
    postings += [Posting(PLAN_STATED, -plan.principal_cents), Posting(PLAN_HELD, held_cents)]
    state = {"line": plan.line, "status": PlanStatus.LAPSED.value, "debts": len(plan.debts_cents)}
    moved = tuple(posting for posting in postings if posting.amount_cents)
    return _draft(LineKind.PLAN_LAPSED, on, origin, moved, state={"plan": state})


# Installments


def installment_credit(
    last: Line, amount_cents: int, credited_on: date, origin: Origin, *, through: date | None = None
) -> Draft:
    """An installment that a payroll remitted, credited on its deposit's value date, to the debts in the order listed.

    At most what is due by the end of `through` (the last day of the month that was remitted; else `credited_on`), and
    arrears before all else: the line's facts say how much of it cleared arrears. What is less leaves an arrear, since
    an arrear is what was due and isn't paid. The other half goes from the payer's clearing to its `installments`.

    Raises `Refusal`: `plan_not_open` (none, paid, or still without a schedule), `plan_lapsed`, `over_due` (more than
    is due: credit `plan_of(last).due_cents(through)` and leave the rest in clearing); `LineError` for no cents.
    """
    through = through or credited_on
    plan = _plan(last, PlanStatus.PAYING)
    if amount_cents <= 0:
        msg = f"an installment of {amount_cents} cents"
        raise LineError(msg)
    if amount_cents > (due_cents := plan.due_cents(through)):
        raise Refusal(
            RefusalCode.OVER_DUE, f"{SECTION}(e)", field="amount",
            due=format_cents(due_cents), amount=format_cents(amount_cents), on=through,
        )  # fmt: skip
    _, arrears_cents = plan.order_cents(through)
    facts: dict[str, str | int] = {"through": through.isoformat(), "arrears": min(amount_cents, arrears_cents)}
    postings = _paid(plan, amount_cents, INSTALLMENTS)
    return _draft(
        LineKind.INSTALLMENT, credited_on, origin, postings, state=_paid_state(last, plan, amount_cents), facts=facts
    )


def installment_returned(last: Line, installment: Line, returned_on: date, origin: Origin) -> Draft:
    """An installment whose deposit the bank took back: each debt bears it again, and what is due is due again.

    Raises `Refusal` `needs_decision` where the plan isn't the one that it paid, or has ended otherwise since.
    """
    plan = plan_of(last)
    paid = plan is not None and plan.status in (PlanStatus.PAYING, PlanStatus.PAID)
    if plan is None or not paid or plan.line != installment.state["plan"]["line"]:
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            SECTION,
            reason_en=f"the plan of installment line {installment.sequence} has ended otherwise since",
            reason_es=f"el plan del plazo de la línea {installment.sequence} terminó de otro modo después",
        )
    draft = _draft(
        LineKind.INSTALLMENT_RETURNED,
        returned_on,
        origin,
        tuple(Posting(one.account, -one.amount_cents) for one in installment.postings),
        state={"plan": {**last.state["plan"], "status": PlanStatus.PAYING.value}},
    )
    return replace(draft, reverses=installment.sequence)


def payoff(last: Line, amount_cents: int, paid_on: date, origin: Origin) -> Draft:
    """All that is open, paid at once.

    Raises `Refusal` `payoff_differs` for another sum, `plan_lapsed`, `plan_not_open`.
    """
    plan = _plan(last, PlanStatus.PAYING)
    if amount_cents != plan.balance_cents:
        raise payoff_differs(plan.balance_cents, amount_cents, paid_on)
    postings = _paid(plan, amount_cents, CASH)
    return _draft(LineKind.PLAN_PAYOFF, paid_on, origin, postings, state=_paid_state(last, plan, amount_cents))


def payoff_differs(figure_cents: int, amount_cents: int, on: date) -> Refusal:
    """The refusal of a payoff that isn't the figure of the day."""
    return Refusal(
        RefusalCode.PAYOFF_DIFFERS, f"{SECTION}(e)", field="amount",
        figure=format_cents(figure_cents), amount=format_cents(amount_cents), on=on,
    )  # fmt: skip


# A death


def death_charged(last: Line, death_date: date, charged_cents: int, origin: Origin) -> Draft:
    """(f): a pensioner has died owing: the death benefit bears what it can. What remains waits for the survivors'.

    Raises `Refusal` `plan_not_open`, `plan_lapsed`, `over_plan_balance`.
    """
    plan = _plan(last, PlanStatus.PAYING)
    if plan.death is not None or plan.terms is None:
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, SECTION, status="charged to a death benefit")
    postings = _paid(plan, charged_cents, DEATH_BENEFIT)
    paid = charged_cents == plan.balance_cents
    state = {
        "line": plan.line,
        "status": (PlanStatus.PAID if paid else PlanStatus.PAYING).value,
        "debts": len(plan.debts_cents),
        "death": death_date.isoformat(),
    }
    facts: dict[str, str | int] = {"installment": plan.terms.amount_cents}
    return _draft(LineKind.PLAN_DEATH, death_date, origin, postings, state={"plan": state}, facts=facts)


def installment_at_death_cents(history: Sequence[Line]) -> int:
    """The plan's installment when its pensioner died; zero where nobody did."""
    facts = [line.facts for line in history if line.kind is LineKind.PLAN_DEATH and "installment" in line.facts]
    return int(facts[-1]["installment"]) if facts else 0


def undecided(last: Line, death_date: date, origin: Origin) -> Draft:
    """A death before any pension, with a plan open: the text says nothing, and a person decides."""
    plan = _plan(last, PlanStatus.PRINCIPAL, PlanStatus.PAYING)
    state = {
        "line": plan.line,
        "status": PlanStatus.UNDECIDED.value,
        "debts": len(plan.debts_cents),
        "death": death_date.isoformat(),
    }
    return _draft(LineKind.PLAN_DEATH, death_date, origin, state={"plan": state})


def discounts(last: Line, amount_cents: int, starts_on: date, origin: Origin) -> Draft:
    """(f): what remains, in monthly discounts on the survivors' pension from its first day, until paid."""
    plan = _plan(last, PlanStatus.PAYING)
    if plan.death is None or amount_cents <= 0:
        msg = f"discounts of {amount_cents} cents, where the death is {plan.death}"
        raise LineError(msg)
    terms = Terms(plan.balance_cents, amount_cents, -(-plan.balance_cents // amount_cents), month_end(starts_on))
    state = {**last.state["plan"], "terms": _terms_state(terms)}
    return _draft(LineKind.PLAN_DISCOUNTS, starts_on, origin, state={"plan": state})


# A deduction order


def ordered(last: Line, month: date, payer_id: str, attempt: int, origin: Origin) -> Draft:
    """The month's order: what this payer is to withhold, installment and arrears apart. It moves no money."""
    plan = _plan(last, PlanStatus.PAYING)
    installment_cents, arrears_cents = plan.order_cents(month)
    facts: dict[str, str | int] = {"payer": payer_id, "installment": installment_cents, "arrears": arrears_cents}
    draft = _draft(LineKind.DEDUCTION_ORDER, month_end(month), origin, facts=facts)
    return replace(draft, run=(ORDER_RUN, f"{month:%Y-%m}", attempt))


def _plan(last: Line, *statuses: PlanStatus) -> Plan:
    """The plan, in one of these statuses. Raises `Refusal` `plan_lapsed`, `plan_not_open`."""
    plan = plan_of(last)
    if plan is not None and plan.status is PlanStatus.LAPSED:
        raise Refusal(RefusalCode.PLAN_LAPSED, f"{SECTION}(d)", plan_id=plan_id(last.passbook, plan.line))
    if plan is None or plan.status not in statuses:
        status = "none" if plan is None else plan.status.value
        raise Refusal(RefusalCode.PLAN_NOT_OPEN, SECTION, status=status)
    return plan


def _check_not_closed(last: Line) -> None:
    if (status := Status(last.state["status"])) is Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=status)


def _owed(amounts_cents: Sequence[int]) -> tuple[Posting, ...]:
    """Each debt grows by its amount; nothing for nothing."""
    postings = [Posting(debt_account(number), -cents) for number, cents in enumerate(amounts_cents, 1) if cents]
    total_cents = sum(amounts_cents)
    return (*postings, Posting(PLAN_STATED, total_cents)) if total_cents else tuple(postings)


def _paid(plan: Plan, amount_cents: int, contra: str) -> tuple[Posting, ...]:
    """A payment to the debts in the order listed, none of them below zero. Raises `Refusal` `over_plan_balance`."""
    if amount_cents > plan.balance_cents:
        raise Refusal(
            RefusalCode.OVER_PLAN_BALANCE, SECTION, field="amount",
            balance=format_cents(plan.balance_cents), amount=format_cents(amount_cents),
        )  # fmt: skip
    postings = []
    left_cents = amount_cents
    for number, open_cents in enumerate(plan.debts_cents, 1):
        if piece_cents := min(left_cents, open_cents):
            postings.append(Posting(debt_account(number), piece_cents))
            left_cents -= piece_cents
    return (*postings, Posting(contra, -amount_cents)) if amount_cents else ()


def _paid_state(last: Line, plan: Plan, amount_cents: int) -> dict[str, Any]:
    """What a payment does to the state: nothing, unless it is the last one."""
    if amount_cents < plan.balance_cents:
        return {}
    return {"plan": {**last.state["plan"], "status": PlanStatus.PAID.value}}


def _terms_state(terms: Terms) -> list[int | str]:
    """A list, not a map: every line of the passbook carries it."""
    return [terms.total_cents, terms.amount_cents, terms.count, terms.first_on.isoformat()]


def _draft(  # noqa: PLR0913  # the parts of a draft, in their order
    kind: LineKind,
    on: date,
    origin: Origin,
    postings: tuple[Posting, ...] = (),
    *,
    state: Mapping[str, Any] | None = None,
    facts: Mapping[str, str | int] | None = None,
) -> Draft:
    return Draft(
        kind,
        on,
        origin.principal,
        postings=postings,
        state=state or {},
        determination=origin.determination,
        facts={**origin.facts, **(facts or {})},
    )


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
