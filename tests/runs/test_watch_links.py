"""Which links of a watched page are followed, in which queue, and what their channel is called."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import pytest

from qiaocrawl.discovery.url_sources import ENTRY_TAG
from qiaocrawl.items import NO_PAYLOAD, Lease, Outcome, PageAnalysis, Payload, Queue
from qiaocrawl.items.article import Article
from qiaocrawl.runs.watch.round import (
    BACKLOG_SCORE,
    NEW,
    NEW_SCORE,
    PAGE,
    as_listed,
    channel_of,
    follow_moved,
    follow_watched,
    is_listing,
    name_of_anchor,
)
from qiaocrawl.runtime.follow_links import FollowPolicy, LinkSelection, link_to

POLICY = FollowPolicy(frozenset(["a.test"]))
HOME = Payload(watch=PAGE)


def lease(depth: int = 0, payload: Payload = NO_PAYLOAD, path: str = "", anchor: str = "") -> Lease:
    link = link_to(f"http://a.test/{path}")
    return Lease(1, 7, 1, link.url, link.key, link.host, Queue.WATCH, "t", 0.0, depth, 0,
                 anchor=anchor, payload=payload)  # fmt: skip


def analysis(*paths: str, outcome: Outcome = Outcome.LIST, **fields: object) -> PageAnalysis:
    links = tuple(link_to(path if "://" in path else f"http://a.test/{path}") for path in paths)
    return PageAnalysis(outcome, None, links, "utf-8", **fields)  # type: ignore[arg-type]


def follow(page: Lease, seen: PageAnalysis, policy: FollowPolicy = POLICY,
           known: Container[bytes] = ()) -> LinkSelection:  # fmt: skip
    return follow_watched(page, seen, policy, lambda key, score: key not in known, now=1.8e9)


def queues(selection: LinkSelection) -> dict[str, str]:
    return {each.url.partition(".test/")[2]: str(each.queue) for each in selection.candidates}


def test_a_home_page_leads_to_channels_and_articles() -> None:
    selection = follow(lease(0, HOME), analysis("news/", "2026/1.html"))
    assert queues(selection) == {"news/": "watch", "2026/1.html": "watch"}
    assert all(each.payload.watch == NEW for each in selection.candidates)


def test_a_channel_leads_to_articles_and_leaves_other_lists_to_a_deep_crawl() -> None:
    selection = follow(lease(1), analysis("news/2/", "2026/1.html"))
    assert queues(selection) == {"news/2/": "site", "2026/1.html": "watch"}


def test_the_links_of_an_article_wait_for_a_deep_crawl() -> None:
    selection = follow(lease(1), analysis("2026/2.html", outcome=Outcome.ARTICLE))
    assert queues(selection) == {"2026/2.html": "site"}
    assert [(each.score, each.depth) for each in selection.candidates] == [(-2.0, 2)]


def test_what_a_feed_lists_is_news_whatever_its_url_looks_like() -> None:
    feed = analysis("news/5/", outcome=Outcome.FEED)
    listed = replace(feed, links=(replace(feed.links[0], tag=ENTRY_TAG),))
    assert queues(follow(lease(1), feed)) == {"news/5/": "site"}
    assert queues(follow(lease(1), listed)) == {"news/5/": "watch"}


def test_the_first_visit_brings_backlog_and_later_ones_news_in_the_order_of_the_page() -> None:
    paths = ("1.html", "2.html", "3.html")
    first, later = lease(0, HOME), lease(0, replace(HOME, again=True))
    for page, base in ((first, BACKLOG_SCORE), (later, NEW_SCORE)):
        scores = [each.score for each in follow(page, analysis(*paths)).candidates]
        assert scores == pytest.approx([base, base - 0.001, base - 0.002])


def test_thousands_of_links_stay_within_one_step_of_the_score() -> None:
    selection = follow(lease(0, HOME), analysis(*(f"{n}.html" for n in range(1200))))
    assert min(each.score for each in selection.candidates) == BACKLOG_SCORE - 0.999


def test_what_is_left_is_counted_by_its_reason() -> None:
    seen = analysis("1.html", "http://b.test/", "2.html", "3.html", links_left=5)
    policy = replace(POLICY, max_links=3)
    selection = follow(lease(0, HOME), seen, policy, known={seen.links[0].key})
    assert queues(selection) == {"2.html": "watch"}
    assert selection.left_by_reason == {"too_many": 6, "offsite": 1, "known": 1}
    deep = follow(lease(4), analysis("a/"), replace(POLICY, max_depth=4))
    assert (deep.candidates, deep.left_by_reason["too_deep"]) == ((), 1)


def test_a_page_that_asks_for_it_is_not_followed() -> None:
    selection = follow(lease(0, HOME), analysis("1.html", "2.html", nofollow=True))
    assert (selection.candidates, selection.left_by_reason["nofollow"]) == ((), 2)


@pytest.mark.parametrize(
    ("page", "outcome", "leads"),
    [
        (lease(5, HOME), Outcome.ARTICLE, True),
        (lease(2), Outcome.LIST, False),
        (lease(1), Outcome.LIST, True),
        (lease(1), Outcome.FEED, True),
        (lease(1), Outcome.ARTICLE, False),
        (lease(1, path="news/"), Outcome.NOT_ARTICLE, True),
        (lease(1, path="2026/1.html"), Outcome.NOT_ARTICLE, False),
    ],
)
def test_a_page_leads_to_articles_if_it_is_watched_or_a_list_near_a_home_page(
    page: Lease, outcome: Outcome, leads: bool
) -> None:
    assert is_listing(page, analysis("1.html", outcome=outcome)) is leads


@pytest.mark.parametrize(
    ("page", "title", "name"),
    [
        (lease(1, anchor="侨务"), "国内新闻_新华网", "侨务"),
        (lease(1, anchor="http://a.test/x"), "国内新闻_新华网", "国内新闻"),
        (lease(1), "国内  新华网", "国内"),
        (lease(1), "x" * 40, "x" * 30),
        (lease(0), "新华网", ""),
        (lease(1, replace(HOME, channel="要闻"), anchor="侨务"), "国内", "要闻"),
    ],
)
def test_a_channel_is_called_what_its_link_says_or_the_beginning_of_its_title(
    page: Lease, title: str, name: str
) -> None:
    assert channel_of(page, analysis(page_title=title)) == name


@pytest.mark.parametrize("anchor", ["", " ", "字" * 31, "http://a.test", "/news/"])
def test_what_is_no_name_of_a_channel(anchor: str) -> None:
    assert name_of_anchor(anchor) == ""


def test_a_watched_page_that_moved_is_asked_again_and_an_article_that_moved_is_new() -> None:
    old = replace(HOME, channel="要闻", again=True)
    page = follow_moved(lease(1, old), "http://www.a.test/new/", POLICY)
    assert page is not None
    assert (page.refetch, page.payload.watch, page.payload.channel, page.payload.again) == (
        True, PAGE, "要闻", True,
    )  # fmt: skip
    article = follow_moved(lease(1, Payload(watch=NEW)), "http://a.test/1.html", POLICY)
    assert article is not None
    assert (article.refetch, article.payload.watch) == (False, NEW)
    assert follow_moved(lease(1, old), "http://b.test/", POLICY) is None


def test_an_article_gets_the_channel_it_was_found_in_unless_it_names_one() -> None:
    found_in = lease(2, Payload(watch=NEW, channel="侨务"))
    plain = PageAnalysis(Outcome.ARTICLE, Article("http://a.test/1", "题", "文"), (), "")
    named = replace(plain, article=Article("http://a.test/1", "题", "文", channel="要闻"))

    def channel(page: Lease, seen: PageAnalysis) -> str:
        article = as_listed(page, seen).article
        assert article is not None
        return article.channel

    assert channel(found_in, plain) == "侨务"
    assert channel(found_in, named) == "要闻"
    assert channel(lease(2, Payload(watch=PAGE, channel="侨务")), plain) == ""
