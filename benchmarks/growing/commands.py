"""What commands of an operator cost on a grown store, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.consoles.collection import TOPIC

_ROOT = Path(__file__).resolve().parents[2]
# Reads titles and topics, as a crawl does before its first request.
_START = (
    "import asyncio, os\n"
    "from qiaocrawl.options import Options\n"
    "from qiaocrawl.runtime.runtime import Runtime\n"
    "runtime = Runtime(Options.from_environment())\n"
    "asyncio.run(runtime.articles.load_titles())\n"
    "os._exit(0)\n"
)
# A process takes its parent's peak of memory along: this one is small.
_RUN = (
    "import json, resource, subprocess, sys\n"
    "code = subprocess.call(sys.argv[2:])\n"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    "figures = used.ru_utime + used.ru_stime, used.ru_maxrss\n"
    "open(sys.argv[1], 'w').write(json.dumps(figures))\n"
    "sys.exit(code)\n"
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one command: seconds, processor seconds of its process, its peak of memory."""

    command: str
    wall_seconds: float
    cpu_seconds: float
    memory_mib: float


def costs(url: str, folder: Path) -> Iterator[Cost]:
    """The commands, one after the other."""
    program = [sys.executable, "-m", "qiaocrawl"]
    export = [*program, "export", "--topic", TOPIC, "--format", "jsonl"]
    commands = {
        "db stats": [*program, "db", "stats"],
        "coverage": [*program, "coverage", TOPIC],
        "export": [*export, "--out", str(folder / "all.jsonl"), "--force"],
        "search for a word": [*program, "article", "search", "侨务"],
        "db prune --dry-run": [*program, "db", "prune", "--dry-run"],
    }
    for name, command in commands.items():
        yield _cost(name, command, url, folder)
    # The second takes up the titles that the first has kept.
    for name in ("start of a crawl", "start of a crawl again"):
        yield start_cost(url, folder, folder / "cache", name)


def start_cost(url: str, folder: Path, cache: Path, name: str = "start of a crawl") -> Cost:
    """A start that finds in the folder *cache* what an earlier one has kept there."""
    given = {"XDG_CACHE_HOME": str(cache)}
    return _cost(name, [sys.executable, "-c", _START], url, folder, given)


def _cost(
    name: str, command: list[str], url: str, folder: Path, given: Mapping[str, str] | None = None
) -> Cost:
    environment = {**os.environ, "QIAO_DATABASE_URL": url, "PYTHONPATH": str(_ROOT),
                   "QIAO_LANG": "en", **(given or {})}  # fmt: skip
    log, figures = folder / "command.log", folder / "command.json"
    begun = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        ended = subprocess.run(
            [sys.executable, "-S", "-c", _RUN, str(figures), *command],
            cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if ended.returncode:
        raise RuntimeError(f"{name}: {log.read_text('utf-8')[-2000:]}")
    cpu_seconds, peak_kib = json.loads(figures.read_text("ascii"))
    return Cost(name, time.monotonic() - begun, cpu_seconds, peak_kib / 1024)
