"""Which code a process runs: two that share work must run the same."""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from qiaocrawl import __version__


class CodeVersion(NamedTuple):
    """What must be the same: the program with its models and tables, and Python."""

    program: str
    digest: str
    python: str

    def __str__(self) -> str:
        return f"qiaocrawl {self.program} ({self.digest}), Python {self.python}"


@cache
def code_version() -> CodeVersion:
    """That of this process.

    The digest is of all files of the package: a version number stays the same while code is
    written, and other models give other results.
    """
    digest = sha256()
    for name, file in sorted(_files(files("qiaocrawl"), "")):
        digest.update(name.encode())
        digest.update(file.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return CodeVersion(__version__, digest.hexdigest()[:12], python)


def _files(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        # Of the interpreter, and of numba.
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            found += _files(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry))
    return found
