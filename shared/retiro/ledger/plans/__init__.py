"""The lines of a payment plan, 3 L.P.R.A. § 830q, in the passbook of an ERS participant. Pure.

Each debt has an account of its own, `plan_debt:1` and so on: a debit of principal + interest − paid, never a credit.
The other side of what is owed is `plan_stated`; of what is paid, `cash` where the office took it, and `installments`
where a payroll remitted it (over a fund that is zero: its other half is in the payers' passbooks).

A schedule is a total, an amount, a count and the first day. What is due on a day follows from it, and so do arrears:
what was due and isn't paid. Nothing has to be posted for an arrear to open or to close.

| module | what |
| --- | --- |
| `figures` | what stands of a plan, and what is due on a day |
| `granting` | from the application until the principal is paid, or the plan lapses |
| `installments` | what payrolls remit, the payoff, the month's order |
| `payers` | pensions and ends of service, and who withholds |
| `deaths` | a participant who dies owing |
| `drafting` | what those lines are made of |
"""

from retiro.ledger.employers import INSTALLMENTS
from retiro.ledger.plans.deaths import (
    DEATH_BENEFIT,
    ESTATE,
    RELEASED,
    death_charged,
    discounts,
    ended,
    installment_at_death_cents,
    noted,
    undecided,
)
from retiro.ledger.plans.drafting import PLAN_STATED, STATE_KEYS, after
from retiro.ledger.plans.figures import OPEN, Plan, PlanStatus, Terms, debt_account, month_end, plan_id, plan_of
from retiro.ledger.plans.granting import (
    DEBTS_MAX,
    PLAN_HELD,
    PLAN_PAYABLE,
    applied,
    approved,
    held_placed,
    lapsed,
    principal_payment,
    scheduled,
    warned,
)
from retiro.ledger.plans.installments import (
    ORDER_REVERSAL_RUN,
    ORDER_RUN,
    installment_credit,
    installment_returned,
    order_reversed,
    ordered,
    payoff,
    payoff_differs,
)
from retiro.ledger.plans.payers import PENSION_PAYROLL, Pension, left_on, payer_on, pension, pension_of, service_end

__all__ = [
    "DEATH_BENEFIT",
    "DEBTS_MAX",
    "ESTATE",
    "INSTALLMENTS",
    "OPEN",
    "ORDER_REVERSAL_RUN",
    "ORDER_RUN",
    "PENSION_PAYROLL",
    "PLAN_HELD",
    "PLAN_PAYABLE",
    "PLAN_STATED",
    "RELEASED",
    "STATE_KEYS",
    "Pension",
    "Plan",
    "PlanStatus",
    "Terms",
    "after",
    "applied",
    "approved",
    "death_charged",
    "debt_account",
    "discounts",
    "ended",
    "held_placed",
    "installment_at_death_cents",
    "installment_credit",
    "installment_returned",
    "lapsed",
    "left_on",
    "month_end",
    "noted",
    "order_reversed",
    "ordered",
    "payer_on",
    "payoff",
    "payoff_differs",
    "pension",
    "pension_of",
    "plan_id",
    "plan_of",
    "principal_payment",
    "scheduled",
    "service_end",
    "undecided",
    "warned",
]
