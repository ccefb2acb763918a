"""The ledger: passbooks and evidence, which are only ever inserted into."""
