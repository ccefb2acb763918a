"""What every clause of the section cites."""

SECTION = "3 L.P.R.A. § 786-7"
