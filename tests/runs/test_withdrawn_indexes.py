"""An index that was taken for an article is withdrawn once the pages it leads to are known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection

from crawling import Answer, article, crawl, import_pack, local_server, pack, rows
from qiaocrawl.cli.url import why
from qiaocrawl.extract.page import analyse_html
from qiaocrawl.items import FetchedPage
from qiaocrawl.runs.reprocess import reprocess_extract
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.judgements import save_judgement
from stored_pages import HOST, opened, store

__all__ = ["opened"]

STORY = article("老码头修缮工程昨天动工，乡亲送来旧照片")
OTHER = article("华文学校开学，新生比去年多了一倍")
_EXCERPT = (
    "海外侨胞代表团日前回到侨乡福建参访，与当地归侨侨眷举行座谈，交流华文教育和侨商投资的新情况。"
    "侨务部门负责人介绍了为侨服务的措施，华侨华人社团希望常回家看看，共同办好寻根夏令营……"
)
REPRINT = (
    "<p>以上是去年夏天的旧闻。今年的老码头又有了新的面貌，本报记者走访了三位住在河边的老人。</p>"
    "<p>他们说，从前每天清早就有船靠岸，如今船少了，来看老房子的年轻人却一年比一年多起来。</p>"
) * 3


def index(excerpt: str = _EXCERPT, rest: str = "") -> bytes:
    """A tag page with one story and no sign of that but the heading, which leads to it."""
    return (
        '<html><head><meta charset="utf-8"><title>老码头 | 侨网</title></head><body>'
        '<h2><a href="/story.html">老码头修缮工程昨天动工，乡亲送来旧照片</a></h2>'
        f"<p>2026-03-05 10:00</p><p>{excerpt}</p>{rest}</body></html>"
    ).encode()


def outcomes(database_url: str) -> dict[str, str]:
    found = rows(database_url, "SELECT url, outcome FROM url")
    return {url.removeprefix(f"http://{HOST}"): outcome for url, outcome in found}


@pytest.mark.parametrize("order", [("/wharf/", "/story.html"), ("/story.html", "/wharf/")])
def test_an_index_is_withdrawn_whichever_page_comes_first(
    database_url: str, opened: Callable[[], Runtime], order: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    pages = {"/wharf/": index(), "/story.html": STORY, "/other.html": OTHER}
    for path in (*order, "/other.html"):
        store(database_url, {path: pages[path]})
    runtime = opened()
    for _ in range(2):  # the second time nothing changes
        reprocess_extract(runtime, lambda _: True)
        assert outcomes(database_url) == {
            "/wharf/": "list", "/story.html": "article", "/other.html": "article"
        }  # fmt: skip
        assert rows(database_url, "SELECT COUNT(*) FROM article") == [(2,)]
        for table in ("relevance", "verdict"):
            assert rows(database_url, f"SELECT COUNT(DISTINCT article_id) FROM {table}") == [(2,)]
        assert rows(database_url, "SELECT COUNT(*) FROM excerpt") == [(0,)]
    why(f"http://{HOST}/wharf/", as_json=True, database=database_url)
    assert "withdrawn as an index: its text stands on" in capsys.readouterr().out
    kept = rows(database_url, "SELECT kind, note FROM revision")
    if order[0] == "/wharf/":
        ((kind, note),) = kept
        assert kind == "withdrawn"
        assert f"its text stands on http://{HOST}/story.html" in note
    else:
        assert kept == []  # it was never an article


@pytest.mark.parametrize("order", [("/wharf/", "/story.html"), ("/story.html", "/wharf/")])
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(index("今年的老码头又有了新的面貌。" * 9), id="text of its own"),
        pytest.param(index(rest=REPRINT), id="a quotation and more"),
    ],
)  # fmt: skip
def test_an_article_that_leads_to_another_stays(
    database_url: str, opened: Callable[[], Runtime], page: bytes, order: tuple[str, str]
) -> None:
    pages = {"/wharf/": page, "/story.html": STORY}
    for path in order:
        store(database_url, {path: pages[path]})
    reprocess_extract(opened(), lambda _: True)
    assert set(outcomes(database_url).values()) == {"article"}


@pytest.mark.parametrize("order", [("/n/1.html", "/news/"), ("/news/", "/n/1.html")])
def test_of_a_story_and_the_channel_that_shows_it_whole_the_story_stays(
    database_url: str, opened: Callable[[], Runtime], order: tuple[str, str]
) -> None:
    """Each has a heading that leads to the other, and neither names the story in its title."""
    heading = '<html><head><meta charset="utf-8"><title>侨网</title></head><body><h2><a href="{}">'
    body = f"</a></h2><p>老码头修缮工程昨天动工</p><p>{_EXCERPT}</p><p>{_EXCERPT[::-1]}</p></body>"
    pages = {
        "/n/1.html": f"{heading.format('/news/')}侨乡新闻{body}".encode(),
        "/news/": f"{heading.format('/n/1.html')}老码头修缮工程昨天动工{body}".encode(),
    }
    for path in order:
        store(database_url, {path: pages[path]})
    runtime = opened()
    for _ in range(2):
        reprocess_extract(runtime, lambda _: True)
        assert outcomes(database_url)["/n/1.html"] == "article"


@pytest.mark.parametrize("order", [("/wharf/", "/story.html"), ("/story.html", "/wharf/")])
def test_what_an_operator_calls_on_topic_is_not_withdrawn(
    database_url: str, opened: Callable[[], Runtime], order: tuple[str, str]
) -> None:
    pages = {"/wharf/": index(), "/story.html": STORY}
    for path in order:
        store(database_url, {path: pages[path]})
    with Database.open(database_url) as database, database.engine.begin() as c:
        address = f"http://{HOST}/wharf/"
        save_judgement(c, "qiaoqing", address, relevant=True, note="", now=1.0)
    reprocess_extract(opened(), lambda _: True)
    assert set(outcomes(database_url).values()) == {"article"}


def test_what_is_rolled_back_withdraws_nothing(
    database_url: str, opened: Callable[[], Runtime]
) -> None:
    """The withdrawal and the story that brings it are committed together or not at all."""
    store(database_url, {"/wharf/": index()})
    runtime = opened()
    reprocess_extract(runtime, lambda _: True)
    store(database_url, {"/story.html": STORY})
    address = f"http://{HOST}/story.html"
    page = FetchedPage(address, address, 200, (), STORY, datetime(2026, 9, 1, tzinfo=UTC))
    analysis = analyse_html(page, "blend", 100)
    ((row,),) = rows(database_url, f"SELECT id FROM url WHERE url = '{address}'")

    def killed(c: Connection) -> None:
        runtime.articles.titles.lock(c)
        runtime.articles.save(c, row, analysis, anchor="")
        raise KeyboardInterrupt

    with (
        Database.open(database_url) as database,
        pytest.raises(KeyboardInterrupt),
        database.engine.begin() as c,
    ):
        killed(c)
    assert outcomes(database_url)["/wharf/"] == "article"
    assert rows(database_url, "SELECT COUNT(*) FROM article") == [(1,)]
    reprocess_extract(runtime, lambda _: True)
    assert outcomes(database_url) == {"/wharf/": "list", "/story.html": "article"}


def test_a_crawl_withdraws_what_it_stored(database_url: str, tmp_path: Path) -> None:
    home = b"<title>x</title><ul><li><a href=/wharf/>a</a><li><a href=/other.html>b</a></ul>"
    pages = {"/": home, "/wharf/": index(), "/story.html": STORY, "/other.html": OTHER}

    def respond(host: str, path: str) -> Answer | None:
        return Answer(pages[path]) if host == HOST and path in pages else None

    import_pack(database_url, pack(HOST))
    with local_server(respond) as server:
        crawl("site", database_url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    ended = outcomes(database_url)
    assert {path: ended[path] for path in list(pages)[1:]} == {
        "/wharf/": "list", "/story.html": "article", "/other.html": "article"
    }  # fmt: skip
    assert rows(database_url, "SELECT kind FROM revision") == [("withdrawn",)]
    for table in ("article", "verdict", "relevance"):
        assert rows(database_url, f"SELECT COUNT(*) FROM {table}") == [(2,)]
