"""A page whose close is refused or fails is worked through again, and brings all it brought."""

from __future__ import annotations

import random
import re
import signal
import time
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl
from crawling import (
    Answer,
    article,
    failing_spider,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)
from newsroom import Newsroom
from newsroom import story as newest
from paged_stories import page, path_of
from qiaocrawl.items import Queue
from qiaocrawl.storage import Database, frontier
from searxng_stand_in import HOST as SEARXNG
from searxng_stand_in import Found, Searxng

HOST = "www.qiao.test"
PAGES = 20
LEASE_SECONDS = 4.0


def site(host: str, path: str) -> Answer | None:
    """A home page that links to all others."""
    if path == "/":
        return Answer(article("首页", links=tuple(f"/{n}" for n in range(PAGES))))
    return Answer(article(f"侨务新闻{path}")) if path[1:].isdigit() else None


def test_a_worker_stopped_past_its_lease_brings_its_links_again(
    database_url: str, tmp_path: Path
) -> None:
    """F-Q2: another worker takes the page back meanwhile, and the stopped one gets it again."""
    import_pack(database_url, pack(HOST))
    # Stored scores with one kind of database, an order that learns with the other.
    strategy = "bfs" if database_url.startswith("sqlite") else "hits"
    with (
        local_server(site) as server,
        failing_spider(
            "before the close",
            "1:stop",
            "site",
            database_url,
            "topic=qiaoqing",
            f"strategy={strategy}",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_FRONTIER_LEASE_SECONDS=str(LEASE_SECONDS),
        ) as process,
    ):
        wait_until_stopped(process)
        until = time.monotonic() + 100 * LEASE_SECONDS
        while not (resumed := recovered(database_url).resumed):
            assert time.monotonic() < until, "it never ran out"
            time.sleep(0.2)
        assert resumed == 1
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=600)
    # More than one where the machine is too busy for leases this short.
    assert re.search(r"'qiaocrawl/lease_lost': [1-9]", said)
    assert "(finished)" in said
    assert server.paths().count("/") == 1, "the stored page is not asked for again"
    assert_all_is_there(database_url)


