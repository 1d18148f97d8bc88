"""A benchmark says when others used the machine meanwhile."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.machine import OtherWork, other_work

_BURN = "import time\nwhile time.process_time() < 0.5: pass"


def test_what_runs_beside_is_told() -> None:
    beside = subprocess.Popen([sys.executable, "-c", f"{_BURN}\nprint(1, flush=True)\ninput()"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    with beside, other_work() as others:
        assert beside.stdout is not None
        beside.stdout.readline()
        # Not waited for before the block ends.
        assert others.share is None
    assert others.share is not None
    assert others.share > 0.1


def test_a_quiet_machine_and_another_system_need_no_words() -> None:
    found = OtherWork()
    assert found.words() == ""
    found.share = 0.05
    assert found.words() == ""
    found.share = 0.4
    assert "40%" in found.words()
    assert found.row("crawl")["value"] == 0.4
