"""Reports from the tables: summaries, histories of URLs, runs, alarms."""
