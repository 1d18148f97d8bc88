"""Topics in the tables, and what operators said of pages."""
