"""Crawl orders in `scrapy crawl site`, and `qiaocrawl report why` on what became of each URL."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawling import (
    Answer,
    article,
    crawl,
    crawl_until,
    import_pack,
    local_server,
    pack,
    rows,
)
from qiaocrawl.cli import main
from qiaocrawl.frontier.threshold import MovingThreshold
from qiaocrawl.urls import url_key

HOST = "www.qiao.test"


def grow(host: str, path: str) -> Answer | None:
    """A tree of 31 pages: /, /a, /b, /aa …"""
    name = path.strip("/")
    if path == "/robots.txt":
        return Answer(b"User-agent: *\nDisallow: /secret")
    if path == "/":
        return Answer(article("首页", links=("/a", "/b", "/gone", "/secret")))
    if name == "gone" or len(name) > 4:
        return None
    links = (f"/{name}a", f"/{name}b") if len(name) < 4 else ()
    return Answer(article(f"侨乡新闻{path}", links=links))


Why = Callable[..., tuple[int, str, str]]


@pytest.fixture
def why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Why:
    """Runs `qiaocrawl report why`; gives exit code, stdout and stderr."""

    def call(url: str, path: str, *arguments: str) -> tuple[int, str, str]:
        page = f"http://{HOST}{path}"
        monkeypatch.setattr(
            sys, "argv", ["qiaocrawl", "report", "why", page, "--database", url, *arguments]
        )
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def told(why: Why) -> Callable[[str, str], dict[str, Any]]:
    """What `qiaocrawl report why --json` says of a path."""

    def call(url: str, path: str) -> dict[str, Any]:
        code, out, err = why(url, path, "--json")
        assert code == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    return call


def stored_paths(url: str) -> set[str]:
    """The pages that are in the database."""
    found = rows(url, "SELECT u.url FROM url u JOIN page_source p ON p.url_id = u.id")
    return {str(where).removeprefix(f"http://{HOST}") for (where,) in found}


def test_a_learning_order_survives_a_kill_and_why_tells_of_every_state(
    tmp_path: Path, why: Why, told: Callable[[str, str], dict[str, Any]]
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(grow) as server:
        crawl_until(
            "outcome committed",
            9,
            "site",
            url,
            "topic=qiaoqing",
            "strategy=pagerank",
            "strategy_options=d=.5",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        )
        seen = rows(url, "SELECT COUNT(*) FROM visit")[0][0]
        assert isinstance(seen, int)
        assert seen >= 9
        stored = stored_paths(url)
        waits = str(rows(url, "SELECT url FROM url WHERE state = 0")[0][0]).removeprefix(
            f"http://{HOST}"
        )
        waiting = told(url, waits)
        assert waiting["state"] == "pending"
        assert waiting["strategy"] == "pagerank"
        assert isinstance(waiting["place"], int)
        assert set(waiting["parts"]) == {"by itself", "along links"}
        done = crawl("site", url, "topic=qiaoqing", "strategy=pagerank", "strategy_options=d=.5",
                     folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
        paths = [path for path in server.paths() if path != "/gone"]
        assert len(set(paths)) == 31
        again = {path for path in paths if paths.count(path) > 1}
    assert "(finished)" in done.log
    assert re.search(r"crawl order pagerank: \d+ pages of the log", done.log)
    assert len(stored) >= 9
    assert not again & stored, "what was being fetched at the kill, at most"
    assert rows(url, "SELECT COUNT(*) FROM visit") == [(32,)]
    dead = rows(
        url, "SELECT u.url, v.relevance FROM visit v JOIN url u ON u.id = v.url_id"
        " WHERE u.outcome = 'dead'"
    )  # fmt: skip
    assert dead == [(f"http://{HOST}/gone", 0.0)], "the order learns from it too"

    fetched = told(url, "/aab")
    assert (fetched["state"], fetched["outcome"]) == ("done", "article")
    assert [step["url"] for step in fetched["path"]] == [
        f"http://{HOST}{path}" for path in ("/", "/a", "/aa", "/aab")
    ]
    assert fetched["parent_relevance"] > 0.1
    assert fetched["article"]["title"] == "侨乡新闻/aab"
    assert fetched["article"]["judgements"][0]["relevant"] is True
    assert fetched["decided_at"]
    assert told(url, "/gone")["outcome"] == "dead"
    assert "robots" in str(told(url, "/secret")["reason"])
    _, shown, _ = why(url, "/aab?utm_source=x#top")
    assert "fetched" in shown
    assert "“/aab”" in shown
    code, _, error = why(url, "/nowhere")
    assert code == 1
    assert "was never seen" in error


def test_links_an_order_leaves_out_are_kept_with_the_reason(
    tmp_path: Path, told: Callable[[str, str], dict[str, Any]]
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(grow) as server:
        done = crawl("site", url, "topic=qiaoqing", "strategy_options=threshold=1",
                     folder=tmp_path, QIAO_DEMO=server.origin,
                     QIAO_STRATEGY="ontology")  # fmt: skip
    assert "(finished)" in done.log
    assert set(server.paths()) == {"/", "/a", "/b", "/gone"}, "from start pages all is fetched"
    assert "'qiaocrawl/links/pruned': 4" in done.log
    found = told(url, "/aa")
    assert (found["state"], found["outcome"]) == ("done", "pruned")
    assert str(found["reason"]).startswith("ontology: anchor")
    assert told(url, "/a")["strategy"] == "ontology"


def test_low_links_are_followed_with_the_probability_of_a_tunnel(
    tmp_path: Path, told: Callable[[str, str], dict[str, Any]]
) -> None:
    # No link's text holds a term, so each of the 31 pages is reached by tunnels alone.
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(grow) as server:
        done = crawl("site", url, "topic=qiaoqing", "strategy=uh", folder=tmp_path,
                     QIAO_DEMO=server.origin, QIAO_STOP_BELOW_THRESHOLD="on",
                     QIAO_THRESHOLD_OPTIONS="start=.5,step=0,tunnel=.7")  # fmt: skip
    assert "(finished)" in done.log
    bar = MovingThreshold(start=0.5, step=0.0, tunnel=0.7)
    expected, waiting = {"/"}, ["/a", "/b", "/gone", "/secret"]
    while waiting:
        path = waiting.pop()
        if bar.is_tunnel(url_key(f"http://{HOST}{path}")):
            expected.add(path)
            grown = path in ("/gone", "/secret") or len(path) > 4
            waiting += [] if grown else [f"{path}a", f"{path}b"]
    assert set(server.paths()) == expected - {"/secret"}
    assert 2 < len(expected) < 31
    low = next(path for path in ("/a", "/b", "/gone", "/secret") if path not in expected)
    assert told(url, low)["outcome"] == "pruned"
    assert "threshold 0.5" in str(told(url, low)["reason"])
