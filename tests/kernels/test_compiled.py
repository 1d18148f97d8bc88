"""Compiled loops: made at the first call, said so, and also where nothing can be kept on disk."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import pytest

from crawling import PROJECT
from qiaocrawl.kernels import compiled
from qiaocrawl.kernels.kernel_cache import _parts, fingerprint

PACKAGE = PROJECT / "qiaocrawl"


@compiled.compiled
def _twice(n):  # type: ignore[no-untyped-def]
    return 2 * n


@compiled.compiled
def _four_times(n):  # type: ignore[no-untyped-def]
    return _twice(_twice(n))


def test_compiled_code_calls_compiled_code() -> None:
    assert _four_times(4) == 16
    assert _twice(4) == 8
    assert _four_times.__name__ == "_four_times"


def test_compiling_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    compiled.say_compiling.cache_clear()
    # Of no file, so that none is on disk from the last time.
    functions = [compiled.compiled(eval(f"lambda n: {by} * n")) for by in (3, 5)]
    with caplog.at_level(logging.INFO):
        assert [function(4) for function in functions] == [12, 20]
    assert sum("first use on this machine: compiling" in line for line in caplog.messages) == 1


def test_a_place_that_cannot_be_written_to_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    njit = numba.njit

    def refusing(*functions: Callable[..., Any], **options: bool) -> Any:
        if options.get("cache"):
            # What numba does for an account without a home.
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*functions)

    monkeypatch.setattr(numba, "njit", refusing)
    compiled._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        doubled = [compiled.compiled(function) for function in (lambda n: 2 * n, lambda n: n + n)]
        assert [function(4) for function in doubled] == [8, 8]
    (message,) = caplog.messages
    assert "NUMBA_CACHE_DIR" in message


_KERNELS = """
from qiaocrawl.kernels.compiled import compiled
from loops.numbers import FACTOR, twice

@compiled
def work(n):
    return FACTOR + twice(n)
"""
_NUMBERS = """
from qiaocrawl.kernels.compiled import compiled

FACTOR = {factor}

@compiled
def twice(n):
    return {by} * n
"""
_CALL = """
import sys
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event): compiled.append(event)
    def on_end(self, event): pass
event.register("numba:compile", Listener())
sys.path.insert(0, sys.argv[1])
from loops.kernels import work
print(work(4), bool(compiled))
"""


def _called(place: Path, cache: Path) -> str:
    """What the loop in *place* gives, and whether it had to be compiled."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(PROJECT)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", _CALL, str(place)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def _write(folder: Path, by: int, factor: int) -> None:
    (folder / "loops").mkdir(parents=True, exist_ok=True)
    (folder / "loops" / "__init__.py").write_text("")
    (folder / "loops" / "kernels.py").write_text(_KERNELS)
    (folder / "loops" / "numbers.py").write_text(_NUMBERS.format(by=by, factor=factor))


def test_a_changed_loop_or_number_of_another_module_is_compiled_anew(tmp_path: Path) -> None:
    _write(tmp_path, by=2, factor=0)
    assert _called(tmp_path, tmp_path / "cache") == "8 True"
    assert _called(tmp_path, tmp_path / "cache") == "8 False"
    _write(tmp_path, by=3, factor=0)
    assert _called(tmp_path, tmp_path / "cache") == "12 True"
    _write(tmp_path, by=3, factor=100)
    assert _called(tmp_path, tmp_path / "cache") == "112 True"
    # As an installation does it: the same files with other times.
    os.utime(tmp_path / "loops" / "kernels.py", (1, 1))
    assert _called(tmp_path, tmp_path / "cache") == "112 False"
    assert not (tmp_path / "cache").exists()


def test_loops_of_an_egg_are_kept_too(tmp_path: Path) -> None:
    for by in (2, 3):
        _write(tmp_path / str(by), by, factor=0)
        egg = shutil.make_archive(str(tmp_path / f"loops{by}"), "zip", tmp_path / str(by))
        Path(egg).rename(tmp_path / f"loops{by}.egg")
    # Two versions at a time, as in the middle of an update, and one where it was not before.
    for name, said in (("loops2", "8 True"), ("loops3", "12 True"), ("loops2", "8 False"),
                       ("loops3", "12 False")):  # fmt: skip
        assert _called(tmp_path / f"{name}.egg", tmp_path / "cache") == said
    (tmp_path / "loops2.egg").rename(tmp_path / "elsewhere.egg")
    assert _called(tmp_path / "elsewhere.egg", tmp_path / "cache") == "8 False"


def test_loops_are_known_by_what_they_compute() -> None:
    before = fingerprint(_four_times)
    # Compiled, it is still the same.
    _four_times._code  # noqa: B018 (made when it is asked for)
    assert fingerprint(_four_times) == fingerprint(_four_times._code) == before


def test_no_loop_is_known_by_an_address_in_memory() -> None:
    for file in PACKAGE.rglob("*.py"):
        if "@compiled" in file.read_text("utf-8"):
            import_module(".".join(file.relative_to(PROJECT).with_suffix("").parts))
    # Not all objects there are: a test may have frozen those of this process.
    modules = [one for name, one in list(sys.modules.items()) if name.startswith("qiaocrawl.")]
    loops = [one for module in modules for one in vars(module).values()
             if isinstance(one, compiled.CompiledFunction)]  # fmt: skip
    assert len(loops) > 20
    for loop in loops:
        assert " at 0x" not in "".join(_parts(loop.python, set())), loop
