"""``scrapy crawl``, with an exit code and a summary that tell how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import crawl

from qiaocrawl.crawl.spider import FrontierSpider
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
        self._print_summary()

    def _create_crawler(self, spidercls: Any) -> Crawler:
        self._crawler: Crawler = super()._create_crawler(spidercls)
        return self._crawler

    def _print_summary(self) -> None:
        """The last thing in a terminal, behind all lines of the log."""
        from rich.console import Console
        from rich.table import Table

        from qiaocrawl.runs.run_summary import next_steps, summary_lines

        spider, stats = self._crawler.spider, self._crawler.stats.get_stats()
        if not isinstance(spider, FrontierSpider) or not end_reason(stats):
            return
        title = f"采集小结 Summary: {spider.name} {spider.topic}"
        table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, words in summary_lines(spider.name, spider.topic, stats):
            table.add_row(name, words)
        console = Console(highlight=False, markup=False)
        console.print(table)
        console.print("下一步 next:")
        for step in next_steps(spider.name, spider.topic, stats):
            # Whole, so that it can be copied.
            console.print(f"  {step}", soft_wrap=True)
