"""``scrapy crawl``, with an exit code that tells how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import crawl

if TYPE_CHECKING:
    import argparse

    from scrapy.crawler import Crawler


class Command(crawl.Command):
    """Scrapy's own says 0 whatever became of a crawl that could begin."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the spider; exit code 0 only where it ended well."""
        # Scrapy imports every command to list them; the crawler is for those who crawl.
        from qiaocrawl.runtime.run_end import end_reason, exit_code

        super().run(args, opts)
        self.exitcode = self.exitcode or exit_code(end_reason(self._crawler.stats.get_stats()))

    def _create_crawler(self, spidercls: Any) -> Crawler:
        self._crawler: Crawler = super()._create_crawler(spidercls)
        return self._crawler
