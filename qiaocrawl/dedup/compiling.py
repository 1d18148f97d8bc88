"""Inner loops as machine code, kept on disk where there is a place for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

_log = logging.getLogger(__name__)


def compiled(function: Callable[..., Any]) -> Any:
    """*function* as machine code, made at its first call; later processes read it from disk.

    Where neither the package's folder nor the user's cache can be written to (an account
    without a home, a read-only system), numba refuses; then every process compiles anew.
    """
    try:
        return njit(cache=True)(function)
    except RuntimeError:
        _say_once()
        return njit(function)


@cache
def _say_once() -> None:
    _log.warning(
        "compiled code cannot be kept, so that the first title costs each process up to"
        " half a minute; set NUMBA_CACHE_DIR to a folder that can be written to"
    )
