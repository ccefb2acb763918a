"""The one portal of this domain, and which module has the doors behind the first word of a path."""

from retiro.portal import Portal

_CONTRACTS = "annuities.contract_doors"
_PAYROLLS = "annuities.payroll_doors"

portal = Portal(
    "annuities",
    doors={"annuities": _CONTRACTS, "separation-refunds": _CONTRACTS, "annuity-payrolls": _PAYROLLS},
)
