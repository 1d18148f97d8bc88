"""How a crawl starts: its spider found by name, signals obeyed, no cycles collected meanwhile."""

from __future__ import annotations

import asyncio
import builtins
import gc
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy import Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.spider import iter_spider_classes

from qiaocrawl import settings as own_settings
from qiaocrawl.crawl.context import find_runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.settings import BaseSettings


class NamedSpiderLoader:
    """Scrapy's loader imports all spiders, and all that they import, to run one of them.

    Ours stand each in the module of its name. Where a project adds modules of its own, any of
    them may hold any name: all are imported then, as Scrapy does.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings
        self._has_only_ours = settings.getlist("SPIDER_MODULES") == own_settings.SPIDER_MODULES

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Scrapy's constructor."""
        return cls(settings)

    def load(self, spider_name: str) -> type[Spider]:
        """The spider called *spider_name*.

        Raises:
            KeyError: there is none.
        """
        if self._has_only_ours and (found := _in_its_module(spider_name)) is not None:
            return found
        return self._all.load(spider_name)

    def list(self) -> list[str]:
        """The names of all spiders."""
        return self._all.list()

    def find_by_request(self, request: Request) -> builtins.list[str]:
        """The names of the spiders that say they can handle *request*."""
        return self._all.find_by_request(request)

    @cached_property
    def _all(self) -> SpiderLoader:
        return SpiderLoader.from_settings(self._settings)


def _in_its_module(name: str) -> type[Spider] | None:
    (package,) = own_settings.SPIDER_MODULES
    if not name.isidentifier() or find_spec(f"{package}.{name}") is None:
        return None
    module = import_module(f"{package}.{name}")
    return next((found for found in iter_spider_classes(module) if found.name == name), None)


# --- A crawler that obeys a signal at every moment of its start -----------------------------------

_LOOK_SECONDS = 0.02
# As long as a crawl that runs waits for its database after a signal.
_STORE_SECONDS = 4.0


class StoppableCrawler(Crawler):
    """Scrapy's crawler forgets to stop while its spider is being opened.

    The process ended then with its run half begun: no summary, exit code 1, and a record of the run
    that nobody closed. Here it is opened first, which takes a moment, and then stopped as usual.
    """

    async def stop_async(self) -> None:
        """Stop in order; also asked for before there is anything to stop."""
        self._hurry()
        while self.crawling and not (self._engine is not None and self._engine.running):
            # No event tells of it: the engine's own signal comes before it can be stopped.
            await asyncio.sleep(_LOOK_SECONDS)
        await super().stop_async()

    def _hurry(self) -> None:
        """A database that is away would keep the spider from being opened, and so from stopping."""
        runtime = find_runtime(self)
        if runtime is not None:
            runtime.database.limit_wait(_STORE_SECONDS)

    def _create_engine(self) -> ExecutionEngine:
        return ExecutionEngine(self, self._engine_closed)

    async def _engine_closed(self, spider: Spider) -> None:
        # Of an engine that never ran, too: waiting for it to run would be for ever.
        await super().stop_async()


# --- The collector of cycles rests until a crawl has started --------------------------------------
# What a start makes is modules, tables and dictionaries, which stay. Looking through them again and
# again, some four hundred times as they come, took a tenth of it.
#
# From then on it looks less often than it would by itself: a page leaves some five
# objects in cycles, and a thousand that stay, such as the keys of its links.

# Objects between two looks at the young ones, and of these between two at the older ones. With
# Python's 700 collecting took .7 ms of a page, with this half of it.
_YOUNG_OBJECTS = 10_000
_LOOKS = 10


def rest_until_opened() -> None:
    """Stop collecting; :func:`collect_once_opened` begins again."""
    gc.disable()


def collect_once_opened(crawler: Crawler) -> None:
    """Collect from the opening of the spider of *crawler* on, but for what is there by then."""
    crawler.signals.connect(_collect, signal=signals.spider_opened)


def _collect() -> None:
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _LOOKS, _LOOKS)
    gc.enable()
