"""What the Board of the demonstration resolves. The Treasury's series is real; the portfolio's return is made up."""

import hashlib
from collections.abc import Mapping
from typing import Any

from cli.demo.population import FUND, SEMESTER
from retiro.rules.settings import SETTINGS

IN_FORCE_FROM = "2024-07-01"
SECTION = "§ 786-7"


def settings() -> list[dict[str, Any]]:
    """Each choice that § 786-7 leaves, adopted by its name at the value that the readings give."""
    return [
        _resolved(f"DEMO-{name}", "2024-06-28", IN_FORCE_FROM)
        | {"kind": "setting", "name": name, "value": setting.default, "in_force_from": IN_FORCE_FROM}
        for name, setting in SETTINGS.items()
        if SECTION in setting.citation
    ]


def treasury_yields(months: Mapping[str, str]) -> dict[str, Any]:
    """The Treasury's monthly averages, as published."""
    return _resolved("DEMO-treasury", "2025-11-04", "2025-11-04") | {
        "kind": "treasury_yields",
        "source": "Federal Reserve H.15, Two-Year Constant Maturity Treasury, monthly averages (FRED series GS2)",
        "months": dict(months),
    }


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
        "act": {
            "kind": "resolution",
            "body": "Junta de Retiro (demostración)",
            "number": number,
            "date": day,
            "document_sha256": hashlib.sha256(number.encode()).hexdigest(),
        },
        "source": "made up for the demonstration",
        "vintage": vintage,
    }
