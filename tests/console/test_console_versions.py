"""Beside an article: stored versions of its page, a WARC of one, what speaks for it and against."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from warcio.archiveiterator import ArchiveIterator

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.items import PagePicture
from qiaocrawl.storage.packed_text import compress
from qiaocrawl.storage.pages.revisions import save_picture
from qiaocrawl.topic.pack import Sample
from storage_samples import PACK, add_topic

EARLIER = "<html><h1>旧题</h1><p>旧文<script>alert(1)</script></p></html>".encode()


def add_earlier(desk: Desk, url_id: int = 1, kind: str = "text/html; charset=utf-8") -> int:
    """An earlier version of a page; returns its row id."""
    with desk.database.engine.begin() as c:
        row = c.execute(
            text(
                "INSERT INTO page_source (url_id, digest, final_url, http_status, headers,"
                " content_type, charset, body_bytes, truncated, fetched_at, last_seen_at, body)"
                " VALUES (:url, :digest, 'http://www.a-qiao.cn/0', 200, :headers, :kind, '',"
                " :size, 0, '2026-01-02 08:00:00.000000', '2026-01-03 08:00:00.000000', :body)"
            ),
            {"url": url_id, "digest": hashlib.md5(EARLIER).digest(), "kind": kind,
             "headers": f'[["content-type", "{kind}"]]', "size": len(EARLIER),
             "body": compress(EARLIER)},
        )  # fmt: skip
        return int(row.lastrowid)


def test_earlier_versions_are_opened_in_the_same_frame(desk: Desk) -> None:
    add_stories(desk.database)
    version = add_earlier(desk)
    picture = PagePicture("image/webp", 640, 480, True, datetime.now(UTC), b"RIFF")
    with desk.database.engine.begin() as c:
        save_picture(c, 1, picture)
    desk.log_in_as("reader")
    link = f"/articles/1/evidence?version={version}"
    assert f'href="{link}"' in desk.get("/articles/1").text
    own = desk.get("/articles/1/evidence").text
    assert f'href="{link}"' in own
    assert "console-picture" in own
    page = desk.get(link).text
    assert "another stored version" in visible(page)
    assert hashlib.sha256(EARLIER).hexdigest() in page
    # The picture is one of the other version; each may have its own.
    assert "console-picture" not in page
    with desk.database.engine.begin() as c:
        save_picture(c, version, replace(picture, data=b"RIFF2"))
    shown = re.findall(r'console-picture" src="([^"]+)"', desk.get(link).text)
    assert [desk.get(path).content for path in shown] == [b"RIFF2"]
    assert desk.get("/articles/1/picture").content == b"RIFF"
    assert desk.get(f"/articles/2/picture?version={version}").status_code == 404
    (frame,) = re.findall(r'<iframe[^>]* sandbox src="([^"]+)"', page)
    copy = desk.get(frame)
    assert "旧文" in copy.text
    assert copy.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "旧文" not in desk.get("/articles/1/page").text
    # Of another page, or none.
    for number in (version, 999):
        assert desk.get(f"/articles/2/evidence?version={number}").status_code == 404
        assert desk.get(f"/articles/2/page?version={number}").status_code == 404
        assert desk.get(f"/articles/2/page.warc.gz?version={number}").status_code == 404
    # No number: the article's own.
    assert "another stored version" not in visible(desk.get("/articles/1/evidence?version=x").text)


def test_an_earlier_version_of_a_file_shows_what_was_read_from_it(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_stories(desk.database)
    version = add_earlier(desk, kind="application/pdf")
    desk.log_in_as("reader")
    assert "代表" not in desk.get(f"/articles/1/page?version={version}").text
    with desk.database.engine.begin() as c:
        c.execute(
            text(
                "INSERT INTO revision (url_id, kind, at, page_source_id, note, title, published_at,"
                " body_digest, text) VALUES (1, 'revised', '2026-02-01 08:00:00.000000', :version,"
                " 'body', '旧件', NULL, x'', '旧件的文字')"
            ),
            {"version": version},
        )
    assert "旧件的文字" in desk.get(f"/articles/1/page?version={version}").text


def test_one_page_goes_out_as_warc(desk: Desk) -> None:
    add_stories(desk.database)
    version = add_earlier(desk)
    desk.log_in_as("reader")
    for query, part in (("", "代表"), (f"?version={version}", "旧文")):
        answer = desk.get(f"/articles/1/page.warc.gz{query}")
        assert answer.headers["content-type"] == "application/gzip"
        assert re.search(r'filename="page-1-\d+\.warc\.gz"', answer.headers["content-disposition"])
        info, record = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"),
             record.content_stream().read().decode())
            for record in ArchiveIterator(io.BytesIO(answer.content))
        ]  # fmt: skip
        assert info[0] == "warcinfo"
        assert record[:2] == ("response", "http://www.a-qiao.cn/0")
        assert part in record[2]
    assert desk.get("/articles/99/page.warc.gz").status_code == 404


def test_words_for_and_against_have_their_weights(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_stories(desk.database, body="昨晚的球赛之后，华侨代表讨论侨务工作。球赛很精彩。")
    samples = [
        Sample(f"{kind}{number}", title, text_of * (number + 1), kind == "on")
        for number in range(8)
        for kind, title, text_of in (("on", "侨胞回乡", "一批华侨代表回到家乡开会。"),
                                     ("off", "球赛", "昨晚的球赛很精彩。"))
    ]  # fmt: skip
    add_topic(desk.database, replace(PACK, samples=tuple(samples)))
    desk.log_in_as("reader")
    assert "侨务 40%" in visible(desk.get("/articles/1").text)
    page = desk.get("/articles/1/reasons").text
    for_it, against = page.split("<h3")[1:3]
    weights = {
        word: float(weight)
        for word, weight in re.findall(r'row">(.*?)</th><td[^>]*>([+-][\d.]+)</td>', page)
    }
    assert "华侨" in for_it
    assert weights["华侨"] > 0
    # As the sample that is off topic has it.
    assert "精彩" in against
    assert weights["精彩"] < 0
    assert PACK.title in visible(page)
    assert desk.get("/articles/99/reasons").status_code == 404


def test_a_scorer_without_weights_shows_the_stored_shares(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = sqlite_desk
    add_stories(desk.database)
    monkeypatch.setenv("QIAO_RELEVANCE_METHOD", "bm25")
    desk.log_in_as("reader")
    words = visible(desk.get("/articles/1/reasons").text)
    assert "tells no weights" in words
    assert "侨务 40%" in words
