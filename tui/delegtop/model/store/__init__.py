"""Facts in columns: the ledger and what it is made of."""
