"""What an installation takes of the disk, by package: `pip install .`, its extras, `make install`.

    .venv/bin/python benchmarks/installed.py [--json FILE]

Reads the environment it runs in: which distributions qiaocrawl asks for, directly and through
others, and the files each has written, compiled modules included. Nothing is installed. Beside it
stands Scrapy with what a user would add for the same (trafilatura, jieba, SQLAlchemy), as far as
this environment has it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parent.parent)]

from packaging.requirements import Requirement
from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows

AIM_BYTES = 500 * 10**6
_SHOWN = 25
_SETS: dict[str, tuple[str, ...]] = {
    "make install, pip install .": ("qiaocrawl",),
    "requirements.txt": ("qiaocrawl[render]",),
}
_PEER = ("scrapy", "trafilatura", "jieba", "sqlalchemy", "pymysql", "scrapy-playwright")
# Come with a virtual environment, whatever is installed.
_OF_PYTHON = ("pip", "setuptools")


def main() -> None:
    """Add up, print, write."""
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else 100)
    rows: list[dict[str, object]] = []
    table = Table("installed", "packages", "MB", "beside the aim of 500 MB")
    for name, wanted in (*_SETS.items(), ("Scrapy and what one would add", _PEER)):
        found = closure((*wanted, *_OF_PYTHON))
        total = sum(found.values())
        table.add_row(name, str(len(found)), f"{total / 1e6:,.0f}",
                      "met" if total <= AIM_BYTES else "missed")  # fmt: skip
        method = "ours" if name in _SETS else "peer"
        rows.append({"task": "installed", "set": name, "method": method, "metric": "bytes",
                     "value": total})  # fmt: skip
    console.print(table)
    packages = Table("package", "MB", "needed by")
    needed = {label: closure(wanted) for label, wanted in _SETS.items()}
    whole = closure((*_SETS["requirements.txt"], *_OF_PYTHON))
    for name, size in sorted(whole.items(), key=lambda pair: -pair[1])[:_SHOWN]:
        by = [label for label, found in needed.items() if name in found]
        packages.add_row(name, f"{size / 1e6:,.1f}", by[0] if by else "Python itself")
    console.print(packages)
    if arguments.json:
        write_rows(arguments.json, rows)


def closure(wanted: Iterable[str]) -> dict[str, int]:
    """Bytes of the distributions that *wanted* come to, by name; those not here are left out."""
    sizes: dict[str, int] = {}
    waiting = [Requirement(line) for line in wanted]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        try:
            found = distribution(requirement.name)
        except PackageNotFoundError:
            continue
        name = found.metadata["Name"].lower()
        if name not in sizes:
            sizes[name] = _bytes(found)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += _asked_for(found.requires or (), extra)
    return sizes


def _asked_for(lines: Sequence[str], extra: str) -> list[Requirement]:
    requirements = map(Requirement, lines)
    return [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": extra})]


def _bytes(found: Distribution) -> int:
    # An editable installation has its files elsewhere.
    paths = {os.path.realpath(str(file.locate())) for file in found.files or ()}
    if found.metadata["Name"] == "qiaocrawl" and len(paths) < 50:
        folder = Path(__file__).resolve().parent.parent
        paths |= {str(path) for name in ("qiaocrawl", "spiders", "pipelines", "middlewares")
                  for path in (folder / name).rglob("*") if path.is_file()}  # fmt: skip
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write JSON Lines there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
