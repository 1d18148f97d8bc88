"""Checks the options before anything starts, and applies QIAO_REPLAY, QIAO_DEMO, QIAO_RENDER."""

from __future__ import annotations

import sys

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from qiaocrawl.crawl.browser.browser import BrowserGuard
from qiaocrawl.crawl.login.sessions import chosen_recipes
from qiaocrawl.crawl.wiring import options_from_settings
from qiaocrawl.errors import ConfigError, SecretKeyError
from qiaocrawl.fetch.addresses import Allowance
from qiaocrawl.options import DEFAULTS, Options

_DEMO_PAUSE_SECONDS = 1.0
_COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"]


class QiaoAddon:
    """Scrapy add-on; runs before any crawler exists, so that a wrong option costs nothing."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Stop with exit code 1 and one clear line when an option is wrong."""
        try:
            options = options_from_settings(settings)
            # Read here only for their errors: a wrong one must end the command, not a
            # crawl under way.
            Allowance.parse(options["QIAO_ALLOW_ADDRESSES"])
            chosen_recipes(options)
        except (ConfigError, SecretKeyError) as error:
            # sys.exit with a text prints it and ends with 1; an exception would
            # bring Scrapy's traceback.
            sys.exit(f"qiaocrawl: {error}")
        _apply(options, settings)


def _apply(options: Options, settings: BaseSettings) -> None:
    if options["QIAO_REPLAY"]:
        # A recorded web needs no politeness, and is finite: no limit has to bound it.
        lifted = {
            "DOWNLOAD_DELAY": 0,
            "AUTOTHROTTLE_ENABLED": False,
            "DEPTH_LIMIT": 0,
            "CLOSESPIDER_PAGECOUNT": 0,
            "QIAO_MAX_DEPTH": 0,
            "QIAO_MAX_PAGES": 0,
            "QIAO_MAX_PAGES_PER_HOST": 0,
            "QIAO_MAX_LINKS_PER_PAGE": 10_000,
            "QIAO_TRAPS": False,
            "QIAO_SOFT_404_PROBE": False,
        }
        # Options given on the command line win.
        asked = {name for name in lifted if (settings.getpriority(name) or 0) >= _COMMAND_LINE}
        settings.setdict({name: lifted[name] for name in lifted.keys() - asked}, priority="cmdline")
    if sys.stderr is not None and sys.stderr.isatty() and not settings.get("LOG_FILE"):
        # In a terminal the summary is enough; the run's record and a log have all numbers.
        settings.set("STATS_DUMP", False, priority="addon")
    if options["QIAO_DEMO"]:
        # The demo web needs no delay; Crawl-delay in its robots.txt is kept all the same.
        settings.set("DOWNLOAD_DELAY", 0, priority="cmdline")
        # Only where the operator set no pause: a demo blocks on purpose, and nobody wants to
        # wait for it.
        if options["QIAO_BLOCK_PAUSE_SECONDS"] == DEFAULTS["QIAO_BLOCK_PAUSE_SECONDS"]:
            settings.set("QIAO_BLOCK_PAUSE_SECONDS", _DEMO_PAUSE_SECONDS, priority="cmdline")
    if options["QIAO_RENDER"] != "off":
        launch = {
            **settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS"),
            "executable_path": options["QIAO_CHROMIUM"],
        }
        # "project": an operator's own -s PLAYWRIGHT_… still wins.
        settings.set("PLAYWRIGHT_LAUNCH_OPTIONS", launch, priority="project")
        guard = BrowserGuard(Allowance.parse(options["QIAO_ALLOW_ADDRESSES"]))
        settings.set("PLAYWRIGHT_ABORT_REQUEST", guard.should_abort, priority="project")
