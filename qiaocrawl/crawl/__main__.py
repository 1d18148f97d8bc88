"""``python -m qiaocrawl.crawl``: Scrapy's command, which Ctrl-C ends without a word at its start.

Scrapy obeys signals in order from the moment its reactor runs.
"""

from __future__ import annotations

from qiaocrawl.interrupts import end_on_interrupt


def _main() -> None:
    end_on_interrupt()
    from scrapy.cmdline import execute

    execute()


if __name__ == "__main__":
    _main()
