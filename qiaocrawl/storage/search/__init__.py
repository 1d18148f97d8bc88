"""Search in the tables: the coverage ledger and the budgets of engines."""
