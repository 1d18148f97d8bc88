"""How much of recorded webs a crawl of sites reaches, and by which rule the rest was left out.

    python benchmarks/coverage.py --data DIR [--web NAME …] [--json FILE] [--missing]

Every folder in DIR with ``graph.jsonl.xz`` and pages is crawled for real (``scrapy crawl site``
over ``QIAO_REPLAY``) from its seeds; where it names none, from pages that lead to all others. What
can be reached is what the recorded links of the graph lead to within the hosts of the seeds. Beside
it a peer follows every link that Scrapy's ``LinkExtractor`` finds, breadth first, and nothing else.
Pages with the same bytes are one page. Articles are what ``labels.jsonl.gz`` calls posts, else the
pages with a topic or an author's label. Exit code 1 where fewer than 99.5 % of them are reached.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from sqlalchemy import text

from benchmarks.crawl_orders.data import FocusError, read_topics
from qiaocrawl.errors import QiaoError
from qiaocrawl.fetch.replay.page_folder import find_graph
from qiaocrawl.fetch.replay.web import RecordedWeb, open_recording
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.urls import canonical_url, host_of, in_site

WANTED = 0.995
_LABELS_NAME = "labels.jsonl.gz"
_TOPIC = "coverage"
_LOG_LINES = 15
_MAX_HOPS = 5
_PAGE_OUTCOMES = ("redirect", "dead", "alias", "postponed", "pruned", "trap", "robots", "refused")


@dataclass(frozen=True, slots=True)
class Web:
    """A recorded web: what answers each URL, where its links lead, what an article is.

    Attributes:
        pages: digest of the body that answers a canonical URL.
        links: canonical URLs a page's recorded links lead to.
        articles: digests of article pages.
        seeds: canonical start pages.
    """

    folder: Path
    pages: Mapping[str, bytes]
    links: Mapping[str, Sequence[str]]
    articles: frozenset[bytes]
    seeds: tuple[str, ...]

    def covers(self, url: str) -> bool:
        """Whether *url* is on the sites of the seeds."""
        return any(in_site(host_of(url), site) for site in {host_of(one) for one in self.seeds})


@dataclass(slots=True)
class Result:
    """What one crawl of a web came to; pages by digest.

    Attributes:
        missing: URL of a page that can be reached and was not, with the rule that left it out.
    """

    name: str
    pages: int
    reachable: int
    fetched: int
    articles: int
    reached: int
    peer_reached: int
    requests: int
    peer_requests: int
    seconds: float
    rules: dict[str, int] = field(default_factory=dict)
    missing: list[tuple[str, str, bool]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Articles reached of those that can be."""
        return self.reached / self.articles if self.articles else 1.0


# --- the recorded web ---------------------------------------------------------------------------


def read_web(folder: Path, recorded: RecordedWeb) -> Web:
    """The web in *folder*, opened as *recorded*."""
    graph = find_graph(folder)
    assert graph is not None, "the caller has looked"
    rows = graph_rows(graph)
    pages: dict[str, bytes] = {}
    labelled: set[bytes] = set()
    for row in rows:
        url = canonical_url(row["url"])
        page = recorded.get(row["url"])
        if url is not None and page is not None:
            pages[url] = _digest(page.body)
            if row.get("topics") or any(one != "other" for one in row.get("label", ())):
                labelled.add(pages[url])
    links = {
        url: _targets(row.get("outlinks", ()), pages, recorded)
        for row in rows
        if (url := canonical_url(row["url"]) or "") in pages
    }
    named = _posts(folder, pages) if (folder / _LABELS_NAME).is_file() else labelled
    seeds = [url for one in read_topics(folder)[1] if (url := canonical_url(one))]
    return Web(folder, pages, links, frozenset(named), tuple(seeds or _sources(links)))


def graph_rows(graph: Path) -> list[dict[str, Any]]:
    """The lines of a recorded link graph."""
    opener: Any = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}.get(graph.suffix, open)
    with opener(graph, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=12).digest()


def _targets(
    written: Iterable[str], pages: Mapping[str, bytes], recorded: RecordedWeb
) -> list[str]:
    targets = []
    for link in written:
        url = canonical_url(link)
        if url is not None and url not in pages:
            answer = recorded.get(link)
            moved = dict(answer.headers).get("location", "") if answer is not None else ""
            url = canonical_url(moved or (answer.url if answer is not None else ""))
        if url is not None and url in pages:
            targets.append(url)
    return targets


