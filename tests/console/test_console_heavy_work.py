"""Heavy work has a queue of its own: pages answer beside it, one user does not fill it, and what
nobody waits for ends."""

from __future__ import annotations

import asyncio
import html
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from starlette.exceptions import HTTPException

from console_articles import add_stories
from console_client import Desk, visible
from document_files import changed_zip, word
from qiaocrawl.console.heavy_work import MOST_AT_ONCE, MOST_OF_USER, HeavyWork
from qiaocrawl.console.page import _end_with_reader
from qiaocrawl.console.pages import articles
from qiaocrawl.export.base import Exporter, ExportReport
from qiaocrawl.runtime.sent_files import GivenUpError
from storage_samples import PACK, add_topic

_TEMPLATE = {"url": "http://www.a-qiao.cn/0", "hosts": "www.a-qiao.cn", "path": "*"}


async def _stays() -> bool:
    return False


def test_a_few_at_a_time_and_one_of_each_user() -> None:
    running: list[str] = []
    most: list[int] = []
    may_end = threading.Event()

    def work(user: str) -> Callable[[Callable[[], bool]], str]:
        def made(_is_over: Callable[[], bool]) -> str:
            running.append(user)
            most.append(len(running))
            assert running.count(user) == 1
            may_end.wait()
            running.remove(user)
            return user

        return made

    async def all_of_it() -> list[object]:
        queue = HeavyWork()
        names = ["a"] * (MOST_OF_USER + 2) + ["b", "c", "d"]
        tasks = [asyncio.ensure_future(queue.do(name, work(name), _stays)) for name in names]
        while len(running) < MOST_AT_ONCE:
            await asyncio.sleep(0)
        # Of "a" one is made; what is beyond its share was told so at once.
        assert set(queue.running) == {"a", "b"}
        assert queue.waiting() == MOST_OF_USER - 1 + 2
        may_end.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert (queue.waiting(), queue.running) == (0, set())
        return list(done)

    done = asyncio.run(all_of_it())
    assert max(most) == MOST_AT_ONCE
    refused = [one for one in done if isinstance(one, HTTPException)]
    assert [one.status_code for one in refused] == [429, 429]
    assert sorted(one for one in done if isinstance(one, str)) == ["a"] * 3 + ["b", "c", "d"]


def test_what_nobody_waits_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qiaocrawl.console.heavy_work._LOOK_SECONDS", 0.01)
    ended = threading.Event()
    begun = threading.Event()
    left = {"a": False, "b": False}

    def runs(is_over: Callable[[], bool]) -> None:
        begun.set()
        while not is_over():
            pass
        ended.set()
        raise GivenUpError

    def never(_is_over: Callable[[], bool]) -> None:
        raise AssertionError("begun for nobody")

    async def is_gone(user: str) -> bool:
        return left[user]

    async def all_of_it() -> None:
        queue = HeavyWork(1)
        first = asyncio.ensure_future(queue.do("a", runs, lambda: is_gone("a")))
        while not begun.is_set():
            await asyncio.sleep(0)
        second = asyncio.ensure_future(queue.do("b", never, lambda: is_gone("b")))
        left["b"] = True
        with pytest.raises(HTTPException):
            await second
        left["a"] = True
        with pytest.raises(HTTPException):
            await first
        # The place is free again.
        assert await queue.do("a", lambda _is_over: 1, _stays) == 1

    asyncio.run(all_of_it())
    assert ended.is_set()


def test_a_turn_that_does_not_come_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()

    async def all_of_it() -> None:
        queue = HeavyWork(1)
        first = asyncio.ensure_future(queue.do("a", lambda _is_over: may_end.wait(), _stays))
        while not queue.running:
            await asyncio.sleep(0)
        monkeypatch.setattr("qiaocrawl.console.heavy_work._WAIT_SECONDS", 0.0)
        with pytest.raises(HTTPException) as told:
            await queue.do("b", lambda _is_over: 1, _stays)
        assert (told.value.status_code, told.value.headers) == (503, {"Retry-After": "60"})
        may_end.set()
        assert await first

    asyncio.run(all_of_it())


