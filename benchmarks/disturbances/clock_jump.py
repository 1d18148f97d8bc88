"""Runs a Scrapy command whose clock is set forward or back while it runs.

``python benchmarks/disturbances/clock_jump.py AFTER OFFSET crawl site -a …``: after AFTER seconds
the time of
day is wrong by OFFSET seconds, as when somebody sets the clock, or two machines disagree.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parents[2])]


def jump(after_seconds: float, offset_seconds: float) -> None:
    """Let ``time.time`` be wrong by *offset_seconds* once *after_seconds* have passed."""
    true_time, began = time.time, time.monotonic()

    def wrong_time() -> float:
        passed = time.monotonic() - began
        return true_time() + (offset_seconds if passed >= after_seconds else 0.0)

    time.time = wrong_time


def main() -> None:
    """Set the clock, then hand over to Scrapy."""
    after, offset, *command = sys.argv[1:]
    # Before all else is imported: `from time import time` would keep the true one.
    jump(float(after), float(offset))
    from scrapy.cmdline import execute

    execute(["scrapy", *command])


if __name__ == "__main__":
    main()
