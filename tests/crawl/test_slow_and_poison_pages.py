"""Pages that are slow, and pages that kill: the others go on, and only the guilty are set aside."""

from __future__ import annotations

import re
from pathlib import Path

from crawling import (
    Answer,
    article,
    crawl,
    crawl_until,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)

HOST = "www.qiao.test"
# More time than these crawls allow, in markup that nothing cuts down.
SLOW = b"<html><body>" + b"<p>x" * 490_000
QUICK = tuple(f"/{n}" for n in range(8))


def test_slow_pages_are_set_aside_after_one_try_while_the_others_go_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    slow = tuple(f"/slow{n}" for n in range(6))

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=(*slow, *QUICK)))
        return Answer(SLOW if path in slow else article(f"侨乡新闻{path}"))

    with local_server(respond) as server:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "-s",
            "QIAO_EXTRACT_SECONDS=0.4",
            "-s",
            "DOWNLOAD_WARNSIZE=0",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        )
    found = outcomes(url)
    assert {found[f"http://{HOST}{path}"] for path in slow} == {"poison"}
    assert {found[f"http://{HOST}{path}"] for path in QUICK} == {"article"}
    assert "(finished)" in done.log
    assert done.returncode == 0, "no start page is among them"
    assert "'qiaocrawl/extract/set_aside': 6" in done.log, "one try each"
    lost = re.search(r"'qiaocrawl/extract/worker_lost': (\d)", done.log)
    assert lost is not None
    # Three slow ones at most, less what eight quick ones make up for, and two already in the slot.
    assert int(lost[1]) <= 5, "then the host gets no more time of the ordinary slot"
    assert rows(url, "SELECT DISTINCT reason FROM url WHERE outcome = 'poison'") == [
        ("analysis took longer than 0.4 s",)
    ]
    kept = rows(
        url,
        "SELECT COUNT(*) FROM page_source s JOIN url u ON u.id = s.url_id"
        " WHERE u.outcome = 'poison'",
    )
    assert kept == [(6,)]
    assert all(server.paths().count(path) == 1 for path in slow)


def test_a_start_page_nobody_can_read_is_no_success(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: Answer(SLOW) if path == "/" else None) as server:
        for _ in range(2):
            done = crawl(
                "site",
                url,
                "topic=qiaoqing",
                "-s",
                "QIAO_EXTRACT_SECONDS=0.3",
                folder=tmp_path,
                QIAO_DEMO=server.origin,
            )
            assert done.returncode == 1, done.log
            assert f"start page set aside: http://{HOST}/ (analysis took longer" in done.log
    assert rows(url, "SELECT DISTINCT reason FROM run") == [("start_page_set_aside",)]


def test_a_page_that_kills_the_crawl_is_set_aside_after_its_tries_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=("/killer", *QUICK)))
        return Answer(article(f"侨乡新闻{path}"))

    with local_server(respond) as server:
        options = {"QIAO_DEMO": server.origin, "QIAO_FRONTIER_MAX_FAILURES": "2"}
        for _ in range(3):  # among others, then twice alone
            crawl_until(
                "analysing a page called killer",
                1,
                "site",
                url,
                "topic=qiaoqing",
                folder=tmp_path,
                **options,
            )
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, **options)
    found = outcomes(url)
    assert found.pop(f"http://{HOST}/killer") == "poison"
    assert len(found) == 1 + len(QUICK)
    assert set(found.values()) <= {"article", "list"}
    assert "(finished)" in done.log
    assert server.paths().count("/killer") == 1


def test_kills_shortly_after_opening_blame_nobody(tmp_path: Path) -> None:
    """As an init script that starts a crawl again and again, while something else kills it."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))

    def respond(host: str, path: str) -> Answer | None:
        links = QUICK if path == "/" else ()
        return Answer(article(f"侨乡新闻{path}", links=links)) if path in ("/", *QUICK) else None

    with local_server(respond) as server:
        for point in ("handed out", "page committed", "in analysis"):
            crawl_until(
                point, 1, "site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin
            )
        assert rows(url, "SELECT state, outcome FROM url") == [(2, None)]
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert "(finished)" in done.log
    assert done.returncode == 0
    assert len(outcomes(url)) == 1 + len(QUICK)
    assert set(outcomes(url).values()) <= {"article", "list"}
