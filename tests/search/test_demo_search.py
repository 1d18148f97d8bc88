"""The whole way on the real demo web: plan, ask, answer, follow the hits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from qiaocrawl.demo.engines import build_engines
from qiaocrawl.demo.model import DemoPage, Kind
from qiaocrawl.demo.web import DemoWeb, build_web
from qiaocrawl.search.answer import parse_answer
from qiaocrawl.search.definition import load_definitions, request_url
from qiaocrawl.search.plan import plan
from qiaocrawl.search.query import EVERYWHERE, AnswerState, Query, SearchAnswer
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.urls import host_of

ENGINES = {name: load_definitions()[name] for name in ("demo_sou", "demo_zhao")}
WORDS = [
    "侨胞",
    "侨乡",
    "华文教育",
    "归侨",
    "侨商",
    "留学",
    "侨团",
    "领事",
    "华裔",
    "侨联",
    "海外华侨华人",
    "侨批银信展",
]
MAX_PAGES = 3


class Asked(NamedTuple):
    query: Query
    page: DemoPage
    answer: SearchAnswer


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    web = build_web(scale=0.5)
    web.add_engines(build_engines(web))
    return web


def _ask(web: DemoWeb, query: Query) -> Asked:
    definition = ENGINES[query.engine]
    parts = urlsplit(request_url(definition, query))
    page = web.respond(parts.netloc, f"{parts.path}?{parts.query}")
    answer = parse_answer(definition, query, page.status, page.headers, page.body)
    return Asked(query, page, answer)


@pytest.fixture(scope="module")
def asked(web: DemoWeb) -> list[Asked]:
    terms = tuple(Term(word, "core", 1 + len(word)) for word in WORDS)
    pack = TopicPack("t", "T", "", 0.1, terms, (), ())
    answers = []
    for query in plan(pack, list(ENGINES.values()), sites=[EVERYWHERE, *web.sites]):
        for number in range(1, MAX_PAGES + 1):
            answers.append(_ask(web, replace(query, page=number)))
            if not answers[-1].answer.has_next:
                break
    return answers


def test_both_engines_give_every_kind_of_answer(asked: list[Asked]) -> None:
    for name in ENGINES:
        counts = Counter(one.answer.state for one in asked if one.query.engine == name)
        usual = {"hit", "empty", "blocked", "decoy"}
        assert usual <= {str(state) for state in counts}
        # Unkind, but a crawl gets through.
        assert counts[AnswerState.BLOCKED] < 0.2 * counts.total()
    states = {one.answer.state for one in asked}
    assert states >= {AnswerState.LAYOUT_CHANGED, AnswerState.ERROR}


def test_only_an_engine_that_says_so_is_empty(asked: list[Asked]) -> None:
    for query, page, answer in asked:
        text = page.body.decode("gbk" if query.engine == "demo_zhao" else "utf-8")
        says_nothing_found = "没有找到与" in text or "相符的内容" in text
        assert (answer.state is AnswerState.EMPTY) == says_nothing_found, query
        wants_human = "/antispider" in text or not text.strip()
        assert (answer.state is AnswerState.BLOCKED) == wants_human, query


def test_hits_lead_to_pages_but_for_a_few_stale_ones(web: DemoWeb, asked: list[Asked]) -> None:
    urls = {hit.url for one in asked for hit in one.answer.hits}
    stale = {url for url in urls if web.find(url) is None}
    assert 0 < len(stale) < 0.1 * len(urls)
    for url in stale:
        page = web.respond(host_of(url), urlsplit(url).path)
        # Gone: 404, a soft 404 or a redirect home, as the site does it.
        assert page.status in (404, 302) or (page.gold and page.gold.kind is Kind.SOFT_404)


def test_search_finds_much_of_the_topic_and_two_engines_more_than_one(
    web: DemoWeb, asked: list[Asked]
) -> None:
    wanted = {g.url for g in web.gold() if g.on_topic and g.kind is Kind.ARTICLE}
    found = {
        name: {hit.url for o in asked if o.query.engine == name for hit in o.answer.hits} & wanted
        for name in ENGINES
    }
    both = found["demo_sou"] | found["demo_zhao"]
    assert len(both) > 1.1 * max(map(len, found.values()))
    assert len(both) > 0.4 * len(wanted)


def test_hits_of_a_site_question_are_on_the_site(asked: list[Asked]) -> None:
    for query, _, answer in asked:
        if query.site:
            assert all(host_of(hit.url) == query.site for hit in answer.hits)


def test_a_second_run_gets_the_same_answers(asked: list[Asked]) -> None:
    again = build_web(scale=0.5)
    again.add_engines(build_engines(again))
    for one in asked[::9]:
        assert _ask(again, one.query) == one
