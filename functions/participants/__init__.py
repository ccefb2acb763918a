"""Participants: enrolled, filed for, and shown what stands in their passbooks."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
