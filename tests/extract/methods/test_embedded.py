"""Articles in scripts: found wherever pages of today keep them, and nowhere else."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_pages import HOSTILE
from qiaocrawl.extract import extract_article
from qiaocrawl.extract.methods.embedded import (
    Embedded,
    embedded_article,
    paragraphs_of,
    whole_article,
)
from qiaocrawl.page.page import parse_page

TITLE = "侨乡古厝修缮完工"
LINES = (
    "本报讯（记者 陈思齐）历时两年的侨乡古厝修缮工程昨日完工，十二座百年老屋重新开放。",
    "据介绍，修缮采用传统工艺，木构件能修的不换，“修旧如旧”是工匠们常挂在嘴边的话。",
    "来自海外的乡亲在现场表示，看到祖屋保存下来，心里踏实。",
)
TEXT = "\n".join(LINES)
MARKUP = "".join(f"<p>{line}</p>" for line in LINES)
ARTICLE = {
    "title": TITLE,
    "content": MARKUP,
    "publishTime": "2024-05-06 08:30:00",
    "author": {"name": "陈思齐"},
}


def found_in(scripts: str, title: str = TITLE) -> Embedded | None:
    page = (
        f"<html><head><title>{title}</title></head><body><div id=app></div>{scripts}</body></html>"
    )
    return embedded_article(parse_page(page.encode(), "text/html; charset=utf-8"))


def script(source: str, kind: str = "text/javascript") -> str:
    return f'<script type="{kind}">{source.replace("</", "<" + chr(92) + "/")}</script>'


DEEP = {"props": {"pageProps": {"nav": ["首页"] * 9, "detail": {"data": ARTICLE}}}}
LITERAL = (
    f"var articleInfo = {{ title: '{TITLE}', content: '{MARKUP}', "
    "publishTime: '2024-05-06 08:30:00', author: '陈思齐', onload: function(){ init(); } };"
)


@pytest.mark.parametrize(
    "scripts",
    [
        script(json.dumps(DEEP, ensure_ascii=False), "application/json"),
        script(json.dumps(DEEP), "application/json"),
        script(f"window.__STATE__ = {json.dumps(DEEP, ensure_ascii=False)};(function(){{}})()"),
        script(f"window.__DATA__={json.dumps(json.dumps(DEEP))}"),
        script(f"var data = JSON.parse({json.dumps(json.dumps(DEEP, ensure_ascii=False))});"),
        script(f'var data = "{quote(json.dumps(DEEP, ensure_ascii=False))}"; show(data);'.replace(
            "var data", "var content")),
        script(LITERAL),
        script(LITERAL.replace("<", "\\u003c").replace(">", "\\u003E")),
        script(json.dumps({**ARTICLE, "content": html.escape(MARKUP)}, ensure_ascii=False)),
        script("x = " + json.dumps({**ARTICLE, "content": list(LINES)}, ensure_ascii=False)),
        script("x = " + json.dumps({**ARTICLE, "content": [{"tag": "p", "text": t} for t in LINES]},
                                   ensure_ascii=False)),
        script("x = " + json.dumps({**ARTICLE, "content": TEXT}, ensure_ascii=False)),
        script(LITERAL.replace("content: '", "content: /['\"]/.test(a) ? '' : '")
               .replace("? '' : '", "&& '', content: '")),
        script("// it's the state of the page, \"as sent\"\n" + LITERAL),
        script(f"x = {{ title: '{TITLE}', publishTime: '2024-05-06 08:30:00', author: '陈思齐', "
               "content: '" + "' +\n '".join(f"<p>{line}</p>" for line in LINES) + "' }"),
    ],
)  # fmt: skip
def test_every_way_to_keep_an_article(scripts: str) -> None:
    found = found_in(scripts)
    assert found is not None
    assert found.text == TEXT
    assert found.title == TITLE
    assert found.date == "2024-05-06 08:30:00"
    assert found.author == "陈思齐"
    assert found.origin == "script content"


def test_linked_data_with_a_body() -> None:
    data = {
        "@type": "NewsArticle", "headline": TITLE, "articleBody": TEXT,
        "datePublished": "2024-05-06", "author": [{"@type": "Person", "name": "陈思齐"}],
    }  # fmt: skip
    found = found_in(script(json.dumps(data, ensure_ascii=False), "application/ld+json"))
    assert found == Embedded(TEXT, TITLE, "2024-05-06", "陈思齐", "json-ld articleBody")


def test_the_one_that_the_title_names_is_taken() -> None:
    other = {
        "title": "另一条",
        "content": MARKUP + "<p>这里多一段话，比正文还长一些，说的是别的事情。</p>",
    }
    found = found_in(
        script("s=" + json.dumps({"hot": [other], "now": ARTICLE}, ensure_ascii=False))
    )
    assert found is not None
    assert found.text == TEXT


@pytest.mark.parametrize(
    "scripts",
    [
        "",
        script(
            "var _hmt = _hmt || []; (function() { var hm = document.createElement('script'); })();"
            * 9
        ),
        script("$(function(){ $('.content').html('<p>加载中</p>'); var text = 'x'; });" * 20),
        script("var content = '" + "function(a){return b;};" * 40 + "';"),
        script('{"content": "' + "https://www.example.com/a.html " * 20 + '"}'),
        script('{"content": ' + "[" * 100_000),
        script("content: '" + "\\" * 9999),
    ],
)
def test_ordinary_scripts_hold_none(scripts: str) -> None:
    assert found_in(scripts) is None


def test_surrogates_become_characters() -> None:
    assert paragraphs_of("好\\ud83d\\ude00\\n字\\ud800") == "好😀\n字\ufffd"
    found = found_in(script("x={content: '" + TEXT.replace("\n", "\\n") + "\\uD842\\uDFB7'}"))
    assert found is not None
    found.text.encode()
    assert found.text.endswith("𠮷")


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("一段。\r\n二段。", "一段。\n二段。"),
        (
            "<p>一段。</p><script>x()</script><p>二<b>段</b>。<br>三段。</p>",
            "一段。\n二段。\n三段。",
        ),
        ("&lt;p&gt;一段。&lt;/p&gt;", "一段。"),
        ("一段&amp;二段。\n三段。", "一段&二段。\n三段。"),
        ("", ""),
    ],
)
def test_paragraphs(value: str, lines: str) -> None:
    assert paragraphs_of(value) == lines


@given(st.text(alphabet="content:'\"`{}[],\\u00e。<p>/ =\n", max_size=500))
@settings(deadline=None, max_examples=80)
def test_any_script_is_read(source: str) -> None:
    found_in(f"<script>{source * 3}</script>")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_in_a_body_is_read_to_the_end(name: str) -> None:
    value = json.dumps({"content": HOSTILE[name][:1_000_000] + MARKUP}).replace("</", "<\\/")
    found_in(f"<script>x={value}</script>")


def test_many_strings_take_linear_time() -> None:
    found_in(script("content:'" + "好，" * 40 + "'\n" + "content:'x" * 100_000))


@pytest.mark.parametrize(
    "value", ["1e999", "Infinity", "-1e999", '"\\ud800"', '["\\ud800 x", "y"]']
)
def test_odd_values_of_json_are_no_trouble(value: str) -> None:
    told = "侨胞回到了阔别多年的故乡，全村人都来迎接。" * 6
    body = f'<script>var x = {{"content":"{told}","time":{value},"title":{value}}}</script>'
    embedded_article(parse_page(body.encode(), "text/html; charset=utf-8"))
    odd = f'<script>var x = {{"xext":["\\ud800 {told}","\\ud800{told}"],"content":1}}</script>'
    embedded_article(parse_page(odd.encode(), "text/html; charset=utf-8"))


LOGGER = """
// Reports are collected here. The list is short. Old ones go first. See the notes.
function collect(all, first) {
    var log = [];
    for (var i = 0; i < readers.length; i++) {
        try {
            if (readers[i](first)) { list.push(readers[i]); }
        } catch (problem) {
            Log.error("[collect] reader failed, error: ".concat(readers[i].toString()));
        }
    }
    for (var j = 0; j < list.length; j++) {
        if (list[j].target) { list[j].target = joined(list[j].target); }
    }
    all.data = { 'list': list };
    log.push({ content: "[collect] done, length: ".concat(list.length, ", data=") });
    Log.info("[collect] done, status: ".concat(all.status, ". It waits. Nothing else. Stop."));
}
"""


def test_code_between_two_strings_is_no_text() -> None:
    assert found_in(script(LOGGER)) is None
    found = found_in(script(LOGGER) + script(LITERAL))
    assert found is not None
    assert found.text == TEXT


@pytest.mark.parametrize("decode", ["JsDecode", ""])
def test_a_post_of_plain_lines_with_escaped_ends(decode: str) -> None:
    written = TEXT.replace("\n", "\\x0a\\x0a").replace("“", "\\x26quot;").replace("”", "\\x26quot;")
    value = f"{decode}('{written}')" if decode else f"'{written}'"
    empty = f"{decode}('')" if decode else "''"
    state = (
        f"x = {{ title: '{TITLE}', content_noencode: {empty}, "
        f"info: {{ content_noencode: {value} }} }}"
    )
    found = found_in(script(LOGGER) + script(state))
    assert found is not None
    assert found.text == TEXT.replace("“", '"').replace("”", '"')
    assert found.title == TITLE


def test_a_post_of_code_is_refused_and_an_article_that_shows_some_is_not() -> None:
    code = "if (a.length < b) { send(a); }\\nvar c = a.map(function (d) { return d; });\\n" * 9
    assert found_in(script(f"x = {{ content: '{code}' }}")) is None
    shown = TEXT.replace("\n", "\\n") + "\\nprint(a.b())\\n" + TEXT.replace("\n", "\\n")
    found = found_in(script(f"x = {{ content: '{shown}' }}"))
    assert found is not None
    assert "print" in found.text


MORE = tuple(
    f"{street}的修缮排在{season}，{name}一家答应让出前厅，工匠们先把受潮的梁柱换下来再铺瓦。"
    for street, season, name in (
        ("南街", "春天", "老林"),
        ("北街", "夏天", "老陈"),
        ("东街", "秋天", "老黄"),
        ("西街", "冬天", "老吴"),
        ("中街", "明年", "老蔡"),
        ("后街", "后年", "老庄"),
    )
)
WHOLE = (*LINES, *MORE)
TEASER = "\n".join((*WHOLE[:3], MORE[0], MORE[1], f"{MORE[2][:12]}……"))
PROSE = "".join(f"<p>{line}</p>" for line in WHOLE)
STATE = {
    "a": {"title": TITLE, "content": PROSE},
    "hot": [
        {"title": "另一条", "content": "".join(f"<p>{line[::-1]}。</p>" for line in WHOLE) * 3}
    ],
}


def declared(**item: str) -> str:
    return script(json.dumps({"@type": "Article", **item}), "application/ld+json")


def whole(scripts: str, teaser: str = TEASER) -> Embedded | None:
    page = f"<title>{TITLE} - 侨网</title><body>{scripts}</body>"
    return whole_article(parse_page(page.encode(), "text/html; charset=utf-8"), teaser)


@pytest.mark.parametrize(
    "scripts",
    [
        script(json.dumps(STATE, ensure_ascii=False), "application/json"),
        script(json.dumps(STATE), "application/json"),
        script(f"window.__STATE__ = {json.dumps(json.dumps(STATE))}"),
        script(f'_N=(function(a){{return {{x:{{title:"{TITLE}",content:"{PROSE}",n:a}}}}}}(1))'),
        script("x=" + json.dumps({"t": {"paragraphs": list(WHOLE)}}, ensure_ascii=False)),
        declared(articleBody="\n".join(WHOLE)),
        declared(articleBody=PROSE),
    ],
)  # fmt: skip
def test_the_whole_of_a_teaser_is_found(scripts: str) -> None:
    found = whole(scripts)
    assert found is not None
    assert found.text.split("\n")[-3:] == list(WHOLE[-3:])


def test_a_summary_in_other_words_needs_the_title() -> None:
    summary = "老街的修缮怎么排，哪一家先动工，请看记者的报道。登录以后可以看全文。"
    body = "\n".join(WHOLE)
    assert whole(declared(headline=TITLE, articleBody=body), summary) is not None
    assert whole(declared(headline="另一条新闻的题目", articleBody=body), summary) is None
    assert whole(declared(headline=TITLE, articleBody=body[: len(summary) * 2]), summary) is None


@pytest.mark.parametrize(
    "scripts",
    [
        "",
        declared(headline=TITLE, articleBody=TEASER[:60]),
        declared(headline="另一条新闻的题目", articleBody="\n".join(MORE)[::-1] * 3),
        script(json.dumps({"content": TEASER, "tip": "好。" * 3}, ensure_ascii=False)),
    ],
)
def test_what_is_no_longer_or_of_another_article_is_not_taken(scripts: str) -> None:
    assert whole(scripts) is None


def test_a_page_that_shows_a_teaser_gives_the_whole() -> None:
    shown = "".join(f"<p>{line}</p>" for line in TEASER.split("\n"))
    html_page = (
        f"<title>{TITLE}</title><h1>{TITLE}</h1><div>2024-05-06 08:30 来源：侨乡报</div>"
        f"<div class=content>{shown}</div>{declared(headline=TITLE, articleBody=PROSE)}"
    )
    got = extract_article(html_page.encode(), "https://www.example.com/1.html")
    assert got.text == "\n".join(WHOLE)
    assert got.source == "侨乡报"
