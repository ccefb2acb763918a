"""The layer under all functions: the rules, the ledger, the registry, the runs, and what all doors share."""

import gc

gc.set_threshold(500_000, 20, 20)
# More objects than a start makes, and hardly any of them is garbage: at Python's threshold of 700 the collector walks
# through all of botocore and pydantic again and again, a tenth of a start. Later it comes more rarely.
