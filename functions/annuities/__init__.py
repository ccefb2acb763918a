"""4 L.P.R.A. § 242b(a)-(d): annuities issued, paid and corrected, and separation refunds."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
