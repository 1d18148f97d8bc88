"""A crawl's own process imports what it uses, and its workers what they do.

Pages are parsed, and logins made, elsewhere.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.signals import spider_opened
from scrapy.spiders import Spider

from benchmarks.crawls.running import ours_command
from benchmarks.local_site import LocalSite, serving
from qiaocrawl.crawl.starting import collect_once_opened, rest_until_opened

ROOT = Path(__file__).resolve().parents[2]
# A whole crawl, as the command makes it.
_WHOLE_CRAWL = """
import sys
from scrapy.cmdline import execute

sys.argv[0] = "scrapy"
try:
    execute()
finally:
    print("modules:", *sys.modules)
"""
_CRAWL = """
import sys, qiaocrawl.crawl.addon
from pathlib import Path
import qiaocrawl.spiders.login, qiaocrawl.spiders.pages, qiaocrawl.spiders.search
import qiaocrawl.spiders.site, qiaocrawl.spiders.watch
from scrapy.extension import ExtensionManager
from scrapy.settings import Settings
from scrapy.utils.misc import load_object
from qiaocrawl import settings as ours
from qiaocrawl.crawl.addon import QiaoAddon
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.frontier import CrawlTopic, make_strategy
from qiaocrawl.topic.folder import load_pack

settings = Settings()
settings.setmodule(ours, priority="project")
QiaoAddon.update_pre_crawler_settings(settings)
for component in ExtensionManager._get_mwlist_from_settings(settings):
    load_object(component)
topic = CrawlTopic(load_pack(Path("topics/qiaoqing")))
make_strategy("adaptive", topic).add_node(0, "http://a.example/", "a.example", 0)
TitleIndex().near("侨乡博物馆开幕")
print(*sys.modules)
"""
_WORKER = """
import sys
from datetime import UTC, datetime
from qiaocrawl.items import FetchedPage
from qiaocrawl.runtime.analyse_page import analyse_page, prepare
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.topic.pack import Sample, Term, TopicPack

samples = tuple(Sample(f"s{n}", f"侨乡{n}", "归侨回国，侨乡建设。" * 9, n < 4) for n in range(8))
pack = TopicPack("t", "", "", 0.5, (Term("侨务", "core", 1.0),), (), samples)
setup = AnalysisSetup("blend", 10, (pack,), "blend", order_topic=pack.name)
prepare(setup)
body = "<title>侨务工作会议</title><h1>侨务工作会议</h1>" + "<p>各地侨胞参加侨务工作会议。" * 20
page = FetchedPage("http://a.example/1", "http://a.example/1", 200, (), body.encode(),
                   datetime.now(UTC))
assert analyse_page(page, setup).relevance
print(*sys.modules)
"""
_FORKED_FROM = """
import gc, threading
import qiaocrawl.runtime.worker_parts
from qiaocrawl.text import segment as rjieba_cutter
print(threading.active_count(), gc.isenabled(), gc.get_freeze_count() > 0)
first = rjieba_cutter.RjiebaCutter(["侨联归侨"])
print(len(rjieba_cutter._spare), *first.words("侨联归侨"))
print("/".join(rjieba_cutter.RjiebaCutter(["华侨"]).words("侨联归侨")))
"""


def _loaded(program: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout  # fmt: skip
    return set(said.split())


def test_neither_the_parts_of_workers_nor_logins() -> None:
    loaded = _loaded(_CRAWL)
    assert "qiaocrawl.runtime.workers" in loaded
    unwanted = {"qiaocrawl.runtime.analyse_page", "qiaocrawl.extract.page", "jieba",
                "qiaocrawl.crawl.login.login", "qiaocrawl.fetch.sessions.flow", "aiohttp",
                "qiaocrawl.crawl.login.by_hand", "qiaocrawl.text.dates"}  # fmt: skip
    assert loaded & unwanted == set()


def test_a_whole_crawl_imports_no_part_that_it_does_not_use(tmp_path: Path) -> None:
    with serving(LocalSite.build(1)) as served:
        arguments, environment = ours_command(served, tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", _WHOLE_CRAWL, *arguments], capture_output=True, text=True,
            check=True, cwd=tmp_path, env={**os.environ, **environment},
        )  # fmt: skip
    loaded = set(done.stdout.rpartition("modules:")[2].split())
    assert {"qiaocrawl.spiders.site", "qiaocrawl.text.visible", "rjieba.rjieba"} <= loaded
    unwanted = {
        "qiaocrawl.spiders.search", "qiaocrawl.spiders.watch", "qiaocrawl.middlewares.session",
        "qiaocrawl.fetch.sessions.flow",
        "qiaocrawl.search.records", "qiaocrawl.relevance.published.nearness", "warcio", "typer",
        "rjieba", "qiaocrawl.fetch.identity_file", "qiaocrawl.crawl.login.login",
        "qiaocrawl.extract.published.density", "qiaocrawl.runtime.analyse_page", "alembic",
        # Hundreds of patterns.
        "qiaocrawl.extract.fields.bylines", "qiaocrawl.extract.fields.names",
        "qiaocrawl.extract.fields.origin",
        # Extras, which an installation may lack.
        "playwright", "scrapy_playwright", "dask", "distributed",
    }  # fmt: skip
    assert loaded & unwanted == set()


def test_cycles_are_collected_again_once_the_spider_is_opened() -> None:
    crawler, thresholds = Crawler(Spider), gc.get_threshold()
    usual = (700, 10, 10)
    try:
        gc.set_threshold(*usual)
        rest_until_opened()
        assert not gc.isenabled()
        collect_once_opened(crawler)
        crawler.signals.send_catch_log(spider_opened)
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
        # Less often than Python would by itself.
        assert gc.get_threshold()[0] > usual[0]
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()
        gc.unfreeze()


def test_a_worker_imports_nothing_of_a_crawl_and_no_method_that_is_not_chosen() -> None:
    loaded = _loaded(_WORKER)
    assert "qiaocrawl.extract.methods.blend" in loaded
    unwanted = {"jieba", "numpy.ma", "pydantic", "rjieba", "scrapy", "sqlalchemy",
                "twisted", "qiaocrawl.extract.methods.template",
                "qiaocrawl.relevance.published.nearness"}  # fmt: skip
    assert loaded & unwanted == set()


def test_what_a_worker_needs_was_loaded_where_it_is_forked_from() -> None:
    """By that of its page and topics as well: no worker loads it for itself."""
    program = _WORKER.replace("print(*sys.modules)", "print(*sys.modules.keys() - there)")
    assert program != _WORKER
    head = "import sys\nimport qiaocrawl.runtime.worker_parts\nthere = set(sys.modules)\n"
    assert _loaded(head + program) == set()


def test_what_workers_are_forked_from_has_their_dictionaries_and_no_thread() -> None:
    said = subprocess.run(
        [sys.executable, "-c", _FORKED_FROM], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout  # fmt: skip
    assert said.split() == ["1", "True", "True", "0", "侨联归侨", "侨联/归侨"]
