"""The folders of a user's account for what programs keep there, by the XDG specification."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache_folder() -> Path:
    """``qiaocrawl`` in the user's cache folder: what can be made again.

    Raises:
        RuntimeError: the account has no home.
    """
    return _folder("XDG_CACHE_HOME", "~/.cache") / "qiaocrawl"


def user_data_folder() -> Path:
    """``qiaocrawl`` in the user's data folder: what was installed.

    Raises:
        RuntimeError: the account has no home.
    """
    return _folder("XDG_DATA_HOME", "~/.local/share") / "qiaocrawl"


def user_units_folder() -> Path:
    """Where systemd looks for units of the user.

    Raises:
        RuntimeError: the account has no home.
    """
    return _folder("XDG_CONFIG_HOME", "~/.config") / "systemd" / "user"


def _folder(variable: str, otherwise: str) -> Path:
    named = os.environ.get(variable, "")
    # As the specification says, a relative path is ignored.
    return Path(named) if os.path.isabs(named) else Path(otherwise).expanduser()