def test_pages_answer_beside_forty_exports(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("reader")
    may_end, making = threading.Event(), []

    def write(_c: Connection, _selection: object, out: Path, _progress: object) -> ExportReport:
        making.append(1)
        may_end.wait()
        out.write_text("x", "utf-8")
        return ExportReport(1)

    endless = Exporter(".csv", lambda _c, _selection: 1, write)
    monkeypatch.setattr(articles.exporters, "get", lambda _name: endless)
    with ThreadPoolExecutor(40) as threads:
        exports = [threads.submit(sqlite_desk.get, "/articles/export/csv") for _number in range(40)]
        try:
            # All but what one user may have is told at once.
            refused = [one for one in _done(exports, 40 - MOST_OF_USER) if one.status_code == 429]
            assert len(refused) == 40 - MOST_OF_USER
            assert "still being made" in visible(refused[0].text)
            assert refused[0].headers["retry-after"]
            assert sqlite_desk.get("/articles").status_code == 200
            assert sqlite_desk.get("/").status_code == 200
            assert len(making) == 1
        finally:
            may_end.set()
        assert [one.result().status_code for one in exports].count(200) == MOST_OF_USER


def _done(futures, number):  # type: ignore[no-untyped-def]
    """The results of the first *number* that are there."""
    results = []
    for future in as_completed(futures):
        results.append(future.result())
        if len(results) == number:
            return results
    return results


def test_a_statement_ends_with_its_reader(sqlite_desk: Desk) -> None:
    # Asked before the statement, then within it.
    answers = iter([False, False, True, True, True])
    endless = text(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    )
    with sqlite_desk.database.reading() as c:
        _end_with_reader(c, lambda: next(answers))
        with pytest.raises(Exception, match="interrupted"):
            c.execute(endless)
        with pytest.raises(GivenUpError):
            c.execute(text("SELECT 1"))


def test_an_expression_that_runs_away_stops_no_page(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_EXTRACT_SECONDS", "1")
    # To count 10,000 paragraphs for each of them is a hundred million steps.
    add_stories(sqlite_desk.database, body="a</p>" + "<p>a</p>" * 10_000 + "<p>b")
    sqlite_desk.log_in_as("editor")
    nested = {**_TEMPLATE, "body": "p:has(~ p:nth-last-child(1))"}
    page = html.unescape(sqlite_desk.get("/sites/template", params=nested).text)
    assert "not read within 1 seconds of processor time" in visible(page)
    assert nested["body"] in page
    # A crawl would set such pages aside: it is tried, and not kept.
    page = html.unescape(sqlite_desk.get("/sites/template/trial", params=nested).text)
    assert "It takes too long on some pages" in page
    assert sqlite_desk.post("/sites/template", **nested).status_code == 400
    mark = {"url": nested["url"], "mark": "data-0123456789abcdef"}
    assert sqlite_desk.get("/sites/template/page", params=mark).status_code == 200


def test_a_bomb_among_samples_is_refused_by_its_name(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    runs = b"<w:p>" + b"<w:r/>" * 20 + b"</w:p>"
    slow = (
        b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        b"<w:body>" + runs * 150_000 + b"</w:body></w:document>"
    )
    monkeypatch.setenv("QIAO_EXTRACT_SECONDS", "1")
    files = [("files", ("慢的.docx", changed_zip(word(), "word/document.xml", slow)))]
    answer = sqlite_desk.client.post(
        f"/topics/{PACK.name}/samples/import", files=files,
        data={"csrf_token": sqlite_desk.token, "relevant": "yes"},
    )  # fmt: skip
    words = visible(html.unescape(answer.text))
    assert (answer.status_code, "慢的.docx: not read within 1 seconds" in words) == (400, True)
