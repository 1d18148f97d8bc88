"""Named plug-ins: in modules of this project, and in what else is installed.

Adding a plug-in to this project is adding a file::

    extractors: Registry[Extractor] = Registry(
        "extractor", "qiaocrawl.extractors", "qiaocrawl.extract.methods"
    )

    @extractors.register("density")
    class DensityExtractor: ...

Adding one from elsewhere is an entry point of a package of one's own; its name is the
plug-in's, its value the object that would be registered (CONTRIBUTING.md)::

    [project.entry-points."qiaocrawl.extractors"]
    longest = "my_package:LongestParagraph"
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Generic, TypeVar, cast

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to plug-ins of one kind.

    Args:
        kind: the word for one plug-in in messages, such as ``"extractor"``.
        group: the group of entry points by which other packages bring plug-ins.
        places: dotted names of modules that register plug-ins; a package stands for all modules
            in it. They are asked in this order, so that what is usual costs no import of the
            others.
    """

    def __init__(self, kind: str, group: str, *places: str) -> None:
        self.kind = kind
        self.group = group
        self._places = places
        self._registered: dict[str, T] = {}
        self._installed: dict[str, EntryPoint] = {}
        # Places of which everything is imported, and names whose own module was.
        self._loaded: set[str] = set()
        self._looked_up: set[str] = set()
        self._handed_out: set[str] = set()
        # An import may ask for another plug-in of this kind.
        self._turn = threading.RLock()

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that files a plug-in under *name*; a second one of that name is an error."""

        def file(plugin: T) -> T:
            if name in self._registered:
                raise ConfigError(
                    _("two {kind}s are called {name!r}", kind=_(self.kind), name=name)
                )
            self._registered[name] = plugin
            return plugin

        return file

    def names(self) -> list[str]:
        """All names, sorted."""
        with self._turn:
            self._load()
            return sorted({*self._registered, *self._installed})

    def get(self, name: str) -> T:
        """The plug-in called *name*.

        Raises:
            ConfigError: no such plug-in (the message lists what there is), or the package that
                brings it cannot be imported.
        """
        # What was handed out once is whole; a module that another thread imports just now is not.
        if name in self._handed_out:
            return self._registered[name]
        with self._turn:
            plugin = self._find(name)
            self._handed_out.add(name)
        return plugin

    def _find(self, name: str) -> T:
        self._import_one(name)
        self._load(until=name)
        if name not in self._registered and name in self._installed:
            self._registered[name] = self._load_entry_point(self._installed[name])
        if name not in self._registered:
            close = get_close_matches(name, self.names(), n=1)
            hint = _("; did you mean {close!r}?", close=close[0]) if close else ""
            raise ConfigError(
                _(
                    "unknown {kind} {name!r}{hint} (there are: {names})",
                    kind=_(self.kind),
                    name=name,
                    hint=hint,
                    names=", ".join(self.names()),
                )
            )
        return self._registered[name]

    def _import_one(self, name: str) -> None:
        """Import the module called like the plug-in, if there is one: most of the usual are.

        To know all takes as long as to import what the others import.
        """
        if name in self._looked_up:
            return
        self._looked_up.add(name)
        for place in self._places:
            if place not in self._loaded and f"{place}.{name}" in _modules_of(place):
                importlib.import_module(f"{place}.{name}")
                self._note_all_installed()
                return

    def _load(self, until: str = "") -> None:
        """Import place after place, all of them or until one has registered *until*."""
        for place in self._places:
            if until in self._registered:
                return
            if place not in self._loaded:
                self._loaded.add(place)
                for module in _modules_of(place):
                    importlib.import_module(module)
                self._note_all_installed()

    def _note_all_installed(self) -> None:
        # Other packages are imported when they are asked for: one that is broken or slow must
        # not cost those who do not use it.
        for entry_point in _all_installed(tuple(sys.path))(group=self.group):
            self._note_installed(entry_point)

    def _note_installed(self, entry_point: EntryPoint) -> None:
        other = self._installed.get(entry_point.name)
        # One distribution may be found twice, by two entries of the path.
        if other is not None and other.value == entry_point.value:
            return
        if other is not None or entry_point.name in self._registered:
            raise ConfigError(
                _(
                    "two {kind}s are called {name!r}: one of them is {package}, rename "
                    "its entry point",
                    kind=_(self.kind),
                    name=entry_point.name,
                    package=_origin(entry_point),
                )
            )
        self._installed[entry_point.name] = entry_point

    def _load_entry_point(self, entry_point: EntryPoint) -> T:
        try:
            return cast(T, entry_point.load())
        except Exception as error:
            # Whatever a foreign package does when it is imported, the operator reads its name.
            raise ConfigError(
                _(
                    "the {kind} {name!r} of {package} cannot be imported: {error_kind}: {error}",
                    kind=_(self.kind),
                    name=entry_point.name,
                    package=_origin(entry_point),
                    error_kind=type(error).__name__,
                    error=error,
                )
            ) from error


@lru_cache
def _modules_of(place: str) -> tuple[str, ...]:
    """Dotted names of the modules of the package *place*; of a module, its own."""
    inside = getattr(importlib.import_module(place), "__path__", None)
    if inside is None:
        return (place,)
    return tuple(f"{place}.{module.name}" for module in pkgutil.iter_modules(inside))


@lru_cache(maxsize=1)
def _all_installed(_path: tuple[str, ...]) -> Callable[..., EntryPoints]:
    """Chooses of those of all groups, looked for once a path: that reads a file of each package."""
    return entry_points().select


def _origin(entry_point: EntryPoint) -> str:
    package = entry_point.dist.name if entry_point.dist else "an unknown package"
    return f"{entry_point.value} (package {package})"
