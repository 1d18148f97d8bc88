"""When to look at a page again: change rates, intervals, budgets (T10, E1). Pure decisions."""
