"""Pages made by scripts: recognised without a browser, read with one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crawling import Answer, crawl, import_pack, local_server, pack, rows
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


@pytest.mark.chromium
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_a_site_marked_for_rendering_is_read_in_chromium(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with local_server(respond) as server:
        host = server.origin
        site = Site(host, "侨乡", "authoritative", 1, "境内", "news",
                    start_url=f"http://{host}/", render=True)
        import_pack(url, pack(sites=(site,)))
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_RENDER="1",
                     QIAO_ALLOW_ADDRESSES=host, QIAO_CHROMIUM=str(shutil.which("chromium")))
        assert done.returncode == 0, done.log
        assert "/data" in server.paths()
    assert rows(url, "SELECT outcome FROM url") == [("article",)], done.log
    (title, body), = rows(url, "SELECT title, text FROM article")
    assert title == "侨乡相聚"
    assert "华侨农场" in str(body)
