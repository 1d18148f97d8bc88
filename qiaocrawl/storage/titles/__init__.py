"""Titles in the tables: the log, verdicts, reprint groups and term weights."""
