"""The one portal of this domain, which its modules of doors declare their routes on."""

from retiro.portal import Portal

portal = Portal("payroll_deductions")
