"""Loops in C, compiled by the machine's own compiler where it has one.

For loops over one page at a time, in every worker: numba would cost each of them 100 MB and half a
second. Nothing needs them: whoever has such a loop has the same in Python.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from qiaocrawl.options.project import user_cache_folder

# --- Where compiled loops are kept ----------------------------------------------------------------

BESIDE = "__pycache__"
"""The name of the folder beside a source, where there is one version of it."""


def kept_folders(beside: Path | None) -> Iterator[Path]:
    """Folders for what is compiled of a source, the best first; any may refuse to be written to.

    The user's cache comes behind the one beside the source, and several versions may be in use
    there: the name of what is kept has to tell them apart.

    Args:
        beside: the source's own folder; None or one that is not there in an archive (an egg).
    """
    if beside is not None and beside.is_dir():
        yield beside / BESIDE
    # An account without a home has no cache.
    with suppress(RuntimeError):
        yield user_cache_folder() / "kernels"


# --- Loops in C, compiled by the machine's own compiler where it has one --------------------------

_log = logging.getLogger(__name__)
_COMPILERS = ("cc", "gcc", "clang")
# A fused multiplication would give other last bits than the same loop in Python.
_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")
_SECONDS = 120.0
_STAMP_CHARS = 16


class CLibrary:
    """The functions of a C source, once :meth:`make` has compiled it on this machine.

    A library is known by its source and by what it was compiled for, so an update never takes up
    the code of another version. It is kept beside its source, else (an egg, a read-only folder) in
    the user's cache.
    """

    def __init__(self, source: Traversable) -> None:
        self._source = source

    @property
    def is_in_archive(self) -> bool:
        """Whether the source is in an egg, for which nobody runs ``qiaocrawl compile``."""
        return not isinstance(self._source, Path)

    def load(self) -> ctypes.CDLL | None:
        """The library; None where it was not compiled, or cannot be loaded."""
        for folder in self._folders():
            path = folder / self._name
            if path.is_file():
                try:
                    return ctypes.CDLL(str(path))
                except OSError as error:
                    # As on a disk from which nothing may be run.
                    _log.info("%s cannot be loaded, Python does its work: %s", path, error)
        return None

    def make(self) -> Path | None:
        """Compile the source unless that is done; None where there is no compiler.

        Raises:
            OSError: there is no folder to write to.
            subprocess.SubprocessError: the compiler failed, or took minutes.
        """
        folders = [*self._folders()]
        made = (folder / self._name for folder in folders)
        if (path := next(filter(Path.is_file, made), None)) is not None:
            return path
        compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
        if compiler is None:
            return None
        failure = OSError("no folder to keep compiled code in: the account has no home")
        for folder in folders:
            try:
                return self._compile(compiler, folder)
            except OSError as error:
                failure = error
        raise failure

    @cached_property
    def _name(self) -> str:
        digest = sha256(self._source.read_bytes())
        digest.update(repr((_FLAGS, sysconfig.get_platform())).encode())
        return f"{Path(self._source.name).stem}-{digest.hexdigest()[:_STAMP_CHARS]}.so"

    def _folders(self) -> Iterator[Path]:
        return kept_folders(self._source.parent if isinstance(self._source, Path) else None)

    def _compile(self, compiler: str, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as room:
            source, made = Path(room) / self._source.name, Path(room) / self._name
            source.write_bytes(self._source.read_bytes())
            command = [compiler, *_FLAGS, "-o", str(made), str(source), "-lm"]
            subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
            # Renamed when it is whole: several processes may do this at once, or be killed.
            copy = folder / f"{self._name}.{os.getpid()}"
            try:
                shutil.copyfile(made, copy)
                os.replace(copy, folder / self._name)
            finally:
                copy.unlink(missing_ok=True)
        if folder.name == BESIDE:
            self._remove_older(folder)
        return folder / self._name

    def _remove_older(self, folder: Path) -> None:
        """Delete what earlier versions of the source left; beside it there is one version."""
        for older in folder.glob(f"{Path(self._source.name).stem}-*.so"):
            if older.name != self._name:
                with suppress(OSError):
                    older.unlink()


# --- Functions in C that do what others in Python do, and are compared with them before use -------


class CLoops:
    """The functions of one C source, for callers who have the same in Python.

    Args:
        library: compiles and loads the source.
        signatures: of each function, by its name, the ``ctypes`` types of result and arguments.
    """

    def __init__(self, library: CLibrary, signatures: Mapping[str, tuple[Any, ...]]) -> None:
        self.library = library
        self._signatures = signatures
        self._functions: dict[str, Any] | None = None

    def function(self, name: str) -> Any:
        """The function of that name; None where ``qiaocrawl compile`` has made none."""
        if self._functions is None:
            self._functions = self._load_loops()
        return self._functions.get(name)

    def make(self, agree: Callable[[], bool]) -> bool:
        """Compile them for this machine; False without a compiler.

        Args:
            agree: whether they compute, on some example, what Python does.

        Raises:
            OSError: they cannot be kept or loaded, or compute something else.
            subprocess.SubprocessError: the compiler failed.
        """
        path = self.library.make()
        if path is None:
            return False
        self._functions = self._load_loops()
        if not self._functions or not agree():
            path.unlink(missing_ok=True)
            self._functions = {}
            raise OSError(f"{path.name} does not compute what Python does, and was deleted")
        return True

    def make_in_archive(self, agree: Callable[[], bool]) -> None:
        """:meth:`make` in an egg: a second, once for each version on a machine."""
        if self.library.is_in_archive and not self._load_loops():
            # Without them Python does the same.
            with suppress(OSError, SubprocessError):
                self.make(agree)

    def _load_loops(self) -> dict[str, Any]:
        library = self.library.load()
        if library is None:
            return {}
        functions = {}
        for name, (result, *arguments) in self._signatures.items():
            function = functions[name] = library[name]
            function.restype, function.argtypes = result, arguments
        return functions
