"""Every determination by name, and the one door to them for whoever holds JSON."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from retiro.rules import judiciary_hybrid, payment_plans, savings_accounts
from retiro.rules.frame import Determination, Result
from retiro.rules.receipts import NO_ACTS, Act
from retiro.rules.version import RULES_VERSION

__all__ = ["DETERMINATIONS", "RULES_VERSION", "determine"]

DETERMINATIONS: Mapping[str, Determination[Any, Any]] = MappingProxyType(
    {
        each.name: each
        for each in (
            # 3 L.P.R.A. § 786-7
            savings_accounts.semester_calendar,
            savings_accounts.investment_selection,
            savings_accounts.semester_yield,
            savings_accounts.late_credit,
            # 4 L.P.R.A. § 242b
            judiciary_hybrid.separation_benefit,
            judiciary_hybrid.life_annuity,
            judiciary_hybrid.annuity_payments,
            judiciary_hybrid.active_death_refund,
            judiciary_hybrid.provisional_yield,
            judiciary_hybrid.pensioner_death_benefit,
            # 3 L.P.R.A. § 830q
            payment_plans.payment_plan,
            payment_plans.plan_death_charge,
            payment_plans.disclosure_compliance,
        )
    }
)


def determine(name: str, given: object, *, acts: Mapping[str, Act] = NO_ACTS) -> Result:
    """Determine by name from plain data: a mapping as JSON or YAML gives it.

    `determine("semester_calendar", {"semester": "FY2025-S2"}).yield_date` is 2025-06-30.

    Raises:
        KeyError: there is no such determination.
        Refusal: by its code; `invalid_input` where the data break the form.
    """
    chosen = DETERMINATIONS[name]
    result: Result = chosen(chosen.parse(given), acts=acts)
    return result
