"""F-R15: strings and pages that break programs, from the fetch to every export."""

from __future__ import annotations

import gzip
import json
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows
from qiaocrawl.export.base import exporters
from qiaocrawl.storage import Database
from qiaocrawl.storage.selection import Selection

HOST = "www.qiao.test"
_DATA = Path(__file__).parents[3] / "shared" / "data"
_STRINGS = _DATA / "external" / "blns" / "blns.json"
_PAGES = _DATA / "extraction" / "pages"
_EACH = 8
"""Strings a page holds, each in every place."""


def naughty_page(strings: list[str], number: int) -> bytes:
    """An article with *strings* as title, author, source, words, links and plain markup."""
    plain = article(f"侨讯{number}").decode()
    title, author, *_ = strings
    links = "".join(f'<a href="/x/{quote(one, errors="ignore")}">{escape(one)}</a> <a href="{one}">'
                    for one in strings)  # fmt: skip
    words = "".join(f"<p>侨胞侨务 {escape(one)} 侨乡华侨，{one}。</p>" for one in strings)
    page = plain.replace("</body>", f"{words}{links}</body>")
    page = page.replace(
        "</head>",
        f'<meta name="author" content="{escape(author)}">'
        f'<meta name="keywords" content="{escape(title)}">'
        f'<meta property="og:title" content="{title}"></head>',
    )
    return page.replace(f"侨讯{number}", f"侨讯{number} {escape(title)}").encode("utf-8", "replace")


def export_all(url: str, folder: Path) -> dict[str, int]:
    """Records written by each format."""
    with Database.open(url) as database, database.engine.connect() as c:
        return {
            name: exporters.get(name)
            .write(
                c,
                Selection(),
                folder / f"export-{name}{exporters.get(name).suffix}",
                lambda _done: None,
            )
            .written
            for name in exporters.names()
        }


def crawl_bodies(bodies: list[bytes], folder: Path) -> tuple[str, dict[str, int], str]:
    """Crawl a site of *bodies* and export it; its database, what was exported, the log."""
    url = f"sqlite:///{folder / 'q.db'}"
    import_pack(url, pack(HOST))

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=tuple(f"/{n}" for n in range(len(bodies)))))
        name = path[1:]
        if not (name.isdecimal() and name.isascii() and int(name) < len(bodies)):
            return None
        return Answer(bodies[int(name)], headers={"Content-Type": "text/html"})

    with local_server(respond) as server:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "-s",
            "QIAO_MAX_DEPTH=1",
            folder=folder,
            QIAO_DEMO=server.origin,
        )
    assert done.returncode == 0, done.log
    assert "(finished)" in done.log
    return url, export_all(url, folder), done.log


def check_all_ended(url: str, log: str, pages: int) -> None:
    found = {
        path: outcome
        for path, outcome in outcomes(url).items()
        if path.rpartition("/")[2].isdecimal()
    }
    assert len(found) == pages
    assert set(found.values()).isdisjoint({"poison", "unreachable"}), found
    assert "Traceback" not in log
    assert "qiaocrawl/errors" not in log


@pytest.mark.skipif(not _STRINGS.exists(), reason="the shared list of naughty strings is absent")
def test_naughty_strings_go_all_the_way(tmp_path: Path) -> None:
    strings: list[str] = json.loads(_STRINGS.read_text("utf-8"))
    groups = [strings[at : at + _EACH] for at in range(0, len(strings) - 1, _EACH)]
    bodies = [naughty_page(group, number) for number, group in enumerate(groups)]
    url, exported, log = crawl_bodies(bodies, tmp_path)
    check_all_ended(url, log, len(bodies))
    articles = rows(url, "SELECT COUNT(*) FROM article")[0][0]
    assert articles == exported["csv"] == exported["jsonl"] == exported["xlsx"]
    assert isinstance(articles, int)
    assert articles > 0.8 * len(bodies)
    assert exported["warc"] == exported["files"] > len(bodies)


@pytest.mark.skipif(not _PAGES.exists(), reason="the shared collection of real pages is absent")
def test_pages_of_the_benchmark_go_all_the_way(tmp_path: Path) -> None:
    names = sorted(_PAGES.glob("scrapinghub-*.html.gz"))
    bodies = [gzip.decompress(name.read_bytes()) for name in names]
    assert len(bodies) > 100
    url, exported, log = crawl_bodies(bodies, tmp_path)
    check_all_ended(url, log, len(bodies))
    assert exported["warc"] > len(bodies)
    assert exported["jsonl"] > 0.5 * len(bodies)
