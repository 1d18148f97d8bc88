"""A crawl's own process imports what it uses, and its workers what they do.

Pages are parsed, and logins made, elsewhere; the compiler waits until it is worth its time.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_CRAWL = """
import sys, qiaocrawl.crawl.addon
from pathlib import Path
import spiders.login, spiders.pages, spiders.search, spiders.site, spiders.watch
from scrapy.extension import ExtensionManager
from scrapy.settings import Settings
from scrapy.utils.misc import load_object
from qiaocrawl import settings as ours
from qiaocrawl.crawl.addon import QiaoAddon
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.frontier import CrawlTopic, make_strategy
from qiaocrawl.kernels.compiled import compile_late
from qiaocrawl.topic.folder import load_pack

settings = Settings()
settings.setmodule(ours, priority="project")
QiaoAddon.update_pre_crawler_settings(settings)
for component in ExtensionManager._get_mwlist_from_settings(settings):
    load_object(component)
compile_late(60.0)
topic = CrawlTopic(load_pack(Path("topics/qiaoqing")))
make_strategy("adaptive", topic).seen(0, "http://a.example/", "a.example", 0)
TitleIndex().near("侨乡博物馆开幕")
print(*sys.modules)
"""
_WORKER = """
import sys
from datetime import UTC, datetime
from qiaocrawl.items import FetchedPage
from qiaocrawl.stages.analyse_page import analyse_page, prepare
from qiaocrawl.stages.analysis_setup import AnalysisSetup
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


def _loaded(program: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout  # fmt: skip
    return set(said.split())


def test_neither_the_parts_of_workers_nor_logins_nor_the_compiler() -> None:
    loaded = _loaded(_CRAWL)
    assert "qiaocrawl.stages.worker_pool" in loaded
    unwanted = {"qiaocrawl.stages.analyse_page", "qiaocrawl.extract.page", "jieba", "numba",
                "qiaocrawl.crawl.login.login", "qiaocrawl.sessions.flow", "aiohttp",
                "qiaocrawl.crawl.login.one_login", "qiaocrawl.text.dates"}  # fmt: skip
    assert loaded & unwanted == set()


def test_a_worker_imports_nothing_of_a_crawl_and_no_method_that_is_not_chosen() -> None:
    loaded = _loaded(_WORKER)
    assert "qiaocrawl.extract.methods.blend" in loaded
    unwanted = {"jieba", "numba", "pydantic", "scrapy", "sqlalchemy", "twisted",
                "qiaocrawl.extract.methods.template", "qiaocrawl.relevance.ontology"}  # fmt: skip
    assert loaded & unwanted == set()
