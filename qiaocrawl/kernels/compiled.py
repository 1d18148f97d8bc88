"""Inner loops as machine code, cached on disk where possible."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from threading import RLock
from typing import Any

from qiaocrawl.kernels.late_compiling import LateCompiling

_log = logging.getLogger(__name__)
# What it says of compiling is wanted wherever somebody listens.
_log.setLevel(logging.INFO)
_guard = RLock()
_late: LateCompiling | None = None
"""What runs loops as Python for now; None where they are compiled at their first call."""
_is_decided = False


def compile_late(seconds: float) -> None:
    """Let loops run as Python until they have taken *seconds* of processor time in this process.

    Said once a process: what is compiled by then stays so.
    """
    global _late, _is_decided
    if not _is_decided:
        _let_integers_overflow()
        _late, _is_decided = LateCompiling(seconds, compile_now), True


def compile_now() -> None:
    """Let loops be compiled at their first call, as they are unless :func:`compile_late` is called.

    For those who are about to call them with very much.
    """
    global _late, _is_decided
    _late, _is_decided = None, True


def expect(amount: int, *, many: int) -> None:
    """:func:`compile_now` where *amount* is *many* or more: no single call is interrupted."""
    if _late is not None and amount >= many:
        compile_now()


class CompiledFunction:
    """*function* as machine code, made at its first call; later processes read it from disk.

    The compiler is imported at the first call of any: most commands need none, and it takes
    longer to load than they do to answer.

    Without numba (the extra ``fast``) it runs as the Python it is, with the same results.

    Where neither the package's folder nor the user's cache can be written to (an account
    without a home, a read-only system), every process compiles again.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        if (late := _late) is not None:
            return late.run(self, arguments)
        return self._code(*arguments)

    def get_ready(self, arguments: tuple[Any, ...]) -> None:
        """Make, or read, the machine code for the types of *arguments*."""
        code = self._code
        if has_compiler():
            from numba import typeof

            code.compile(tuple(map(typeof, arguments)))

    @cached_property
    def _code(self) -> Any:
        with _guard:
            # Compiled code calls compiled code: numba looks the names up in the module.
            names = self.python.__globals__
            for name in self.python.__code__.co_names:
                if isinstance(called := names.get(name), CompiledFunction):
                    names[name] = called._code
            if has_compiler():
                return _jitted(self.python)
            _let_integers_overflow()
            _say_missing()
            return self.python


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
    """Without a word, as they do in machine code."""
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning, r"qiaocrawl\.")


@cache
def _say_missing() -> None:
    """Let the log say what machine code this is not."""
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
