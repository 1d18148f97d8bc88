"""Calls in worker processes: in order, whoever dies; what kills all of them is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawling import PROJECT
from qiaocrawl.errors import WorkerStartError
from qiaocrawl.runtime.bulk import LocalBulk, in_order
from qiaocrawl.runtime.calls import MEMORY_BYTES, CallPool

PARTS = "qiaocrawl.news.stories.lead"


def _squared(number: int) -> int:
    return number * number


def _dies_once(marker: str, number: int) -> int:
    """Kills its process the first time it is called."""
    if not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _dies(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def _fails() -> None:
    raise ValueError("no such text")


def _process() -> tuple[int, int]:
    import resource

    return os.getpid(), resource.getrlimit(resource.RLIMIT_AS)[0]


def _no_slots() -> None:
    raise AssertionError("no page is read")


def test_results_come_in_order_and_no_more_is_begun_than_keeps_the_processes_busy() -> None:
    begun: list[int] = []
    with CallPool(2, PARTS) as calls:
        bulk = LocalBulk(_no_slots, calls)  # type: ignore[arg-type]
        assert bulk.calls_ahead == 8

        def all_of_them():  # type: ignore[no-untyped-def]
            for number in range(40):
                begun.append(number)
                yield bulk.call(_squared, number, name=f"number {number}")

        results = in_order(all_of_them(), bulk.calls_ahead)
        assert next(results) == 0
        assert begun == list(range(9))
        assert list(results) == [number * number for number in range(1, 40)]


def test_without_processes_a_call_is_made_here_when_it_is_asked_for() -> None:
    bulk = LocalBulk(_no_slots)  # type: ignore[arg-type]
    assert bulk.calls_ahead == 0
    assert bulk.call(_process, name="here").result()[0] == os.getpid()


def test_a_process_that_dies_is_replaced_and_nothing_is_missed(tmp_path: Path) -> None:
    with CallPool(2, PARTS) as calls:
        pending = [
            calls.call(_dies_once, str(tmp_path / f"died {number % 3}"), number, name=f"{number}")
            for number in range(12)
        ]
        assert [one.result() for one in pending] == list(range(12))


def test_processes_that_are_all_killed_at_once_are_started_anew() -> None:
    with CallPool(2, PARTS) as calls:
        killed = {calls.call(_process, name="who").result()[0] for _ in range(8)}
        for process in killed:
            os.kill(process, signal.SIGKILL)
        pending = [calls.call(_squared, number, name=f"{number}") for number in range(6)]
        assert [one.result() for one in pending] == [0, 1, 4, 9, 16, 25]


def test_what_kills_every_process_is_named_and_ends_the_work() -> None:
    with CallPool(1, PARTS) as calls:
        with pytest.raises(WorkerStartError, match=r"^texts-1-50: .*died 3 times.*--processes 1"):
            calls.call(_dies, 1, name="texts-1-50").result()
        # Whoever comes next is not at fault.
        assert calls.call(_squared, 3, name="next").result() == 9


def test_an_error_of_the_work_is_told_as_it_is() -> None:
    with CallPool(1, PARTS) as calls, pytest.raises(ValueError, match="no such text"):
        calls.call(_fails, name="texts-1-50").result()


def test_processes_have_bounds_and_end_with_the_block() -> None:
    with CallPool(1, PARTS) as calls:
        process, memory = calls.call(_process, name="who").result()
        assert process != os.getpid()
        assert memory == MEMORY_BYTES
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


KILLED = """
import os, sys
from test_calls import PARTS, _process
from qiaocrawl.runtime.calls import CallPool

with CallPool(1, PARTS) as calls:
    print(calls.call(_process, name="who").result()[0], flush=True)
    sys.stdin.read()
"""


def test_a_command_that_is_killed_leaves_no_process_behind() -> None:
    paths = os.pathsep.join(map(str, (PROJECT, PROJECT / "tests/fixtures", Path(__file__).parent)))
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as command:  # fmt: skip
        assert command.stdout is not None
        process = int(command.stdout.readline())
        watch = os.pidfd_open(process)
        command.kill()
        assert command.wait(20) == -signal.SIGKILL
        import select

        assert select.select([watch], [], [], 60)[0], "it is still there"
        os.close(watch)
