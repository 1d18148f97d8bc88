"""What the tables say: summaries, histories of URLs, runs, alarms."""
