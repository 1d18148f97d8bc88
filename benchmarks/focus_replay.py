"""One task crawled for real, out of a recorded web, beside the same crawl simulated.

    python benchmarks/focus_replay.py --data DIR --collection NAME --topic T --strategy S
        [--seed N] [--folder FOLDER] [--scorer NAME]

The collection is the recorded web (``QIAO_REPLAY``); topic, samples and start pages are those
of the simulated task. The crawl asks one page at a time, so that both can go the same way. A
real crawl stays on the hosts of its start pages: pages on others are left out of both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]
os.environ.setdefault("OMP_NUM_THREADS", "1")

from rich.console import Console
from rich.table import Table
from sqlalchemy import text

from benchmarks.crawl_orders.data import Collection, FocusError, find_collections, load_collection
from benchmarks.crawl_orders.sim import figures, scorer_of, simulate
from benchmarks.crawl_orders.tasks import MIN_TARGETS, Task, judgements, make_task
from qiaocrawl.errors import QiaoError
from qiaocrawl.frontier import strategies
from qiaocrawl.frontier.strategies.strategy import CrawlTopic
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.urls import host_of

_ONE_AT_A_TIME = (
    "CONCURRENT_REQUESTS=1", "DOWNLOAD_DELAY=0", "DOWNLOAD_DELAY_JITTER=0",
    "QIAO_FRONTIER_BATCH=1", "QIAO_MAX_DEPTH=0", "MEMUSAGE_LIMIT_MB=0",
    # What a site repeats is learnt in the course of a crawl and would change its pages' words.
    "QIAO_SITE_LEARNING=0",
)  # fmt: skip
_LOG_LINES = 15


def bounded(task: Task) -> Task:
    """*task* in a collection without the links that a real crawl does not follow.

    Raises:
        FocusError: too little is left to find.
    """
    collection = task.collection
    starts = [collection.pages[number].url for number in task.starts]
    policy = FollowPolicy(frozenset(map(host_of, starts)))
    pages = tuple(
        replace(page, links=tuple(link for link in page.links if policy.covers(link[1].host)))
        for page in collection.pages
    )
    inside: Collection = replace(collection, pages=pages)
    made = make_task(inside, task.topic, task.seed)
    if len(made.targets) < MIN_TARGETS:
        raise FocusError(
            f"{task.name}: {len(made.targets)} pages to find on the hosts of its start pages, "
            f"fewer than {MIN_TARGETS}"
        )
    return made


def crawl(task: Task, recorded: Path, strategy: str, scorer: str, folder: Path) -> list[int]:
    """Crawl *task* by replay into a database in *folder*; pages in the order of fetches.

    Raises:
        FocusError: the crawl failed.
    """
    url = f"sqlite:///{folder / 'focus.db'}"
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            save_pack(c, task.pack, now=time.time())
    starts = ",".join(task.collection.pages[number].url for number in task.starts)
    command = [sys.executable, "-m", "scrapy", "crawl", "site"]
    for argument in (f"topic={task.topic}", f"start={starts}", f"strategy={strategy}"):
        command += ["-a", argument]
    for option in (*_ONE_AT_A_TIME, f"QIAO_RELEVANCE_METHOD={scorer}"):
        command += ["-s", option]
    environment = {
        **os.environ, "PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        "QIAO_DATABASE_URL": url, "QIAO_REPLAY": str(recorded),
    }  # fmt: skip
    log = folder / "crawl.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        last_lines = "\n".join(lines[-_LOG_LINES:])
        raise FocusError(f"the crawl failed ({log}):\n{last_lines}")
    return _fetched(task, url)


def _fetched(task: Task, database_url: str) -> list[int]:
    """The pages of the collection in the order in which their fetches ended."""
    query = text("SELECT url FROM url WHERE fetched_at IS NOT NULL ORDER BY fetched_at, id")
    with Database.open(database_url) as database, database.engine.connect() as c:
        urls = [str(row[0]) for row in c.execute(query)]
    numbers = {page.url: number for number, page in enumerate(task.collection.pages)}
    return [numbers[url] for url in urls if url in numbers and numbers[url] in task.reachable]


def compare(task: Task, real: Sequence[int], simulated: Sequence[int]) -> Table:
    """The figures of both, and how far they went the same way."""
    table = Table("", "pages", "AUC", "recall 10 %", "25 %", "50 %", "harvest 10 %",
                  title=task.name, title_justify="left")  # fmt: skip
    for name, order in (("crawled by replay", real), ("simulated", simulated)):
        values = figures(task, order).row().values()
        table.add_row(name, str(len(order)), *(f"{value:.3f}" for value in values))
    return table


def _arguments(written: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder with collections")
    add("--collection", required=True)
    add("--topic", required=True)
    add("--strategy", required=True)
    add("--seed", type=int, default=0, help="number of the draw of samples")
    add("--scorer", default="", help="page scorer where the strategy leaves it open")
    add("--folder", type=Path, help="for database and log; a temporary one otherwise")
    return parser.parse_args(written)


def _task(arguments: argparse.Namespace) -> tuple[Task, Path]:
    places = {folder.name: folder for folder in find_collections(arguments.data)}
    folder = places.get(arguments.collection)
    if folder is None:
        raise FocusError(
            f"unknown collection {arguments.collection!r} (there are: {', '.join(places)})"
        )
    collection = load_collection(folder)
    return bounded(make_task(collection, arguments.topic, arguments.seed)), folder


def main(written: Sequence[str] | None = None) -> None:
    """Crawl twice and print the figures side by side."""
    arguments = _arguments(written)
    console = Console(width=None if sys.stdout.isatty() else 120)
    try:
        task, recorded = _task(arguments)
        strategy = strategies.get(arguments.strategy)(CrawlTopic(task.pack))
        scorer = scorer_of(strategy, arguments.scorer)
        simulated = simulate(task, strategy, judgements(task, scorer))
        with tempfile.TemporaryDirectory(prefix="focus-") as temporary:
            folder = (arguments.folder or Path(temporary)).absolute()
            folder.mkdir(parents=True, exist_ok=True)
            real = crawl(task, recorded.absolute(), arguments.strategy, scorer, folder)
    except QiaoError as error:
        sys.exit(f"benchmarks/focus_replay.py: {error}")
    console.print(compare(task, real, simulated))
    pairs = enumerate(zip(real, simulated, strict=False))
    same = next((n for n, (one, other) in pairs if one != other), min(len(real), len(simulated)))
    console.print(f"the same pages in the same order up to fetch {same}")


if __name__ == "__main__":
    main()
