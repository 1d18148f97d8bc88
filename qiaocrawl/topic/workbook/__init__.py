"""Workbooks as offices make them: understood, asked about or marked, never silently dropped."""
