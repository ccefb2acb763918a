"""The one portal of this domain, and which module has the doors behind the first word of a path."""

from retiro.portal import Portal

_AGEING = "payroll_deductions.ageing_doors"
_REMITTANCES = "payroll_deductions.remittance_doors"
_PLANS = "payroll_deductions.plan_doors"
_ORDERS = "payroll_deductions.order_doors"

portal = Portal(
    "payroll_deductions",
    doors={
        "payroll-remittances": _REMITTANCES,
        "remittance-ageing": _AGEING,
        "payment-plans": _PLANS,
        "pension-facts": _PLANS,
        "disclosures": _PLANS,
        "deduction-order-runs": _ORDERS,
        "deduction-orders": _ORDERS,
    },
)
