"""What every clause of the section cites."""

SECTION = "4 L.P.R.A. § 242b"
SYSTEM = "JRS"
