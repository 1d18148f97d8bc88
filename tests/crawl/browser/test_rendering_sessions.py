"""A session that lives in the browser: its state stays in force, its redirects are told."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from crawl_starter import run_started
from crawling import PROJECT, Answer, import_pack, local_server, pack

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]

SPIDER = """
import json, sys
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.settings import Settings
from qiaocrawl.crawl.single_page import _WITHOUT_FRONTIER

HOST = sys.argv[1]
STATE = {"cookies": [{"name": "sid", "value": "7", "domain": "127.0.0.1", "path": "/"}]}

class SessionSpider(Spider):
    name = "session"
    found = {}

    async def start(self):
        for path in ("/in", "/moved"):
            yield Request(f"http://{HOST}{path}", meta={
                "render": True, "playwright_context": "login", "handle_httpstatus_all": True,
                "playwright_context_kwargs": {"storage_state": STATE}, "dont_redirect": True})

    def parse(self, response):
        location = response.headers.get("Location", b"").decode()
        text = response.text if response.status == 200 else ""
        self.found[response.url.rpartition("/")[2]] = [response.status, location, text]

    def closed(self, reason):
        print("FOUND" + json.dumps(self.found))

settings = Settings()
settings.setmodule("qiaocrawl.settings")
settings.setdict(_WITHOUT_FRONTIER, priority="cmdline")
settings["DOWNLOADER_MIDDLEWARES"]["qiaocrawl.middlewares.stored.StoredPageMiddleware"] = None
settings["EXTENSIONS"]["qiaocrawl.crawl.progress.ProgressLog"] = None
process = CrawlerProcess(settings)
process.crawl(SessionSpider)
process.start()
"""


def test_the_browser_fetches_with_the_sessions_state(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("www.qiao.test"))

    def respond(host: str, path: str) -> Answer | None:
        if path == "/moved":
            return Answer(status=302, headers={"Location": "/in"})
        if path == "/in":
            script = "fetch('/data').then(r => r.text()).then(t => document.body.append(t))"
            return Answer(f"<body>inside<script>{script}</script>".encode())
        return Answer(b"told") if path == "/data" else None

    with local_server(respond) as server:
        (tmp_path / "spider.py").write_text(SPIDER, "utf-8")
        done = run_started(
            str(tmp_path / "spider.py"),
            server.origin,
            folder=tmp_path,
            seconds=400,
            environment={
                **os.environ,
                "PYTHONPATH": str(PROJECT),
                "QIAO_DATABASE_URL": url,
                "QIAO_RENDER": "sites",
                "QIAO_ALLOW_ADDRESSES": server.origin,
                "QIAO_CHROMIUM": str(shutil.which("chromium")),
            },
        )
        cookies = {
            hit.path: hit.headers.get("Cookie") for hit in server.log if hit.path != "/robots.txt"
        }
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.rpartition("FOUND")[2])
    assert cookies == {"/in": "sid=7", "/moved": "sid=7", "/data": "sid=7"}
    assert "told" in found["in"][2]
    assert found["moved"][:2] == [302, f"http://{server.origin}/in"]
