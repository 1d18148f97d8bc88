"""Where numba keeps compiled loops, and when it takes them up again.

Numba itself goes by the file of a function: after an update that changed only a loop or a number
of another module, it would take up what was compiled with the old one; and from an egg it keeps
nothing. Here a loop is known by what it computes: its own code, and all loops and values of
modules that it uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import config as numba_config
from numba.core.caching import _CacheLocator

from qiaocrawl.kernels.c_library import BESIDE, kept_folders

# Its attributes are made when it is imported.
config: Any = numba_config
_STAMP_CHARS = 16


def fingerprint(function: Any) -> str:
    """What *function* computes, as hexadecimal digits: equal ones may share machine code.

    Args:
        function: of Python, with loops it calls as Python's, wrapped or compiled.
    """
    digest = sha256()
    python = _python_of(function)
    assert python is not None
    for part in _parts(python, set()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _parts(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    if function in seen:
        return
    seen.add(function)
    yield from (function.__module__, function.__qualname__, repr(function.__defaults__))
    for cell in function.__closure__ or ():
        yield from _value(cell.cell_contents, seen)
    yield from _code(function.__code__, function.__globals__, seen)


def _code(code: CodeType, names: dict[str, Any], seen: set[FunctionType]) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant, names, seen)
        else:
            yield repr(constant)
    for name in code.co_names:
        if name in names:
            yield name
            yield from _value(names[name], seen)


def _value(value: Any, seen: set[FunctionType]) -> Iterator[str]:
    if (function := _python_of(value)) is not None:
        yield from _parts(function, seen)
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype, value.shape))
        yield sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    elif isinstance(value, type | ModuleType):
        yield value.__name__
        # Of a named tuple.
        yield repr(getattr(value, "_fields", ()))
    else:
        yield repr(value)


def _python_of(value: Any) -> FunctionType | None:
    """The function of Python that *value* is, or was made of; None where it is none."""
    # Of numba's dispatcher, and of CompiledFunction.
    for inner in (value, getattr(value, "py_func", None), getattr(value, "__wrapped__", None)):
        if isinstance(inner, FunctionType):
            return inner
    return None


class KernelLocator(_CacheLocator):
    """Keeps a loop beside its module, else (an egg, a read-only folder) in the user's cache.

    A folder that NUMBA_CACHE_DIR names comes before both.
    """

    def __init__(self, folder: Path, stamp: str, disambiguator: str) -> None:
        self._folder = folder
        self._stamp = stamp
        self._disambiguator = disambiguator

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What must be equal for machine code to be taken up."""
        return self._stamp

    def get_disambiguator(self) -> str:
        """Part of the file's name."""
        return self._disambiguator

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> KernelLocator | None:
        """The first place that can be written to; None where there is none.

        Args:
            py_func: whose file may be in an archive.
            py_file: that file.
        """
        stamp = fingerprint(py_func)
        for folder, disambiguator in _places(py_func, Path(py_file).parent, stamp):
            locator = cls(folder, stamp, disambiguator)
            try:
                locator.ensure_cache_path()  # type: ignore[no-untyped-call]
            except OSError:
                continue
            return locator
        return None


def _places(function: FunctionType, beside: Path, stamp: str) -> Iterator[tuple[Path, str]]:
    """Folders in their order, each with what tells loops of one name apart there."""
    for folder in [Path(config.CACHE_DIR)] if config.CACHE_DIR else kept_folders(beside):
        if folder == beside / BESIDE:
            yield folder, str(function.__code__.co_firstlineno)
        else:
            yield folder / function.__module__, stamp[:_STAMP_CHARS]


@contextmanager
def kept_by_content() -> Iterator[None]:
    """Numba asks :class:`KernelLocator` where a function is kept that is made in this block."""
    before = config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = f"{KernelLocator.__module__}.{KernelLocator.__qualname__}"
    try:
        yield
    finally:
        config.CACHE_LOCATOR_CLASSES = before
