"""Templates that officers make reach crawls that run, and stored pages that are read anew."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from qiaocrawl.cli import main
from qiaocrawl.extract.methods.template import TemplateExtractor
from qiaocrawl.extract.methods.template_file import Templates, read_template
from qiaocrawl.extract.page import extract_page
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.page.page import parse_page
from qiaocrawl.runs.reprocess import reprocess_extract
from qiaocrawl.runtime import drawn_templates
from qiaocrawl.runtime.analyse_page import analyse_page
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.runtime.drawn_templates import DrawnTemplates
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.sites.templates import add_version
from shown_site import HOST, SHARE, TITLES, add_site, markup
from stored_pages import opened

__all__ = ["opened"]

TABLE = {"hosts": [HOST], "path": "*", "title": ["div.biaoti"], "body": ["div.neirong"],
         "exclude": ["p.fenxiang"], "author": ["div.xinxi"], "source": ["div.xinxi"]}  # fmt: skip
NOW = datetime(2026, 11, 28, tzinfo=UTC)
SETUP = AnalysisSetup("blend", 50, (), "vsm_breadth")


def _page(number: int = 0, host: str = HOST) -> FetchedPage:
    url = f"http://{host}/{number}"
    return FetchedPage(
        url, url, 200, (("content-type", "text/html; charset=utf-8"),),
        markup(number).encode(), NOW,
    )  # fmt: skip


def _drawn(**table: object) -> TemplateExtractor:
    template, faults = read_template({**TABLE, **table})
    assert template is not None, faults
    return TemplateExtractor(Templates([template]))


def test_what_was_drawn_goes_before_what_is_found() -> None:
    page = parse_page(_page().body, "text/html; charset=utf-8", _page().url)
    before, after = extract_page(page, "blend"), extract_page(page, "blend", drawn=_drawn())
    assert SHARE not in after.text
    assert after.text.count("\n") == 4
    assert after.judgement.outcome is Outcome.ARTICLE
    assert (after.metadata.author, after.metadata.source) == ("张三丰", "侨乡报")
    assert after.metadata.published_at == before.metadata.published_at, "nobody pointed at it"
    lost = extract_page(page, "blend", drawn=_drawn(body=["div.gone"]))
    assert lost.text == before.text
    assert "is not on the page" in lost.body.reason
    template, faults = read_template({"hosts": [HOST], "author": "div.xinxi"})
    assert template is not None, faults
    only_author = extract_page(page, "blend", drawn=TemplateExtractor(Templates([template])))
    assert only_author.text == before.text
    assert only_author.metadata.author == "张三丰"


def test_the_operators_file_goes_before_what_was_drawn() -> None:
    page = parse_page(_page().body, "text/html; charset=utf-8", _page().url)
    theirs, faults = read_template({"hosts": [HOST], "body": ["p.fenxiang"]})
    assert theirs is not None, faults
    read = extract_page(
        page, "template", extractor=TemplateExtractor(Templates([theirs])), drawn=_drawn()
    )
    assert read.text == SHARE


def test_a_worker_reads_by_what_travels_with_the_page() -> None:
    plain = analyse_page(_page(), SETUP)
    drawn = analyse_page(_page(), SETUP, None, json.dumps(TABLE))
    assert plain.article is not None
    assert drawn.article is not None
    assert SHARE not in drawn.article.text
    # Of a later version of the program: as if it were not there.
    unknown = analyse_page(_page(), SETUP, None, json.dumps({**TABLE, "colour": "red"}))
    assert unknown.article == plain.article


def test_a_running_crawl_takes_over_what_is_saved(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(database)
    running = DrawnTemplates(reader)
    assert running.content_now(_page()) == ""
    _save(database, TABLE)
    assert running.content_now(_page()) == "", "it was asked a moment ago"
    monkeypatch.setattr(drawn_templates, "LOOK_SECONDS", 0.0)
    assert json.loads(running.content_now(_page())) == TABLE
    assert running.content_now(_page(host="www.b-news.cn")) == ""
    _save(database, {**TABLE, "title": ["h1"]})
    assert json.loads(running.content_now(_page()))["title"] == ["h1"]
    _save(database, {"hosts": [HOST], "unknown": "of another version"}, path="/x/*")
    assert json.loads(running.content_now(_page()))["title"] == ["h1"]
    _save(database, None)
    assert running.content_now(_page()) == ""


def _save(database: Database, table: dict[str, object] | None, path: str = "*") -> None:
    with database.engine.begin() as c:
        add_version(c, HOST, path, table, by="editor", note="", now=NOW)


def test_stored_pages_of_one_site_are_read_anew(
    database: Database, database_url: str, opened: Callable[[], Runtime]
) -> None:
    add_site(database)
    with database.engine.begin() as c:
        c.execute(text("UPDATE url SET state = 3, outcome = 'article', lease_until = NULL"))
    _save(database, TABLE)
    changes = reprocess_extract(opened(), lambda _done: True, host=HOST)
    assert sum(changes.values()) == len(TITLES)
    with database.engine.connect() as c:
        rows = c.execute(text("SELECT author FROM article")).scalars().all()
    assert set(rows) == {"张三丰"}


def test_a_host_without_pages_is_told(
    database: Database,
    database_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for stage in ("extract", "dedup"):
        words = ["qiaocrawl", "reprocess", "--stage", stage, "--host", "x.cn"]
        monkeypatch.setattr(sys, "argv", [*words, "--database", database_url])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        assert "--host" in capsys.readouterr().err
