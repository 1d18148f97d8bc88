"""What keeping a raw page costs: in the database, then in files, beside plain WARC writing.

    python benchmarks/page_store.py [--data DIR] [--pages 2000] [--rounds 3] [--json FILE]

Pages are the HTML files in DIR, else those of the generated site. "database" is the writer as a
crawl uses it, into SQLite; "ours" is that, and then the pages packed into files of 64 MB, which
takes their bodies out of the database. "warcio" writes the same pages with its own writer into one
file and knows nothing else of them. Bytes of the database are of its file after VACUUM, so that
neither has what only waits to be used again. Medians over the rounds; CPU of all threads.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.local_site import LocalSite
from benchmarks.rows import write_rows
from qiaocrawl.items import Candidate, FetchedPage, Outcome, Queue
from qiaocrawl.storage import Database, Reader, Writer, frontier
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.page_store.packing import pack
from qiaocrawl.storage.page_store.stores import held_store, open_store
from qiaocrawl.storage.pages.raw_pages import load_page, store_page
from qiaocrawl.storage.topics import topics
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.urls import url_key

_TASK, _HOST, _TOPIC = "page_store", "a.example", "bench"
_HEADERS = (("content-type", "text/html; charset=utf-8"), ("server", "nginx"))
_AT_A_TIME = 100
_FILE_BYTES = 64 * 10**6

Figures = dict[str, float]


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    bodies = _bodies(arguments.data, arguments.pages)
    methods: dict[str, Callable[[list[bytes], Path], Figures]] = {
        "database": lambda pages, folder: _stored(pages, folder, is_packed=False),
        "ours": lambda pages, folder: _stored(pages, folder, is_packed=True),
        "warcio": _plain_warc,
    }
    rounds: dict[str, list[Figures]] = {name: [] for name in methods}
    for _number in range(arguments.rounds):
        for name, method in methods.items():
            with tempfile.TemporaryDirectory() as folder:
                rounds[name].append(method(bodies, Path(folder)))
    source = arguments.data.name if arguments.data else "generated"
    rows = [
        {"task": _TASK, "set": source, "method": name, "metric": metric,
         "value": round(statistics.median(one[metric] for one in found), 3)}
        for name, found in rounds.items() for metric in found[0]
    ]  # fmt: skip
    _show(rows, len(bodies), sum(map(len, bodies)) // len(bodies))
    if arguments.json:
        write_rows(arguments.json, rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with HTML files, also gzipped")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _bodies(data: Path | None, count: int) -> list[bytes]:
    """Pages that all differ: a second round through too few of them is marked."""
    if data is None:
        return list(LocalSite.build(count).pages.values())
    files = sorted(file for file in data.rglob("*") if file.name.endswith((".html", ".html.gz")))
    found = []
    for number in range(count):
        file = files[number % len(files)]
        body = file.read_bytes()
        body = gzip.decompress(body) if file.suffix == ".gz" else body
        found.append(body + f"<!-- {number} -->".encode())
    return found


def _page(number: int, body: bytes) -> FetchedPage:
    url = f"http://{_HOST}/{number}.html"
    return FetchedPage(url=url, final_url=url, status=200, headers=_HEADERS, body=body,
                       fetched_at=datetime.now(UTC))  # fmt: skip


def _stored(bodies: list[bytes], folder: Path, *, is_packed: bool) -> Figures:
    with Database.open(f"sqlite:///{folder}/q.db") as database:
        database.upgrade()
        with database.engine.begin() as c:
            topics.save_pack(c, TopicPack(_TOPIC, _TOPIC, "", 0.2, (), (), ()), now=time.time())
            frontier.enqueue(c, [_candidate(n) for n in range(len(bodies))], run_id=None,
                             now=time.time())  # fmt: skip
        reader, writer = Reader(database), Writer(database)
        began = time.process_time()
        _store(database, bodies)
        if is_packed:
            store = open_store(database, f"file://{folder}/pages")
            with held_store(reader, writer, store, file_bytes=_FILE_BYTES) as work:
                assert pack(work) == len(bodies)
        cpu = time.process_time() - began
        began = time.process_time()
        with database.engine.connect() as c:
            for number in range(0, len(bodies), 10):
                assert load_page(c, number + 1) is not None
        read = (time.process_time() - began) / len(range(0, len(bodies), 10))
        writer.close()
        reader.close()
    # No page of it is in use now, so that this is the room it takes.
    with closing(sqlite3.connect(folder / "q.db")) as plain:
        plain.execute("VACUUM")
    return _figures(bodies, cpu, read, folder)


def _store(database: Database, bodies: list[bytes]) -> None:
    scope = Scope(Queue.SITE, _TOPIC)
    for _start in range(0, len(bodies), _AT_A_TIME):
        with database.engine.begin() as c:
            leases = frontier.lease(
                c, scope, token=1, limit=_AT_A_TIME, per_host=_AT_A_TIME, lease_seconds=600.0,
                now=time.time(),
            )  # fmt: skip
            for lease in leases:
                number = int(lease.url.rpartition("/")[2].removesuffix(".html"))
                page = _page(number, bodies[number])
                store_page(c, lease, page, now=time.time())
                frontier.complete(c, lease, outcome=Outcome.LIST, reason="", http_status=200,
                                  redirect_key=None, now=time.time())  # fmt: skip


def _candidate(number: int) -> Candidate:
    url = f"http://{_HOST}/{number}.html"
    return Candidate(url=url, key=url_key(url), host=_HOST, queue=Queue.SITE, topic=_TOPIC)


def _plain_warc(bodies: list[bytes], folder: Path) -> Figures:
    file = folder / "pages" / "plain.warc.gz"
    file.parent.mkdir()
    began = time.process_time()
    with file.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for number, body in enumerate(bodies):
            headers = StatusAndHeaders("200 OK", list(_HEADERS), protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(
                f"http://{_HOST}/{number}.html", "response", payload=io.BytesIO(body),
                length=len(body), http_headers=headers,
            ))  # fmt: skip
    return _figures(bodies, time.process_time() - began, 0.0, folder)


def _figures(bodies: list[bytes], cpu: float, read: float, folder: Path) -> Figures:
    count = len(bodies)
    database = folder / "q.db"
    files = sum(file.stat().st_size for file in (folder / "pages").rglob("*.warc.gz"))
    return {
        "CPU, ms a page": 1000 * cpu / count,
        "CPU of reading one, ms": 1000 * read,
        "database, bytes a page": database.stat().st_size / count if database.exists() else 0.0,
        "files, bytes a page": files / count,
    }


def _show(rows: list[dict[str, object]], count: int, mean: int) -> None:
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    table = Table("method", *metrics, title=f"{count} pages of {mean:,} bytes as fetched")
    for method in dict.fromkeys(str(row["method"]) for row in rows):
        values = {row["metric"]: row["value"] for row in rows if row["method"] == method}
        table.add_row(method, *(f"{values[metric]:,}" for metric in metrics))
    Console().print(table)


if __name__ == "__main__":
    main()
