"""``scrapy crawl``, with an exit code and a summary that tell how the run ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scrapy.commands import crawl
from scrapy.settings import SETTINGS_PRIORITIES

from qiaocrawl.interrupts import end_on_interrupt
from qiaocrawl.language import _
from qiaocrawl.options.project import note_database
from qiaocrawl.text.visible import JSON, PLAIN_LINE, note_context, use_json_records

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from qiaocrawl.crawl.spider import FrontierSpider
    from qiaocrawl.reading.summary import HeldHost
    from qiaocrawl.storage.topics.changes import FewOnTopic


_COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"]
_LOG_FORMAT = "QIAO_LOG_FORMAT"


class Command(crawl.Command):
    """Scrapy's own command exits with 0 whenever a crawl could start, however it ended."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """As Scrapy does; the last moment before the log begins, with all of -s known."""
        # Until the reactor runs and signals end the crawl in order; nothing is in hand before.
        end_on_interrupt()
        # Long to import: a signal meanwhile ends it as any other.
        from qiaocrawl.crawl.starting import rest_until_opened

        rest_until_opened()
        super().process_options(args, opts)
        assert self.settings is not None
        if _log_format(self.settings) == JSON:
            use_json_records()
            self.settings.set("LOG_FORMAT", PLAIN_LINE, _COMMAND_LINE)
            spider = args[0] if args else ""
            note_context(spider=spider, topic=opts.spargs.get("topic", ""))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the spider; exit code 0 only where it ended well."""
        # Scrapy imports every command to list them; the crawler is for those who crawl.
        from qiaocrawl.crawl.feeds import articles_lost
        from qiaocrawl.crawl.spider import FrontierSpider
        from qiaocrawl.runtime.run_end import end_reason, exit_code

        super().run(args, opts)
        spider_class = self._crawler.spidercls
        is_ours = spider_class.__module__.startswith("qiaocrawl.spiders.")
        if not is_ours and not issubclass(spider_class, FrontierSpider):
            return  # a project's own, whose end only it can judge
        # Scrapy's own code is kept: it says that the crawl could not begin.
        self.exitcode = self.exitcode or exit_code(end_reason(self._crawler.stats.get_stats()))
        lost = articles_lost(self._crawler.stats.get_stats())
        self.exitcode = self.exitcode or int(lost > 0)
        self._print_summary(lost)

    def _create_crawler(self, spidercls: Any) -> Crawler:
        from qiaocrawl.crawl.starting import StoppableCrawler, collect_once_opened

        assert self.crawler_process is not None
        if isinstance(spidercls, str):
            spidercls = self.crawler_process.spider_loader.load(spidercls)
        # Any: what Scrapy makes a crawler of may be one already.
        crawler: Any = StoppableCrawler(spidercls, self.settings, init_reactor=True)
        self._crawler: Crawler = super()._create_crawler(crawler)
        collect_once_opened(self._crawler)
        return self._crawler

    def _print_summary(self, lost: int) -> None:
        """The last thing in a terminal, behind all lines of the log.

        Args:
            lost: how much of the feeds could not be written.
        """
        from rich.table import Table

        from qiaocrawl.crawl.feeds import writes_to_stdout
        from qiaocrawl.crawl.spider import FrontierSpider
        from qiaocrawl.runs.run_summary import few_lines, few_steps, next_steps, summary_lines
        from qiaocrawl.runtime.run_end import end_reason
        from qiaocrawl.text.visible import Terminal

        spider, stats = self._crawler.spider, self._crawler.stats.get_stats()
        if not isinstance(spider, FrontierSpider) or not end_reason(stats):
            return
        title = _("Summary: {spider} {topic}", spider=spider.name, topic=spider.topic)
        table = Table(show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        # A database that failed is not asked again: SQLite would make an empty file in its place.
        is_there = end_reason(stats) != "storage_error"
        held, few = _looked_up(spider) if is_there else ((), None)
        for name, words in summary_lines(spider.name, spider.topic, stats, held):
            table.add_row(name, words)
        if lost:
            table.add_row(
                _("feed files"),
                _(
                    "{lost:,} articles or more are not in them; they are "
                    "stored, and `qiaocrawl export` writes them",
                    lost=lost,
                ),
            )
        # Behind a feed on standard output stands nothing that is not of the feed.
        is_feed = writes_to_stdout(self._crawler)
        console = Terminal(highlight=False, markup=False, stderr=is_feed)
        # A title of the table would be broken where the table is narrow.
        console.print(title, style="bold")
        console.print(table)
        for line in few_lines(few) if few is not None else ():
            console.print(line)
        console.print(_("next:"))
        settings = self._crawler.settings
        is_given = (settings.getpriority("QIAO_DATABASE_URL") or 0) >= _COMMAND_LINE
        note_database(settings["QIAO_DATABASE_URL"] if is_given else "")
        steps = list(next_steps(spider.name, spider.topic, stats, held))
        for step in [*(few_steps(few) if few is not None else ()), *steps]:
            # Whole, so that it can be copied.
            console.print(f"  {step}", soft_wrap=True)


def _looked_up(spider: FrontierSpider) -> tuple[Sequence[HeldHost], FewOnTopic | None]:
    """What the run's own figures do not tell: hosts that give nothing, and why few is on topic.

    Nothing where the database cannot be asked any more: how the run ended has been said, and a
    database that failed is part of it.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from qiaocrawl.errors import QiaoError
    from qiaocrawl.reading.summary import held_hosts
    from qiaocrawl.storage import Database
    from qiaocrawl.storage.topics.changes import few_on_topic

    url = spider.runtime.options["QIAO_DATABASE_URL"]
    try:
        with Database.open(url) as database, database.reading() as c:
            held = held_hosts(c, spider.topic)
            return held, None if spider.name == "search" else few_on_topic(c, spider.topic)
    except (QiaoError, SQLAlchemyError):
        return (), None


def _log_format(settings: BaseSettings) -> str:
    """As all options are read, which happens later: the command line, the environment, the file."""
    in_file = str(settings.get(_LOG_FORMAT) or "")
    if (settings.getpriority(_LOG_FORMAT) or 0) >= _COMMAND_LINE:
        return in_file
    return os.environ.get(_LOG_FORMAT, "").strip() or in_file
