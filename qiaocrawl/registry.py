"""Named plug-ins: every module of one package is imported, what registers itself is found.

Adding a plug-in is adding a file::

    extractors: Registry[Extractor] = Registry("extractor", "qiaocrawl.extract")

    @extractors.register("density")
    class DensityExtractor: ...
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from difflib import get_close_matches
from typing import Generic, TypeVar

from qiaocrawl.errors import ConfigError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to plug-ins of one kind, found by importing the modules of *package*.

    Args:
        kind: the word for one plug-in in messages, such as ``"extractor"``.
        package: dotted name of the package whose modules register plug-ins.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._found: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that files a plug-in under *name*; a second one of that name is an error."""

        def file(plugin: T) -> T:
            if name in self._found:
                raise ConfigError(f"two {self.kind}s are called {name!r}")
            self._found[name] = plugin
            return plugin

        return file

    def names(self) -> list[str]:
        """All names, sorted."""
        self._load()
        return sorted(self._found)

    def get(self, name: str) -> T:
        """The plug-in called *name*.

        Raises:
            ConfigError: no such plug-in; the message lists what there is.
        """
        self._load()
        if name not in self._found:
            close = get_close_matches(name, self._found, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"unknown {self.kind} {name!r}{hint} (there are: {', '.join(self.names())})"
            )
        return self._found[name]

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self._package}.{module.name}")
