"""Checks the options before anything starts, and applies QIAO_REPLAY, QIAO_DEMO, QIAO_RENDER."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

# First: each name it has for an old class looks through all modules that are there by then.
import scrapy.core.downloader.contextfactory  # noqa: F401
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from qiaocrawl import settings as own_settings
from qiaocrawl.crawl.browser.guard import BrowserGuard, require_playwright
from qiaocrawl.crawl.context import options_from_settings
from qiaocrawl.crawl.scrapy_settings import honour, say_what_does_not_act
from qiaocrawl.errors import ConfigError, SecretKeyError
from qiaocrawl.fetch.addresses import Allowance
from qiaocrawl.language import _
from qiaocrawl.options import DEFAULTS, PREFIX, Options

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

_DEMO_PAUSE_SECONDS = 1.0
_COMPONENTS = (
    "ITEM_PIPELINES",
    "DOWNLOADER_MIDDLEWARES",
    "SPIDER_MIDDLEWARES",
    "EXTENSIONS",
    "DOWNLOAD_HANDLERS",
    "FEED_EXPORTERS",
)
# What serves any spider and needs no database: only the web, and no list of suffixes from it.
# The guard over addresses is a setting of its own (TWISTED_DNS_RESOLVER).
_FOR_ALL = (
    "file",
    "ftp",
    "data",
    "s3",
    "qiaocrawl.middlewares.cookies.OfflineCookiesMiddleware",
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware",
)
_SESSIONS = "qiaocrawl.middlewares.session.SessionMiddleware"
_REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"
_COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"]


class QiaoAddon:
    """Scrapy add-on; runs before any crawler exists, so that a wrong option costs nothing."""

    def __init__(self, spider_class: type[Spider]) -> None:
        self._spider_class = spider_class

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler.spidercls)

    def update_settings(self, settings: BaseSettings) -> None:
        """Leave a spider without leases to Scrapy's own parts.

        One that names its own scheduler has chosen its parts: a login, a single page.
        """
        from qiaocrawl.crawl.spider import FrontierSpider

        is_usual = settings["SCHEDULER"] == own_settings.SCHEDULER
        if is_usual and not issubclass(self._spider_class, FrontierSpider):
            leave_to_scrapy(settings)
        elif is_usual:
            try:
                honour(settings)  # what the spider itself sets
            except ConfigError as error:
                sys.exit(f"qiaocrawl: {error}")
            say_what_does_not_act(settings)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Stop with exit code 1 and one clear line when an option is wrong."""
        try:
            honour(settings)
            options = options_from_settings(settings)
            # Read here only for their errors: a wrong one must end the command, not a
            # crawl under way.
            Allowance.parse(options["QIAO_ALLOW_ADDRESSES"])
            _check_sessions(options)
            if options["QIAO_RENDER"] != "off":
                require_playwright("QIAO_RENDER")
            keep_own_components(settings)
        except (ConfigError, SecretKeyError) as error:
            # sys.exit with a text prints it and ends with 1; an exception would
            # bring Scrapy's traceback.
            sys.exit(f"qiaocrawl: {error}")
        _apply(options, settings)


def _check_sessions(options: Options) -> None:
    if options["QIAO_SESSIONS"]:
        from qiaocrawl.crawl.login.sessions import chosen_recipes

        chosen_recipes(options)


def keep_own_components(settings: BaseSettings) -> None:
    """Put back what a project's own settings took out by assigning a whole dictionary anew.

    ``ITEM_PIPELINES = {"mine.Pipeline": 700}`` over ``from qiaocrawl.settings import *`` would
    leave a crawl that fetches and stores nothing.

    Raises:
        ConfigError: a pipeline of ours is switched off; the others need it.
    """
    for name in _COMPONENTS:
        if (settings.getpriority(name) or 0) >= _COMMAND_LINE:
            continue  # for one run, by somebody who says so
        ours: dict[str, Any] = getattr(own_settings, name)
        given = settings.getdict(name)
        # A class may stand for its path.
        paths = {
            key if isinstance(key, str) else f"{key.__module__}.{key.__qualname__}": value
            for key, value in given.items()
        }
        if name == "ITEM_PIPELINES":
            off = next((path for path in ours if paths.get(path, 0) is None), None)
            if off is not None:
                raise ConfigError(
                    _("ITEM_PIPELINES: {off} cannot be switched off: others need it", off=off)
                )
        missing = {path: value for path, value in ours.items() if path not in paths}
        if missing:
            priority = settings.getpriority(name) or SETTINGS_PRIORITIES["project"]
            settings.set(name, {**given, **missing}, priority)


