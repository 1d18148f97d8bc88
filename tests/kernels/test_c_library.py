"""Loops in C: compiled once, known by their source, and not needed."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crawling import PROJECT
from qiaocrawl.kernels.c_library import CLibrary

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler on this machine")

TWICE = "int twice(int number) { return 2 * number; }\n"


def _library(folder: Path, text: str = TWICE) -> CLibrary:
    folder.mkdir(exist_ok=True)
    source = folder / "twice.c"
    source.write_text(text)
    return CLibrary(source)


def _call(library: ctypes.CDLL | None) -> int:
    assert library is not None
    number: int = library.twice(21)
    return number


def test_a_source_is_compiled_once_and_is_there_for_the_next_process(tmp_path: Path) -> None:
    library = _library(tmp_path)
    assert library.load() is None, "nobody waits for the compiler who did not ask for it"
    made = library.make()
    assert made is not None
    written = made.stat().st_mtime_ns
    assert _call(library.load()) == _call(_library(tmp_path).load()) == 42
    assert library.make() == made
    assert made.stat().st_mtime_ns == written
    assert [*made.parent.iterdir()] == [made]


def test_another_source_is_another_library(tmp_path: Path) -> None:
    _library(tmp_path).make()
    changed = _library(tmp_path, TWICE.replace("2 * number", "3 * number"))
    assert changed.load() is None
    made = changed.make()
    assert made is not None
    assert _call(changed.load()) == 63
    assert [*made.parent.iterdir()] == [made], "the older one is gone"


def test_where_nothing_can_be_written_beside_it_is_kept_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library = _library(tmp_path / "package")
    # A file where the folder would be: root may write anywhere else.
    (tmp_path / "package" / "__pycache__").touch()
    made = library.make()
    assert made is not None
    assert made.parent == tmp_path / "cache" / "qiaocrawl" / "kernels"
    assert _call(library.load()) == 42


def test_a_damaged_library_is_as_none(tmp_path: Path) -> None:
    library = _library(tmp_path)
    made = library.make()
    assert made is not None
    made.write_bytes(b"\x7fELF")
    assert library.load() is None


def test_what_does_not_compile_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    library = _library(tmp_path, "int twice(int number) { return }")
    with pytest.raises(subprocess.CalledProcessError):
        library.make()
    assert [file for file in tmp_path.rglob("*") if file.suffix == ".so"] == []


def test_without_a_compiler_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert _library(tmp_path).make() is None


def test_the_workers_of_an_egg_compile_once(tmp_path: Path) -> None:
    egg, cache = tmp_path / "qiaocrawl.egg", tmp_path / "cache"
    with zipfile.ZipFile(egg, "w") as archive:
        for file in sorted((PROJECT / "qiaocrawl").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(PROJECT))
    look = (
        "import qiaocrawl\n"
        "from qiaocrawl.runtime.analyse_page import prepare\n"
        "from qiaocrawl.runtime.analysis_setup import AnalysisSetup\n"
        "from qiaocrawl.runtime.c_loops import C_LOOPS\n"
        "prepare(AnalysisSetup('blend', 100, (), 'blend'))\n"
        "print(qiaocrawl.__file__, *(loops.library.load() is not None for loops, _ in C_LOOPS))"
    )
    made = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(egg), "XDG_CACHE_HOME": str(cache)},
        )  # fmt: skip
        assert done.stdout.split() == [f"{egg}/qiaocrawl/__init__.py", "True"]
        made.append([(file, file.stat().st_mtime_ns) for file in cache.rglob("*/kernels/*.so")])
    assert len(made[0]) == 1
    assert made[0] == made[1]
