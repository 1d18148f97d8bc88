"""Finds a spider by its name; a crawl imports that one alone (SPIDER_LOADER_CLASS)."""

from __future__ import annotations

import builtins
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.spiderloader import SpiderLoader
from scrapy.utils.spider import iter_spider_classes

from qiaocrawl import settings as own_settings

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
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
