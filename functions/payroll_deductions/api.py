"""The doors of payroll deductions: remittances, plans, and deduction orders, on one portal."""

from payroll_deductions.portal import portal

__all__ = ["handler", "portal", "world"]

handler = portal.handler


def world() -> tuple[object, ...]:
    """What the doors work with, each built when its first request comes."""
    from payroll_deductions import ageing_doors, order_doors, plan_doors, remittance_doors  # noqa: PLC0415  # loaded by whose turn it is

    return ageing_doors.world(), remittance_doors.world(), plan_doors.world(), order_doors.world()
