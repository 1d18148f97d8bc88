"""Recorded webs: the same crawl, without a network, under the pages' own URLs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawling import article, crawl, import_pack, outcomes, pack
from recording import Recorded, write_collection, write_warc

BASE = "https://news.example.com"
PAGES = {
    f"{BASE}/": article("首页", links=("/a.html", "/missing.html")),
    f"{BASE}/a.html": article("侨胞新闻", links=("/b.html",)),
    f"{BASE}/b.html": article("华侨新闻"),
}


@pytest.mark.parametrize("form", ["warc", "collection"])
def test_a_recorded_web_is_crawled_whole(tmp_path: Path, form: str) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(database_url, pack("news.example.com"))
    if form == "warc":
        recorded = write_warc(
            tmp_path / "web.warc.gz", [Recorded(url, body) for url, body in PAGES.items()]
        )
    else:
        recorded = write_collection(tmp_path / "web", PAGES)
    done = crawl(
        "site",
        database_url,
        "topic=qiaoqing",
        f"start={BASE}/",
        folder=tmp_path,
        QIAO_REPLAY=str(recorded),
    )
    assert done.returncode == 0, done.log
    assert "(finished)" in done.log
    found = outcomes(database_url)
    assert found[f"{BASE}/missing.html"] == "dead"
    assert found[f"{BASE}/a.html"] == found[f"{BASE}/b.html"] == "article"
