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

from typing import TYPE_CHECKING

from retiro.on_demand import names_of

if TYPE_CHECKING:
    from retiro.rules.payment_plans.day_counts import *
    from retiro.rules.payment_plans.deaths import *
    from retiro.rules.payment_plans.disclosures import *
    from retiro.rules.payment_plans.facts import *
    from retiro.rules.payment_plans.installments import *
    from retiro.rules.payment_plans.plans import *
    from retiro.rules.payment_plans.section import *
    from retiro.rules.payment_plans.windows import *
else:
    __getattr__ = names_of(
        __name__,
        {
            "day_counts": "years_between",
            "deaths": "Discounts PlanDeathCharge PlanDeathChargeGiven plan_death_charge",
            "disclosures": "DisclosureCompliance DisclosureComplianceGiven Publication disclosure_compliance",
            "facts": "Debt PaymentPlanGiven PrincipalPayment",
            "installments": "Schedule month_ends schedule",
            "plans": "DebtInterest Installments PaymentPlan payment_plan",
            "section": "SECTION DebtKind",
            "windows": "JOINING_LIMIT WINDOWS FilingWindow JoiningLimit",
        },
    )
