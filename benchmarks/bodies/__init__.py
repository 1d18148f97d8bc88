"""Of `extraction`: the metric and the peers."""
