"""qiaocrawl: a focused crawler for Chinese-language topic news.

:func:`open` is the door for programs and notebooks that read what is stored; ``addon`` the one for
a Scrapy project of anybody's (``ADDONS = {"qiaocrawl.addon": 300}``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiaocrawl.crawl.article_fields import ArticleAddon as addon
    from qiaocrawl.reading.store import Store as open

__version__ = "0.1.0"
__all__ = ["addon", "open"]

# A clone has `spiders`, `pipelines` and `middlewares` beside this package, where users of Scrapy
# look for them; a wheel and an egg have them inside. Their names are the same in both:
# `qiaocrawl.spiders` and so on, so that nobody's `spiders` is in the way.
_BESIDE = Path(__file__).parent.parent
if (_BESIDE / "scrapy.cfg").is_file() and (_BESIDE / "spiders" / "site.py").is_file():
    __path__.append(str(_BESIDE))


def __getattr__(name: str) -> Any:
    # On demand: they load the storage, or Scrapy.
    if name == "open":
        from qiaocrawl.reading.store import Store

        return Store
    if name == "addon":
        from qiaocrawl.crawl.article_fields import ArticleAddon

        return ArticleAddon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
