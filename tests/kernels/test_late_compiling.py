"""Loops as Python first; machine code once they have taken long enough, or much is to come."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numba
import pytest

from crawling import PROJECT
from qiaocrawl.kernels import compiled
from qiaocrawl.kernels.compiled import (
    CompiledFunction,
    NotOnDiskError,
    compile_late,
    compile_now,
    expect,
    get_ready_now,
    loading,
)


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_late", None)
    monkeypatch.setattr(compiled, "_is_decided", False)
    monkeypatch.setattr(compiled, "_never_waits", False)


def _is_compiled(loop: CompiledFunction) -> bool:
    return "_code" in loop.__dict__


def _made(*loops: CompiledFunction) -> Callable[[], None]:
    """What compiles these, for numbers."""

    def make() -> None:
        with loading(may_compile=True):
            for loop in loops:
                loop(1)

    return make


def _let_it_get_ready() -> None:
    for thread in threading.enumerate():
        if thread.name == "qiaocrawl-loops":
            thread.join()


def test_a_few_calls_need_no_compiler() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    compile_late(100.0, _made(double))
    assert [double(number) for number in range(3)] == [0, 2, 4]
    assert not _is_compiled(double)


def test_after_their_time_machine_code_is_made_in_a_thread_of_its_own() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    by: list[str] = []

    def make() -> None:
        by.append(threading.current_thread().name)
        _made(double)()

    compile_late(0.0, make)
    assert double(2) == 4
    _let_it_get_ready()
    assert _is_compiled(double)
    assert double(3) == 6
    assert by == ["qiaocrawl-loops"]


def test_a_loop_without_machine_code_stays_python_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    double = CompiledFunction(lambda n: 2 * n)
    treble = CompiledFunction(lambda n: 3 * n)
    compile_late(100.0, _made(double))
    get_ready_now()
    assert (double(3), treble(3), treble(4)) == (6, 9, 12)
    assert (double(1.5), double._code.nopython_signatures) == (
        3.0,
        double._code.nopython_signatures,
    )
    assert len(double._code.nopython_signatures) == 1
    assert len(treble._code.nopython_signatures) == 0
    # One line a loop: treble, and double for what it was not compiled for.
    assert sum("runs as Python" in line for line in caplog.messages) == 2


def test_much_at_once_begins_and_nobody_waits() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    go_on = threading.Event()

    def make() -> None:
        go_on.wait(60)
        _made(double)()

    compile_late(100.0, make)
    expect(9, many=10)
    assert threading.active_count() == len(threading.enumerate())
    assert not any(t.name == "qiaocrawl-loops" for t in threading.enumerate())
    expect(10, many=10)
    assert double(2) == 4
    assert not _is_compiled(double)
    go_on.set()
    _let_it_get_ready()
    assert _is_compiled(double)


def test_a_loop_is_used_as_soon_as_it_is_loaded_itself() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    with loading(may_compile=True):
        double(1)
    is_loaded, goes_on = threading.Event(), threading.Event()

    def make() -> None:
        with loading(may_compile=False):
            double(1)
            is_loaded.set()
            assert goes_on.wait(60.0)  # the other loops

    compile_late(0.0, make)
    assert double(2) == 4
    assert is_loaded.wait(60.0)
    as_python: list[float] = []

    def python(number: float) -> float:
        as_python.append(number)
        return 2 * number

    double.python = python
    assert double(3) == 6
    assert as_python == []
    assert double(1.5) == 3.0, "not compiled for such a number"
    assert as_python == [1.5]
    goes_on.set()
    _let_it_get_ready()


def test_a_start_that_knows_of_much_waits_before_it_goes_on() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    compile_late(100.0, _made(double))
    get_ready_now()
    assert _is_compiled(double)
    assert double(2) == 4


def test_a_process_that_has_compiled_does_not_go_back() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    compile_now()
    compile_late(100.0, _made(double))
    assert double(2) == 4
    assert _is_compiled(double)


def test_what_is_not_on_disk_is_told_to_who_may_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not where the last run of this test kept it.
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    double = CompiledFunction(eval("lambda n: 2 * n"))
    with loading(may_compile=False), pytest.raises(NotOnDiskError):
        double(2)
    with loading(may_compile=True):
        assert double(2) == 4
    with loading(may_compile=False):
        assert double(2) == 4


def test_a_compiler_that_fails_leaves_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda arguments: None)
    double = CompiledFunction(lambda n: 2 * n)

    def make() -> None:
        raise RuntimeError("no machine code")

    compile_late(0.0, make)
    assert double(2) == 4
    _let_it_get_ready()
    assert double(3) == 6


def test_where_no_thread_can_start_loops_stay_python(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(compiled, "Thread", Refused)
    double = CompiledFunction(lambda n: 2 * n)
    compile_late(0.0, _made(double))
    assert [double(number) for number in range(3)] == [0, 2, 4]
    assert not _is_compiled(double)


_NOBODY_WAITS = """
import sys, threading
from numba.core.compiler_lock import global_compiler_lock
from qiaocrawl.cli.compile import load_loops
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.items import TitleRecord
from qiaocrawl.kernels.compiled import compile_late

held, done = threading.Event(), threading.Event()

def compiler_at_work():
    with global_compiler_lock:
        held.set()
        done.wait()

threading.Thread(target=compiler_at_work, daemon=True).start()
held.wait()
compile_late(0.0, load_loops)  # the first call of a loop lets machine code be made
index = TitleIndex()
titles = [f"侨刊第{n}期出版 {n % 7}月{n % 28}日" for n in range(100)]
for n, title in enumerate(titles):
    index.judge_all([TitleRecord(n.to_bytes(16), title, "a.example")])
print(len(index), flush=True)
done.set()
"""


@pytest.mark.parametrize("is_cold", [True, False])
def test_no_title_waits_while_a_compiler_is_at_work(tmp_path: Path, is_cold: bool) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    if is_cold:
        environment["NUMBA_CACHE_DIR"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _NOBODY_WAITS],
        env=environment, capture_output=True, text=True, check=True, timeout=500, cwd=PROJECT,
    )  # fmt: skip
    assert done.stdout == "100\n"


_ENDING = """
from threading import Event
from qiaocrawl.kernels.compiled import CompiledFunction, compile_late, loading

loops = [CompiledFunction(eval(f"lambda n: n + {by}")) for by in range(20)]
is_at_work = Event()

def make():
    with loading(may_compile=True):
        for loop in loops:
            loop(1)
            is_at_work.set()

compile_late(0.0, make)
loops[0](1)
is_at_work.wait()
"""


def test_a_process_that_ends_meanwhile_ends_well(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    subprocess.run(
        [sys.executable, "-c", _ENDING], check=True, timeout=300, cwd=tmp_path, env=environment
    )
