"""4 L.P.R.A. § 242b: the Judiciary Hybrid Program.

| clause | module |
| --- | --- |
| (a), (b) separation | `separations`: separation_benefit |
| (b), (c)(1) life annuity | `annuities`: life_annuity |
| (c)(2) factor | `factors`: factor_at, check_range |
| (d) payments | `annuities`: annuity_payments |
| (e) death in active service | `deaths`: active_death_refund; `returns`: provisional_yield; `payees` |
| (f) death of a pensioner | `deaths`: pensioner_death_benefit; `payees` |
"""

from retiro.rules.judiciary_hybrid.annuities import (
    FACTOR_TABLE,
    AnnuityPayments,
    AnnuityPaymentsGiven,
    LifeAnnuity,
    LifeAnnuityGiven,
    act_of_factor,
    annuity_payments,
    first_month_fraction,
    life_annuity,
    payment_cents,
    payments_through_cents,
)
from retiro.rules.judiciary_hybrid.deaths import (
    ANNUITY_PAYMENTS,
    ActiveDeathRefund,
    ActiveDeathRefundGiven,
    PensionerDeathBenefit,
    PensionerDeathBenefitGiven,
    active_death_refund,
    pensioner_death_benefit,
)
from retiro.rules.judiciary_hybrid.factors import (
    Factor,
    FactorTable,
    check_range,
    check_table,
    factor_at,
    format_age,
    monthly_annuity_cents,
    parse_age,
)
from retiro.rules.judiciary_hybrid.payees import (
    CHOICES,
    HEIRS,
    Beneficiary,
    ClaimGiven,
    ClaimResult,
    Debt,
    Designation,
    Heir,
    Payee,
    PersonsDecision,
    shares_of,
)
from retiro.rules.judiciary_hybrid.returns import (
    ProvisionalYield,
    ProvisionalYieldGiven,
    complete_months,
    provisional_yield,
)
from retiro.rules.judiciary_hybrid.section import SECTION, SYSTEM
from retiro.rules.judiciary_hybrid.separations import SeparationBenefit, SeparationBenefitGiven, separation_benefit

__all__ = [
    "ANNUITY_PAYMENTS",
    "CHOICES",
    "FACTOR_TABLE",
    "HEIRS",
    "SECTION",
    "SYSTEM",
    "ActiveDeathRefund",
    "ActiveDeathRefundGiven",
    "AnnuityPayments",
    "AnnuityPaymentsGiven",
    "Beneficiary",
    "ClaimGiven",
    "ClaimResult",
    "Debt",
    "Designation",
    "Factor",
    "FactorTable",
    "Heir",
    "LifeAnnuity",
    "LifeAnnuityGiven",
    "Payee",
    "PensionerDeathBenefit",
    "PensionerDeathBenefitGiven",
    "PersonsDecision",
    "ProvisionalYield",
    "ProvisionalYieldGiven",
    "SeparationBenefit",
    "SeparationBenefitGiven",
    "act_of_factor",
    "active_death_refund",
    "annuity_payments",
    "check_range",
    "check_table",
    "complete_months",
    "factor_at",
    "first_month_fraction",
    "format_age",
    "life_annuity",
    "monthly_annuity_cents",
    "parse_age",
    "payment_cents",
    "payments_through_cents",
    "pensioner_death_benefit",
    "provisional_yield",
    "separation_benefit",
    "shares_of",
]
