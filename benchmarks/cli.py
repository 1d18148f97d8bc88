"""What `qiaocrawl --help` and commands that only read cost, beside `scrapy --help`.

    python benchmarks/cli.py [--runs 5] [--out rows.jsonl]

User and system time of the process (not the clock), the median of some runs, each in an empty
folder with a small database. The first run of each is not counted: it writes byte code.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.rows import write_rows
from qiaocrawl.cli.demo import demo_pack
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack

_ROOT = Path(__file__).resolve().parents[1]
_COMMANDS = (
    ("scrapy", "--help"), ("qiaocrawl", "--help"), ("qiaocrawl", "version"),
    ("qiaocrawl", "db", "stats"), ("qiaocrawl", "report", "coverage", "qiaoqing"),
    ("qiaocrawl", "report", "why", "http://a.example/1"), ("qiaocrawl", "topic", "list"),
    ("qiaocrawl", "topic", "check", str(_ROOT / "topics" / "qiaoqing")),
    ("qiaocrawl", "dedup", "groups"), ("qiaocrawl", "watch", "list", "qiaoqing"),
    ("qiaocrawl", "health"), ("qiaocrawl", "engines", "list"),
    ("qiaocrawl", "export", "--topic", "qiaoqing", "--out", "articles.csv",
     "--force"),
)  # fmt: skip


def cpu_seconds(command: Sequence[str], folder: Path, environment: dict[str, str]) -> float:
    """User and system time of one run of a Python module as a command."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def measured(runs: int) -> list[dict[str, object]]:
    """One row a command: seconds, and how many times those of `scrapy --help`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'q.db'}"
        with Database.open(url) as database:
            database.upgrade()
            with database.engine.begin() as c:
                save_pack(c, demo_pack(), now=0)
        environment = {**os.environ, "QIAO_DATABASE_URL": url, "PYTHONPATH": str(_ROOT)}
        seconds = {
            command: [cpu_seconds(command, folder, environment) for _ in range(runs + 1)][1:]
            for command in _COMMANDS
        }
    base = median(seconds[_COMMANDS[0]])
    return [
        {
            "command": " ".join(command),
            "cpu_seconds": round(median(times), 2),
            "times_scrapy_help": round(median(times) / base, 2),
        }
        for command, times in seconds.items()
    ]


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = measured(arguments.runs)
    for row in rows:
        print(f"{row['cpu_seconds']:6}  {row['times_scrapy_help']:5} ×  {row['command']}")
    if arguments.out is not None:
        write_rows(arguments.out, rows)


if __name__ == "__main__":
    main()
