"""The guard of the ledger: the witness of its stream, and the nightly audit."""

import retiro  # noqa: F401  # before any library, so that the garbage collector waits while a function starts
