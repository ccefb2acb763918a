"""What the Board of the demonstration resolves. The Treasury's series is real; the portfolio's return is made up."""

import hashlib
from typing import Any

from cli.board import TREASURY_FILE, treasury_months, treasury_resolution
from cli.demo.population import FUND, SEMESTER
from retiro.rules.settings import SETTINGS

IN_FORCE_FROM = "2024-07-01"
SECTION = "§ 786-7"

PLANS_FROM = "2008-08-09"
"""The day on which Act 216-2008 took effect."""

PLANS_SECTION = "§ 830q"


def settings() -> list[dict[str, Any]]:
    """Each choice that § 786-7 leaves, adopted by its name at the value that the readings give."""
    return [
        _resolved(f"DEMO-{name}", "2024-06-28", IN_FORCE_FROM)
        | {"kind": "setting", "name": name, "value": setting.default, "in_force_from": IN_FORCE_FROM}
        for name, setting in SETTINGS.items()
        if SECTION in setting.citation
    ]


def plan_settings() -> list[dict[str, Any]]:
    """The same for what § 830q leaves."""
    return [
        _resolved(f"DEMO-{name}", "2008-08-01", "2008-08-01")
        | {"kind": "setting", "name": name, "value": setting.default, "in_force_from": PLANS_FROM}
        for name, setting in SETTINGS.items()
        if PLANS_SECTION in setting.citation
    ]


def treasury_yields() -> dict[str, Any]:
    """The Treasury's monthly averages, as they ship with the project and as `retiro board load-treasury` sends them."""
    months = treasury_months(TREASURY_FILE.read_text("utf-8"))
    return treasury_resolution(FUND, _act("DEMO-treasury", "2025-11-04"), "2025-11-04", months)


def portfolio_return() -> dict[str, Any]:
    """The semester's return of the system portfolio: the last figure that its yields wait for."""
    return _resolved("DEMO-portfolio", "2025-07-08", "2025-07-08") | {
        "kind": "portfolio_return",
        "semester": str(SEMESTER),
        "return_percent": "3.50",
        "management_fees_percent": "0.40",
    }


def _resolved(number: str, day: str, vintage: str) -> dict[str, Any]:
    return {
        "fund": FUND,
        "act": _act(number, day),
        "source": "made up for the demonstration",
        "vintage": vintage,
    }


def _act(number: str, day: str) -> dict[str, Any]:
    return {
        "kind": "resolution",
        "body": "Junta de Retiro (demostración)",
        "number": number,
        "date": day,
        "document_sha256": hashlib.sha256(number.encode()).hexdigest(),
    }
