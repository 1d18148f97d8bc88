"""Search engines and what their answers are called."""
