"""Where a user's programs keep what they can make again."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache_folder() -> Path:
    """``qiaocrawl`` in the user's cache folder, by XDG_CACHE_HOME.

    Raises:
        RuntimeError: the account has no home.
    """
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # As the XDG specification says, a relative path is ignored.
    base = Path(cache) if os.path.isabs(cache) else Path("~/.cache").expanduser()
    return base / "qiaocrawl"
