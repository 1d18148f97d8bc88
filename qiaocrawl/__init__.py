"""qiaocrawl: a focused crawler for Chinese-language topic news.

:func:`open` is the door for programs and notebooks that read what is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiaocrawl.reading.store import Store as open

__version__ = "0.1.0"
__all__ = ["open"]


def __getattr__(name: str) -> Any:
    # On demand: it loads the storage, which no spider's process asks for by this name.
    if name != "open":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from qiaocrawl.reading.store import Store

    return Store
