"""The budget ledger: accounts, what they were charged, in an append-only chain of records."""
