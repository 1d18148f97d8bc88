"""Paged articles in a real crawl: whole in whatever order their pages come, after any kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawling import (
    Answer,
    crawl,
    crawl_until,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
    running_spider,
)
from paged_stories import lines, page, path_of, whole
from qiaocrawl.storage.packed_text import unpack_text

HOST = "www.qiao.test"


class Site:
    """A first page that links one part of each story; ``entry`` says which."""

    def __init__(self, stories: int, entry: int, dead: frozenset[str] = frozenset()) -> None:
        self.pages = {
            path_of(story, part): page(story, part)
            for story in range(stories) for part in (1, 2, 3)
        }  # fmt: skip
        links = "".join(
            f'<li><a href="{path_of(story, entry)}">侨讯{story}</a></li>'
            for story in range(stories)
        )
        self.pages["/"] = f"<html><title>侨网</title><ul>{links}</ul></html>".encode()
        self._dead = dead

    def __call__(self, host: str, path: str) -> Answer | None:
        body = None if path in self._dead else self.pages.get(path)
        return None if body is None else Answer(body)


def stored(url: str, host: str = HOST) -> dict[str, str]:
    """Text of every article of *host* by path."""
    found = rows(url, "SELECT u.url, a.text FROM article a JOIN url u ON u.id = a.url_id")
    return {
        str(address).removeprefix(f"http://{host}"): unpack_text(text)
        for address, text in found
        if str(address).startswith(f"http://{host}/")
    }


def test_an_article_is_whole_whichever_page_is_found(tmp_path: Path) -> None:
    """By its first page, by its last, and as far as it came when the first is dead."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    sites = {"first.test": Site(3, 1), "last.test": Site(3, 3),
             "dead.test": Site(1, 3, dead=frozenset({path_of(0, 1)}))}  # fmt: skip
    import_pack(url, pack(*sites))
    with local_server(lambda host, path: sites[host](host, path)) as server:
        # One step deep: the pages of an article are no step deeper than the article.
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "-s",
            "QIAO_MAX_DEPTH=1",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        )
    assert "(finished)" in done.log
    ended = outcomes(url)
    for host in ("first.test", "last.test"):
        assert stored(url, host) == {path_of(story, 1): whole(story) for story in range(3)}, host
        parts = [ended[f"http://{host}{path_of(0, part)}"] for part in (1, 2, 3)]
        assert parts == ["article", "part", "part"], host
    assert stored(url, "dead.test") == {path_of(0, 2): "\n".join(lines(0, 2) + lines(0, 3))}
    ((reason,),) = rows(url, "SELECT reason FROM url WHERE url = :dead",
                        dead=f"http://dead.test{path_of(0, 2)}")  # fmt: skip
    assert "the article stands here" in str(reason)
    # Nothing is left of what was judged before its other parts came.
    assert rows(url, "SELECT COUNT(*) FROM article a JOIN verdict v ON v.article_id = a.id "
                     "JOIN relevance r ON r.article_id = a.id") == [(7,)]  # fmt: skip


@pytest.mark.parametrize(
    "point", ["page committed", "outcome written, not committed", "outcome committed"]
)
def test_a_kill_between_two_parts_loses_neither(point: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(Site(2, 3)) as server:
        crawl_until(
            point, 4, "site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin
        )
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert "(finished)" in done.log
    assert stored(url) == {path_of(story, 1): whole(story) for story in range(2)}


@pytest.mark.mariadb
def test_several_workers_join_the_same_articles(mariadb_url: str, tmp_path: Path) -> None:
    import_pack(mariadb_url, pack(HOST))
    with local_server(Site(12, 2)) as server:
        started = [
            running_spider("site", mariadb_url, "topic=qiaoqing", "-s", "QIAO_FRONTIER_BATCH=4",
                           "-s", "DOWNLOAD_DELAY=0", folder=tmp_path, QIAO_DEMO=server.origin)
            for _ in range(3)
        ]  # fmt: skip
        with started[0] as one, started[1] as two, started[2] as three:
            said = [spider.communicate(timeout=400)[0] for spider in (one, two, three)]
    assert all("(finished)" in log for log in said)
    assert stored(mariadb_url) == {path_of(story, 1): whole(story) for story in range(12)}
    assert set(outcomes(mariadb_url).values()) == {"article", "part", "list"}
