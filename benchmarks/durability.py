"""Disturb a crawl again and again; no page may be lost, no false "finished".

    python benchmarks/durability.py                      # SQLite, 200 disturbances
    python benchmarks/durability.py --mariadb --workers 3     # a private MariaDB server
    python benchmarks/durability.py --spider watch            # also: render, login
    python benchmarks/durability.py --disturb kill --pages 120 --disturbances 8    # as in CI

Disturbances are kills with -9, SIGSTOP past the lease, kills of the database server, locks of
other programs and refused commits; half of the first and all of the last fall at the points of
``benchmarks/disturbances/failpoints.py``. The peer is stock Scrapy with JOBDIR, killed three times.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.disturbances.campaign import KINDS, Campaign
from benchmarks.disturbances.jobs import JOBS
from benchmarks.local_site import LocalSite, ServedSite, serving
from benchmarks.mariadb_server import MariaDB
from benchmarks.rows import write_rows

_FINISHED = re.compile(r"Spider closed \(finished\)")


def _stock_scrapy(served: ServedSite, folder: Path, kills: int, seed: int) -> dict[str, object]:
    """The same site, stock Scrapy with JOBDIR, killed *kills* times and resumed."""
    rng = random.Random(seed)
    spider = folder / "stock.py"
    spider.write_text(
        "import scrapy\n"
        "class Stock(scrapy.Spider):\n"
        "    name = 'stock'\n"
        f"    start_urls = ['http://{served.origin}/']\n"
        "    def parse(self, response):\n"
        f"        open(r'{folder}/stock.txt', 'a').write(response.url + '\\n')\n"
        "        for link in response.css('a::attr(href)').getall():\n"
        "            yield response.follow(link)\n"
    )
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "runspider",
        str(spider),
        "-s",
        "JOBDIR=job",
        "-s",
        "LOG_LEVEL=INFO",
        "-s",
        "TELNETCONSOLE_ENABLED=0",
        "-s",
        "REMOTE_CONTROL_ENABLED=0",
    ]
    for run in range(kills + 1):
        process = subprocess.Popen(command, cwd=folder, stderr=(folder / "stock.log").open("wb"))
        if run < kills:
            try:
                process.wait(rng.uniform(1.5, 3.0))
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
    seen = set((folder / "stock.txt").read_text().split())
    pages = len(served.site.pages)
    log = (folder / "stock.log").read_text("utf-8", "replace")
    return {
        "method": "stock Scrapy, JOBDIR",
        "pages": pages,
        "disturbances": kills,
        "pages_lost": pages - len(seen),
        "false_finishes": int(len(seen) < pages and bool(_FINISHED.search(log))),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--database", default="", help="an empty one, for a single round; default: new SQLite files"
    )
    parser.add_argument("--mariadb", action="store_true", help="start a private MariaDB server")
    parser.add_argument("--workers", type=int, default=1, help="SQLite allows one")
    parser.add_argument("--spider", choices=JOBS, default="site")
    parser.add_argument("--pages", type=int, default=400, help="of a round's site")
    parser.add_argument("--disturbances", type=int, default=200)
    parser.add_argument(
        "--disturb",
        type=_kinds,
        default=",".join(KINDS),
        help=f"kinds out of {','.join(KINDS)}; those the database can have count",
    )
    parser.add_argument(
        "--every-seconds",
        type=float,
        default=2.0,
        help="between two disturbances from outside, about",
    )
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="disturb no longer than this; 0 = no limit"
    )
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--lease-seconds", type=float, default=3.0)
    parser.add_argument("--strategy", default="bfs", help="crawl order")
    # Slow enough that disturbances fall into the crawl, not behind its end.
    parser.add_argument(
        "--delay", type=float, default=0.4, help="seconds the site takes a page and worker"
    )
    parser.add_argument("--no-peer", action="store_true", help="leave stock Scrapy out")
    parser.add_argument(
        "--keep", type=Path, help="new folder for databases and logs; default: none"
    )
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _kinds(given: str) -> list[str]:
    kinds = given.split(",")
    if unknown := set(kinds) - set(KINDS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return kinds


@contextlib.contextmanager
def _databases(
    arguments: argparse.Namespace, folder: Path
) -> Iterator[tuple[Callable[[int], str], MariaDB | None]]:
    """The database of each round, and the server that may be killed."""
    if not arguments.mariadb:
        yield lambda number: arguments.database or f"sqlite:///{folder}/{number}.db", None
        return
    server = MariaDB(folder)
    server.install()
    server.start()

    def database(number: int) -> str:
        server.execute(f"CREATE DATABASE round{number} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        return server.url(f"round{number}")

    try:
        yield database, server
    finally:
        server.stop()


def _ours(arguments: argparse.Namespace, folder: Path, console: Console) -> dict[str, object]:
    job = JOBS[arguments.spider](arguments.pages, folder, arguments.strategy)
    with (
        serving(job.site, delay_seconds=arguments.delay * arguments.workers) as served,
        _databases(arguments, folder) as (url_of_round, server),
    ):
        campaign = Campaign(job, served, folder, url_of_round, arguments, server)
        with Progress(console=console) as progress:
            campaign.run(progress)
    tally = campaign.tally
    return {
        "method": "qiaocrawl",
        "spider": arguments.spider,
        "database": "mariadb"
        if arguments.mariadb or arguments.database[:5] == "mysql"
        else "sqlite",
        "workers": arguments.workers,
        "pages": tally.pages,
        "rounds": tally.rounds,
        "disturbances": tally.count,
        "by_kind": dict(tally.disturbances),
        "pages_lost": tally.pages_lost,
        "false_finishes": tally.false_finishes,
        "runs": tally.runs,
        "fetched_twice": tally.fetched_twice,
        "figures": dict(tally.figures),
        "loss_per_disturbance_at_most": round(3 / max(tally.count, 1), 4),
        "by_point": dict(tally.points),
        "ends": dict(tally.ends),
        "errors": tally.errors,
    }


def main() -> int:
    """Run the campaign; exit code 1 when a page was lost or a finish was false."""
    arguments = _arguments()
    console = Console()
    rows: list[dict[str, object]] = []
    with contextlib.ExitStack() as stack:
        if arguments.keep:
            arguments.keep.mkdir(parents=True)
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ours = _ours(arguments, folder.resolve(), console)
        rows.append(ours)
        if not arguments.no_peer:
            site = LocalSite.build(arguments.pages)
            served = stack.enter_context(serving(site, delay_seconds=arguments.delay))
            rows.append(_stock_scrapy(served, folder, 3, arguments.seed))
    _print(console, rows)
    if arguments.json:
        write_rows(arguments.json, rows)
    return int(bool(ours["pages_lost"] or ours["false_finishes"] or ours["errors"]))


def _print(console: Console, rows: list[dict[str, object]]) -> None:
    table = Table("", "pages", "disturbances", "pages lost", "false finishes", "fetched twice")
    for row in rows:
        name = f"{row['method']} {row.get('spider', '')} {row.get('database', '')}"
        cells = [
            row.get(k, "")
            for k in ("pages", "disturbances", "pages_lost", "false_finishes", "fetched_twice")
        ]
        table.add_row(name, *map(str, cells))
    console.print(table)
    for name in ("by_kind", "by_point", "ends", "figures"):
        console.print(f"{name}:", rows[0][name])
    for error in rows[0]["errors"]:  # type: ignore[attr-defined]
        console.print("error:", error, markup=False)


if __name__ == "__main__":
    sys.exit(main())
