"""One interface to answers: what the same calls give of a page, of JSON and of scripts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.search.documents import (
    Document,
    HtmlDocument,
    JsonDocument,
    ScriptsDocument,
    parse_document,
)

PAGE = """<title>侨乡 -  搜索</title><script>var hidden = "看不见"</script><p>共 2 条</p>
<ol><li class="hit" data-id="7"><a href="/1">侨乡<b>开学</b></a><span></span><em> 摘要 </em></li>
<li class="hit"><a href="/2">归侨回乡</a></li></ol>"""
DATA = {
    "title": "侨乡",
    "results": [
        {"url": "/1", "name": "开学", "rank": 0, "ad": True, "more": {"site": "a.cn"}},
        {"url": "/2", "name": "  ", "names": ["归侨", "回乡"]},
    ],
    "empty": [],
    "total": 17,
}


def html() -> HtmlDocument:
    return HtmlDocument(PAGE)


def data() -> JsonDocument:
    return JsonDocument(json.dumps(DATA))


@pytest.mark.parametrize(("page_format", "kind"), [
    ("html", HtmlDocument), ("json", JsonDocument), ("scripts", ScriptsDocument),
])  # fmt: skip
def test_the_format_of_a_definition_chooses_the_document(
    page_format: str, kind: type[Document]
) -> None:
    assert type(parse_document("{}", page_format, "script")) is kind


def test_a_page_shows_its_text_without_title_and_scripts() -> None:
    assert html().title == "侨乡 - 搜索"
    assert "共 2 条" in html().visible_text
    assert "搜索" not in html().visible_text
    assert "看不见" not in html().visible_text


def test_the_first_selector_that_finds_elements_gives_the_hits() -> None:
    assert len(html().items(("li.none", "li.hit", "p"))) == 2
    assert html().items(("li.none", "xpath://h1")) == []
    assert len(data().items(("none", "empty", "results"))) == 2


def test_elements_deeper_than_two_in_one_another_are_no_hits() -> None:
    nested = HtmlDocument("<div>1<div>2<div>3<div>4</div></div></div></div>")
    assert len(nested.items(("div",))) == 2


def test_a_value_is_the_text_of_the_first_element_with_all_inside_it() -> None:
    first = html().items(("li.hit",))[0]
    assert html().value(first, ("a",)) == "侨乡开学"
    assert html().value(first, ("span", "em")) == "摘要", "an element without text is passed over"
    assert html().value(first, ("xpath:a/@href",)) == "/1"
    assert html().value(first, ("h3",)) == ""
    assert html().whole(("h3", "p")) == "共 2 条"


def test_a_value_of_data_is_a_text_or_a_number_and_never_a_truth_value() -> None:
    first, second = data().items(("results",))
    assert data().value(first, ("name",)) == "开学"
    assert data().value(first, ("rank",)) == "0"
    assert data().value(first, ("ad", "more", "more.site")) == "a.cn"
    assert data().value(second, ("name", "names.1")) == "回乡"
    assert data().value(second, ("names.2", "names.x")) == ""
    assert data().whole(("total",)) == "17"


def test_attributes_belong_to_an_element_or_to_the_object_at_a_path() -> None:
    first, second = html().items(("li.hit",))
    assert html().attribute(first, "", "data-id") == "7"
    assert html().attribute(second, "", "data-id") == ""
    assert html().attribute(second, "a", "href") == "/2"
    assert html().attributes("li.hit", "class", "data-id") == [("hit", "7"), ("hit", "")]
    entry = data().items(("results",))[0]
    assert data().attribute(entry, "more", "site") == "a.cn"
    assert data().attribute(entry, "", "url") == "/1"


def test_what_is_held_is_there_and_says_something() -> None:
    first = data().items(("results",))[0]
    assert data().holds(first, "ad")
    assert not data().holds(first, "rank"), "0"
    assert html().holds(html().items(("li.hit",))[0], "em")
    assert not html().holds(html().items(("li.hit",))[1], "em")


def test_only_data_can_say_that_a_list_is_there_and_empty() -> None:
    assert data().has_place(("none", "empty"))
    assert data().has_empty_list("empty")
    assert not data().has_empty_list("results")
    assert not data().has_place(("total",))
    assert not html().has_place(("ol",))
    assert not html().has_empty_list("ol")


def test_texts_for_signs_are_those_of_elements_or_all_leaves_of_data() -> None:
    assert html().texts("em, span") == ["", "摘要"]
    assert html().data_texts("em") == []
    assert data().texts("results") == []
    assert data().data_texts("results.0") == ["/1, 开学, 0, true, a.cn"]
    assert data().data_texts("empty") == []


def test_a_check_page_in_the_place_of_json_says_so_and_can_be_read() -> None:
    document = JsonDocument("<title>安全验证</title><p>请输入验证码</p>")
    assert document.broken.startswith("no JSON: ")
    assert (document.title, document.visible_text) == ("安全验证", "请输入验证码")
    assert JsonDocument("[" * 100_000).broken
    assert (data().broken, data().visible_text) == ("", "")


SCRIPTS = """<script class=d>{"hit": {"url": "/1", "name": "甲"}}</script>
<script class=d>var broken = 1</script>
<script class=d>{"hit": [{"url": "/2"}, {"url": "/3"}], "none": [], "total": 3}</script>
<script>{"hit": {"url": "/4"}}</script>"""


def test_every_chosen_script_of_a_page_is_an_answer_of_its_own() -> None:
    document = ScriptsDocument(SCRIPTS, "script.d")
    hits = document.items(("hit",))
    assert [document.value(hit, ("url",)) for hit in hits] == ["/1", "/2", "/3"]
    assert document.attribute(hits[0], "", "name") == "甲"
    assert document.holds(hits[0], "name")
    assert not document.holds(hits[1], "name")
    assert document.data_texts("hit") == ["/1, 甲", "/2, /3"]
    assert document.whole(("total",)) == "3"
    assert document.has_empty_list("none")
    assert document.broken == ""


def test_a_list_without_end_is_cut_after_two_hundred_entries() -> None:
    assert len(HtmlDocument("<li>1</li>" * 300).items(("li",))) == 200
    assert len(JsonDocument(json.dumps({"r": [1] * 300})).items(("r",))) == 200
    many = "".join(f'<script>{{"r": [{n}, {n}]}}</script>' for n in range(150))
    assert len(ScriptsDocument(many, "script").items(("r",))) == 200


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
paths = st.lists(st.text(max_size=3) | st.sampled_from("012"), max_size=3).map(".".join)


@given(values, paths, st.sampled_from(["json", "scripts"]))
def test_no_data_and_no_path_make_a_document_raise(
    value: object, path: str, page_format: str
) -> None:
    text = json.dumps(value)
    source = text if page_format == "json" else f"<script>{text}</script>"
    document = parse_document(source, page_format, "script")
    for item in document.items((path,)):
        assert document.value(item, (path,)) == document.attribute(item, "", path)
    assert isinstance(document.whole((path,)), str)
    assert isinstance(document.data_texts(path), list)
