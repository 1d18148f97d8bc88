"""Jobs of the console and their schedules, as tables."""
