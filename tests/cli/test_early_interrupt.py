"""Ctrl-C while a command is still imported: no traceback, and the exit code of shells."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawling import PROJECT

# Python runs it at its start: a signal comes at the very moment a module is looked for.
_STRIKE = """
import os, signal, sys

class Strike:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == os.environ["STRIKE_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Strike)
"""
_COMMAND = [sys.executable, "-m", "qiaocrawl"]
_SCRAPY = [sys.executable, "-m", "scrapy"]
_RUN, _CRAWL = ["run", "qiaoqing"], ["crawl", "site", "-a", "topic=qiaoqing"]


def _struck(command: list[str], module: str, before: int, folder: Path) -> tuple[int, str]:
    """Exit code as a shell has it, and all that was said, of *command* struck at *module*.

    Args:
        before: what it is to do with SIGINT when it starts.
    """
    (folder / "sitecustomize.py").write_text(_STRIKE)
    environment = {
        **os.environ, "PYTHONPATH": f"{folder}:{PROJECT}", "STRIKE_AT": module,
        "QIAO_DATABASE_URL": f"sqlite:///{folder / 'q.db'}",
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
    }  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, check=False, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, before),
    )  # fmt: skip
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stdout


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ([*_COMMAND, *_RUN], "typer"),
        ([*_COMMAND, *_RUN], "qiaocrawl.cli.run"),
        ([*_COMMAND, *_CRAWL], "scrapy.commands.parse"),
        ([*_SCRAPY, *_CRAWL], "qiaocrawl.crawl.addon"),
        ([*_SCRAPY, *_CRAWL], "qiaocrawl.crawl.starting"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_ctrl_c_during_imports_ends_a_command_without_a_traceback(
    command: list[str], module: str, tmp_path: Path
) -> None:
    code, said = _struck(command, module, signal.SIG_DFL, tmp_path)
    assert code == 130, said
    assert [line for line in said.splitlines() if line.startswith("  File ")] == []
    assert "KeyboardInterrupt" not in said


def test_a_command_that_is_to_ignore_ctrl_c_goes_on(tmp_path: Path) -> None:
    """As under nohup, and for what a shell runs in the background."""
    assert _struck([*_COMMAND, "version"], "typer", signal.SIG_IGN, tmp_path)[0] == 0
