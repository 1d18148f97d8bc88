"""Which files one page, one page of the console, or one command passes through.

    python scripts/rooms.py

An article of a small site on loopback is crawled by a spider of ours, profiled from `parse` to
what is remembered once it is stored; the same page is analysed as a worker process does it; pages
of the console are asked for; commands are run. Files of ours are counted in which code was run
(for commands also those that were loaded).
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
_OURS = tuple(f"{ROOT}/{name}/" for name in ("qiaocrawl", "spiders", "pipelines", "middlewares"))
_CRAWL = """
import sys
sys.path.insert(0, {scripts!r})
from rooms import Rooms
from qiaocrawl.pipelines.store import StorePipeline
from qiaocrawl.crawl.spider import FrontierSpider

rooms, parse, remember = Rooms(), FrontierSpider.parse, StorePipeline._remember
rooms.watch()

def begin(self, response, *args, **kwargs):
    if not rooms.is_done:
        rooms.start()
    return parse(self, response, *args, **kwargs)

def end(self, item):
    remember(self, item)
    if rooms.is_on:
        rooms.stop()
        if item.analysis is None or item.analysis.article is None:
            rooms.is_done = False
            rooms.files.clear(), rooms.functions.clear()

FrontierSpider.parse, StorePipeline._remember = begin, end
from scrapy.cmdline import execute
sys.argv = ["scrapy", *{arguments!r}]
try:
    execute()
finally:
    print("rooms:", rooms)
"""


class Rooms:
    """Files of ours in which code is run, in all threads, between start and stop."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.functions: set[tuple[str, str]] = set()
        self.is_on = self.is_done = False

    def __str__(self) -> str:
        return f"{len(self.files)} files, {len(self.functions)} functions"

    def watch(self) -> None:
        """Be told of the calls of this thread, and of all that are started from now on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def start(self) -> None:
        """Begin to note them."""
        self.is_on = True

    def stop(self) -> None:
        """End it."""
        self.is_on, self.is_done = False, True

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        if self.is_on and event == "call":
            file = frame.f_code.co_filename
            if file.startswith(_OURS) and not frame.f_code.co_name.startswith("<"):
                self.files.add(file)
                self.functions.add((file, frame.f_code.co_qualname))


@contextlib.contextmanager
def noted() -> Iterator[Rooms]:
    """The rooms of a block."""
    rooms = Rooms()
    rooms.watch()
    rooms.start()
    try:
        yield rooms
    finally:
        rooms.stop()
        sys.setprofile(None)
        threading.setprofile(None)


def crawled_page() -> str:
    """In the crawl's process, all its threads."""
    from benchmarks.crawls.running import ours_command
    from benchmarks.local_site import LocalSite, serving

    with tempfile.TemporaryDirectory() as folder, serving(LocalSite.build(1)) as served:
        arguments, environment = ours_command(served, Path(folder))
        program = _CRAWL.format(scripts=str(ROOT / "scripts"), arguments=arguments)
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True,
            check=True, env={**os.environ, **environment},
        )  # fmt: skip
    return done.stdout.rpartition("rooms:")[2].strip()


def analysed_page() -> str:
    """In a worker process."""
    from qiaocrawl.items import FetchedPage
    from qiaocrawl.runtime.analyse_page import analyse_page, prepare
    from qiaocrawl.runtime.analysis_setup import AnalysisSetup
    from qiaocrawl.topic.folder import load_pack

    setup = AnalysisSetup("blend", 10, (load_pack(ROOT / "topics" / "qiaoqing"),), "blend",
                          order_topic="qiaoqing")  # fmt: skip
    prepare(setup)
    text = "".join(f"<p>第{n}段：归侨代表在侨乡博物馆开幕式上捐赠了家书。</p>\n" for n in range(9))
    body = (f"<title>侨乡博物馆开幕_南桥侨网</title>\n<h1>侨乡博物馆开幕</h1>\n"
            f"<i>2026-03-05 来源：南桥侨报 作者：林晓</i>\n{text}")  # fmt: skip
    page = FetchedPage("http://a.example/1.html", "http://a.example/1.html", 200,
                       (("content-type", "text/html; charset=utf-8"),), body.encode(),
                       datetime.now(UTC))  # fmt: skip
    # What the first page makes for all is no room of a page.
    analyse_page(page, setup)
    with noted() as rooms:
        assert analyse_page(page, setup).article is not None
    return str(rooms)


def command(*arguments: str) -> str:
    """A command's files that are loaded, and those in which code runs."""
    from qiaocrawl.cli import main

    old, sys.argv = sys.argv, ["qiaocrawl", *arguments]
    try:
        with noted() as rooms, contextlib.redirect_stdout(io.StringIO()):
            try:
                main()
            except SystemExit as end:
                if end.code:
                    sys.exit(f"qiaocrawl {' '.join(arguments)} ended with {end.code}")
    finally:
        sys.argv = old
    return f"{len(_loaded())} files loaded, {rooms} run"


def _loaded() -> set[str]:
    files = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
    return {file for file in files if file.startswith(_OURS) and not file.endswith("__init__.py")}


def _apart(name: str, *arguments: str) -> str:
    """A trip in an interpreter of its own, which has loaded nothing before."""
    done = subprocess.run(
        [sys.executable, __file__, name, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def _with_database(run: Callable[[str], None]) -> None:
    """A database with a few articles in stories, of the tests' own."""
    sys.path[:0] = [str(ROOT / "tests" / "fixtures"), str(ROOT / "tests" / "console")]
    from console_articles import add_stories  # type: ignore[import-not-found]
    from fresh_schema import make_tables  # type: ignore[import-not-found]
    from qiaocrawl.storage import Database
    from told_stories import tell_stories  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/rooms.db"
        with Database.open(url) as database:
            make_tables(database)
            add_stories(database)
        tell_stories(url)
        run(url)


def _tell(url: str) -> None:
    from qiaocrawl.storage import Database

    with Database.open(url) as database, database.engine.connect() as c:
        first = str(c.exec_driver_sql("SELECT url FROM url ORDER BY id").scalars().first())
    os.environ["QIAO_DATABASE_URL"] = url
    print("an article page, crawl process:", crawled_page())
    print("the same in a worker:", _apart("analysed"))
    for words in (("article", "list"), ("story", "list"), ("report", "missed", "qiaoqing"),
                  ("report", "why", first)):  # fmt: skip
        print(f"qiaocrawl {' '.join(words)}:", _apart("command", *words))
    for path in ("/articles", "/articles/1", "/stories", "/coverage"):
        print(f"console {path}:", _apart("console", path))


def console_page(path: str) -> str:
    """A page of the console, asked for a second time."""
    sys.path[:0] = [str(ROOT / "tests" / "fixtures")]
    from console_client import desk_at  # type: ignore[import-not-found]

    rooms = Rooms()
    # Before the console starts its threads.
    rooms.watch()
    with desk_at(os.environ["QIAO_DATABASE_URL"]) as desk:
        desk.log_in_as("administrator")
        desk.get(path)
        rooms.start()
        answer = desk.get(path)
        rooms.stop()
    assert answer.status_code == 200, (path, answer.status_code)
    return str(rooms)


def main() -> None:
    """Print all trips, or the one asked for."""
    what = sys.argv[1:]
    if not what:
        _with_database(_tell)
    elif what[0] == "analysed":
        print(analysed_page())
    elif what[0] == "command":
        print(command(*what[1:]))
    else:
        print(console_page(what[1]))


if __name__ == "__main__":
    main()
