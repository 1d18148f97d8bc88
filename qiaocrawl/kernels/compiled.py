"""Inner loops as machine code, cached on disk where possible."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from threading import RLock
from typing import Any

_log = logging.getLogger(__name__)
# What it says of compiling is wanted wherever somebody listens.
_log.setLevel(logging.INFO)
_guard = RLock()


class CompiledFunction:
    """*function* as machine code, made at its first call; later processes read it from disk.

    The compiler is imported at the first call of any: most commands need none, and it takes
    longer to load than they do to answer.

    Without numba (the extra ``fast``) it runs as the Python it is, with the same results.

    Where neither the package's folder nor the user's cache can be written to (an account
    without a home, a read-only system), every process compiles again.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        return self._code(*arguments)

    @cached_property
    def _code(self) -> Any:
        with _guard:
            # Compiled code calls compiled code: numba looks the names up in the module.
            names = self._function.__globals__
            for name in self._function.__code__.co_names:
                if isinstance(called := names.get(name), CompiledFunction):
                    names[name] = called._code
            if has_compiler():
                return _jitted(self._function)
            _let_integers_overflow()
            return self._function


def compiled(function: Callable[..., Any]) -> Any:
    """Decorates an inner loop; see :class:`CompiledFunction`."""
    return CompiledFunction(function)


@cache
def has_compiler() -> bool:
    """Whether numba is installed; without it all is slower, and nothing else."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def _jitted(function: Callable[..., Any]) -> Any:
    from numba import njit

    from qiaocrawl.kernels.kernel_cache import kept_by_content

    _announce_compiling()
    try:
        with kept_by_content():
            return njit(cache=True)(function)
    except RuntimeError:
        _warn_once()
        return njit(function)


@cache
def _warn_once() -> None:
    _log.warning(
        "compiled code cannot be kept (no folder to write to:"
        " NUMBA_CACHE_DIR names one), so the first use costs each process up to half a minute"
    )


@cache
def _let_integers_overflow() -> None:
    """Without a word, as they do in machine code; and let the log say what that is not."""
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning, r"qiaocrawl\.")
    _log.info("numba is not installed: the inner loops run as Python, several times as slow")


@cache
def _announce_compiling() -> None:
    """Let the log say once when this process really compiles: it seems to stand still then."""
    from numba.core import event

    class FirstCompilation(event.Listener):
        """Reports the first compilation, and is silent from then on."""

        def on_start(self, event: Any) -> None:
            """Numba found nothing on disk and begins to compile."""
            say_compiling()

        def on_end(self, event: Any) -> None:
            """Numba has compiled one function."""

    event.register("numba:compile", FirstCompilation())  # type: ignore[no-untyped-call]


@cache
def say_compiling() -> None:
    """Log, once a process, that code is being compiled."""
    _log.info("first use on this machine: compiling inner loops, which takes up to a minute")
