"""The Board's resolutions: proposed by one person, adopted by another, read by all."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
