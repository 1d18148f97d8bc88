"""What a learning crawl order costs: scoring anew, feeding pages, making it again from the log.

    python benchmarks/order.py --strategy pagerank
    python benchmarks/order.py --strategy hits --waiting 100000 --pages 10000 --json rows.jsonl

The graph is drawn at random from a fixed seed: pages of --links links, most of them to pages of
the same hosts. CPU seconds are those of this process, all threads together.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

# The figures are those of one thread, as a crawl's order has.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parent.parent)]

from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows
from qiaocrawl.frontier import CrawlTopic, LearningStrategy, make_strategy
from qiaocrawl.frontier.explain import remade_order
from qiaocrawl.frontier.in_memory_frontier import InMemoryFrontier
from qiaocrawl.items import Candidate, Link, Queue, Visit
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import Scope, visit_log
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.pack import Sample, Term, TopicPack
from qiaocrawl.urls import url_key

_PACK = TopicPack(
    "order", "", "", 0.1, (Term("侨胞", "core", 3.0), Term("侨务", "core", 2.0)), (),
    (Sample("a", "侨胞回乡", "海外侨胞回乡参访，侨务部门接待。", True),
     Sample("b", "球赛", "昨晚的球赛很精彩，观众很多。", False)),
)  # fmt: skip
_WORDS = ("侨胞", "新闻", "侨务", "体育", "归侨", "天气", "下一页", "更多", "专题", "图片")
_HOSTS = 20
_PAGES_FED = 200


class RandomWeb:
    """Pages one after the other; each links to new pages and to earlier ones.

    Args:
        links: of one page.
        new_share: of the links, those to URLs never seen before.
    """

    def __init__(self, links: int, new_share: float, seed: int = 20261122) -> None:
        self._rng = random.Random(seed)
        self._links = links
        self._new = max(1, round(links * new_share))
        self.known = [self._link(0)]
        self.pages = 0

    def _link(self, number: int) -> Link:
        host = f"www.site{number % _HOSTS}.test"
        rng = self._rng
        url = f"http://{host}/{rng.choice(('news', 'list', 'a'))}/{number}.html"
        anchor = "".join(rng.choices(_WORDS, k=4))
        return Link(url, url_key(url), host, anchor, rng.choice(_WORDS), region="li ul.list")

    def next_page(self) -> Visit:
        """The next page in the order of discovery, with its links."""
        page, rng = self.known[self.pages], self._rng
        self.pages += 1
        new = [self._link(len(self.known) + n) for n in range(self._new)]
        self.known += new
        old = rng.sample(self.known, min(self._links - self._new, len(self.known)))
        links = list({link.key: link for link in [*new, *old]}.values())
        relevance = rng.random()
        return Visit(page.key, page.url, page.host, 3, relevance, relevance > 0.5,
                     1.8e9 + self.pages, links)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A figure: so many things took so many CPU seconds (or seconds on the wall)."""

    strategy: str
    what: str
    number: int
    seconds: float


def main() -> None:
    """Measure, print, write."""
    arguments = _arguments()
    rows = [
        *rescoring(arguments.strategy, arguments.waiting, arguments.links),
        *remaking(arguments.strategy, arguments.pages, arguments.links),
    ]
    table = Table("what", "number", "seconds", "each")
    for row in rows:
        each = 1e6 * row.seconds / max(row.number, 1)
        table.add_row(row.what, f"{row.number:,}", f"{row.seconds:.3f}", f"{each:,.1f} µs")
    Console().print(table)
    if arguments.json:
        write_rows(arguments.json, map(asdict, rows))


def learner(name: str) -> LearningStrategy:
    """The strategy called *name*.

    Raises:
        SystemExit: it does not learn.
    """
    strategy = make_strategy(name, CrawlTopic(_PACK))
    if not isinstance(strategy, LearningStrategy):
        sys.exit(f"strategy {name!r} does not learn: its scores never change")
    return strategy


def rescoring(name: str, waiting: int, links: int) -> Iterator[Row]:
    """Grow an order until *waiting* URLs wait, then score them all anew a few times."""
    strategy = learner(name)
    in_memory = InMemoryFrontier(strategy, lambda host: True)
    web = RandomWeb(links, new_share=0.3)
    order = in_memory.index
    in_memory.begin_telling()
    while len(order) - web.pages < waiting:
        in_memory.visit(web.next_page())
    order.rescore()
    some = [web.next_page() for _ in range(_PAGES_FED)]
    seconds = _timed(lambda: [in_memory.visit(visit) for visit in some])
    yield Row(name, f"page of {links} links fed, no scoring anew", len(some), seconds)
    in_memory.end_reading(complete=False)
    some = [web.next_page() for _ in range(_PAGES_FED)]
    seconds = _timed(lambda: [in_memory.visit(visit) for visit in some])
    yield Row(name, "the same in a row, scored anew in between", len(some), seconds)
    in_memory.begin_telling()
    times = []
    for _ in range(5):
        in_memory.visit(web.next_page())  # else there is nothing to be scored anew
        times.append(_timed(order.rescore))
    yield Row(name, "waiting URLs scored anew, median", len(order.waiting),
              sorted(times)[2])  # fmt: skip
    choose = [_timed(lambda: in_memory.choose(2, per_host=2, busy_hosts=(), now=0.0))
              for _ in range(51)]  # fmt: skip
    yield Row(name, "choice of two URLs, median", 1, sorted(choose)[25])


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def remaking(name: str, pages: int, links: int) -> Iterator[Row]:
    """Store *pages* visits with their waiting links, and make the order again from them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Database.open(f"sqlite:///{folder}/order.db") as database,
    ):
        database.upgrade()
        _fill(database, pages, links)
        strategy = learner(name)
        began, wall = time.process_time(), time.perf_counter()
        with database.engine.connect() as c:
            in_memory = remade_order(c, strategy, Scope(Queue.SITE, _PACK.name), pages)
        yield Row(name, "page of the log told again", in_memory.visits, time.process_time() - began)
        yield Row(name, "the same by the clock on the wall", in_memory.visits,
                  time.perf_counter() - wall)  # fmt: skip


def _fill(database: Database, pages: int, links: int) -> None:
    web = RandomWeb(links, new_share=0.1)
    scope = Scope(Queue.SITE, _PACK.name)
    with database.engine.begin() as c:
        save_pack(c, _PACK, now=time.time())
        frontier.enqueue(c, [_candidate(web.known[0])], run_id=None, now=1.8e9)
        for _ in range(pages):
            visit = web.next_page()
            leased = frontier.lease_keys(
                c, scope, {visit.key: 1.0}, token=1, lease_seconds=60.0, now=1.8e9
            )
            visit_log.append_visit(c, leased.leases[0], visit, visit_log.pack_links(visit.links))
            candidates = [_candidate(link) for link in visit.links]
            frontier.enqueue(c, candidates, run_id=None, now=1.8e9)


def _candidate(link: Link) -> Candidate:
    return Candidate(link.url, link.key, link.host, Queue.SITE, _PACK.name, anchor=link.anchor)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", default="pagerank")
    parser.add_argument("--waiting", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--links", type=int, default=40, help="of one page")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
