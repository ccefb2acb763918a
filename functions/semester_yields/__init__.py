"""3 L.P.R.A. § 786-7(a)(3): each semester's yield, prepared, approved, posted, and reversed where it was wrong."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