def leave_to_scrapy(settings: BaseSettings) -> None:
    """Put Scrapy's own scheduler and parts in place of ours, which need leases.

    Who we are, politeness, limits and the guard over addresses stay; what a project or a spider
    has set itself does too.
    """
    for name in _COMPONENTS:
        ours: dict[str, Any] = getattr(own_settings, name)
        rest = {
            key: value
            for key, value in settings.getdict(name).items()
            if key in _FOR_ALL or key not in ours or value != ours[key]
        }
        _replace(settings, name, rest)
    _replace(settings, "SCHEDULER", default_settings.SCHEDULER)


def _replace(settings: BaseSettings, name: str, value: object) -> None:
    # Scrapy adds to a dictionary that is there; the name has to be free.
    priority = settings.getpriority(name) or SETTINGS_PRIORITIES["project"]
    settings.delete(name, priority)
    settings.set(name, value, priority)


def _is_explicit(name: str, settings: BaseSettings) -> bool:
    """Whether somebody set *name* by hand: anywhere for our options, else not as we ship it."""
    if (settings.getpriority(name) or 0) >= _COMMAND_LINE:
        return True
    if name.startswith(PREFIX):
        return name in os.environ or name in settings
    shipped = getattr(own_settings, name, getattr(default_settings, name))
    return bool(settings[name] != shipped)


def _leave_out_remote_control(settings: BaseSettings) -> None:
    # It runs code for whoever connects: off in any case. Scrapy would load it even then, and where
    # EXTENSIONS says None as well, with a server for HTTP: 0.3 s.
    base = settings.getdict("EXTENSIONS_BASE")
    if base.pop(_REMOTE_CONTROL, None) is not None:
        _replace(settings, "EXTENSIONS_BASE", base)


def _apply(options: Options, settings: BaseSettings) -> None:
    _leave_out_remote_control(settings)
    if options["QIAO_REPLAY"]:
        # A recorded web needs no politeness, and is finite: no limit has to bound it.
        lifted = {
            "DOWNLOAD_DELAY": 0,
            "AUTOTHROTTLE_ENABLED": False,
            "CLOSESPIDER_PAGECOUNT": 0,
            "QIAO_MAX_DEPTH": 0,
            "QIAO_MAX_PAGES": 0,
            "QIAO_MAX_PAGES_PER_HOST": 0,
            "QIAO_MAX_LINKS_PER_PAGE": 10_000,
            "QIAO_TRAPS": False,
            "QIAO_SOFT_404_PROBE": False,
        }
        # A limit that somebody set holds, wherever it was set.
        asked = {name for name in lifted if _is_explicit(name, settings)}
        settings.setdict({name: lifted[name] for name in lifted.keys() - asked}, priority="cmdline")
    if sys.stderr is not None and sys.stderr.isatty() and not settings.get("LOG_FILE"):
        # In a terminal the summary is enough; the run's record and a log have all numbers.
        settings.set("STATS_DUMP", False, priority="addon")
    if not options["QIAO_SESSIONS"]:
        # Not even named, or Scrapy imports it: recipes and logins are a tenth of a crawl's start.
        middlewares = settings.getdict("DOWNLOADER_MIDDLEWARES")
        middlewares.pop(_SESSIONS, None)
        _replace(settings, "DOWNLOADER_MIDDLEWARES", middlewares)
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
