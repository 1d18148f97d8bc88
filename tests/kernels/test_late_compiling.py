"""Loops as Python first; machine code once they have taken long enough, or much is to come."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from qiaocrawl.kernels import compiled, late_compiling
from qiaocrawl.kernels.compiled import CompiledFunction, compile_late, compile_now, expect
from qiaocrawl.kernels.late_compiling import LateCompiling


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_late", None)
    monkeypatch.setattr(compiled, "_is_decided", False)


def _is_compiled(loop: CompiledFunction) -> bool:
    return "_code" in loop.__dict__


def _loops() -> None:
    for thread in threading.enumerate():
        if thread.name == "qiaocrawl-loops":
            thread.join()


def test_a_few_calls_need_no_compiler() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    compile_late(100.0)
    assert [double(number) for number in range(3)] == [0, 2, 4]
    assert not _is_compiled(double)


def test_after_their_time_those_called_are_compiled_in_a_thread_of_its_own() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    treble = CompiledFunction(lambda n: 3 * n)
    compile_late(0.0)
    assert double(2) == 4
    _loops()
    assert _is_compiled(double)
    assert not _is_compiled(treble)
    assert (double(3), treble(3)) == (6, 9)
    assert _is_compiled(treble)


def test_much_at_once_waits_for_the_compiler() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    compile_late(100.0)
    expect(9, many=10)
    assert double(2) == 4
    assert not _is_compiled(double)
    expect(10, many=10)
    assert double(2) == 4
    assert _is_compiled(double)


def test_a_process_that_has_compiled_does_not_go_back() -> None:
    double = CompiledFunction(lambda n: 2 * n)
    compile_now()
    compile_late(100.0)
    assert double(2) == 4
    assert _is_compiled(double)


def test_a_loop_that_cannot_be_compiled_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda arguments: None)

    class Broken:
        def python(self, n: int) -> int:
            return n

        def get_ready(self, arguments: tuple[Any, ...]) -> None:
            raise RuntimeError("no machine code")

    ready = threading.Event()
    late = LateCompiling(0.0, ready.set)
    assert late.run(Broken(), (5,)) == 5
    assert ready.wait(60)


def test_where_no_thread_can_start_the_next_call_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(late_compiling, "Thread", Refused)
    double = CompiledFunction(lambda n: 2 * n)
    compile_late(0.0)
    assert double(2) == 4
    assert not _is_compiled(double)
    assert double(3) == 6
    assert _is_compiled(double)


_ENDING = """
from qiaocrawl.kernels.compiled import CompiledFunction, compile_late

loops = [CompiledFunction(eval(f"lambda n: n + {by}")) for by in range(200)]
compile_late(0.05)
for loop in loops * 1000:
    loop(1)
"""


def test_a_process_that_ends_meanwhile_ends_well() -> None:
    subprocess.run([sys.executable, "-c", _ENDING], check=True, timeout=300)
