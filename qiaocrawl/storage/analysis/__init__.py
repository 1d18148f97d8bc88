"""What the analysis reads from the tables, and what it keeps in them."""
