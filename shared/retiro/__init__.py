"""The layer under all functions: the rules, the ledger, the registry, the runs, and what all doors share."""

import gc

gc.set_threshold(100_000, 20, 20)
# What loads makes objects and hardly any garbage. At Python's threshold of 700 the collector would walk through all of
# botocore and pydantic again and again while a function starts, a tenth of that time. Later it comes more rarely.