def _posts(folder: Path, pages: Mapping[str, bytes]) -> set[bytes]:
    with gzip.open(folder / _LABELS_NAME, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    urls = (canonical_url(row["url"]) or "" for row in rows if row["kind"] == "post")
    return {pages[url] for url in urls if url in pages}


def _sources(links: Mapping[str, Sequence[str]]) -> list[str]:
    """Pages that lead to all others: those without links from others first, then by URL."""
    linked = {target for url, targets in links.items() for target in targets if target != url}
    sources: list[str] = []
    seen: set[str] = set()
    for url in sorted(links, key=lambda candidate: (candidate in linked, candidate)):
        # A comma would end a start page on the command line.
        if url not in seen and "," not in url:
            sources.append(url)
            seen |= _closure([url], links, seen)
    return sources


def _closure(
    starts: Iterable[str], links: Mapping[str, Sequence[str]], known: Iterable[str] = ()
) -> set[str]:
    seen = set(known)
    waiting = deque(one for one in starts if one in links)
    seen.update(waiting)
    while waiting:
        for target in links[waiting.popleft()]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def reachable(web: Web) -> set[str]:
    """What recorded links lead to from the seeds without leaving their sites."""
    inside = {url: [one for one in targets if web.covers(one)]
              for url, targets in web.links.items()}  # fmt: skip
    return _closure(web.seeds, inside)


# --- the two crawls -------------------------------------------------------------------------------


def follow_all(web: Web, recorded: RecordedWeb) -> tuple[set[bytes], int]:
    """Every page a plain breadth-first crawl reads, by digest, and its requests."""
    extract = LinkExtractor(tags=("a", "area", "frame", "iframe"), attrs=("href", "src"),
                            deny_extensions=()).extract_links  # fmt: skip
    waiting = deque((seed, 0) for seed in web.seeds)
    seen, read, requests = set(web.seeds), set[bytes](), 0
    while waiting:
        url, hops = waiting.popleft()
        requests += 1
        page = recorded.get(url)
        if page is None:
            continue
        moved = dict(page.headers).get("location", "")
        if moved:
            targets = [moved] if hops < _MAX_HOPS else []
        else:
            read.add(_digest(page.body))
            targets = [link.url for link in extract(HtmlResponse(url, body=page.body))]
        for link in map(canonical_url, targets):
            if link is not None and link not in seen and web.covers(link):
                seen.add(link)
                waiting.append((link, hops + 1 if moved else 0))
    return read, requests


def crawl(
    web: Web, code: Path, folder: Path, settings: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Outcome and reason of every URL after `scrapy crawl site` of the checkout *code*.

    Raises:
        FocusError: the crawl failed.
    """
    url = f"sqlite:///{folder / 'coverage.db'}"
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            terms = (Term("侨", "core"),)
            save_pack(c, TopicPack(_TOPIC, _TOPIC, "", 0.1, terms, (), ()), now=time.time())
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"topic={_TOPIC}",
               "-a", f"start={','.join(web.seeds)}"]  # fmt: skip
    for setting in ("MEMUSAGE_LIMIT_MB=0", *settings):
        command += ["-s", setting]
    environment = {
        **os.environ, "PYTHONPATH": str(code), "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        "QIAO_DATABASE_URL": url, "QIAO_REPLAY": str(web.folder.absolute()),
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    log = folder / "crawl.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        last_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
        raise FocusError("the crawl failed:\n" + "\n".join(last_lines))
    with Database.open(url) as database, database.engine.connect() as c:
        rows = c.execute(text("SELECT url, outcome, reason, fetched_at FROM url"))
        return {str(row[0]): (str(row[1] or "waiting"), str(row[2] or "")) for row in rows}


def measure(folder: Path, code: Path, settings: Sequence[str]) -> Result:
    """Crawl the web in *folder* both ways."""
    with open_recording(folder) as recorded:
        web = read_web(folder, recorded)
        peer, peer_requests = follow_all(web, recorded)
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="coverage-") as temporary:
            outcomes = crawl(web, code, Path(temporary), settings)
        seconds = time.monotonic() - began
        read = {
            _digest(page.body)
            for url, (outcome, _) in outcomes.items()
            if outcome not in _PAGE_OUTCOMES and (page := recorded.get(url)) is not None
        }
    urls = reachable(web)
    wanted = {web.pages[url] for url in urls}
    articles = wanted & web.articles
    result = Result(
        name=folder.name, pages=len(set(web.pages.values())), reachable=len(wanted),
        fetched=len(wanted & read), articles=len(articles), reached=len(articles & read),
        peer_reached=len(articles & peer), requests=_asked(outcomes),
        peer_requests=peer_requests, seconds=seconds,
    )  # fmt: skip
    by_page: dict[bytes, list[str]] = defaultdict(list)
    for url in sorted(urls):
        by_page[web.pages[url]].append(url)
    for lost in sorted(wanted - read):
        rule = min(_rule(url, outcomes, web) for url in by_page[lost])
        result.missing.append((by_page[lost][0], rule, lost in articles))
    result.rules = dict(Counter(rule.partition(":")[0] for _, rule, _ in result.missing))
    return result


def _asked(outcomes: Mapping[str, tuple[str, str]]) -> int:
    unasked = ("alias", "postponed", "pruned", "trap", "robots", "refused", "waiting")
    return sum(outcome not in unasked for outcome, _ in outcomes.values())


def _rule(url: str, outcomes: Mapping[str, tuple[str, str]], web: Web) -> str:
    """What left *url* out, as far as the crawl says so."""
    if url in outcomes:
        return ": ".join(filter(None, outcomes[url]))
    parents = [
        parent for parent, targets in web.links.items() if url in targets and parent in outcomes
    ]
    reasons = sorted({f"{outcomes[parent][0]} {parent}" for parent in parents})
    return (
        f"never proposed: linked from {len(reasons)} read pages, such as {', '.join(reasons[:2])}"
    )


# --- telling --------------------------------------------------------------------------------------


def table_of(results: Iterable[Result]) -> Table:
    """One line a web."""
    table = Table("web", "pages", "reachable", "fetched", "articles", "reached", "%", "plain %",
                  "requests", "plain", "s", "left out by")  # fmt: skip
    for one in results:
        plain = one.peer_reached / one.articles if one.articles else 1.0
        rules = ", ".join(f"{rule} {n}" for rule, n in sorted(one.rules.items()))
        table.add_row(*map(str, (
            one.name, one.pages, one.reachable, one.fetched, one.articles, one.reached,
            f"{one.share:.2%}", f"{plain:.2%}", one.requests, one.peer_requests,
            f"{one.seconds:.0f}", rules,
        )))  # fmt: skip
    return table


def _arguments(written: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder with recorded webs")
    add("--web", action="append", default=[], help="name of one of them; may be repeated")
    add("--json", type=Path, help="write all figures there")
    add("--missing", action="store_true", help="list what was not reached, with the rule")
    add("--code", type=Path, default=PROJECT, help="checkout whose crawl is measured")
    add("--setting", action="append", default=[], help="NAME=VALUE of the crawl")
    return parser.parse_args(written)


def _webs(data: Path, names: Sequence[str]) -> Iterator[Path]:
    folders = sorted(data.iterdir()) if data.is_dir() else []
    webs = [folder for folder in folders if find_graph(folder) is not None]
    if not webs:
        raise FocusError(f"--data {str(data)!r}: no recorded web there")
    if unknown := set(names) - {folder.name for folder in webs}:
        raise FocusError(f"unknown web {sorted(unknown)[0]!r} "
                         f"(there are: {', '.join(folder.name for folder in webs)})")  # fmt: skip
    yield from (folder for folder in webs if not names or folder.name in names)


def main(written: Sequence[str] | None = None) -> None:
    """Crawl, print and judge."""
    arguments = _arguments(written)
    console = Console(width=None if sys.stdout.isatty() else 180)
    results: list[Result] = []
    try:
        for folder in _webs(arguments.data, arguments.web):
            results.append(measure(folder, arguments.code.absolute(), arguments.setting))
            console.print(f"{folder.name}: {results[-1].share:.2%} of the articles, "
                          f"{results[-1].seconds:.0f} s")  # fmt: skip
    except QiaoError as error:
        sys.exit(f"benchmarks/coverage.py: {error}")
    console.print(table_of(results))
    if arguments.missing:
        for one in results:
            for url, rule, is_article in one.missing:
                kind = "article" if is_article else "page"
                console.print(f"{one.name} {kind} {url}  {rule}", markup=False, soft_wrap=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(list(map(_as_dict, results)), ensure_ascii=False))
    if any(one.share < WANTED for one in results):
        sys.exit("benchmarks/coverage.py: fewer than 99.5 % of the articles were reached")


def _as_dict(one: Result) -> dict[str, Any]:
    names = (name for name in Result.__slots__)
    return {name: getattr(one, name) for name in names} | {"share": one.share}


if __name__ == "__main__":
    main()
