"""Inner loops: Python as it stands, and machine code wherever the package was installed.

A module with a ``.pxd`` of its name beside it is compiled at installation (``setup.py``), by Cython
and the machine's C compiler; where either is missing, or no such file was built, the same ``.py``
runs as the Python it is. The ``.pxd`` says what types the functions have; ``nogil`` there lets
the compiler refuse whatever has none, and would be slow. What such a module keeps to, so that both
come to the same results to the last bit:

- Arrays come as views (:func:`ints`, :func:`floats`): their items are Python's own numbers, and
  not NumPy's, which take ten times as long and round and overflow in their own ways.
- Real numbers are read into variables of double precision before they are reckoned with.
- Of what is divided by ``/`` one is such a variable: of two whole numbers C makes a whole one.
- ``math``, which is the C library's in both; no sum, product or logarithm of NumPy's.
- What overflows in 64 bits is masked (``& BITS``); what is divided without rest, and every index,
  is no less than 0.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from importlib.machinery import ModuleSpec
from importlib.resources.abc import Traversable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = memoryview[int]
    """Whole numbers of an array, of as many dimensions; writing to it writes to the array."""
    Floats: TypeAlias = memoryview[float]


def is_compiled(loop: Callable[..., object]) -> bool:
    """Whether *loop* is machine code, for those who have the same with NumPy."""
    return not isinstance(loop, FunctionType)


def ints(array: NDArray[np.integer[Any] | np.bool_]) -> Ints:
    """*array* as loops read it; no copy."""
    return array.data


def floats(array: NDArray[np.floating[Any]]) -> Floats:
    """*array* as loops read it; no copy."""
    return cast("Floats", array.data)


# --- Whether they are machine code ----------------------------------------------------------------

_log = logging.getLogger(__name__)
_PACKAGE = Path(__file__).parent
_SUFFIX = ".abi3.so"


def check_loops() -> None:
    """Refuse to go on with machine code of former sources.

    Raises:
        ConfigError: a clone was updated or edited, and not installed again.
    """
    if stale := stale_loops():
        raise ConfigError(
            _(
                "the machine code of inner loops is older than {files}: run `make install`, or"
                " `pip install -e .` again",
                files=", ".join(stale),
            )
        )


def loop_modules() -> dict[str, bool]:
    """Every module of inner loops, by its full name, and whether it is machine code here."""
    from importlib.resources import files

    finders = [one for one in sys.meta_path if isinstance(one, _FromArchive)]
    is_folder = _PACKAGE.is_dir()
    found = {}

    def look(folder: Traversable, package: str) -> None:
        inside = {one.name: one for one in folder.iterdir()}
        for name, one in sorted(inside.items()):
            if name.endswith(".pxd"):
                stem = name.removesuffix(".pxd")
                module = f"{package}.{stem}"
                found[module] = (is_folder and f"{stem}{_SUFFIX}" in inside) or any(
                    module in finder.files for finder in finders
                )
            elif one.is_dir():
                look(one, f"{package}.{name}")

    look(files("qiaocrawl"), "qiaocrawl")
    return found


def stale_loops() -> list[str]:
    """Files of a clone that changed after they were compiled: machine code of old would run.

    Empty for an installed package, whose files nobody edits.
    """
    if not (_PACKAGE.parent / "setup.py").is_file():
        return []
    stale = []
    for made in _PACKAGE.rglob(f"*{_SUFFIX}"):
        stem = made.with_name(made.name.removesuffix(_SUFFIX))
        for source in (stem.with_suffix(".py"), stem.with_suffix(".pxd")):
            if not source.is_file() or source.stat().st_mtime_ns > made.stat().st_mtime_ns:
                stale.append(str(source.relative_to(_PACKAGE.parent)))
    return sorted(stale)


# --- In an egg (scrapyd) --------------------------------------------------------------------------


class _FromArchive:
    """Finds modules of an egg as machine code that was copied out of it; see ``meta_path``."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        file = self.files.get(name)
        return importlib.util.spec_from_file_location(name, file) if file is not None else None


def use_archive(archive: Path) -> None:
    """Copy the machine code of the egg *archive* to the user's cache, and have it imported.

    The system loads none out of an archive. Where there is none in it, it is another system's, or
    there is no cache to write to, the loops of the egg run as Python.
    """
    from zipfile import BadZipFile, ZipFile

    from qiaocrawl.options.project import user_cache_folder

    files = {}
    try:
        with ZipFile(archive) as egg:
            for entry in egg.infolist():
                if entry.filename.endswith(_SUFFIX):
                    name = entry.filename.removesuffix(_SUFFIX).replace("/", ".")
                    # Several versions of the project may run on a machine.
                    stamp = f"{entry.CRC:08x}-{entry.file_size}"
                    file = user_cache_folder() / "loops" / stamp / Path(entry.filename).name
                    if not file.is_file():
                        _write_whole(file, egg.read(entry))
                    files[name] = file
        for name, file in list(files.items())[:1]:
            # Machine code of another processor is refused here, and not in the middle of a crawl.
            spec = importlib.util.spec_from_file_location(name, file)
            if spec is not None:
                importlib.util.module_from_spec(spec)
    except (BadZipFile, OSError, RuntimeError, ImportError) as error:
        _log.warning("inner loops of %s run as Python: %s", archive.name, error)
        return
    if files:
        sys.meta_path.insert(0, _FromArchive(files))


def _write_whole(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_bytes(data)
    # Jobs that start at once do the same; each finds a whole file.
    os.replace(part, file)
