"""The demo web's engines over a small web of the same shape, asked the way a crawl asks them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import pytest

from qiaocrawl.demo.engines import DemoEngine, build_engines
from qiaocrawl.demo.model import CHINA_TIME, DemoPage, Gold, Kind
from qiaocrawl.search.answer import parse_answer
from qiaocrawl.search.definition import load_definitions, request_url
from qiaocrawl.search.hits import is_on_site
from qiaocrawl.search.query import AnswerState, Query, SearchAnswer
from qiaocrawl.urls import canonical_url

TOPICS = [
    ("侨乡", "侨乡的骑楼与老街正在修缮，归来的侨胞捐出旧照片。"),
    ("归侨", "归侨合唱团在岛上排练新歌，農場裡的歸僑第二代也来了。"),
    ("侨商", "侨商座谈会讨论了通关与物流，华文教育基金随后成立。"),
    ("足球", "市队客场战平对手，下半场补时阶段扳平比分。"),
    ("菜谱", "春笋焯水以后与腊肉同炒，出锅前撒一把蒜苗。"),
]
STATES = {
    AnswerState.HIT,
    AnswerState.EMPTY,
    AnswerState.BLOCKED,
    AnswerState.DECOY,
}
DEFINITIONS = load_definitions()


@dataclass
class SmallWeb:
    pages: dict[tuple[str, str], DemoPage] = field(default_factory=dict)

    def add(self, host: str, path: str, gold_kind: Kind, title: str, body: str) -> None:
        url = f"http://{host}{path}"
        date = datetime(2021, 1, 1, tzinfo=CHINA_TIME) + timedelta(days=len(self.pages))
        gold = Gold(url, gold_kind, "utf-8", title, body, date)
        self.pages[host, path] = DemoPage(200, (), b"", gold)


def _small_web() -> SmallWeb:
    web = SmallWeb()
    for number in range(240):
        word, text = TOPICS[number % len(TOPICS)]
        host = f"s{number % 8}.site.test"
        path = f"/show.php?id={number}" if number % 3 else f"/2021/{number}.html"
        web.add(host, path, Kind.ARTICLE, f"{word}纪事之{number}", text * (1 + number % 4))
    web.add("s0.site.test", "/member/1.html", Kind.LOGIN_WALL, "侨乡会员专稿", "墙后秘密文字")
    web.add("s0.site.test", "/", Kind.HOME, "侨乡首页", "")
    return web


@pytest.fixture(scope="module")
def web() -> SmallWeb:
    return _small_web()


@pytest.fixture(scope="module")
def engines(web: SmallWeb) -> dict[str, DemoEngine]:
    by_host = {engine.host: engine for engine in build_engines(web)}
    return {name: by_host[DEFINITIONS[name].host] for name in ("demo_sou", "demo_zhao")}


def _raw(engine: DemoEngine, query: Query) -> DemoPage:
    parts = urlsplit(request_url(DEFINITIONS[query.engine], query))
    assert parts.hostname == engine.host
    return engine.respond(f"{parts.path}?{parts.query}", {})


def _ask(engine: DemoEngine, query: Query) -> SearchAnswer:
    page = _raw(engine, query)
    return parse_answer(DEFINITIONS[query.engine], query, page.status, page.headers, page.body)


def _queries(name: str) -> list[Query]:
    words = [word for word, _ in TOPICS]
    words += ["骑楼", "合唱团", "侨胞", "通关", "没人写过的事", "歸僑"]
    sites = ["", *(f"s{n}.site.test" for n in range(8)), "site.test", "other.test"]
    return [Query("t", word, site, name) for word in words for site in sites]


@pytest.fixture(scope="module")
def answers(engines: dict[str, DemoEngine]) -> dict[Query, SearchAnswer]:
    """All answers, which are the same each time; they take a second."""
    return {
        query: _ask(engine, query) for name, engine in engines.items() for query in _queries(name)
    }


def test_all_states_occur_and_blocked_is_never_empty(
    engines: dict[str, DemoEngine], answers: dict[Query, SearchAnswer]
) -> None:
    for name in engines:
        states = {answer.state for query, answer in answers.items() if query.engine == name}
        assert states >= STATES
    zhao = {answer.state for query, answer in answers.items() if query.engine == "demo_zhao"}
    assert zhao >= {AnswerState.LAYOUT_CHANGED, AnswerState.ERROR}
    for query, answer in answers.items():
        page = _raw(engines[query.engine], query)
        is_check = (
            not page.body
            or "验证码".encode() in page.body + page.body.decode("gbk", "replace").encode()
        )
        assert (answer.state is AnswerState.BLOCKED) == is_check, query


def test_every_state_agrees_with_what_the_engine_meant(
    engines: dict[str, DemoEngine], answers: dict[Query, SearchAnswer]
) -> None:
    for query, answer in answers.items():
        body = _raw(engines[query.engine], query).body.decode("utf-8", "replace")
        if query.engine == "demo_sou" and answer.state is AnswerState.EMPTY:
            assert "没有找到与" in body
        if answer.state is AnswerState.HIT and query.site:
            assert all(is_on_site(hit.url, query.site) for hit in answer.hits)


def test_a_second_run_gets_the_same_answers(web: SmallWeb, engines: dict[str, DemoEngine]) -> None:
    again = build_engines(_small_web())
    for engine in again:
        name = next(key for key, value in engines.items() if value.host == engine.host)
        for query in _queries(name)[::7]:
            assert _raw(engine, query) == _raw(engines[name], query)


def _walk(engine: DemoEngine, name: str, word: str) -> list[str]:
    urls: list[str] = []
    for page in range(1, 20):
        answer = _ask(engine, Query("t", word, "", name, page))
        urls += [hit.url for hit in answer.hits]
        if not answer.has_next:
            break
    return urls


def test_paging_brings_every_hit_once(engines: dict[str, DemoEngine]) -> None:
    walked = [
        urls
        for name, engine in engines.items()
        for word, _ in TOPICS
        if len(urls := _walk(engine, name, word)) > 20
    ]
    # Unkind answers end some walks early; most go through.
    assert len(walked) >= 4
    assert all(len(set(urls)) == len(urls) for urls in walked)


def test_the_engines_complement_each_other(web: SmallWeb, engines: dict[str, DemoEngine]) -> None:
    found = {
        name: {hit.url for q in _queries(name) for hit in _ask(engine, q).hits}
        for name, engine in engines.items()
    }
    sou, zhao = found["demo_sou"], found["demo_zhao"]
    assert sou - zhao
    assert zhao - sou
    live = {canonical_url(page.gold.url) for page in web.pages.values() if page.gold}
    stale = (sou | zhao) - live
    assert 0 < len(stale) < 0.15 * len(sou | zhao)
    assert all(urlsplit(url).path.startswith("/old/") for url in stale)


def test_hits_are_whole(answers: dict[Query, SearchAnswer]) -> None:
    for query, answer in answers.items():
        for hit in answer.hits:
            assert "/link?" not in hit.url
            assert "utm_" not in hit.url
            assert "ad.zhaozhao" not in hit.url
            assert hit.snippet
            assert hit.published_at is not None
            assert (hit.position - 1) // 10 == query.page - 1


def test_advertisements_and_tracking_marks_are_there_to_be_removed(
    engines: dict[str, DemoEngine], answers: dict[Query, SearchAnswer]
) -> None:
    noted = Counter(q.engine for q, a in answers.items() if "advertisements" in a.message)
    assert set(noted) == set(engines)
    zhao = b"".join(_raw(engines["demo_zhao"], q).body for q in _queries("demo_zhao"))
    assert b"utm_source=zhaozhao" in zhao


def test_traditional_pages_are_found_by_simplified_terms(engines: dict[str, DemoEngine]) -> None:
    hits = [h for name, e in engines.items() for h in _ask(e, Query("t", "歸僑", "", name)).hits]
    assert any("归侨" in hit.title for hit in hits)


def test_what_stands_behind_a_login_is_not_known(engines: dict[str, DemoEngine]) -> None:
    answers = [_ask(e, Query("t", "墙后秘密", "", name)) for name, e in engines.items()]
    assert all(not answer.hits for answer in answers)


@pytest.mark.parametrize("name", ["demo_sou", "demo_zhao"])
def test_other_addresses(engines: dict[str, DemoEngine], name: str) -> None:
    engine = engines[name]
    assert engine.respond("/robots.txt", {}).body == b"User-agent: *\nAllow: /\n"
    assert engine.respond("/", {}).status == 200
    assert engine.respond(f"{engine.search_path}?{engine.query_field}=%20", {}).status == 200
    for target in ("/none", "//[", "?", "/s?wd=%FF%FE&pn=x", "/search.php?q=%FF&page=-1", "/s?%"):
        assert engine.respond(target, {}).status in (200, 302, 400, 404)


def test_wrapped_link_leads_to_the_page(engines: dict[str, DemoEngine]) -> None:
    sou = engines["demo_sou"]
    page = sou.respond("/link?url=s1aHR0cDovL2EudGVzdC8x", {})
    assert (page.status, dict(page.headers)) == (302, {"Location": "http://a.test/1"})
    for code in ("s1!!!", "", "s1amF2YXNjcmlwdDox", "s1aHR0cDovL2EKYg"):
        assert sou.respond(f"/link?url={code}", {}).status == 404


def test_redirect_leads_to_a_check_page(engines: dict[str, DemoEngine]) -> None:
    page = engines["demo_sou"].respond("/antispider?from=s", {})
    query = Query("t", "侨乡", "", "demo_sou")
    answer = parse_answer(DEFINITIONS["demo_sou"], query, 200, page.headers, page.body)
    assert answer.state is AnswerState.BLOCKED
