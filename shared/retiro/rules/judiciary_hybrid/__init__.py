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

from typing import TYPE_CHECKING

from retiro.on_demand import names_of

if TYPE_CHECKING:
    from retiro.rules.judiciary_hybrid.annuities import *
    from retiro.rules.judiciary_hybrid.deaths import *
    from retiro.rules.judiciary_hybrid.factors import *
    from retiro.rules.judiciary_hybrid.payees import *
    from retiro.rules.judiciary_hybrid.returns import *
    from retiro.rules.judiciary_hybrid.section import *
    from retiro.rules.judiciary_hybrid.separations import *
else:
    __getattr__ = names_of(
        __name__,
        {
            "annuities": "FACTOR_TABLE AnnuityPayments AnnuityPaymentsGiven LifeAnnuity LifeAnnuityGiven act_of_factor "
            "annuity_payments first_month_fraction life_annuity payment_cents payments_through_cents",
            "deaths": "ANNUITY_PAYMENTS ActiveDeathRefund ActiveDeathRefundGiven PensionerDeathBenefit "
            "PensionerDeathBenefitGiven active_death_refund pensioner_death_benefit",
            "factors": "Factor FactorTable check_range check_table factor_at format_age monthly_annuity_cents "
            "parse_age",
            "payees": "CHOICES HEIRS Beneficiary ClaimGiven ClaimResult Debt Designation Heir Payee "
            "PersonsDecision shares_of",
            "returns": "ProvisionalYield ProvisionalYieldGiven complete_months provisional_yield",
            "section": "HYBRID_RETURN SECTION SYSTEM",
            "separations": "SeparationBenefit SeparationBenefitGiven separation_benefit",
        },
    )
