"""Pages made by scripts: recognised without a browser, read with one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crawling import Answer, crawl, import_pack, local_server, pack, rows
from qiaocrawl.crawl.browser.page import MOST_BYTES
from qiaocrawl.extract.base import extractors
from qiaocrawl.page.layout import Box, layout_of
from qiaocrawl.page.page import Page, parse_page
from qiaocrawl.storage import Database
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages.raw_pages import load_page
from qiaocrawl.topic.pack import Site

TEXT = "海外侨胞和归侨侨眷在侨乡相聚，共同商议华侨农场的侨务工作和华文教育的未来发展。" * 8


def respond(host: str, path: str) -> Answer | None:
    if path == "/":
        script = (
            "fetch('/data').then(r => r.json()).then(d => {"
            "document.body.innerHTML = '<h1>' + d.title + '</h1><p class=t>' + d.text + '</p>';})"
        )
        return Answer(
            f'<html><head><meta charset="utf-8"><title>侨乡相聚</title></head><body>'
            f"<div id=app></div>\n<script>{script}</script></body></html>".encode()
        )
    if path == "/data":
        body = json.dumps({"title": "侨乡相聚", "text": TEXT}).encode()
        return Answer(body, headers={"Content-Type": "application/json"})
    return None


def test_without_a_browser_it_is_told_apart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("www.qiao.test"))
    with local_server(respond) as server:
        crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert rows(url, "SELECT outcome FROM url") == [("needs_rendering",)]


STYLED = (
    '<html><head><meta charset="utf-8"><title>侨乡相聚</title><style>'
    ".note {display: none} #app {background: rgb(238, 238, 238)} p {color: #333333}"
    '</style></head><body data-qiao-box="9 9 9 9">'
    f'<div id="app" data-qiao-ink="red red"><h1>侨乡相聚</h1><p>{TEXT}</p>'
    '<p><font color="#ff0000">编者按语</font>：</p><div class="note">请登录</div></div>'
    '<a href="/spoilt">更多</a></body></html>'
)
SPOILT = STYLED.replace(
    "</body>",
    "<script>Element.prototype.setAttribute = () => {throw Error('no'); };</script></body>",
)


def stored_pages(url: str, host: str) -> list[Page]:
    numbers = rows(
        url, "SELECT id FROM url WHERE url LIKE :site ORDER BY id", site=f"http://{host}/%"
    )
    with Database.open(url) as database, database.engine.begin() as connection:
        stored = [load_page(connection, int(str(number))) for (number,) in numbers]
    return [parse_page(s.body, "text/html; charset=utf-8", s.url) for s in stored if s is not None]


@pytest.mark.chromium
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_sites_marked_for_rendering_are_read_in_chromium(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    pages = {"/": STYLED, "/spoilt": SPOILT}
    with (
        local_server(respond) as scripted,
        local_server(
            lambda _, path: Answer(pages[path].encode()) if path in pages else None
        ) as styled,
    ):
        hosts = (scripted.origin, styled.origin)
        sites = [
            Site(
                host,
                "侨乡",
                "authoritative",
                1,
                "境内",
                "news",
                start_url=f"http://{host}/",
                render=True,
            )
            for host in hosts
        ]
        import_pack(url, pack(sites=tuple(sites)))
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            folder=tmp_path,
            QIAO_RENDER="1",
            QIAO_RENDER_LAYOUT="1",
            QIAO_RENDER_PICTURE="1",
            QIAO_ALLOW_ADDRESSES=",".join(hosts),
            QIAO_CHROMIUM=str(shutil.which("chromium")),
        )
        assert done.returncode == 0, done.log
        assert "/data" in scripted.paths()
    _check_what_a_script_wrote(url, scripted.origin, done.log)
    _check_layout(*stored_pages(url, styled.origin), done.log)
    _check_pictures(url)


def _check_what_a_script_wrote(url: str, host: str, log: str) -> None:
    found = rows(
        url,
        "SELECT u.outcome, a.title, a.text FROM url u LEFT JOIN article a ON"
        " a.url_id = u.id WHERE u.url LIKE :site",
        site=f"http://{host}/%",
    )
    ((outcome, title, body),) = found
    assert (outcome, title) == ("article", "侨乡相聚"), log
    assert "华侨农场" in unpack_text(body)


def _check_layout(page: Page, spoilt: Page, log: str) -> None:
    assert TEXT in spoilt.source
    assert layout_of(spoilt) is None
    assert f"no layout of {spoilt.url}" in log
    text = extractors.get("visual").body(page).text
    assert "华侨农场" in text
    assert "请登录" not in text
    layout = layout_of(page)
    assert layout is not None
    by_tag = {e.tag + e.names: i for i, e in enumerate(page.blocks.elements)}
    body, app, heading, note = (by_tag[n] for n in ("body", "divapp", "h1", "divnote"))
    assert layout.boxes[body] != Box(9, 9, 9, 9)
    outer, inner = layout.boxes[app], layout.boxes[heading]
    assert outer is not None
    assert inner is not None
    assert inner.area < outer.area
    assert outer.y <= inner.y < outer.y + outer.height
    assert layout.is_hidden(note)
    paragraphs = [i for i, e in enumerate(page.blocks.elements) if e.tag == "p"]
    assert [layout.colours[i] for i in paragraphs] == ["#333333", "#ff0000"]
    assert {layout.backgrounds[i] for i in (app, heading, *paragraphs)} == {"#eeeeee"}
    assert layout.backgrounds[body] == "#ffffff"


def _check_pictures(url: str) -> None:
    """Each page has one, of what it showed."""
    pictures = rows(
        url, "SELECT media_type, width, height, cut, picture FROM page_source"
             " LEFT JOIN page_picture ON page_source_id = page_source.id"
    )  # fmt: skip
    assert len(pictures) == 3
    for media_type, width, height, cut, picture in pictures:
        assert (media_type, width, cut) == ("image/webp", 1280, 0)
        assert height >= 700
        assert isinstance(picture, bytes)
        assert (picture[:4], picture[8:12]) == (b"RIFF", b"WEBP")
        # An empty window has 2 KB.
        assert 4_000 < len(picture) <= MOST_BYTES
