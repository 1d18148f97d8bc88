"""The add-on in a project that has nothing else of ours: articles as fields of its items."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from crawl_starter import run_started
from crawling import Answer, article, local_server

_ROOT = Path(__file__).resolve().parents[2]
_SETTINGS = """
BOT_NAME = "others"
SPIDER_MODULES = ["others.spiders"]
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
# Scrapy's own asks the network for a list of suffixes.
COOKIES_ENABLED = False
ADDONS = {"qiaocrawl.addon": 300}
"""
_SPIDERS = """
from dataclasses import dataclass

import scrapy


@dataclass
class Declared:
    title: str = ""
    topic_score: float | None = None


class NewsSpider(scrapy.Spider):
    name = "news"
    start_urls = ["ORIGIN/"]

    def parse(self, response):
        yield {"at": response.url, "source": "编辑部" if response.url.endswith("/") else ""}
        if response.url.endswith("/1.html"):
            yield Declared()
        if response.css("a"):
            yield from response.follow_all(css="a", callback=self.parse)
"""
_STORY = "侨胞回乡办学"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "others" / "spiders").mkdir(parents=True)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = others.settings\n")
    (tmp_path / "others" / "__init__.py").touch()
    (tmp_path / "others" / "settings.py").write_text(_SETTINGS)
    return tmp_path


def _crawled(project: Path, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("QIAO_", "SCRAPY_"))}  # fmt: skip
    return run_started(
        "scrapy", "crawl", "news", "-O", "out.jsonl", *more,
        environment={**environment, "PYTHONPATH": str(_ROOT)}, folder=project,
    )  # fmt: skip


def test_items_get_the_article_of_their_page_and_keep_their_own(project: Path) -> None:
    page = article(_STORY)
    pages = {"/": article("侨乡首页", links=("/1.html",), paragraphs=0),
             "/1.html": page.replace(b"</body>", b'<a href="/2.html">2</a></body>'),
             "/2.html": page}  # fmt: skip
    with local_server(lambda host, path: Answer(pages[path]) if path in pages else None) as server:
        spiders = _SPIDERS.replace("ORIGIN", f"http://{server.origin}")
        (project / "others" / "spiders" / "__init__.py").write_text(spiders, "utf-8")
        done = _crawled(project, "-s", "ARTICLE_TOPIC=qiaoqing")
    assert done.returncode == 0, done.stderr
    items = [json.loads(line) for line in (project / "out.jsonl").read_text("utf-8").splitlines()]
    found = {item["at"].rpartition("/")[2]: item for item in items if "at" in item}
    first, again = found["1.html"], found["2.html"]
    assert (first["title"], first["page_kind"]) == (_STORY, "article")
    assert first["text"]
    assert first["topic_score"] > 0
    assert first["reprint_of"] == ""
    assert again["reprint_of"] == first["at"], "told before under another address"
    assert again["reprint_similarity"] > 0.9
    assert found[""]["source"] == "编辑部", "what the spider filled itself stays"
    (declared,) = (item for item in items if "at" not in item)
    assert declared == {"title": _STORY, "topic_score": first["topic_score"]}
    assert not (project / "data").exists(), "no database is made"


def test_a_topic_that_is_not_there_stops_before_anything_is_asked(project: Path) -> None:
    (project / "others" / "spiders" / "__init__.py").write_text(
        _SPIDERS.replace("ORIGIN", "http://127.0.0.1:9")
    )
    done = _crawled(project, "-s", "ARTICLE_TOPIC=qiaoqin")
    assert done.returncode == 1
    assert "no topic 'qiaoqin'; a folder, or one of:" in done.stderr
    assert "qiaoqing" in done.stderr
