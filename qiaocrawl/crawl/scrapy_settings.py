"""Settings of Scrapy in a crawl over the frontier: which act, and what stands in for the others.

A setting that Scrapy's own parts would read, and that our part in their place does not, is either
turned into the option that does the same, or its name is logged with what does it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options import PREFIX, given_in_environment

if TYPE_CHECKING:
    from typing import Any

logger = logging.getLogger(__name__)

# Between a settings file and the spider's own, as options are read.
_ENVIRONMENT = SETTINGS_PRIORITIES["project"] + 1
# What says nothing: Scrapy's own values, and our word that it is off.
_NOT_SET = {**vars(default_settings), "REMOTE_CONTROL_ENABLED": False}
_LONGEST_URL = 4096
_MOST_TRIES = 20


def _number(settings: BaseSettings, name: str) -> int:
    value = settings.getint(name)
    if value < 0:
        raise ValueError(name)
    return value


def _tries(settings: BaseSettings, name: str) -> int:
    # Scrapy counts the tries after the first one.
    return min(_number(settings, name) + 1, _MOST_TRIES)


def _one_try(settings: BaseSettings, name: str) -> int | None:
    return None if settings.getbool(name) else 1


def _url_chars(settings: BaseSettings, name: str) -> int:
    return min(_number(settings, name), _LONGEST_URL)


@dataclass(frozen=True, slots=True)
class Honoured:
    """A setting whose value the option gets; ``value`` gives None where it asks for nothing."""

    option: str
    value: Callable[[BaseSettings, str], int | None]


# The later of two for one option wins: no tries at all, before their number.
HONOURED: Mapping[str, Honoured] = {
    "DEPTH_LIMIT": Honoured("QIAO_MAX_DEPTH", _number),
    "URLLENGTH_LIMIT": Honoured("QIAO_MAX_URL_CHARS", _url_chars),
    "RETRY_TIMES": Honoured("QIAO_FRONTIER_MAX_FAILURES", _tries),
    "RETRY_ENABLED": Honoured("QIAO_FRONTIER_MAX_FAILURES", _one_try),
}

_RETRIES = (
    "which failures are tried again is fixed (docs/running.md); how often, "
    "QIAO_FRONTIER_MAX_FAILURES; after which pause, QIAO_FRONTIER_RETRY_SECONDS"
)
_FRONTIER = "the frontier is a table of the database (QIAO_DATABASE_URL); the same command goes on"
_STATUS = "every status code is an outcome of its URL (docs/running.md)"
_REFRESH = "a meta refresh is followed as a link of its page, within QIAO_MAX_DEPTH"
_REDIRECTS = (
    "a page's redirect is a URL of the frontier, followed once and within the crawl's "
    "sites; only robots.txt is redirected by Scrapy"
)
_NO_REFERER = "no Referer is sent: requests come from the frontier, not out of pages"
_ONLY_HTTP = "pages are fetched over HTTP/1.1 alone, by a handler that checks every address"

REPLACED: Mapping[str, str] = {
    "CONCURRENT_REQUESTS_PER_IP": "CONCURRENT_REQUESTS_PER_DOMAIN acts",
    "DEFAULT_DROPITEM_LOG_LEVEL": "what is dropped is a line at INFO (LOG_FORMATTER)",
    "DEPTH_PRIORITY": "the crawl order is -a strategy=NAME or QIAO_STRATEGY",
    "DEPTH_STATS_VERBOSE": "the depth of each URL stands in the table url",
    "DNSCACHE_*": "addresses are kept by the guard that checks them; DNS_TIMEOUT acts",
    "DNS_RESOLVER": "TWISTED_DNS_RESOLVER is the guard over addresses",
    "DUPEFILTER_*": "a URL is in the frontier once; QIAO_REVISIT_HOURS says when it is due again",
    "FTP_*": _ONLY_HTTP,
    "HTTP2_MAX_FRAME_SIZE": _ONLY_HTTP,
    "HTTPX_*": _ONLY_HTTP,
    "HTTPERROR_*": _STATUS,
    "JOBDIR": _FRONTIER,
    "METAREFRESH_*": _REFRESH,
    "REDIRECT_*": _REDIRECTS,
    "REFERER_ENABLED": _NO_REFERER,
    "REFERRER_POLICIES": _NO_REFERER,
    "REMOTE_CONTROL_*": "it runs code for whoever connects, and is off in any case",
    "RETRY_*": _RETRIES,
    "SCHEDULER_*": _FRONTIER,
}
"""What is set in vain, by name or beginning, and why or what to set instead."""

ACTING: tuple[str, ...] = (
    "ADDONS", "ASYNCIO_EVENT_LOOP", "AUTOTHROTTLE_*", "AWS_*", "BOT_NAME", "CLOSESPIDER_*",
    "COMMANDS_MODULE", "COMPRESSION_ENABLED", "CONCURRENT_ITEMS", "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN", "COOKIES_*", "CRAWLSPIDER_FOLLOW_LINKS", "DEFAULT_ITEM_CLASS",
    "DEFAULT_REQUEST_HEADERS", "DNS_TIMEOUT", "DOWNLOADER", "DOWNLOADER_*", "DOWNLOAD_*", "EDITOR",
    "EXTENSIONS", "EXTENSIONS_BASE", "FEEDS", "FEED_*", "FILES_STORE*", "FORCE_CRAWLER_PROCESS",
    "GCS_PROJECT_ID", "HTTPAUTH_*", "HTTPCACHE_*", "HTTPPROXY_*", "IMAGES_STORE*",
    "ITEM_PIPELINES", "ITEM_PIPELINES_BASE", "ITEM_PROCESSOR", "LOGSTATS_INTERVAL", "LOG_*",
    "MAIL_*", "MEMDEBUG_ENABLED", "MEMUSAGE_*", "NEWSPIDER_MODULE", "PERIODIC_LOG_*",
    "RANDOMIZE_DOWNLOAD_DELAY", "REACTOR_THREADPOOL_MAXSIZE", "REFERRER_POLICY",
    "REQUEST_FINGERPRINTER_CLASS", "ROBOTSTXT_*", "SCHEDULER", "SCRAPER_SLOT_MAX_ACTIVE_SIZE",
    "SPIDER_CONTRACTS", "SPIDER_CONTRACTS_BASE", "SPIDER_LOADER_*", "SPIDER_MIDDLEWARES",
    "SPIDER_MIDDLEWARES_BASE", "SPIDER_MODULES", "STATSMAILER_RCPTS", "STATS_*", "TELNETCONSOLE_*",
    "TEMPLATES_DIR", "TWISTED_*", "USER_AGENT", "WARN_ON_GENERATOR_RETURN_VALUE",
)  # fmt: skip
"""What acts as Scrapy says. ``tests/crawl/test_scrapy_settings.py`` has a new one decided on."""


def replacement_of(name: str) -> str:
    """What is said of a setting that does not act; "" for one that does or is turned."""
    if name in HONOURED:
        return ""
    return next((why for form, why in REPLACED.items() if fnmatchcase(name, form)), "")


def is_set(settings: BaseSettings, name: str) -> bool:
    """Whether somebody gave *name* another value than Scrapy's own."""
    # First: to look at one that is deprecated warns.
    if not settings.getpriority(name):
        return False
    value = settings.get(name)
    return value is not None and str(value) != str(_NOT_SET.get(name))


