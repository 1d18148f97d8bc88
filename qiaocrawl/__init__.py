"""qiaocrawl: a focused crawler for Chinese-language topic news.

:func:`open` is the door for programs and notebooks that read what is stored; ``addon`` the one for
a Scrapy project of anybody's (``ADDONS = {"qiaocrawl.addon": 300}``).
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipimport import zipimporter

if TYPE_CHECKING:
    from qiaocrawl.crawl.article_fields import ArticleAddon as addon
    from qiaocrawl.reading.store import Store as open

__version__ = "0.1.0"
__all__ = ["addon", "open"]


class _Beside:
    """Finds the folders that a clone has beside this package, and a wheel or an egg inside it.

    Users of Scrapy look for `spiders`, `pipelines` and `middlewares` at the top of a project. Their
    names are `qiaocrawl.spiders` and so on wherever they lie, so that nobody's are in the way.
    """

    folder = Path(__file__).parent.parent
    names = tuple(f"{__name__}.{name}" for name in ("spiders", "pipelines", "middlewares"))

    @classmethod
    def find_spec(cls, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """As every finder of ``sys.meta_path`` has it."""
        if name not in cls.names:
            return None
        found = PathFinder.find_spec(name.rpartition(".")[2], [str(cls.folder)])
        if found is None or found.origin is None:
            return None
        inside = found.submodule_search_locations
        return spec_from_file_location(name, found.origin, submodule_search_locations=inside)


if (_Beside.folder / "scrapy.cfg").is_file() and (_Beside.folder / "spiders").is_dir():
    sys.meta_path.append(_Beside)

if isinstance(_loader := __spec__.loader, zipimporter):
    from qiaocrawl.kernels import use_archive

    use_archive(Path(_loader.archive))


def __getattr__(name: str) -> Any:
    # On demand: they load the storage, or Scrapy.
    if name == "open":
        from qiaocrawl.reading.store import Store

        return Store
    if name == "addon":
        from qiaocrawl.crawl.article_fields import ArticleAddon

        return ArticleAddon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
