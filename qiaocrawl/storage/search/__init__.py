"""Tables of search: the coverage ledger and the budgets of engines."""
