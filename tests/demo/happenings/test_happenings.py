"""The happenings of the demo web's last month: told as they say, and otherwise a week later."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from urllib.parse import urlsplit

import pytest

from qiaocrawl.demo.happenings import Happening, Truth, known_places, load_happenings, places_in
from qiaocrawl.demo.model import ARTICLE_KINDS, DemoPage, Kind, encode_page
from qiaocrawl.demo.publishing import Publisher
from qiaocrawl.demo.stories import LAST_DAY
from qiaocrawl.demo.web import SEED, DemoWeb, build_web

HAPPENINGS = load_happenings()


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return build_web(scale=0.1)


@pytest.fixture(scope="module")
def truth(web: DemoWeb) -> Truth:
    return Truth(web.gold())


def answer(web: DemoWeb, url: str) -> DemoPage:
    parts = urlsplit(url)
    return web.respond(parts.netloc, url.removeprefix(f"http://{parts.netloc}"))


def named(key: str) -> Happening:
    return next(happening for happening in HAPPENINGS if happening.key == key)


@pytest.mark.parametrize("happening", HAPPENINGS, ids=lambda one: one.key)
def test_everybody_takes_it_from_somebody_who_had_it(happening: Happening) -> None:
    told = {}
    for number, telling in enumerate(happening.tellings):
        assert telling.site not in told
        assert bool(telling.taken_from) == bool(number)
        if telling.taken_from:
            assert told[telling.taken_from] < telling.at
        told[telling.site] = telling.at
        assert LAST_DAY - timedelta(days=30) <= telling.at <= LAST_DAY
    assert happening.place in known_places()
    assert happening.place in places_in("\n".join(happening.text))


def test_there_are_chains_a_burst_a_correction_and_a_deletion() -> None:
    later = [telling.later for one in HAPPENINGS for telling in one.tellings if telling.later]
    assert sum(one.deleted for one in later) == 1
    assert sum(bool(one.replace) for one in later) == 2
    assert {one.tone for one in HAPPENINGS} == {"positive", "negative", "neutral"}
    (burst,) = (one for one in HAPPENINGS if one.burst)
    times = [telling.at for telling in burst.tellings]
    assert len(times) >= 10
    assert max(times) - min(times) < timedelta(days=2)
    for key in ("fire", "chorus"):
        parents = {telling.site: telling.taken_from for telling in named(key).tellings}
        assert any(parents.get(parents[parents[site]]) for site in parents if parents[site])


def test_the_gold_knows_first_publishers_and_parents(truth: Truth) -> None:
    for happening in HAPPENINGS:
        urls = {telling.site: truth.url_of(happening, telling) for telling in happening.tellings}
        assert {gold.url for gold in truth.groups[happening.group]} == set(urls.values())
        first = happening.tellings[0].site
        assert truth.first_of(happening.group) == (first, urls[first])
        for telling in happening.tellings:
            parent = truth.parent_of(truth.by_url[urls[telling.site]])
            assert parent == (urls[telling.taken_from] if telling.taken_from else "")
        assert truth.below(urls[first]) == set(urls.values()) - {urls[first]}


def test_reprints_of_all_stories_have_a_parent(demo_web: DemoWeb) -> None:
    truth = Truth(demo_web.gold())
    for name, golds in truth.groups.items():
        assert sum(not gold.taken_from for gold in golds) <= 1
        assert truth.first_of(name)[0]
        for gold in golds:
            parent = truth.parent_of(gold)
            if parent in truth.by_url:
                published = truth.by_url[parent].published_at
                assert published is not None
                assert gold.published_at is not None
                assert published <= gold.published_at


def test_everything_else_is_published_as_before(web: DemoWeb) -> None:
    golds = {gold.url: gold for gold in web.gold() if gold.kind in ARTICLE_KINDS | {Kind.SHELL}}
    for posting in Publisher(SEED, 0.1).publish():
        gold = golds.get(posting.site.url(posting.path))
        if posting.kind is not Kind.LOGIN_WALL:
            assert gold is not None
            assert gold.reprint_group == posting.story.key


def test_a_week_later_figures_are_corrected_and_one_article_is_gone(truth: Truth) -> None:
    web = build_web(scale=0.1)
    changes = truth.changes()
    urls = {url for url, _kind, _not_followed in changes}
    assert urls <= set(web.changing_urls())
    before = {url: answer(web, url) for url in urls}
    others = [gold.url for gold in web.gold() if gold.url not in web.changing_urls()]
    untouched = [answer(web, url).body for url in others]
    assert all(page.status == 200 for page in before.values())
    web.pass_time()
    for url, kind, not_followed in changes:
        page = answer(web, url)
        assert not_followed
        assert not not_followed & urls
        if kind == "deleted":
            assert page.status == 410
            continue
        charset = truth.by_url[url].charset
        assert encode_page("3800万元", charset) in before[url].body
        assert encode_page("380万元", charset) in page.body
        assert encode_page("更正：", charset) in page.body
    assert [answer(web, url).body for url in others] == untouched


def test_marks_of_visitors_lead_to_the_later_page_too(truth: Truth) -> None:
    web = build_web(scale=0.1)
    web.pass_time()
    (gone,) = (url for url, kind, _not_followed in truth.changes() if kind == "deleted")
    joint = "&" if "?" in gone else "?"
    assert answer(web, f"{gone}{joint}utm_source=rank").status == 410


def test_places_in_names_of_bodies_are_none() -> None:
    assert places_in("科隆福清公所在巴拿马城举行庆典") == {"巴拿马城"}
    assert places_in("罗马的学生在罗马里") == {"罗马"}


def test_below_follows_chains(truth: Truth) -> None:
    happening = named("donation")
    urls = [truth.url_of(happening, telling) for telling in happening.tellings]
    taken = _taken(happening, "www.huaqiaobao.test")
    assert truth.below(urls[1]) == {urls[at] for at in taken}
    ((_url, _kind, not_followed), *_rest) = (
        change for change in truth.changes() if change[0] == urls[0]
    )
    assert not_followed == set(urls[2:])


def _taken(happening: Happening, host: str) -> Sequence[int]:
    return [at for at, telling in enumerate(happening.tellings) if telling.taken_from == host]


def test_lines_grow_down_a_chain(truth: Truth) -> None:
    """What one adds is in what is taken from it: so a copy of a copy can be told."""
    happening = named("chorus")
    urls = {telling.site: truth.url_of(happening, telling) for telling in happening.tellings}
    added = next(telling.add[0] for telling in happening.tellings if telling.add)
    bodies = {site: truth.by_url[url].body for site, url in urls.items()}
    assert added not in bodies["www.sihaihuajiao.test"]
    assert added in bodies["www.huaqiaobao.test"]
    assert added in bodies["blog.shanhai.test"]
    times = [truth.by_url[url].published_at for url in urls.values()]
    assert all(one < other for one, other in pairwise(times) if one and other)