def honour(settings: BaseSettings) -> None:
    """Give the options of ours what :data:`HONOURED` settings ask for.

    Of a setting and its option the one that was given nearer to the run wins: the command line,
    then the spider, the environment, the settings file.

    Raises:
        ConfigError: a value is no number.
    """
    turned: dict[str, tuple[int, int]] = {}
    for name, one in HONOURED.items():
        if not _is_given(settings, name):
            continue
        try:
            value = one.value(settings, name)
        except ValueError:
            raise ConfigError(
                _(
                    "{name} must be a whole number from 0, or True or False where it is a switch; "
                    "got {value!r}",
                    name=name,
                    value=settings[name],
                )
            ) from None
        priority = settings.getpriority(name) or 0
        if value is not None and priority > _priority(settings, one.option):
            turned[one.option] = (value, priority)
    for option, (value, priority) in turned.items():
        settings.set(option, value, priority)


def _is_given(settings: BaseSettings, name: str) -> bool:
    # On the command line Scrapy's own value is a wish too: DEPTH_LIMIT=0.
    by_hand = (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["spider"]
    return by_hand or is_set(settings, name)


def _priority(settings: BaseSettings, option: str) -> int:
    """How near to the run *option* was given; -1 where it was not."""
    in_file = settings.getpriority(option) if option in settings else None
    in_environment = _ENVIRONMENT if option in os.environ else -1
    return max(-1 if in_file is None else in_file, in_environment)


def say_what_does_not_act(settings: BaseSettings) -> None:
    """Log every setting that somebody set in vain, with what does it instead."""
    for line in in_vain(settings):
        logger.warning("%s", line)
    # The environment is meant to win, so this is no warning.
    for name, value in given_in_environment().items():
        if _differs(settings, name, value):
            logger.info("%s of the settings file gives way to the environment or .env", name)


def in_vain(settings: BaseSettings) -> Iterator[str]:
    """A line for every setting that was set and does not act."""
    for name in sorted(str(name) for name in settings):
        if name.startswith(PREFIX) or not is_set(settings, name):
            continue
        if why := replacement_of(name):
            yield f"{name} has no effect in this crawl: {why}"
        elif (one := HONOURED.get(name)) and _gives_way(settings, name, one):
            yield f"{name} gives way to {one.option}, which is set too"


def _gives_way(settings: BaseSettings, name: str, one: Honoured) -> bool:
    wanted = one.value(settings, name)
    used: Any = os.environ.get(one.option, settings.get(one.option))
    if (settings.getpriority(one.option) or 0) > _ENVIRONMENT:
        used = settings.get(one.option)
    return wanted is not None and str(wanted) != str(used)


def _differs(settings: BaseSettings, name: str, value: str) -> bool:
    priority = settings.getpriority(name) if name in settings else None
    is_in_file = priority is not None and priority < _ENVIRONMENT
    return is_in_file and str(settings[name]) != value
