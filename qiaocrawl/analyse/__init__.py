"""What new articles mean together, brought up to date over a database."""
