"""One :class:`~qiaocrawl.runtime.Runtime` per crawler, and options out of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from qiaocrawl.options import PREFIX, Options, given_in_environment
from qiaocrawl.runtime.runtime import Runtime

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

frontier_closing = object()
"""Sent when all fetches of a run are over, while the store is still open."""

_runtimes: WeakKeyDictionary[Crawler, Runtime] = WeakKeyDictionary()


def options_from_settings(settings: BaseSettings) -> Options:
    """The run's options: ``-s`` over the environment over ``settings.py``.

    Raises:
        ConfigError: a wrong value or an unknown ``QIAO_*`` name, wherever it was given.
    """
    # -s on the command line and custom_settings of a spider win over the environment.
    strong = SETTINGS_PRIORITIES["spider"]
    names = [name for name in settings if isinstance(name, str) and name.startswith(PREFIX)]
    in_file = {n: settings[n] for n in names if (settings.getpriority(n) or 0) < strong}
    on_command_line = {n: settings[n] for n in names if (settings.getpriority(n) or 0) >= strong}
    # Later entries win.
    return Options({**in_file, **given_in_environment(), **on_command_line})


def runtime_of(crawler: Crawler) -> Runtime:
    """The shared objects of *crawler*'s run, built at the first call.

    Scrapy opens and closes pipelines at the same time, so none of them can own what
    another needs; the runtime is closed after all of them, on ``spider_closed``.
    """
    if crawler not in _runtimes:
        runtime = Runtime(options_from_settings(crawler.settings))
        _runtimes[crawler] = runtime
        crawler.signals.connect(runtime.close, signal=signals.spider_closed, weak=False)
    return _runtimes[crawler]


def find_runtime(crawler: Crawler) -> Runtime | None:
    """The shared objects of *crawler*'s run; None while there are none."""
    return _runtimes.get(crawler)
