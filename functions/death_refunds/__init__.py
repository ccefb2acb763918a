"""4 L.P.R.A. § 242b(e), (f): deaths, from the report to the payees."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
