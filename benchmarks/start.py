"""What the start of a crawl costs: small crawls again and again, beside bare Scrapy.

    python benchmarks/start.py [--pages 3] [--rounds 7] [--before DIR] [--json FILE]

User and system time of `scrapy` and of every process below it, exactly: this program adopts
whoever loses its parent, and waits for all. Linux only. Medians; the first run of each is not
counted, and another checkout is measured in turn, before and behind ours.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

PROJECT = Path(__file__).resolve().parent.parent
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from benchmarks.crawls.running import bare_command, ours_command
from benchmarks.local_site import LocalSite, ServedSite, serving
from benchmarks.machine import other_work
from benchmarks.rows import write_rows

_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>

Spent = tuple[float, float]
"""Seconds of the processor: of the crawl's own process, and of all below it."""


def spent(command: list[str], folder: Path, environment: dict[str, str]) -> Spent:
    """What *command* takes.

    Raises:
        SystemExit: it failed.
    """
    said = folder / "said.txt"
    # The site is served by a child of this process, which is not to be waited for.
    kept = _children()
    with said.open("wb") as file:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=file, stderr=file
        )
    own = below = 0.0
    while own == 0.0 or _children() - kept:
        pid, status, usage = os.wait4(-1, 0)
        seconds = usage.ru_utime + usage.ru_stime
        if pid != process.pid:
            below += seconds
            continue
        own, process.returncode = seconds, os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{said.read_text()[-3000:]}")
    return own, below


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split())


def measured(served: ServedSite, rounds: int, before: Path | None) -> dict[str, list[Spent]]:
    """All rounds, by name of what was measured."""
    projects = {"ours": PROJECT} | ({"before": before} if before is not None else {})
    found: dict[str, list[Spent]] = {name: [] for name in ("bare", *projects)}
    with tempfile.TemporaryDirectory(prefix="start-") as name:
        folder = Path(name)
        for number in range(rounds + 1):
            for method in found if number % 2 else reversed(found):
                command, environment = (
                    (bare_command(served, folder), {}) if method == "bare"
                    else ours_command(served, folder, project=projects[method])
                )  # fmt: skip
                program = Path(sys.executable).with_name("scrapy")
                seconds = spent([sys.executable, str(program), *command], folder, environment)
                if number:
                    found[method].append(seconds)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0):
        raise SystemExit("this system lets nobody adopt processes")
    before = arguments.before.resolve() if arguments.before is not None else None
    with serving(LocalSite.build(arguments.pages)) as served, other_work() as others:
        found = measured(served, arguments.rounds, before)
    base = median(map(sum, found["bare"]))
    rows: list[dict[str, object]] = []
    for method, runs in found.items():
        own, below = median(run[0] for run in runs), median(run[1] for run in runs)
        whole = median(map(sum, runs))
        print(f"{method:6} own process {own:5.2f} s, below it {below:5.2f} s,"
              f" all {whole:5.2f} s, {whole / base:5.2f} × bare")  # fmt: skip
        rows.append({
            "task": "start", "set": f"local site, {arguments.pages} pages", "method": method,
            "metric": "cpu_seconds", "value": round(whole, 3),
        })  # fmt: skip
    print(others.words())
    if arguments.json is not None:
        write_rows(arguments.json, [*rows, others.row("start")])


if __name__ == "__main__":
    main()
