"""`scrapy crawl watch` on a local web that changes: conditional requests, revisions, kills."""

from __future__ import annotations

import time
from pathlib import Path

from crawling import (
    Answer,
    Crawl,
    LocalServer,
    crawl,
    crawl_until,
    failing_spider,
    import_pack,
    local_server,
    pack,
    rows,
    running_spider,
)
from newsroom import HOST, Newsroom, story

TOPIC = "topic=qiaoqing"


def round_of(database_url: str, folder: Path, server: LocalServer, **options: str) -> Crawl:
    done = crawl(
        "watch",
        database_url,
        TOPIC,
        folder=folder,
        QIAO_DEMO=server.origin,
        QIAO_FRONTIER_RETRY_SECONDS="0.1",
        **options,
    )
    assert done.returncode == 0, done.log
    return done


def make_due(database_url: str, *tables: str) -> None:
    """As if the planned time had passed."""
    from sqlalchemy import text

    from qiaocrawl.storage import Database

    with Database.open(database_url) as database, database.engine.begin() as c:
        for table in tables:
            c.execute(text(f"UPDATE {table} SET next_at = 1"))
        # Rounds plan anew from the last visit.
        c.execute(text("UPDATE watched_page SET last_at = last_at - 1000000"))


def test_rounds_bring_news_corrections_and_deletions(mariadb_url: str, tmp_path: Path) -> None:
    database_url = mariadb_url
    room = Newsroom({"/a1.html": story("侨胞回乡寻根"), "/a2.html": story("华侨农场变迁")})
    import_pack(database_url, pack(HOST))
    with local_server(room.respond) as server:
        room.server = server
        first = round_of(database_url, tmp_path, server)
        assert "(finished)" in first.log
        pages = rows(
            database_url,
            "SELECT u.url, w.kind, w.name, w.visits FROM watched_page w"
            " JOIN url u ON u.id = w.url_id ORDER BY u.url",
        )
        assert pages == [
            (f"http://{HOST}/", "home", "", 1),
            (f"http://{HOST}/qw/", "channel", "侨务要闻", 1),
        ]
        assert rows(database_url, "SELECT DISTINCT channel FROM article") == [("侨务要闻",)]
        assert rows(database_url, "SELECT COUNT(*) FROM watched_article") == [(2,)]

        nothing = len(server.log)
        round_of(database_url, tmp_path, server)
        assert [hit.path for hit in server.log[nothing:]] == [], "nothing was due"

        # An article was corrected, one deleted, a new one came; an advertisement changed.
        room.stories["/a1.html"] = story("侨胞回乡寻根访祖", note="更正")
        room.stories["/a3.html"] = story("侨务新政策发布")
        room.gone.add("/a2.html")
        make_due(database_url, "watched_page", "watched_article")
        before = len(room.asked("/a1.html"))
        done = round_of(database_url, tmp_path, server, QIAO_WATCH_ARTICLE_HOURS="1,2")
        assert "(finished)" in done.log
        assert room.asked("/qw/")[-1].headers["If-None-Match"] == '"2"'
        assert len(room.asked("/a1.html")) == before + 1
        # The host says by its date that nothing changed: that is believed.
        assert rows(database_url, "SELECT kind, note FROM revision") == [("deleted", "HTTP 404")]
        assert rows(database_url, "SELECT COUNT(*) FROM article") == [(3,)], "nothing is removed"
        found = dict(
            rows(
                database_url,
                "SELECT u.url, w.changes FROM watched_page w JOIN url u ON u.id = w.url_id",
            )
        )
        assert found == {f"http://{HOST}/": 0, f"http://{HOST}/qw/": 1}
        assert rows(database_url, "SELECT SUM(news) FROM watched_page") == [(1,)]

        # Without a validator the body is compared, and what it said before is kept.
        make_due(database_url, "watched_page", "watched_article")
        with_database(database_url, "UPDATE watched_article SET modified = ''")
        room.gone.clear()
        done = round_of(database_url, tmp_path, server)
        assert room.asked("/qw/")[-1].headers["If-None-Match"] == '"3"'
        assert "'qiaocrawl/watch/not_modified': 1" in done.log
        kinds = rows(database_url, "SELECT kind, title FROM revision ORDER BY kind, id")
        assert kinds == [("deleted", ""), ("restored", ""), ("revised", "侨胞回乡寻根")]
        titles = rows(database_url, "SELECT title FROM article ORDER BY title")
        assert ("侨胞回乡寻根访祖",) in titles
    spent = rows(database_url, "SELECT SUM(pages + articles + looks) FROM watch_day")[0][0]
    assert spent == len([hit for hit in server.log if hit.path != "/robots.txt"])


def with_database(database_url: str, statement: str) -> None:
    from sqlalchemy import text

    from qiaocrawl.storage import Database

    with Database.open(database_url) as database, database.engine.begin() as c:
        c.execute(text(statement))


