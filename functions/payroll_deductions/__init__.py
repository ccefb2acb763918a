"""3 L.P.R.A. § 830q: payment plans, deduction orders, and what employers remit."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
