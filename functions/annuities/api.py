"""The doors of annuities, separation refunds, and the annuity payrolls, on one portal."""

from annuities.portal import portal
from annuities.world import world

__all__ = ["handler", "portal", "world"]

handler = portal.handler
