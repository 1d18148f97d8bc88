"""Link graphs and the rank that flows through them."""
