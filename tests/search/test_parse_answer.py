"""Classification of answers: order of the signs, hostile bytes, what is kept of the hits."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qiaocrawl.search.answer import parse_answer
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.search.hits import is_on_site
from qiaocrawl.search.query import WITH_HITS, AnswerState, Query, SearchAnswer
from qiaocrawl.search.record_checks import Addition
from qiaocrawl.search.records import EngineDefinition, HitFields, Paging, Signal, Signals, Unwrap

MINI = EngineDefinition(
    name="mini",
    title="Mini",
    kind="scraped",
    format="html",
    url="https://mini.test/s?q={query}&p={page}",
    site=Addition("{term} site:{site}"),
    paging=Paging(max_pages=3),
    hits=HitFields(each=("li",), link=("a::attr(href)",), title=("a",), snippet=("p",)),
    signals=Signals(
        blocked=(Signal("title", words=("请稍候",)), Signal("text", words=("验证码",))),
        empty=(Signal("text", words=("没有结果",)),),
    ),
)
ENGINES = {
    name: engine.at("http://searx.test") if name == "searxng" else engine
    for name, engine in load_definitions().items()
}
PAGES = Path(__file__).parent / "pages"


def _ask(
    body: str | bytes,
    term: str = "侨胞",
    site: str = "",
    *,
    status: int = 200,
    page: int = 1,
    engine: EngineDefinition = MINI,
    headers: dict[str, str] | None = None,
) -> SearchAnswer:
    raw = body.encode() if isinstance(body, str) else body
    return parse_answer(engine, Query("t", term, site, "mini", page), status, headers or {}, raw)


def _page(*hits: tuple[str, str], extra: str = "", title: str = "搜索") -> str:
    items = "".join(f'<li><a href="{url}">{text}</a></li>' for url, text in hits)
    return f"<title>{title}</title><ul>{items}</ul>{extra}"


HIT = ("https://a.test/1", "海外侨胞")


@pytest.mark.parametrize(
    ("status", "body", "state"),
    [
        (403, "", AnswerState.BLOCKED),
        (429, _page(HIT), AnswerState.BLOCKED),
        (200, "", AnswerState.BLOCKED),
        (200, " \n ", AnswerState.BLOCKED),
        (500, "", AnswerState.ERROR),
        (502, "bad gateway", AnswerState.ERROR),
        (404, "<p>没有结果</p>", AnswerState.ERROR),
        (503, "<p>请输入验证码</p>", AnswerState.BLOCKED),
        (200, "<p>请输入验证码</p>", AnswerState.BLOCKED),
        (200, "<p>没有结果</p>", AnswerState.EMPTY),
        (200, "<p>没有结果，请输入验证码</p>", AnswerState.BLOCKED),
        (200, "<p>没有结果</p><p>Please solve the CAPTCHA</p>", AnswerState.BLOCKED),
        (200, "<p>没有结果</p><script>load('captcha.js')</script>", AnswerState.EMPTY),
        (200, "<p>欢迎</p>", AnswerState.LAYOUT_CHANGED),
        (200, "<li>没有链接的条目</li>", AnswerState.LAYOUT_CHANGED),
        (200, _page(HIT, title="请稍候"), AnswerState.BLOCKED),
        (200, _page(HIT, extra="<p>登录时请输入验证码</p>"), AnswerState.HIT),
        (200, _page(("https://a.test/1", "天气预报")), AnswerState.DECOY),
        (200, _page(("https://a.test/1", "天气预报"), extra="没有结果"), AnswerState.EMPTY),
    ],
)
def test_state(status: int, body: str, state: AnswerState) -> None:
    answer = _ask(body, status=status)
    assert answer.state is state, answer.message
    assert bool(answer.hits) == (state is AnswerState.HIT)
    assert answer.message or state is AnswerState.HIT


@pytest.mark.parametrize(
    ("location", "state"),
    [
        ("/antispider?from=x", AnswerState.BLOCKED),
        ("https://mini.test/CAPTCHA/", AnswerState.BLOCKED),
        ("https://sorry.example/sorry/index", AnswerState.BLOCKED),
        ("https://www.mini.test/s?q=1", AnswerState.ERROR),
    ],
)
def test_redirect(location: str, state: AnswerState) -> None:
    answer = _ask("", status=302, headers={"LOCATION": location})
    assert answer.state is state
    assert location in answer.message


def test_headers_may_be_pairs() -> None:
    pairs = [("location", "/captcha"), ("content-type", "text/html")]
    answer = parse_answer(MINI, Query("t", "侨", "", "mini"), 302, pairs, b"")
    assert answer.state is AnswerState.BLOCKED


def test_the_term_on_the_page_is_no_sign() -> None:
    body = "<title>请稍候 - 搜索</title><p>与“验证码”有关：没有结果</p>"
    assert _ask(body.replace("请稍候 - ", ""), term="验证码").state is AnswerState.EMPTY
    assert _ask(body, term="验证码").state is AnswerState.BLOCKED


@pytest.mark.parametrize(
    ("term", "title", "answers"),
    [
        ("侨胞", "海外僑胞返鄉", True),
        ("僑胞", "海外侨胞返乡", True),
        ("海外侨胞", "归国侨胞座谈", True),
        ("侨胞", "侨 胞", False),
        ("侨", "归侨", True),
        ("Confucius Institute", "CONFUCIUS classroom", True),
        ("Confucius Institute", "Concise insulation tips", False),
        ("ＡＢＣ侨", "abc", True),
        ("？！", "天气", True),
    ],
)
def test_decoy_by_bigrams(term: str, title: str, answers: bool) -> None:
    state = _ask(_page(("https://a.test/1", title)), term=term).state
    assert state is (AnswerState.HIT if answers else AnswerState.DECOY)


@pytest.mark.parametrize(
    ("url", "site", "on_site"),
    [
        ("http://a.test/1", "a.test", True),
        ("http://news.a.test:8080/1", "a.test", True),
        ("http://nota.test/1", "a.test", False),
        ("http://a.test.evil.test/1", "a.test", False),
        ("http://a.test/1", "www.a.test", True),
        ("http://WWW.A.test/1", "a.test.", True),
        ("http://news.a.test/1", "www.a.test", False),
        ("http://evil.test/?u=a.test", "a.test", False),
    ],
)
def test_on_site(url: str, site: str, on_site: bool) -> None:
    assert is_on_site(url, site) is on_site


def test_hits_off_the_asked_site_are_left_out_and_counted() -> None:
    body = _page(HIT, ("https://b.test/2", "侨胞投稿"), ("https://n.a.test/3", "侨胞活动"))
    answer = _ask(body, site="a.test")
    assert [hit.url for hit in answer.hits] == ["https://a.test/1", "https://n.a.test/3"]
    assert [hit.position for hit in answer.hits] == [1, 3]
    assert answer.message == "1 off the asked site"
    off = _ask(body, site="c.test")
    assert off.state is AnswerState.DECOY
    assert "c.test" in off.message


def test_links_are_resolved_canonical_and_unique() -> None:
    body = _page(
        ("/go?id=1#top", "侨胞一"),
        ("https://mini.test/go?id=1&utm_source=x", "侨胞又一"),
        ("javascript:void(0)", "侨胞脚本"),
        ("http://[", "侨胞坏"),
        ("mailto:a@b.test", "侨胞信"),
    )
    answer = _ask(body, page=2)
    assert [(hit.url, hit.position) for hit in answer.hits] == [("https://mini.test/go?id=1", 11)]
    assert answer.message == "3 without title or address"


def _code(url: str) -> str:
    return base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("/w?u=x1" + _code("https://a.test/侨?x=1"), "https://a.test/%E4%BE%A8?x=1"),
        ("/w?to=https%3A%2F%2Fa.test%2F2", "https://a.test/2"),
        ("/w?to=/relative", "https://mini.test/w?to=/relative"),
        ("/w?u=x1***", "https://mini.test/w?u=x1***"),
        ("/w?u=x1" + _code("javascript:alert(1)"), None),
        ("/w?u=x1w_8", "https://mini.test/w?u=x1w_8"),
        (
            "/other?to=https%3A%2F%2Fa.test%2F2",
            "https://mini.test/other?to=https%3A%2F%2Fa.test%2F2",
        ),
        ("https://b.test/w?to=https://a.test/2", "https://b.test/w?to=https://a.test/2"),
    ],
)
def test_unwrapping(link: str, url: str | None) -> None:
    rules = (
        Unwrap("base64", "u", host="mini.test", path="/w", prefix="x1"),
        Unwrap("parameter", "to", host="mini.test", path="/w"),
    )
    answer = _ask(_page((link, "侨胞")), engine=replace(MINI, unwrap=rules))
    assert answer.hits[0].url == (url or f"https://mini.test{link}")


def test_unwrapping_by_attribute() -> None:
    rules = (Unwrap("attribute", "data-u", of="b"), Unwrap("attribute", "mu"))
    engine = replace(MINI, unwrap=rules)
    body = (
        '<li><a href="/l?1">侨胞甲</a><b data-u="https://a.test/1"></b></li>'
        '<li mu="https://a.test/2"><a href="/l?2">侨胞乙</a></li>'
        '<li mu="/not-whole"><a href="/l?3">侨胞丙</a></li>'
    )
    urls = [hit.url for hit in _ask(body, engine=engine).hits]
    assert urls == ["https://a.test/1", "https://a.test/2", "https://mini.test/l?3"]


def test_next_page() -> None:
    with_sign = replace(MINI, signals=replace(MINI.signals, next=(Signal("select", "a.next"),)))
    assert _ask(_page(HIT)).has_next
    assert not _ask(_page(HIT), page=3).has_next
    assert not _ask(_page(HIT), engine=with_sign).has_next
    assert _ask(_page(HIT, extra="<a class=next>›</a>"), engine=with_sign).has_next


def test_sign_with_words_at_a_selector() -> None:
    signals = Signals(next=(Signal("select", "div.pager", ("下一页",)),))
    engine = replace(MINI, signals=signals)
    assert _ask(_page(HIT, extra="<div class=pager>上一页 下一页</div>"), engine=engine).has_next
    assert not _ask(_page(HIT, extra="<div class=pager>上一页</div>"), engine=engine).has_next


def test_charset_of_the_definition_wins() -> None:
    page = _page(("https://a.test/1", "海外僑胞返鄉")).encode("big5", "replace")
    headers = {"Content-Type": "text/html; charset=utf-8"}
    answer = _ask(page, engine=replace(MINI, charset="big5"), headers=headers)
    assert answer.hits[0].title == "海外僑胞返鄉"


def test_selector_that_cannot_be_evaluated_is_an_error_of_the_definition() -> None:
    engine = replace(MINI, hits=replace(MINI.hits, each=("xpath://li[nonsense(.)]",)))
    answer = _ask(_page(HIT), engine=engine)
    assert answer.state is AnswerState.ERROR
    assert answer.message.startswith("mini.toml: ")


@pytest.mark.parametrize("path", ["xpath:count(.//a)", "xpath:string(.//a)", "xpath:.//a/@href"])
def test_selectors_that_give_no_elements(path: str) -> None:
    as_items = replace(MINI, hits=replace(MINI.hits, each=(path,)))
    assert _ask(_page(HIT), engine=as_items).state is AnswerState.LAYOUT_CHANGED
    as_title = replace(MINI, hits=replace(MINI.hits, title=(path,), snippet=("a",)))
    assert _ask(_page(HIT), engine=as_title).hits[0].title


@pytest.mark.parametrize(
    ("said", "total"),
    [
        ("约 48,300 个结果", 48300), ("第 11-20 条，共 1,200 条", 1200), ("约1.2万个", 12000),
        ("找到3亿条", 300_000_000), ("0", None), ("没有数字", None), ("9" * 400, 10**15 - 1),
    ],
)  # fmt: skip
def test_total(said: str, total: int | None) -> None:
    engine = replace(MINI, total=("i.none", "b.count"))
    body = _page(HIT, extra=f"<b class=count>{said}</b>")
    assert _ask(body, engine=engine).total == total
    assert _ask(body).total is None


@pytest.mark.parametrize("said", ["999," * 20 + "999亿", "9" * 15 + "万"])
def test_a_total_no_database_holds_is_none(said: str) -> None:
    engine = replace(MINI, total=("b.count",))
    body = _page(HIT, extra=f"<b class=count>{said}</b>")
    assert _ask(body, engine=engine).total is None


def test_a_total_smaller_than_the_hits_is_none() -> None:
    engine = replace(MINI, total=("b",))
    body = _page(HIT, ("https://a.test/2", "侨胞又"), extra="<b>1 条</b>")
    assert _ask(body, engine=engine).total is None


def test_signs_of_a_decoy_and_signs_that_count_alone() -> None:
    signals = replace(
        MINI.signals,
        decoy=(Signal("text", words=("已为您显示",)),),
        empty=(Signal("text", words=("就这些",), alone=True),),
    )
    engine = replace(MINI, signals=signals)
    assert _ask(_page(HIT, extra="已为您显示其他结果"), engine=engine).state is AnswerState.DECOY
    assert _ask("<p>就这些</p>", engine=engine).state is AnswerState.EMPTY
    off = _page(("https://a.test/1", "天气"), extra="就这些")
    assert _ask(off, engine=engine).state is AnswerState.DECOY


def test_synonyms_answer_too() -> None:
    body = _page(("https://a.test/1", "归国华人座谈"))
    query = Query("t", "侨胞", "", "mini", also=("华人",))
    assert parse_answer(MINI, query, 200, {}, body.encode()).state is AnswerState.HIT
    checked = "<title>请稍候</title>" + body
    blocked = Query("t", "侨胞", "", "mini", also=("请稍候", "华人"))
    assert parse_answer(MINI, blocked, 200, {}, checked.encode()).state is AnswerState.HIT


def test_a_link_still_wrapped_counts_as_on_the_site_and_others_of_the_engine_do_not() -> None:
    rule = Unwrap("header", host="mini.test", path="/link")
    body = _page(("/link?1", "侨胞一"), ("/help", "侨胞二"))
    answer = _ask(body, site="a.test", engine=replace(MINI, unwrap=(rule,)))
    assert [hit.url for hit in answer.hits] == ["https://mini.test/link?1"]
    assert answer.message == "1 off the asked site"


def test_an_entry_without_a_link_is_no_hit() -> None:
    assert _ask("<li><a>侨胞</a></li>").state is AnswerState.LAYOUT_CHANGED


def test_hostile_pages_are_bounded() -> None:
    many = _page(*((f"https://a.test/{n}", "侨胞") for n in range(500)))
    assert len(_ask(many).hits) == 200
    long = _page(("https://a.test/1", "侨" * 100_000), extra="<p>" + "胞" * 100_000)
    hit = _ask(long, term="侨").hits[0]
    assert len(hit.title) == 300
    nested = "".join(f'<li><a href="https://a.test/{n}">侨胞{n}</a><ol>' for n in range(300))
    assert 1 <= len(_ask(nested).hits) <= 3
    data = {"results": [{"url": f"https://a.test/{n}", "title": "侨胞"} for n in range(500)]}
    assert len(_ask(json.dumps(data), engine=ENGINES["searxng"]).hits) == 200


# --- the JSON interface ------------------------------------------------------


def _searx(**parts: object) -> SearchAnswer:
    return _ask(json.dumps(parts), term="侨胞", engine=ENGINES["searxng"])


@pytest.mark.parametrize(
    ("parts", "state"),
    [
        ({"results": [], "unresponsive_engines": [["a", "CAPTCHA"]]}, AnswerState.BLOCKED),
        ({"results": [], "unresponsive_engines": [["a", "timeout"]]}, AnswerState.ERROR),
        (
            {"results": [], "unresponsive_engines": [["a", "timeout"]], "suggestions": ["b"]},
            AnswerState.ERROR,
        ),
        ({"results": [], "unresponsive_engines": []}, AnswerState.UNKNOWN),
        (
            {
                "results": [{"url": "https://a.test", "title": "侨胞"}],
                "unresponsive_engines": [["a", "CAPTCHA"], ["b", "timeout"]],
            },
            AnswerState.PARTIAL,
        ),
        (
            {
                "results": [{"url": "https://a.test", "title": "海外"}],
                "unresponsive_engines": [["a", "CAPTCHA"]],
            },
            AnswerState.DECOY,
        ),
        ({"results": [], "unresponsive_engines": [], "corrections": ["侨包"]}, AnswerState.EMPTY),
        ({"results": None}, AnswerState.LAYOUT_CHANGED),
        ({"results": [{"url": "https://a.test"}]}, AnswerState.LAYOUT_CHANGED),
        ({"results": ["x", None, 3, {"url": 5, "title": ["a"]}]}, AnswerState.LAYOUT_CHANGED),
        ({"results": [{"url": "https://a.test", "title": "侨胞\ud800\0"}]}, AnswerState.HIT),
    ],
)
def test_searxng_state(parts: dict[str, object], state: AnswerState) -> None:
    answer = _searx(**parts)
    assert answer.state is state, answer.message
    answer.message.encode()
    [hit.title.encode() for hit in answer.hits]


def test_all_engines_that_failed_are_named_and_those_that_answered() -> None:
    failed = [["sogou", "Suspended: CAPTCHA"], ["bing", "HTTP error"], ["x" * 500, "y" * 500], 3]
    hits = [{"url": f"https://a.test/{n}", "title": "侨胞", "engines": ["baidu", "so360"]}
            for n in range(2)]  # fmt: skip
    answer = _searx(results=hits, unresponsive_engines=failed)
    assert answer.answered_by == ("baidu", "so360")
    assert answer.failed[:2] == (("sogou", "Suspended: CAPTCHA"), ("bing", "HTTP error"))
    assert answer.message.startswith(
        "no answer of sogou (Suspended: CAPTCHA); no answer of bing (HTTP error); no answer of x"
    )
    assert len(answer.failed[2][0]) == len(answer.failed[2][1]) == 100
    none = _searx(results=[], unresponsive_engines=failed)
    assert none.state is AnswerState.BLOCKED
    assert none.message == answer.message
    many = _searx(results=hits, unresponsive_engines=[[f"e{n}", "timeout"] for n in range(9999)])
    assert len(many.failed) == 50


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"results":' * 5000,
        "1" * 5000,
        "NaN",
        "[]",
        '"x"',
        "null",
        "{",
        "\0",
        '{"results": [' + "[" * 500 + "]" * 500 + "]}",
        '{"unresponsive_engines": ' + "[" * 500 + '"CAPTCHA"' + "]" * 500 + ', "results": []}',
    ],
    ids=lambda body: body[:12],
)
def test_odd_json_never_raises(body: str) -> None:
    answer = _ask(body, engine=ENGINES["searxng"])
    assert answer.state is not AnswerState.EMPTY
    assert answer.state not in WITH_HITS


def test_check_page_instead_of_json_is_blocked() -> None:
    body = "<html><title>One moment</title><body>Verify you are human</body></html>"
    assert _ask(body, engine=ENGINES["searxng"]).state is AnswerState.BLOCKED
    hint = _ask("x", engine=ENGINES["searxng"], status=403).message
    assert "search.formats" in hint


# --- hostile bytes -------------------------------------------------------------

SAVED = sorted(path.read_bytes() for path in PAGES.glob("*/*.*ml"))


@st.composite
def _damaged(draw: st.DrawFn) -> bytes:
    page = draw(st.sampled_from(SAVED))
    start = draw(st.integers(0, len(page)))
    length = draw(st.integers(0, 400))
    return page[:start] + draw(st.binary(max_size=60)) + page[start + length :]


@settings(max_examples=150, deadline=None)
@given(
    body=st.one_of(st.binary(max_size=300), _damaged()),
    engine=st.sampled_from(sorted(ENGINES)),
    status=st.sampled_from((200, 204, 302, 404, 500, 999)),
    header=st.text(max_size=20),
    term=st.text(max_size=8),
)
@example(body=b"<" * 5000, engine="bing", status=200, header="text/html; charset=hex", term="")
@example(body=b"<p>" * 3000, engine="baidu", status=200, header="charset=utf-7", term="\ud800")
def test_no_bytes_make_it_raise(
    body: bytes, engine: str, status: int, header: str, term: str
) -> None:
    headers = {"Content-Type": header, "Location": header}
    query = Query("t", term, "a.test", engine, 1)
    answer = parse_answer(ENGINES[engine], query, status, headers, body)
    assert bool(answer.hits) == (answer.state in WITH_HITS)
    if status != 200:
        assert answer.state not in (AnswerState.EMPTY,) or status == 204
