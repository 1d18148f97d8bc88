"""Bodies, fields and links by template, on pages written for it and over the demo web."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from benchmarks.demo_scores import body_f1
from qiaocrawl.demo.model import Gold, Kind
from qiaocrawl.demo.web import build_web
from qiaocrawl.extract.base import SiteReader, extractor_for, extractors
from qiaocrawl.extract.methods.template import FALLBACK, TemplateExtractor
from qiaocrawl.extract.methods.template_file import Templates, load_templates, read_template
from qiaocrawl.extract.page import LinkSources, analyse_html
from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.page.page import Page, parse_page

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URL = "http://www.qiao.test/art/1.html"
MARKUP = """
<html><head><title>侨批归乡记 - 侨网</title><meta name=d content="2025-06-07 08:09"></head><body>
<ul id=nav><li><a href="/a/">侨务</a><li><a href="/b/">华教</a></ul>
<h1> 侨批
 归乡记 </h1>
<div class=info>来源：南桥侨报　<span class=who>作者：陈立言、何思齐</span></div>
<div id=text><p>第一段<span class=tip>（点击放大）</span>说侨批归乡。</p>
<div class=ad>广告：一个应用就够了。</div>
<p>第二段说老屋。<br>另起一行。</p></div>
<p id=more>第三段在外面。</p>
<ul id=rel><li><a href="/art/2.html">相关一</a><li><a href="/art/3.html?x=1&amp;y=2">相关二</a></ul>
</body></html>"""


def page_of(markup: str = MARKUP, url: str = URL) -> Page:
    return parse_page(markup.encode(), "text/html; charset=utf-8", url)


def extractor(**regions: Any) -> TemplateExtractor:
    template, faults = read_template({"hosts": "*.qiao.test", **regions})
    assert template is not None, faults
    return TemplateExtractor(Templates([template]))


LINES = ["第一段说侨批归乡。", "第二段说老屋。", "另起一行。"]


@pytest.mark.parametrize(
    ("body", "exclude"),
    [("#text", [".ad", ".tip"]),
     ("xpath://div[@id='text']", ["xpath://div[@class='ad']", "xpath://span[@class='tip']"])],
)  # fmt: skip
def test_the_body_is_its_region_without_what_is_excluded(body: str, exclude: list[str]) -> None:
    found = extractor(body=body, exclude=exclude).body(page_of())
    assert found.text.replace(" ", "").split("\n") == LINES
    assert found.reason.startswith("template, ")


def test_blocks_of_css_regions_are_told() -> None:
    page = page_of()
    found = extractor(body=["#more", "#text p"]).body(page)
    texts = [page.blocks.blocks[index].text for index in found.blocks]
    assert texts == found.text.split("\n")
    assert texts[-1] == "第三段在外面。"


@pytest.mark.parametrize(
    ("body", "text"),
    [("span.tip", "（点击放大）"), ("xpath://span[@class='tip']/text()", "（点击放大）"),
     ("xpath://div[@id='text'] | //div[@id='text']/p[2]", "第一段（点击放大）说侨批归乡。"),
     (["div", "#text"], "来源：南桥侨报 作者：陈立言、何思齐")],
)  # fmt: skip
def test_regions_of_all_sorts(body: Any, text: str) -> None:
    lines = extractor(body=body).body(page_of()).text.split("\n")
    assert lines[0] == text
    assert len(set(lines)) == len(lines)


def test_fields_are_read_from_their_regions() -> None:
    found = extractor(
        body="#text", title="h1", date=["#none", "meta[name=d]::attr(content)"], author=".who",
        source="xpath:substring-before(//div[@class='info'], '　')",
    ).fields(page_of(), NOW)  # fmt: skip
    assert found["title"].value == "侨批 归乡记"
    assert found["published_at"].value.isoformat() == "2025-06-07T08:09:00+08:00"
    assert found["published_at"].origin == "template meta[name=d]::attr(content)"
    assert found["authors"].value == ("陈立言", "何思齐")
    assert found["source"].value == "南桥侨报"
    assert all(0 < one.confidence <= 1 for one in found.values())


def test_what_is_not_there_is_no_field() -> None:
    found = extractor(body="#text", title="h2", date="h1", author="#none", source="script")
    assert found.fields(page_of(), NOW) == {}


@pytest.mark.parametrize("links", ["#rel", "#rel a", "xpath://ul[@id='rel']", "xpath://ul[2]//a"])
def test_links_of_a_region(links: str) -> None:
    page = page_of()
    found = extractor(links=links).links(page, page.links(100))
    assert [link.anchor for link in found] == ["相关一", "相关二"]


def test_without_a_region_of_links_all_links_stay() -> None:
    page = page_of()
    assert len(extractor(body="#text").links(page, page.links(100))) == 4


@pytest.mark.parametrize(
    ("method", "url", "why"),
    [(extractor(body="#text"), "http://www.other.test/", "no template for http://www.other.test/"),
     (extractor(body="#text", path="/x/*"), URL, "no template for"),
     (extractor(body="#text"), "", "no template for a page without URL"),
     (extractor(links="#rel"), URL, "the template has no body region"),
     (extractor(body="#gone"), URL, "the body region of the template is not on the page"),
     (extractors.get("template"), URL, "no template for")],
)  # fmt: skip
def test_other_pages_are_read_by_the_general_method_and_that_is_said(
    method: TemplateExtractor, url: str, why: str
) -> None:
    sentence = "批侨胞回到侨乡，参观侨批馆舍，听老人讲过去的事。"
    paragraphs = "\n".join(f"<p>第{i}{sentence}</p>" for i in range(9))
    page = page_of(f"<title>题</title>\n{paragraphs}", url)
    found = method.body(page)
    assert found.text == extractors.get(FALLBACK).body(page).text != ""
    assert found.reason.startswith(why)
    assert f"; {FALLBACK}: " in found.reason


def test_the_option_names_the_templates(tmp_path: Path) -> None:
    file = tmp_path / "qiao.toml"
    file.write_text('[[template]]\nhosts = "www.qiao.test"\nbody = "#more"\n', encoding="utf-8")
    options = {"QIAO_TEMPLATES": str(file), "QIAO_BLEND_NETWORK": ""}
    assert extractor_for("template", options).body(page_of()).text == "第三段在外面。"
    options["QIAO_TEMPLATES"] = ""
    assert "no template" in extractor_for("template", options).body(page_of()).reason


def test_an_analysis_takes_fields_and_links_from_the_template() -> None:
    method = extractor(
        body="#text", exclude=[".ad", ".tip"], title="h1", author=".who", links="#rel"
    )
    assert isinstance(method, SiteReader)
    long = MARKUP.replace("第二段说老屋。", "第二段说老屋。" * 30)
    headers = (("content-type", "text/html; charset=utf-8"),)
    fetched = FetchedPage(URL, URL, 200, headers, long.encode(), NOW)
    analysis = analyse_html(fetched, "template", 100, method)
    assert analysis.article is not None
    assert analysis.article.author == "陈立言、何思齐"
    assert "广告" not in analysis.article.text
    assert [link.anchor for link in analysis.links] == ["相关一", "相关二"]


@pytest.mark.parametrize(
    "markup", ["", "\x00", "<div>" * 20_000 + "文", "<div id=text>" * 3_000, "<a" * 50_000]
)
@pytest.mark.parametrize("body", ["div", "xpath://div", "xpath://div/text()"])
def test_any_page_is_read_to_the_end(markup: str, body: str) -> None:
    found = extractor(body=body, title="xpath://div", links="div").body(page_of(markup))
    assert found.reason


# --- the shipped examples, over the demo web ------------------------------------------------

EXAMPLES = str(resources.files("qiaocrawl.demo").joinpath("data/site_templates.toml"))
WHOLE = (Kind.ARTICLE, Kind.BRIEF, Kind.PHOTO, Kind.BLOG)


@pytest.fixture(scope="module")
def demo_pages() -> list[tuple[Gold, Page]]:
    web = build_web(scale=0.3)
    paged = {gold.target_url for gold in web.gold() if gold.kind is Kind.PART}
    return [
        (page.gold, parse_page(page.body, dict(page.headers).get("Content-Type", ""),
                               page.gold.url))
        for page in web.pages.values()
        if page.status == 200 and page.gold is not None and page.gold.url not in paged
    ]  # fmt: skip


def test_the_examples_read_their_sites(demo_pages: list[tuple[Gold, Page]]) -> None:
    method = TemplateExtractor(load_templates(EXAMPLES))
    seen: dict[str, int] = {}
    for gold, page in demo_pages:
        template = method.template_of(page)
        if gold.kind not in WHOLE or template is None or not template.body:
            continue
        fields = method.fields(page)
        body = method.body(page)
        host = gold.url.split("/")[2]
        assert body.reason.startswith("template, "), gold.url
        assert body_f1(gold.body, body.text) > 0.95, gold.url
        assert fields["title"].value == gold.title
        assert gold.published_at is not None
        assert fields["published_at"].value.date() == gold.published_at.date()
        if "source" in fields:
            assert fields["source"].value == gold.source
        if "authors" in fields:
            assert fields["authors"].value == (gold.author,)
        seen[host] = seen.get(host, 0) + 1
    assert set(seen) == {"www.huaqiaobao.test", "www.mnqw.test", "www.yuehaiqiao.test"}
    assert min(seen.values()) >= 4


def test_the_examples_follow_the_links_of_lists_only(demo_pages: list[tuple[Gold, Page]]) -> None:
    method = TemplateExtractor(load_templates(EXAMPLES))
    lists = [page for gold, page in demo_pages
             if gold.kind is Kind.LIST and "www.mnqw.test" in gold.url]  # fmt: skip
    assert lists
    for page in lists:
        every = page.links(1000)
        found = method.links(page, every)
        assert 0 < len(found) < len(every)
        assert all("/art/" in link.url or "index" in link.url for link in found)


def test_the_links_of_a_list_without_any_region_are_put_off() -> None:
    rows = "".join(
        f"<li><a href=/n/{n}.html>侨胞返乡第{n}站</a> 2026-03-0{n}</li>" for n in range(1, 10)
    )
    for region, put_off in (("ul.new", True), ("ul.old", False)):
        body = f"<title>新闻列表</title><h1>新闻列表</h1><ul class=old>{rows}</ul>".encode()
        fetched = FetchedPage(
            URL, URL, 200, (("content-type", "text/html; charset=utf-8"),), body, NOW
        )
        sources = LinkSources(extractor(links=region))
        analysis = analyse_html(fetched, "density", 100, sources=sources)
        assert analysis.outcome is Outcome.LIST
        assert len(analysis.links) == 9
        assert all(bool(link.postponed) is put_off for link in analysis.links)
