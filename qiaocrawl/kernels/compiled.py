"""Inner loops as machine code, cached on disk where possible."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from threading import Lock, RLock, Thread, local
from types import FunctionType
from typing import Any, Protocol

# --- Loops as Python at first, for work that may turn out to be small -----------------------------
# Loading the compiler costs as much processor time as a crawl of some hundred pages spends in loops
# written as Python. So these come first; once they have taken long enough, machine code is got
# ready in a thread of its own while they go on. Each is used as soon as it is there: the thread
# shares its processor with those that wait for all of it.


class Loop(Protocol):
    """A function that exists in both forms."""

    python: Callable[..., Any]

    is_ready: bool

    def from_disk(self, arguments: tuple[Any, ...]) -> Any:
        """Call it as machine code, as Python where there is none for such *arguments*."""
        ...


class LateCompiling:
    """Runs loops as Python, and counts what they take.

    Args:
        seconds: of processor time, after which machine code is got ready.
        make_ready: gets it ready; called once, by a thread of its own or by :meth:`get_ready`.
        when_ready: called behind it, whatever came of it.
    """

    def __init__(
        self, seconds: float, make_ready: Callable[[], None], when_ready: Callable[[], None]
    ) -> None:
        self._seconds_left = seconds
        self._make_ready = make_ready
        self._when_ready = when_ready
        self._thread_state = local()
        self._guard = Lock()
        self._is_begun = False

    def run(self, loop: Loop, arguments: tuple[Any, ...]) -> Any:
        """Call *loop* as Python."""
        state = self._thread_state
        if getattr(state, "is_inside", False):
            # Called by another loop, which is counted.
            return loop.python(*arguments)
        if loop.is_ready:
            return loop.from_disk(arguments)
        state.is_inside, began = True, time.thread_time()
        try:
            return loop.python(*arguments)
        finally:
            state.is_inside = False
            self._count(time.thread_time() - began)

    def _count(self, seconds: float) -> None:
        with self._guard:
            self._seconds_left -= seconds
            is_enough = self._seconds_left <= 0
        if is_enough:
            self.begin()

    def begin(self) -> None:
        """Let machine code be got ready, unless that has begun; the caller goes on meanwhile."""
        if not self._is_first():
            return
        # No daemon: the compiler must not be at work when its library is unloaded.
        thread = Thread(target=self._get_ready, name="qiaocrawl-loops")
        try:
            thread.start()
        except RuntimeError:
            """The system gives no thread, or the process ends: loops stay as they are."""

    def get_ready(self) -> None:
        """Get machine code ready before this returns, unless that has begun."""
        if self._is_first():
            self._get_ready()

    def _is_first(self) -> bool:
        with self._guard:
            is_first, self._is_begun = not self._is_begun, True
            return is_first

    def _get_ready(self) -> None:
        try:
            self._make_ready()
        finally:
            # Whoever calls a loop that has no machine code meets Python.
            self._when_ready()


# --- Inner loops as machine code, cached on disk where possible -----------------------------------

_log = logging.getLogger(__name__)
# What it says of compiling is wanted wherever somebody listens.
_log.setLevel(logging.INFO)
_guard = RLock()
_late: LateCompiling | None = None
"""What runs loops as Python for now; None where they are machine code from their first call on."""
_is_decided = False
_never_waits = False
"""Whether callers get Python where there is no machine code on disk: nobody compiles for them."""
_thread = threading.local()


class NotOnDiskError(Exception):
    """A loop whose machine code is not on disk, asked for where nothing may be compiled."""


def compile_late(seconds: float, get_ready: Callable[[], None]) -> None:
    """Let loops run as Python until they have taken *seconds* of processor time in this process.

    A crawl asks for this at its start, so that none of its threads ever waits for a compiler: it
    holds a lock that all machine code of a process needs to be loaded. Loops go on as Python while
    *get_ready* loads or makes machine code, and one without it stays Python.
    Said once a process: what is compiled by then stays so.

    Args:
        get_ready: makes the loops' machine code, see :func:`loading`; called in a thread of its
            own, or by :func:`get_ready_now`.
    """
    global _late, _is_decided, _never_waits
    if not _is_decided:
        _let_integers_overflow()
        _late = LateCompiling(seconds, get_ready, _compiled_from_now_on)
        _is_decided = _never_waits = True


def compile_now() -> None:
    """Let loops be compiled at their first call, as they are unless :func:`compile_late` is called.

    For those who are about to call them with very much.
    """
    global _late, _is_decided, _never_waits
    _late, _is_decided, _never_waits = None, True, False


def _compiled_from_now_on() -> None:
    global _late
    _late = None


def get_ready_now() -> None:
    """After :func:`compile_late`: load or make machine code before this returns.

    For a start that knows of much to do; it is the only caller that waits for the compiler.
    """
    if _late is not None:
        _late.get_ready()


def expect(amount: int, *, many: int) -> None:
    """Let machine code be made ready where *amount* is *many* or more."""
    if _late is not None and amount >= many:
        _late.begin()


@contextmanager
def loading(*, may_compile: bool) -> Iterator[None]:
    """In this block, this thread calls loops as machine code from disk.

    Args:
        may_compile: compile what is not on disk; else that is a :class:`NotOnDiskError`.
    """
    before = getattr(_thread, "may_compile", None)
    _thread.may_compile = may_compile
    try:
        yield
    finally:
        _thread.may_compile = before


def _may_compile() -> bool:
    allowed: bool | None = getattr(_thread, "may_compile", None)
    return not _never_waits if allowed is None else allowed


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
        self.is_ready = False
        """Whether it was loaded while others still run as Python, see :func:`compile_late`."""
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        may_compile: bool | None = getattr(_thread, "may_compile", None)
        if may_compile is not None:
            result = self._code(*arguments)
            # While a thread compiles, machine code of others would wait for its lock.
            self.is_ready = not may_compile
            return result
        if (late := _late) is not None:
            return late.run(self, arguments)
        if not _never_waits:
            return self._code(*arguments)
        try:
            return self._code(*arguments)
        except NotOnDiskError:
            self._say_python()
            return self.python(*arguments)

    def from_disk(self, arguments: tuple[Any, ...]) -> Any:
        """Call it as machine code, as Python where there is none for such *arguments*."""
        try:
            return self._code(*arguments)
        except NotOnDiskError:
            self.is_ready = False  # No call after this one looks on disk in vain.
            return self.python(*arguments)

    @cached_property
    def _code(self) -> Any:
        with _guard:
            if not has_compiler():
                _let_integers_overflow()
                _say_missing()
                return self.python
            return _jit(self._calling_compiled())

    def _calling_compiled(self) -> FunctionType:
        """A copy of the function that finds machine code where it calls other loops.

        The module's own names stay as they are: a loop that runs as Python calls Python, and
        never the compiler.
        """
        python = self.python
        assert isinstance(python, FunctionType)
        names = dict(python.__globals__)
        for name in python.__code__.co_names:
            if isinstance(called := names.get(name), CompiledFunction):
                names[name] = called._code
        copy = FunctionType(
            python.__code__, names, python.__name__, python.__defaults__, python.__closure__
        )
        update_wrapper(copy, python)
        return copy

    def _say_python(self) -> None:
        if not getattr(self, "_is_said", False):
            self._is_said = True
            _log.warning(
                "%s.%s was not compiled for what it is called with, and runs as Python",
                self.python.__module__,
                self.python.__qualname__,
            )


def compiled(function: Callable[..., Any]) -> Any:
    """Decorates an inner loop; see :class:`CompiledFunction`."""
    return CompiledFunction(function)


@cache
def has_compiler() -> bool:
    """Whether numba is installed and may compile; without it all is slower, and nothing else."""
    try:
        import numba
    except ImportError:
        return False
    # Its attributes are made when it is imported.
    config: Any = numba.config
    # An operator may have forbidden it (NUMBA_DISABLE_JIT=1).
    return not config.DISABLE_JIT


def _jit(function: Callable[..., Any]) -> Any:
    from numba import njit

    from qiaocrawl.kernels.kernel_cache import kept_by_content

    _announce_compiling()
    try:
        with kept_by_content():
            code = njit(cache=True)(function)
    except RuntimeError:
        _warn_once()
        code = njit(function)
    _refuse_where_nothing_may_be_compiled(code)
    return code


def _refuse_where_nothing_may_be_compiled(code: Any) -> None:
    """Let *code*, of numba, raise :class:`NotOnDiskError` where it would begin to compile."""
    kept = code._cache
    load_overload = kept.load_overload

    def load_or_refuse(*what: Any) -> Any:
        if (found := load_overload(*what)) is None and not _may_compile():
            raise NotOnDiskError(code.__name__)
        return found

    kept.load_overload = load_or_refuse


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
    _log.info(
        "numba is not installed or NUMBA_DISABLE_JIT forbids it: the inner loops run as Python, "
        "several times as slow"
    )


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
