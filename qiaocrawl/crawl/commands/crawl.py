"""``scrapy crawl``, with an exit code that tells how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import crawl

from qiaocrawl.runtime.run_end import end_reason, exit_code

if TYPE_CHECKING:
    import argparse

    from scrapy.crawler import Crawler


class Command(crawl.Command):
    """Scrapy's own command exits with 0 whenever a crawl could start, however it ended."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the spider; exit code 0 only where it ended well."""
        super().run(args, opts)
        # Scrapy's own code is kept: it says that the crawl could not begin.
        self.exitcode = self.exitcode or exit_code(end_reason(self._crawler.stats.get_stats()))

    def _create_crawler(self, spidercls: Any) -> Crawler:
        self._crawler: Crawler = super()._create_crawler(spidercls)
        return self._crawler
