"""`retiro rebuild`: accounts of System 2000 posted again from their history, offline and to a stack's ledger.

| module | what it does |
| --- | --- |
| `tables` | the exact reading of a CSV file: every fault by file, line and column |
| `figures` | yields.csv and settings.csv: what each semester yields, and by which settings |
| `history` | participants.csv, transfers.csv, selections.csv |
| `contributions` | contributions.csv, the large one, a block at a time |
| `credits` | each participant's credits by month, in exact cents |
| `accounts` | every semester in order, by the functions of `retiro.rules.savings_accounts` |
| `movements` | the contributions one by one, where they go to a ledger |
| `entries` | what a participant's history writes into the passbook, entry by entry |
| `evidence` | what those lines rest on: the history's hash, each semester's figures and settings |
| `approval` | the two persons: who prepares a history, who approves it |
| `posting` | the run: many lines a transaction, resumed where it stopped |
| `readback` | statements as the ledger has them, of its lines alone |
| `writing` | statements.csv and exceptions.csv, both or neither |
| `sample` | a made-up history, always the same for a seed |
| `command` | `retiro rebuild DIR` and `retiro rebuild sample DIR` |
"""
