"""Reports from the tables: summaries, histories of URLs, runs, alarms."""

from __future__ import annotations
