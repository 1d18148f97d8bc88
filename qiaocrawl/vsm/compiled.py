"""Inner loops as machine code, cached on disk where possible."""

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
    without a home, a read-only system), and where the package is run from an egg, numba
    refuses; then every process compiles again.
    """
    try:
        return njit(cache=True)(function)
    except RuntimeError:
        _say_once()
        return njit(function)


@cache
def _say_once() -> None:
    _log.warning(
        "compiled code cannot be kept (run from an egg, or no folder to write to:"
        " NUMBA_CACHE_DIR names one), so the first use costs each process up to half a minute"
    )
