"""``qiaocrawl units``: what systemd itself says of them, and their commands run as written."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_runs import Run
from crawling import PROJECT
from forking_python import forking_python
from fresh_schema import make_tables
from qiaocrawl.cli.setup import all_units
from qiaocrawl.storage import Database


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database, in which the command is called."""
    monkeypatch.chdir(tmp_path)
    with Database.open("sqlite:///data/qiaocrawl.db") as database:
        make_tables(database)
    return tmp_path


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_units(run: Run, folder: Path) -> None:
    scrapyd = folder / "scrapyd"
    scrapyd.write_text("#!/bin/sh\n")
    scrapyd.chmod(0o755)
    out = ("--out", str(folder / "units"), "--scrapyd", str(scrapyd))
    code, said, error = run("units", "--user", "root", *out)
    assert (code, error) == (0, "")
    made = sorted((folder / "units").iterdir())
    assert len(made) == 7
    assert all(str(path) in said for path in made)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, made)], capture_output=True, text=True
    )
    # It also looks at the units of this machine.
    ours = [line for line in done.stderr.splitlines() if "qiaocrawl-" in line]
    assert ours == []
    assert done.returncode == 0, done.stderr


def test_a_node_runs_nothing_of_the_projects_folder(folder: Path) -> None:
    unit = all_units("root", folder)["qiaocrawl-scrapyd.service"]
    # A copy of the project in its path or folder would be run instead of the egg.
    assert str(folder) not in unit
    assert _exec_start(unit) == ["/opt/qiaocrawl/venv/bin/scrapyd"]


def _exec_start(unit: str) -> list[str]:
    """What systemd would run: %% is a percent sign, $$ a dollar."""
    (line,) = re.findall(r"^ExecStart=(.+)$", unit, re.M)
    return shlex.split(line.replace("%%", "%").replace("$$", "$"))


def test_their_commands_do_what_they_are_for(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", forking_python(tmp_path_factory.mktemp("bin")))
    units = all_units("root", folder)
    environment = {
        **os.environ, "PYTHONPATH": str(PROJECT), "PYTHONUNBUFFERED": "1",
        "QIAO_METRICS_PORT": "0", "QIAO_CONSOLE_PORT": "0",
    }  # fmt: skip
    for name in ("console", "metrics"):
        process = subprocess.Popen(
            _exec_start(units[f"qiaocrawl-{name}.service"]), env=environment, cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        said = ""
        while "http://127.0.0.1:" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said + rest
    (folder / "backups").mkdir()
    subprocess.run(_exec_start(units["qiaocrawl-backup.service"]), env=environment, cwd=folder,
                   check=True)  # fmt: skip
    (copy,) = (folder / "backups").iterdir()
    assert copy.suffix == ".db"
    assert copy.read_bytes().startswith(b"SQLite format 3")
    checked = subprocess.run(_exec_start(units["qiaocrawl-health.service"]), env=environment,
                             cwd=folder, capture_output=True, text=True)  # fmt: skip
    assert checked.returncode == 1
    assert "no article is stored" in checked.stdout


def test_a_folder_that_units_cannot_name_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a b"
    odd.mkdir()
    monkeypatch.chdir(odd)
    code, _, error = run("units")
    assert code == 1
    assert "a b" in error
    code, _, error = run("units", "--user", "a b")
    assert code == 1
    assert "'a b' is no name of a user" in error
