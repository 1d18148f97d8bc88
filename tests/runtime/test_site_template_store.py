"""What a run learns of sites: in the workers, in the database, over stored pages, in a crawl."""

from __future__ import annotations

import asyncio
import itertools
import json
import pickle
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from crawling import Answer, crawl, import_pack, local_server, pack, rows
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis
from qiaocrawl.options import Options
from qiaocrawl.runs.reprocess import reprocess_extract
from qiaocrawl.runtime.analyse_page import analyse_page
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.runtime.articles import SiteTemplateStore
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.runtime.workers import AnalysisPool
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages.site_templates import load_site_template
from site_pages import DISCLAIMER, HOST, observed, page, paragraphs, taught, title
from storage_samples import soon

SETUP = AnalysisSetup("density", 50, (), "vsm_breadth", learn_sites=True)


def fetched(number: int) -> FetchedPage:
    url = f"http://{HOST}/a/{number}.html"
    return FetchedPage(
        url,
        url,
        200,
        (("content-type", "text/html"),),
        page(number).source.encode(),
        datetime(2026, 6, 1, tzinfo=UTC),
    )


def text_of(analysis: PageAnalysis) -> str:
    assert analysis.article is not None
    return analysis.article.text


def known() -> SiteTemplate:
    template = taught(12).template(HOST)
    assert template is not None
    return template


def test_an_analysis_tells_about_its_site_when_asked() -> None:
    seen = analyse_page(fetched(1), SETUP).observation
    assert seen is not None
    assert seen.host == HOST
    whole = f"{title(1)}_社会_江北晚报"
    assert seen.names == ("社会", "江北晚报", f"^{title(1)}", f"={whole}")
    assert (
        analyse_page(fetched(1), AnalysisSetup("density", 50, (), "vsm_breadth")).observation
        is None
    )
    empty = FetchedPage(
        "http://a.test/",
        "http://a.test/",
        200,
        (),
        b"<title>x</title>",
        datetime(2026, 6, 1, tzinfo=UTC),
    )
    assert analyse_page(empty, SETUP).observation is None


def test_a_worker_uses_what_is_known() -> None:
    template = known()
    before, after = analyse_page(fetched(30), SETUP), analyse_page(fetched(30), SETUP, template)
    assert DISCLAIMER in text_of(before)
    assert DISCLAIMER not in text_of(after)
    assert paragraphs(30)[-1] in text_of(after)
    assert after.observation is not None
    assert after.observation.left_out >= 1
    pool = AnalysisPool(SETUP, workers=1, seconds=5.0)
    try:
        assert pool.submit(fetched(30), template).result(240) == after
    finally:
        pool.close()
    assert pickle.loads(pickle.dumps(after)) == after


def test_what_is_learnt_is_stored_and_read_again(database: Database) -> None:
    reader = Reader(database)
    learning = SiteTemplateStore(reader)
    assert learning.template_now(fetched(0)) is None
    for number in range(50):
        assert learning.due() is None
        seen = observed(number)
        learning.observe(PageAnalysis(Outcome.ARTICLE, None, (), "utf-8", observation=seen))
    save = learning.due()
    assert save is not None
    with database.engine.begin() as c:
        save(c)
        save(c)  # a transaction may be played again
    assert learning.due() is None
    other = SiteTemplateStore(reader)
    template = asyncio.run(other.template(fetched(0)))
    assert template == other.template_now(fetched(0)) == learning.template_now(fetched(0))
    assert template is not None
    assert template.pages == 50
    assert reader.run(partial(load_site_template, host="other.test")) is None
    assert learning.numbers() == {
        "qiaocrawl/sites/repeated_blocks": 0,
        "qiaocrawl/sites/redesigns": 0,
        "qiaocrawl/sites/disagreements": 0,
    }
    reader.close()


class Site:
    """A start page that links *count* articles; half of them come when the others are stored."""

    def __init__(self, count: int, database_url: str) -> None:
        self._database_url = database_url
        self._half, self._asked = count // 2, itertools.count()
        links = "".join(f'<li><a href="/a/{n}.html">{n}</a></li>' for n in range(count))
        self.pages = {"/": f"<title>江北晚报</title><ul>{links}</ul>".encode()}
        self.pages |= {f"/a/{n}.html": page(n).source.encode() for n in range(count)}

    def __call__(self, host: str, path: str) -> Answer | None:
        if host != HOST or path not in self.pages:
            return None
        if path != "/" and next(self._asked) >= self._half:
            # A few may still be in hand.
            limit = soon()
            stored = "SELECT COUNT(*) FROM article"
            while rows(self._database_url, stored) < [(self._half - 3,)]:
                assert time.monotonic() < limit
                time.sleep(0.1)
        return Answer(self.pages[path])


def crawled(database_url: str, folder: Path, **options: str) -> dict[str, object]:
    """Crawls 30 articles; the run's numbers."""
    import_pack(database_url, pack(HOST))
    with local_server(Site(30, database_url)) as server:
        done = crawl(
            "site",
            database_url,
            "topic=qiaoqing",
            folder=folder,
            QIAO_DEMO=server.origin,
            QIAO_EXTRACT_METHOD="density",
            **options,
        )
    assert done.returncode == 0, done.log
    ((stats,),) = rows(database_url, "SELECT stats FROM run")
    numbers: dict[str, object] = json.loads(str(stats))
    return numbers


def articles_with_disclaimer(database_url: str) -> int:
    found = [unpack_text(text) for (text,) in rows(database_url, "SELECT text FROM article")]
    assert len(found) == 30
    assert all(any(paragraphs(n)[0] in text for n in range(30)) for text in found)
    return sum(DISCLAIMER in text for text in found)


def test_a_crawl_learns_and_reprocessing_finishes(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    numbers = crawled(database_url, tmp_path)
    left = articles_with_disclaimer(database_url)
    assert 5 <= left < 30, "the first articles teach, the later ones gain"
    assert int(str(numbers["qiaocrawl/sites/repeated_blocks"])) >= 30 - left
    assert numbers["qiaocrawl/sites/redesigns"] == 0
    assert rows(database_url, "SELECT host, pages FROM site_template") == [(HOST, 30)]

    runtime = Runtime(Options.from_environment({
        "QIAO_DATABASE_URL": database_url, "QIAO_EXTRACT_METHOD": "density",
    }))  # fmt: skip
    try:
        reprocess_extract(runtime, lambda done: True)
    finally:
        runtime.close()
    assert articles_with_disclaimer(database_url) == 0
    assert rows(database_url, "SELECT host, pages FROM site_template") == [(HOST, 30)]


def test_learning_can_be_turned_off(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    numbers = crawled(database_url, tmp_path, QIAO_SITE_LEARNING="off")
    assert articles_with_disclaimer(database_url) == 30
    assert not [name for name in numbers if "sites" in name]
    assert rows(database_url, "SELECT host FROM site_template") == []
