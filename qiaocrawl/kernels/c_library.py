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
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import Path

from qiaocrawl.kernels.places import BESIDE, kept_folders

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

    def loaded(self) -> ctypes.CDLL | None:
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
