"""The first analysis of a stored archive: articles a second by one process and by several.

    python benchmarks/stories_archive.py [--articles 3000] [--processes 1 2] [--json FILE]

A store is made in a temporary folder: generated articles of made-up happenings, one in seven a
reprint, crawled within hours. `qiaocrawl analyse` then reads a copy of it for each number of
processes. Told are articles a second of the clock, of the processor time of all its processes and
of the command alone (more is not to be had, however many processors there are),
and the most memory of the command and of one of its processes. What is stored afterwards must be
the same for all numbers, row by row; else the benchmark fails.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from sqlalchemy import Connection, text

from benchmarks.process_samples import Samples
from benchmarks.rows import write_rows
from benchmarks.stories_behind import Happenings
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.items import Candidate, Outcome, PageAnalysis, Queue
from qiaocrawl.items.article import Article
from qiaocrawl.news.stories.story import Item
from qiaocrawl.options import Options
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.storage.values import to_time
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack
from qiaocrawl.urls import url_key

TOPIC = "qiaoqing"
_START = datetime(2026, 3, 2, tzinfo=UTC)
_DAYS, _A_MINUTE = 60, 40
_REPRINT_SHARE = 1 / 7
_HOSTS = 40
_AT_A_TIME = 200
_LOOK_SECONDS = 0.2
# All that an analysis stores, without numbers that a database gives.
_STORED = (
    "SELECT id, title, state, opened, touched, articles, voices, likeness, words FROM story"
    " ORDER BY id",
    "SELECT a.story_id, u.url, a.minute, a.words, hex(a.term_weights) FROM story_article a"
    " JOIN url u ON u.id = a.url_id ORDER BY u.url",
    "SELECT minute, story_id, kind, other_id, url_ids, score, words FROM story_change ORDER BY id",
    "SELECT u.url, n.kind, n.name, n.mentions FROM article_name n JOIN url u ON u.id = n.url_id"
    " ORDER BY u.url, n.kind, n.name",
)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one analysis of the archive took; memory in MiB.

    Args:
        per_own_second: articles a second of the command's own processor time: more is not to be
            had, however many processors there are.
    """

    processes: int
    per_second: float
    per_cpu_second: float
    per_own_second: float
    memory_mib: float
    process_mib: float
    stored: str


def make_store(url: str, count: int) -> None:
    """A store with an archive of *count* articles at *url*."""
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            save_pack(c, load_pack(SHIPPED_PACKS / TOPIC), now=0)
    told = _archive(count)
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}), crawling=False)
    try:
        for start in range(0, count, _AT_A_TIME):
            part = told[start : start + _AT_A_TIME]
            put = partial(_put, runtime, told=part, start=start)
            runtime.writer.submit(put, runtime.articles.titles.lock).result()
    finally:
        runtime.close()


def _archive(count: int) -> list[Item]:
    """Articles in the order a crawl found them, some of them reprints."""
    rng = random.Random(5)
    told = [item for _, item in Happenings().articles(count, _DAYS)]
    for at in range(1, count):
        if rng.random() < _REPRINT_SHARE:
            told[at] = replace(rng.choice(told[max(0, at - 300) : at]), key=told[at].key)
    rng.shuffle(told)
    return told


def _put(runtime: Runtime, c: Connection, *, told: Sequence[Item], start: int) -> None:
    for number, item in enumerate(told, start=start):
        host = f"www.news{number % _HOSTS}.example.cn"
        url = f"http://{host}/{number}.html"
        key = url_key(url)
        frontier.enqueue(c, [Candidate(url, key, host, Queue.SITE, TOPIC)], run_id=None, now=0)
        (url_id,) = c.execute(text("SELECT id FROM url WHERE `key` = :key"), {"key": key}).one()
        published = _START + timedelta(seconds=item.published or 0.0)
        article = Article(url, item.title, item.body, published_at=published)
        prints = body_fingerprints(item.body)
        analysis = PageAnalysis(
            Outcome.ARTICLE, article, (), "utf-8", title_tokens=tuple(_segmenter.terms(item.title)),
            body_digest=prints.digest, body_simhash=prints.simhash, body_sketch=prints.sketch,
        )  # fmt: skip
        saved = articles.save_article(c, url_id, article, analysis, anchor="", now=0)
        runtime.articles.titles.judge(c, saved)
        fetched = _START + timedelta(days=_DAYS, minutes=number // _A_MINUTE)
        c.execute(
            text("UPDATE article SET fetched_at = :at WHERE id = :id"),
            {"at": to_time(fetched), "id": saved.id},
        )


_segmenter = Segmenter((), "rjieba")


def analyse(store: Path, count: int, processes: int) -> Analysis:
    """Let the command read all of *store*, and measure all of its processes."""
    samples = Samples()
    started = time.monotonic()
    command = subprocess.Popen(
        [sys.executable, "-m", "qiaocrawl", "analyse", "--processes", str(processes),
         "--database", f"sqlite:///{store}"],
        cwd=store.parent, env={**os.environ, "PYTHONPATH": str(PROJECT)}, start_new_session=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while command.poll() is None:
            samples.take("command", command.pid)
            time.sleep(_LOOK_SECONDS)
    finally:
        # Its session is its own: an interrupt of this one does not reach it.
        command.kill()
    seconds = time.monotonic() - started
    if command.returncode:
        sys.exit(f"benchmarks: analyse --processes {processes} ended with {command.returncode}")
    most = {
        kind: max((one.rss_mib for (name, _), own in samples.taken.items() if name == kind
                   for one in own), default=0.0)
        for kind in ("command", "command's children")
    }  # fmt: skip
    own = samples.cpu["command", command.pid]
    return Analysis(
        processes, count / seconds, count / samples.cpu_seconds(), count / own,
        most["command"], most["command's children"], _stored(f"sqlite:///{store}"),
    )  # fmt: skip


def _stored(url: str) -> str:
    """A digest of what the analysis stored."""
    digest = hashlib.sha256()
    with Database.open(url) as database, database.engine.connect() as c:
        for query in _STORED:
            for row in c.execute(text(query)):
                digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--articles", type=int, default=3_000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", type=Path, help="write the rows as JSON Lines")
    arguments = parser.parse_args()
    count: int = arguments.articles
    if count < 1 or min(arguments.processes) < 1:
        parser.error("--articles and --processes: at least 1")
    done = []
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "archive.db"
        make_store(f"sqlite:///{archive}", count)
        for processes in arguments.processes:
            store = Path(name) / f"{processes}.db"
            shutil.copyfile(archive, store)
            one = analyse(store, count, processes)
            print(f"{processes} processes: {one.per_second:.1f} articles a second of the clock, "
                  f"{one.per_cpu_second:.1f} of processor time, {one.per_own_second:.1f} of the "
                  f"command's own; {one.memory_mib:.0f} MiB the "
                  f"command, {one.process_mib:.0f} MiB a process")  # fmt: skip
            done.append(one)
            store.unlink()
    if arguments.json:
        write_rows(arguments.json, (
            {"task": "stories_archive", "articles": count, "processes": one.processes,
             "per_second": round(one.per_second, 1),
             "per_cpu_second": round(one.per_cpu_second, 1),
             "per_own_second": round(one.per_own_second, 1),
             "memory_mib": round(one.memory_mib), "process_mib": round(one.process_mib)}
            for one in done
        ))  # fmt: skip
    if len({one.stored for one in done}) > 1:
        sys.exit("benchmarks: what is stored differs with the number of processes")


if __name__ == "__main__":
    main()
