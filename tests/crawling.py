"""Runs real crawls in tests: a local server with any answers, and `scrapy crawl` processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sqlalchemy import text

from crawl_starter import StartedCrawl
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics import save_pack
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack

PROJECT = Path(__file__).resolve().parent.parent

_TERMS = ("侨胞", "华侨", "归侨", "侨务", "侨乡")
_PARAGRAPH = (
    "海外侨胞代表团日前回到侨乡福建参访，与当地归侨侨眷举行座谈，交流华文教育和侨商投资的新情况。"
    "侨务部门负责人介绍了为侨服务的措施，华侨华人社团希望常回家看看，共同办好寻根夏令营。"
)


def article(title: str, *, links: tuple[str, ...] = (), paragraphs: int = 6) -> bytes:
    """A plain on-topic article page with *links* in a list below it."""
    body = "\n".join(f"<p>{_PARAGRAPH}（{n}）</p>" for n in range(paragraphs))
    anchors = "".join(f'<li><a href="{href}">{href}</a></li>\n' for href in links)
    return (
        f'<html><head><meta charset="utf-8"><title>{title}</title></head><body>\n'
        f"<h1>{title}</h1>\n<p>2026-03-05 10:00 来源：侨网</p>\n{body}\n<ul>\n{anchors}</ul>\n"
        "</body></html>"
    ).encode()


@dataclass
class Answer:
    """What the server says; ``before_seconds`` is how long it waits first."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    before_seconds: float = 0.0


Respond = Callable[[str, str], Answer | None]


@dataclass
class Hit:
    """One request the server saw."""

    host: str
    path: str
    at: float
    headers: Mapping[str, str]


class LocalServer(ThreadingHTTPServer):
    """Answers by a function of (host, path); None is 404. Keeps a log of requests."""

    daemon_threads = True

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.log: list[Hit] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def origin(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def paths(self, host: str | None = None) -> list[str]:
        """Requested paths in order, robots.txt left out."""
        return [h.path for h in self.log
                if h.path != "/robots.txt" and host in (None, h.host)]

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LocalServer

    def do_GET(self) -> None:
        host = self.headers.get("Host", "")
        self.server.log.append(Hit(host, self.path, time.monotonic(), dict(self.headers)))
        answer = self.server.respond(host, self.path) or Answer(b"not here", 404)
        time.sleep(answer.before_seconds)
        self.send_response(answer.status)
        headers = {"Content-Type": "text/html; charset=utf-8", **answer.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


@contextmanager
def local_server(respond: Respond) -> Iterator[LocalServer]:
    """Serve until the block ends."""
    server = LocalServer(respond)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pack(*hosts: str, name: str = "qiaoqing", **changes: object) -> TopicPack:
    """A small topic whose authoritative sites are *hosts*."""
    sites = tuple(Site(host, host, "authoritative", 1, "境内", "news") for host in hosts)
    values: dict[str, object] = {
        "name": name, "title": "侨情", "description": "", "threshold": 0.1,
        "terms": tuple(Term(word, "core", 3.0) for word in _TERMS),
        "sites": sites,
        "samples": (Sample("one", "侨胞回乡", _PARAGRAPH * 3, True),),
    }
    return TopicPack(**{**values, **changes})  # type: ignore[arg-type]


def import_pack(database_url: str, topic: TopicPack) -> None:
    """Make the database and put *topic* into it."""
    with Database.open(database_url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            save_pack(c, topic, now=time.time())


def rows(database_url: str, query: str, **values: object) -> list[tuple[object, ...]]:
    """All rows of *query*."""
    with Database.open(database_url) as database, database.engine.connect() as c:
        return [tuple(row) for row in c.execute(text(query), values)]


def outcomes(database_url: str) -> dict[str, str]:
    """Outcome by URL path (URL for other hosts); state number where there is none."""
    found = rows(database_url, "SELECT url, outcome, state FROM url")
    return {str(url): str(outcome if outcome is not None else state)
            for url, outcome, state in found}


@dataclass
class Crawl:
    """A finished `scrapy crawl`."""

    returncode: int
    log: str


_NAMED = str(PROJECT / "tests" / "crawl_with_names.py")
_FAILING = str(PROJECT / "benchmarks" / "failpoints.py")


def _command(spider: str, arguments: tuple[str, ...]) -> list[str]:
    """`crawl SPIDER -a … -s …`."""
    command = ["crawl", spider]
    for before, argument in zip(("", *arguments), arguments, strict=False):
        command += [argument] if "-s" in (before, argument) else ["-a", argument]
    return command


def _environment(database_url: str, options: Mapping[str, str]) -> dict[str, str]:
    return {
        **os.environ, "QIAO_DATABASE_URL": database_url, "PYTHONPATH": str(PROJECT),
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        # What asks a host for more than its links, where a test counts requests.
        "QIAO_SITEMAPS": "off", "QIAO_SOFT_404_PROBE": "off",
        "QIAO_BLOCK_PAUSE_SECONDS": "1", **options,
    }


def start_spider(
    spider: str, database_url: str, *arguments: str, folder: Path, **options: str
) -> subprocess.Popen[str]:
    """Start `scrapy crawl SPIDER -a … -s …`; *options* are environment variables.

    With NAMES_OF_TEST among them, names are looked up there (crawl_with_names.py).
    """
    scrapy = [_NAMED] if "NAMES_OF_TEST" in options else ["-m", "scrapy"]
    return subprocess.Popen(
        [sys.executable, *scrapy, *_command(spider, arguments)], cwd=folder, text=True,
        env=_environment(database_url, options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )


@contextmanager
def running_spider(
    spider: str, database_url: str, *arguments: str, folder: Path, **options: str
) -> Iterator[StartedCrawl]:
    """As :func:`start_spider`, by the starter; it is killed, if need be, when the block ends."""
    program = [_NAMED if "NAMES_OF_TEST" in options else "scrapy"]
    with _running(program + _command(spider, arguments), database_url, folder, options) as one:
        yield one


@contextmanager
def _running(
    command: list[str], database_url: str, folder: Path, options: Mapping[str, str]
) -> Iterator[StartedCrawl]:
    process = StartedCrawl(command, _environment(database_url, options), folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.close()


@contextmanager
def failing_spider(
    point: str, strike: str, spider: str, database_url: str, *arguments: str, folder: Path,
    **options: str,
) -> Iterator[StartedCrawl]:
    """As :func:`running_spider`, failing at a point; see ``benchmarks/failpoints.py``."""
    command = [_FAILING, point, strike, *_command(spider, arguments)]
    with _running(command, database_url, folder, options) as process:
        yield process


def crawl_until(
    point: str, strike: int, spider: str, database_url: str, *arguments: str, folder: Path,
    **options: str,
) -> None:
    """Run `scrapy crawl` until it kills itself at the *strike*-th pass of a point."""
    with failing_spider(
        point, str(strike), spider, database_url, *arguments, folder=folder, **options
    ) as process:
        said, _ = process.communicate(timeout=400)
    assert process.returncode == -signal.SIGKILL, said


def crawl(
    spider: str, database_url: str, *arguments: str, folder: Path, **options: str
) -> Crawl:
    """Run `scrapy crawl` to its end."""
    with running_spider(spider, database_url, *arguments, folder=folder, **options) as process:
        said, _ = process.communicate(timeout=400)
        return Crawl(process.returncode, said)
