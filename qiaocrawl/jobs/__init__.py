"""Spiders as jobs: started, watched, stopped and scheduled, here or on scrapyd servers."""

from __future__ import annotations

JOB_VARIABLE = "SCRAPY_JOB"
"""Environment variable that names a job's token to its process."""
COMMAND_VARIABLE = "QIAOCRAWL_JOB"
"""The same for a command, which is to write down how it ended; what it starts does not have it."""
