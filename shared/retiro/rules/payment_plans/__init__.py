"""3 L.P.R.A. § 830q: payment plans for interest on contributions owed.

| clause | module |
| --- | --- |
| (a) who may have the plan, and when | `admission`, `windows` |
| (b) years left to the pension for merit | `admission` |
| (c) simple interest | `interest`, `arithmetic`, `day_counts`; the rates in `admission` |
| (d) principal within the year | `principal` |
| (e) installments | `plans`: payment_plan; `installments` |
| (f) death of a pensioner who owes | `deaths`: plan_death_charge |
| (g) disclosure | `disclosures`: disclosure_compliance |
"""

from retiro.rules.payment_plans.day_counts import years_between
from retiro.rules.payment_plans.deaths import Discounts, PlanDeathCharge, PlanDeathChargeGiven, plan_death_charge
from retiro.rules.payment_plans.disclosures import (
    DisclosureCompliance,
    DisclosureComplianceGiven,
    Publication,
    disclosure_compliance,
)
from retiro.rules.payment_plans.facts import Debt, PaymentPlanGiven, PrincipalPayment
from retiro.rules.payment_plans.installments import Schedule, month_ends, schedule
from retiro.rules.payment_plans.plans import DebtInterest, Installments, PaymentPlan, payment_plan
from retiro.rules.payment_plans.section import SECTION, DebtKind
from retiro.rules.payment_plans.windows import JOINING_LIMIT, WINDOWS, FilingWindow, JoiningLimit

__all__ = [
    "JOINING_LIMIT",
    "SECTION",
    "WINDOWS",
    "Debt",
    "DebtInterest",
    "DebtKind",
    "DisclosureCompliance",
    "DisclosureComplianceGiven",
    "Discounts",
    "FilingWindow",
    "Installments",
    "JoiningLimit",
    "PaymentPlan",
    "PaymentPlanGiven",
    "PlanDeathCharge",
    "PlanDeathChargeGiven",
    "PrincipalPayment",
    "Publication",
    "Schedule",
    "disclosure_compliance",
    "month_ends",
    "payment_plan",
    "plan_death_charge",
    "schedule",
    "years_between",
]
