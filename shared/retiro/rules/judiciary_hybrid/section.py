"""What every clause of the section names."""

SECTION = "4 L.P.R.A. § 242b"
SYSTEM = "JRS"

HYBRID_RETURN = "hybrid_return"
"""The one option of a judge's account: the Board's percent for the semester."""
