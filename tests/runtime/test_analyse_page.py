"""One page through everything a worker does."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qiaocrawl.dedup.fingerprints import body_digest, body_simhash, body_sketch
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import extractor_options
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.items.article import PartText
from qiaocrawl.options import Options
from qiaocrawl.runtime.analyse_page import analyse_page, join_texts, prepare
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.topic.pack import Sample, Term, TopicPack

PACK = TopicPack(
    name="qiao", title="侨情", description="", threshold=0.1,
    terms=(Term("侨胞", "core", 3.0), Term("侨批馆舍", "culture", 2.0), Term("侨乡", "place", 2.0)),
    sites=(),
    samples=(Sample("yes", "侨胞回乡", "侨胞回到侨乡，参观新馆。", True),
             Sample("no", "球赛", "昨晚的球赛进行到加时。", False)),
)  # fmt: skip
OTHER = TopicPack("ball", "球", "", 0.1, (Term("球赛", "core", 3.0),), (), ())
SETUP = AnalysisSetup("density", 50, (PACK, OTHER), "vsm_breadth")

TEXT = "\n".join(
    f"<p>第{i}批侨胞回到侨乡，参观侨批馆舍，听老人讲过去的事情。</p>" for i in range(9)
)


def page_of(html: str) -> FetchedPage:
    url = "https://www.example.com/n/1.html"
    return FetchedPage(url, url, 200, (), html.encode(), datetime(2026, 6, 1, tzinfo=UTC))


def test_an_article_gets_relevance_title_words_and_a_digest() -> None:
    title = "侨胞参观侨批馆舍"
    analysis = analyse_page(page_of(f"<title>{title}</title>\n<h1>{title}</h1>\n{TEXT}"), SETUP)
    assert analysis.outcome is Outcome.ARTICLE
    assert analysis.title_tokens == ("侨胞", "参观", "侨批馆舍")
    judged = {r.topic: r for r in analysis.relevance}
    assert judged["qiao"].relevant
    assert not judged["ball"].relevant
    assert judged["qiao"].score > 0.1 > judged["ball"].score == 0.0
    assert analysis.article is not None
    assert analysis.body_digest == body_digest(analysis.article.text)
    assert len(analysis.body_digest) == 16
    assert analysis.body_simhash == body_simhash(analysis.article.text)
    assert analysis.body_sketch == body_sketch(analysis.article.text) != b""


def test_any_page_is_judged_for_the_crawl_order_and_an_article_once() -> None:
    article = page_of(f"<title>侨胞参观</title>\n<h1>侨胞参观</h1>\n{TEXT}")
    links = "".join(f'<li><a href="/{n}">侨胞回到侨乡 {n}</a></li>' for n in range(30))
    listed = page_of(f"<title>侨胞</title><ul>{links}</ul>")
    assert analyse_page(article, SETUP).page_relevance == ()
    ordered = replace(SETUP, order_topic="qiao")
    found = analyse_page(article, ordered)
    assert found.page_relevance == tuple(r for r in found.relevance if r.topic == "qiao")
    assert found.page_relevance[0] is found.relevance[0], "judged once"
    of_list = analyse_page(listed, ordered)
    assert of_list.article is None
    assert [(r.topic, r.relevant) for r in of_list.page_relevance] == [("qiao", True)]
    other = analyse_page(article, replace(ordered, order_method="full_text"))
    assert other.page_relevance[0].method == "full_text"
    assert other.relevance[0].method == "vsm_breadth"
    assert analyse_page(article, replace(SETUP, order_topic="none")).page_relevance == ()


def test_joined_texts_get_the_prints_of_the_whole() -> None:
    parts = [PartText("第一页的侨胞回到侨乡。", "<h2>一</h2>"), PartText("第二页的侨胞参观新馆。")]
    joined = join_texts("侨胞回乡", parts, SETUP)
    assert joined.html == "<h2>一</h2>\n<p>第二页的侨胞参观新馆。</p>"
    assert joined.body_digest == body_digest(joined.text)
    assert joined.body_simhash == body_simhash(joined.text)
    assert joined.body_sketch == body_sketch(joined.text) != b""


def test_what_is_no_article_gets_none_of_it() -> None:
    analysis = analyse_page(page_of("<title>空</title>"), SETUP)
    assert analysis.article is None
    assert (analysis.relevance, analysis.title_tokens) == ((), ())


def test_reprints_in_another_script_and_layout_have_the_same_digest() -> None:
    assert body_digest("僑胞回鄉，\n参观。ＡＢ") == body_digest("侨胞 回乡,参观。ab")
    assert body_digest("侨胞回乡") != body_digest("侨胞返乡")
    assert body_digest(" \n") == b""


def test_setup_and_analysis_cross_process_borders() -> None:
    setup = pickle.loads(pickle.dumps(SETUP))
    assert setup == SETUP
    page = page_of(f"<title>侨胞参观</title>\n<h1>侨胞参观</h1>\n{TEXT}")
    assert pickle.loads(pickle.dumps(analyse_page(page, setup))) == analyse_page(page, SETUP)


def test_wrong_names_stop_before_the_first_page() -> None:
    with pytest.raises(ConfigError, match="unknown extractor 'x'"):
        prepare(AnalysisSetup("x", 5, (), "vsm_breadth"))
    with pytest.raises(ConfigError, match="unknown page scorer 'x'"):
        prepare(AnalysisSetup("density", 5, (), "x"))


def test_options_reach_the_extractor(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text('[[template]]\nhosts = "qiao.test"\nbody = "#none"\n', encoding="utf-8")
    options = extractor_options("template", Options({"QIAO_TEMPLATES": str(file)}))
    setup = AnalysisSetup("template", 50, (), "vsm_breadth", extractor_options=options)
    assert pickle.loads(pickle.dumps(setup)) == setup
    prepare(setup)
    with pytest.raises(ConfigError, match=r"gone\.toml"):
        prepare(replace(setup, extractor_options=(("QIAO_TEMPLATES", "gone.toml"),)))
