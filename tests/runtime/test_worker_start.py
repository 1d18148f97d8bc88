"""Workers do not run an installed program again; one of the user's own may hold plug-ins."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

_PROGRAM = """
import os
print("ran", __name__)
if __name__ == "__main__":
    from qiaocrawl.runtime.workers import WorkerContext

    process = WorkerContext().Process(target=os.getpid)
    process.start()
    process.join()
    print("ended", process.exitcode, __import__("sys").modules["__main__"].__name__)
"""


@pytest.mark.parametrize("is_installed", [True, False])
def test_only_a_program_of_ones_own_is_run_in_a_worker(tmp_path: Path, is_installed: bool) -> None:
    folder = Path(sysconfig.get_path("scripts")) if is_installed else tmp_path
    program = folder / f"of-a-test-{tmp_path.name}.py"
    program.write_text(_PROGRAM)
    try:
        said = subprocess.run(
            [sys.executable, str(program)], capture_output=True, text=True, check=True
        ).stdout  # fmt: skip
    finally:
        program.unlink()
    lines = ["ran __main__", "ended 0 __main__"]
    if not is_installed:
        lines.insert(1, "ran __mp_main__")
    assert sorted(said.splitlines()) == sorted(lines)