def test_a_page_whose_storing_fails_brings_its_links_with_the_next_try(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with (
        local_server(site) as server,
        failing_spider(
            "before the close",
            "1:fail",
            "site",
            url,
            "topic=qiaoqing",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_FRONTIER_RETRY_SECONDS="0.1",
        ) as process,
    ):
        said, _ = process.communicate(timeout=600)
    assert "'qiaocrawl/outcome/retry': 1" in said
    assert "(finished)" in said
    assert_all_is_there(url)


# --- commits ------------------------------------------------------------------------------------

REPRINT, STORIES, VERSIONS = "www.bao.test", range(8), range(20, 25)


def news(host: str, path: str) -> Answer | None:
    """Two hosts with the same stories, one that is paged, pages with another address, a
    sitemap; what is missing looks like a page."""
    if path == "/robots.txt":
        return None
    if path == "/":
        links = [f"/s/{n}.html" for n in STORIES]
        if host == HOST:
            links += [path_of(0, 1), *(f"/print/v/{n}.html" for n in VERSIONS)]
        return Answer(article("首页", links=tuple(links), paragraphs=0))
    if path == "/sitemap.xml" and host == HOST:
        listed = "".join(f"<url><loc>http://{host}/s/{n}.html</loc></url>" for n in (0, 99))
        xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return Answer(f'<urlset xmlns="{xmlns}">{listed}</urlset>'.encode())
    if path in (path_of(0, 1), path_of(0, 2), path_of(0, 3)):
        return Answer(page(0, int(path[-6]) if "_" in path else 1))
    number = path.removesuffix(".html").rpartition("/")[2]
    if not number.isdigit():
        return Answer("<html><title>没有这个页面</title><p>您要的页面不在了。</p></html>".encode())
    html = story(int(number))
    if path.startswith("/print/"):
        to = f"http://{host}{path.removeprefix('/print')}"
        html = html.replace("</head>", f'<link rel="canonical" href="{to}"></head>')
    return Answer(html.encode())


def story(number: int) -> str:
    """An article that shares no words with others but the topic's."""
    chance = random.Random(number)

    def words(count: int) -> str:
        return "".join(chr(chance.randrange(0x4E00, 0x8E00)) for _ in range(count))

    told = "".join(f"<p>{'，'.join(f'侨胞{words(12)}' for _ in range(6))}。</p>" for _ in range(5))
    html = article(f"侨胞{words(9)}", paragraphs=0).decode()
    return html.replace("<ul>", f"{told}<ul>")


@pytest.mark.parametrize(
    ("database_url", "fault"),
    [
        ("sqlite", "commits refused"),
        pytest.param("mariadb", "answers to commits lost", marks=pytest.mark.mariadb),
    ],
    indirect=["database_url"],
)
def test_what_is_refused_or_unanswered_is_neither_lost_nor_doubled(
    database_url: str, fault: str, tmp_path: Path
) -> None:
    """Every third commit of a crawl fails, before or after it has arrived."""
    import_pack(database_url, pack(HOST, REPRINT))
    strategy = "bfs" if database_url.startswith("sqlite") else "hits"
    with (
        local_server(news) as server,
        failing_spider(
            fault,
            "3",
            "site",
            database_url,
            "topic=qiaoqing",
            f"strategy={strategy}",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_SITEMAPS="on",
            QIAO_SOFT_404_PROBE="on",
            # Leases of a lost answer are in nobody's hands.
            QIAO_FRONTIER_LEASE_SECONDS="5",
        ) as process,
    ):
        said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    assert "(finished)" in said
    assert "Traceback" not in said
    found = {
        url.removeprefix("http://"): outcome
        for url, outcome in outcomes(database_url).items()
        if "qiaocrawl" not in url
    }
    pages = {f"{host}/s/{n}.html" for host in (HOST, REPRINT) for n in STORIES}
    pages |= {f"{HOST}/s/99.html", HOST + path_of(0, 1)}
    pages |= {f"{HOST}/print/v/{n}.html" for n in VERSIONS}
    assert {one for one, outcome in found.items() if outcome == "article"} >= pages
    articles = sum(outcome == "article" for outcome in found.values())
    assert f"'qiaocrawl/outcome/article': {articles}," in said, "nothing is counted twice"
    _assert_memories_are_kept(database_url, articles)


def test_no_question_is_lost_or_asked_twice_for_refused_commits(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack())
    urls = [f"http://a.test/{n}.html" for n in range(24)]
    searxng = Searxng({"侨胞": Found(urls), "华侨": Found(urls[:10], repeats=True)})
    with (
        local_server(searxng.respond) as server,
        failing_spider(
            "commits refused",
            "3",
            "search",
            url,
            "topic=qiaoqing",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_ENGINES="searxng",
            QIAO_SEARXNG_URL=f"http://{SEARXNG}",
        ) as process,
    ):
        said, _ = process.communicate(timeout=600)
    assert "(finished)" in said
    asked = len(searxng.asked)
    assert asked == len(set(searxng.asked)) >= 7, "three pages of the first, four other terms"
    engine = "engine = 'searxng' AND asked_at IS NOT NULL"
    assert rows(url, f"SELECT COUNT(*), SUM(tries), SUM(new_urls) FROM `query` WHERE {engine}") == [
        (asked, asked, len(urls))
    ]  # fmt: skip
    assert rows(url, "SELECT asked FROM engine_day") == [(asked,)]
    assert rows(url, "SELECT COUNT(*) FROM url WHERE queue = 'pages'") == [(len(urls),)]


def test_a_round_of_watching_asks_for_all_that_is_due_despite_refused_commits(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    room = Newsroom({f"/a/{n}.html": newest(f"侨胞{n}回到侨乡") for n in range(4)})
    with local_server(room.respond) as server:
        room.server = server
        with failing_spider(
            "commits refused",
            "2",
            "watch",
            url,
            "topic=qiaoqing",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        ) as process:
            said, _ = process.communicate(timeout=600)
        asked = server.paths()
    assert "(finished)" in said
    assert {"/", "/qw/", *room.stories} <= set(asked)
    assert len(asked) == len(set(asked))
    assert rows(url, "SELECT SUM(pages + articles + looks) FROM watch_day") == [(len(asked),)]
    assert rows(url, "SELECT MAX(visits) FROM watched_page") == [(1,)]


def _assert_memories_are_kept(url: str, articles: int) -> None:
    """Titles, parts, visits, aliases, sites, traps, missing pages."""
    assert rows(url, "SELECT COUNT(*) FROM article") == [(articles,)]
    assert rows(url, "SELECT COUNT(*) FROM title_entry") == [(articles,)]
    groups = rows(url, "SELECT COUNT(*) FROM verdict GROUP BY group_id HAVING COUNT(*) > 1")
    assert groups == [(2,)] * len(STORIES), "each story and its reprint"
    assert rows(url, "SELECT COUNT(*) FROM article_part") == [(3,)]
    assert rows(url, "SELECT COUNT(*), COUNT(DISTINCT url_id) FROM visit") == rows(
        url, "SELECT COUNT(*), COUNT(*) FROM url WHERE state = 3 AND outcome IN"
        " ('article', 'part', 'list', 'not_article', 'soft_404', 'sitemap')"
    )  # fmt: skip
    assert rows(url, "SELECT host FROM missing_page ORDER BY host") == [(REPRINT,), (HOST,)]
    assert rows(url, "SELECT COUNT(*) FROM url WHERE state IN (0, 1, 2)") == [(0,)]
    for table in ("url_alias", "site_template", "url_form"):
        assert rows(url, f"SELECT COUNT(*) FROM {table}") != [(0,)], table


def assert_all_is_there(url: str) -> None:
    found = outcomes(url)
    assert set(found) == {f"http://{HOST}/", *(f"http://{HOST}/{n}" for n in range(PAGES))}
    assert set(found.values()) <= {"article", "list"}
    pages = PAGES + 1
    assert rows(url, "SELECT COUNT(*), COUNT(DISTINCT url_id) FROM visit") == [(pages, pages)]


def recovered(url: str) -> frontier.Recovery:
    """Take back what ran out, as another worker does."""
    with Database.open(url) as database, database.engine.begin() as c:
        scope = frontier.Scope(Queue.SITE, "qiaoqing", None)
        return frontier.recover(c, scope, now=time.time(), all_dead=False)


def wait_until_stopped(process: StartedCrawl, seconds: float = 600.0) -> None:
    until = time.monotonic() + seconds
    status = Path(f"/proc/{process.pid}/stat")
    while status.read_text().rpartition(") ")[2][0] != "T":
        assert process.poll() is None, "it ended"
        assert time.monotonic() < until, "it did not stop"
        time.sleep(0.02)


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