def test_a_killed_round_loses_no_schedule_and_the_budget_holds(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    room = Newsroom({f"/a{n}.html": story(f"侨乡新闻之{n}") for n in range(12)})
    import_pack(url, pack(HOST))
    slow = {"/a3.html", "/a4.html"}

    def respond(host: str, path: str) -> Answer | None:
        answer = room.respond(host, path)
        if path in slow and answer is not None:
            answer.before_seconds = 60
        return answer

    with local_server(respond) as server:
        room.server = server
        with running_spider(
            "watch", url, TOPIC, folder=tmp_path, QIAO_DEMO=server.origin
        ) as process:
            end = time.monotonic() + 150
            while not slow <= set(server.paths()):
                assert time.monotonic() < end, "waited too long"
                time.sleep(0.1)
            process.kill()
        assert rows(url, "SELECT COUNT(*) FROM watched_page WHERE last_at > 0") == [(2,)]
        asked = len(server.paths())
        slow.clear()
        # The next round queues behind nobody, has budget for three more requests, and ends.
        done = crawl(
            "watch",
            url,
            TOPIC,
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_LOCK_WAIT_SECONDS="5",
            QIAO_WATCH_DAILY_REQUESTS=str(3 + spent(url)),
        )
        assert "(limit_pages)" in done.log
        assert len(server.paths()) <= asked + 3
        done = round_of(url, tmp_path, server)
    assert "(finished)" in done.log
    assert rows(url, "SELECT COUNT(*) FROM article") == [(12,)]
    assert server.paths().count("/") == 1, "what was visited before the kill is not due"


def spent(url: str) -> int:
    found = rows(url, "SELECT SUM(pages + articles + looks) FROM watch_day")
    return int(str(found[0][0]))


def test_lists_another_spider_has_read_are_watched_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    room = Newsroom({f"/a{n}.html": story(f"侨乡新闻之{n}") for n in range(9)})
    import_pack(url, pack(HOST))
    with local_server(room.respond) as server:
        room.server = server
        crawl("site", url, TOPIC, folder=tmp_path, QIAO_DEMO=server.origin)
        assert server.paths().count("/qw/") == 1
        round_of(url, tmp_path, server)
        pages = rows(
            url,
            "SELECT u.url, w.kind, w.name, w.visits FROM watched_page w"
            " JOIN url u ON u.id = w.url_id ORDER BY u.url",
        )
        assert pages == [
            (f"http://{HOST}/", "home", "", 1),
            (f"http://{HOST}/qw/", "channel", "侨务要闻", 1),
        ]
        room.stories["/b1.html"] = story("侨务新政策发布")
        make_due(url, "watched_page")
        round_of(url, tmp_path, server)
    assert server.paths().count("/b1.html") == 1


def test_a_request_is_counted_with_the_page_it_brought(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    room = Newsroom({f"/a{n}.html": story(f"侨乡新闻之{n}") for n in range(6)})
    import_pack(url, pack(HOST))
    with local_server(room.respond) as server:
        room.server = server
        crawl_until(
            "page committed", 4, "watch", url, TOPIC, folder=tmp_path, QIAO_DEMO=server.origin
        )
        # The commit of the fourth may have brought another one with it.
        ((stored,),) = rows(url, "SELECT COUNT(*) FROM page_source")
        assert 4 <= int(str(stored)) <= spent(url)
        under_way = len(server.paths()) - spent(url)
        round_of(url, tmp_path, server)
    # Two may have been on their way to the server when it was killed; none is counted twice.
    assert 0 <= len(server.paths()) - spent(url) <= under_way + 2


def test_a_page_that_fails_when_it_is_stored_is_counted_as_often_as_it_was_asked_for(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    room = Newsroom({f"/a{n}.html": story(f"侨乡新闻之{n}") for n in range(6)})
    import_pack(url, pack(HOST))
    with local_server(room.respond) as server:
        room.server = server
        with failing_spider(
            "outcome written, not committed",
            "1-2:fail",
            "watch",
            url,
            TOPIC,
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_FRONTIER_RETRY_SECONDS="0.1",
        ) as process:
            log, _ = process.communicate(timeout=400)
    assert len(server.paths()) > len(set(server.paths())), log
    assert spent(url) == len(server.paths())


def test_a_304_nobody_asked_for_is_no_answer(tmp_path: Path) -> None:
    room = Newsroom({"/a1.html": story("侨胞回乡寻根")})
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))

    def respond(host: str, path: str) -> Answer | None:
        return Answer(status=304) if path == "/a1.html" else room.respond(host, path)

    with local_server(respond) as server:
        room.server = server
        round_of(url, tmp_path, server, QIAO_FRONTIER_MAX_FAILURES="2")
        assert len(room.asked("/a1.html")) == 2
        found = dict(rows(url, "SELECT url, outcome FROM url"))
        assert found[f"http://{HOST}/a1.html"] == "unreachable"
