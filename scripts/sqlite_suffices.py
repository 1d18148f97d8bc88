"""Which tests on both kinds of database `make test` runs on SQLite only.

    python scripts/sqlite_suffices.py [--log FOLDER]

All tests on MariaDB run once and what they ask of it is noted. Then the quickest ones are chosen
that together ask everything; the others' names go to ``tests/sqlite_suffices.txt``, and their
MariaDB half runs with `make test-all`. A new test is not in it, so it runs on both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "sqlite_suffices.txt"
_HEAD = """\
# Tests whose MariaDB half `make test` leaves to `make test-all`: others ask the same of MariaDB.
# Written by scripts/sqlite_suffices.py.
"""


def chosen(asked: dict[str, set[str]], seconds: dict[str, float]) -> set[str]:
    """The tests that together ask all of *asked*: greedily, most that is new for its time first."""
    left = set().union(*asked.values())
    taken: set[str] = set()
    while left:
        best = max(
            (test for test in asked if test not in taken),
            key=lambda test: (len(asked[test] & left) / (seconds[test] + 0.1), test),
        )
        taken.add(best)
        left -= asked[best]
    return taken


def main() -> int:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, help="what an earlier run noted")
    folder = parser.parse_args().log
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="sql-log-"))
        print(f"{folder}: what tests ask of MariaDB", flush=True)
        subprocess.run(
            [sys.executable, "-m", "pytest", "--all", "-q", "-n", "4", "--dist", "worksteal",
             "-p", "sql_log", "--sql-log", folder, "-k", "mariadb"],
            cwd=ROOT, check=True, env={**os.environ, "PYTHONPATH": "tests/fixtures"},
        )  # fmt: skip
    asked: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for file in folder.glob("*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            one = json.loads(line)
            test, _, parameters = one["test"].partition("[")
            if "mariadb" in parameters.rstrip("]").split("-"):
                asked[test] |= set(one["asked"])
                seconds[test] += one["seconds"]
    needed = chosen(asked, seconds)
    others = sorted(set(asked) - needed)
    LIST.write_text(_HEAD + "".join(f"{test}\n" for test in others), "utf-8")
    left = sum(seconds[test] for test in others)
    print(f"{len(needed)} tests on both, {len(others)} on SQLite only: {left:.0f} s less")
    return 0


if __name__ == "__main__":
    sys.exit(main())
