"""The office of deaths, for every test here."""

from tests.death_refunds.judges import judges

__all__ = ["judges"]
