"""What the Board has adopted in the simulation: the Treasury's months, two returns of the portfolio, the settings."""

import json
from typing import Any

# Federal Reserve H.15, monthly averages, July 2024 to June 2025: 24.55 and 24.04 in sum.
_MONTHS = {"FY2025-S1": [f"2024-{month:02d}" for month in range(7, 13)]} | {
    "FY2025-S2": [f"2025-{month:02d}" for month in range(1, 7)]
}
_PERCENTS = {
    "FY2025-S1": ["4.50", "3.97", "3.62", "3.97", "4.26", "4.23"],
    "FY2025-S2": ["4.27", "4.21", "3.97", "3.78", "3.92", "3.89"],
}
TREASURY = {semester: dict(zip(months, _PERCENTS[semester], strict=True)) for semester, months in _MONTHS.items()}
PORTFOLIO = {
    "FY2025-S1": {"return_percent": "3.50", "management_fees_percent": "0.40"},
    "FY2025-S2": {"return_percent": "-1.25", "management_fees_percent": "0.40"},
}
SETTINGS = {
    "average_balance_method": "month_end",
    "cmt_semester_conversion": "half",
    "portfolio_fee_treatment": "fees_before_share",
    "no_selection": "hold",
    "negative_yield": "post",
}
ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2025-07",
    "date": "2024-07-01",
    "document_sha256": "ab" * 32,
}


def _resolution(kind: str, **content: Any) -> str:
    common = {"fund": "ERS", "act": ACT, "source": "H.15", "vintage": "2025-07-01", "kind": kind}
    return json.dumps(common | content)


RESOLUTIONS = [
    *(_resolution("setting", name=name, value=value, in_force_from="2000-01-01") for name, value in SETTINGS.items()),
    *(_resolution("treasury_yields", months=months) for months in TREASURY.values()),
    *(_resolution("portfolio_return", semester=semester, **figures) for semester, figures in PORTFOLIO.items()),
]


def option_yields(semester: str) -> dict[str, Any]:
    """The figures of a semester, as the rules take them."""
    return {
        "fixed_income": {"monthly_percent": list(TREASURY[semester].values())},
        "system_portfolio": PORTFOLIO[semester],
    }
