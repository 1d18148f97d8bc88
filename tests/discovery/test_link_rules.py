"""What a deep crawl does with each link of a page: follow, put off or leave, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from qiaocrawl.discovery.rules import (
    MAX_FEEDS_PER_HOST,
    LinkRules,
    UrlSourceOptions,
    digest_of,
    page_value,
    url_source_payload,
)
from qiaocrawl.discovery.static_traps import UrlLimits
from qiaocrawl.discovery.trap_scores import PageValue
from qiaocrawl.discovery.trap_watch import TrapWatch
from qiaocrawl.discovery.url_sources import ENTRY_TAG, FEED_TAG, MAX_LEVELS, SITEMAP_TAG
from qiaocrawl.items import (
    NO_PAYLOAD,
    Lease,
    Link,
    Outcome,
    PageAnalysis,
    Payload,
    Queue,
    Relevance,
)
from qiaocrawl.items.article import Article
from qiaocrawl.urls import url_key

HOST = "a.test"


def rules(**options: object) -> LinkRules:
    return LinkRules(UrlSourceOptions(**options), TrapWatch(UrlLimits(path_depth=3)))  # type: ignore[arg-type]


def link(path: str, tag: str = "a", **fields: str) -> Link:
    url = f"http://{HOST}/{path}"
    return Link(url, url_key(url), HOST, tag=tag, **fields)  # type: ignore[arg-type]


def lease(depth: int = 1, payload: Payload = NO_PAYLOAD, path: str = "page") -> Lease:
    page = link(path)
    return Lease(1, 7, 1, page.url, page.key, HOST, Queue.SITE, "t", 0.0, depth, 0, payload=payload)


def analysis(outcome: Outcome = Outcome.LIST, **fields: object) -> PageAnalysis:
    return PageAnalysis(outcome, None, (), "utf-8", **fields)  # type: ignore[arg-type]


def entry(path: str, days_old: float | None = None) -> Link:
    """What a sitemap lists."""
    at = datetime.now(UTC) - timedelta(days=days_old or 0)
    context = "" if days_old is None else f"{at:%Y-%m-%dT%H:%M:%SZ}"
    return link(path, ENTRY_TAG, region=SITEMAP_TAG, context=context)


def kept(made: LinkRules, *links: Link, page: Lease | None = None, kind: Outcome = Outcome.LIST
         ) -> tuple[dict[str, str], dict[str, int]]:  # fmt: skip
    """Path and guess of what is followed now or later, and what was counted."""
    allowed, left = made.keep(page or lease(), analysis(kind), links)
    return {kept.url.rpartition("/")[2]: kept.postponed for kept in allowed}, dict(left)


def test_plain_links_are_followed() -> None:
    assert kept(rules(), link("1"), link("2")) == ({"1": "", "2": ""}, {})


def test_a_link_into_a_trap_is_put_off_and_counted() -> None:
    followed, left = kept(rules(), link("a/b/c/deep"))
    assert followed == {"deep": f"trap: {HOST}/(path too deep)"}
    assert left == {"trap/path_too_deep": 1}


def test_sitemaps_and_feeds_are_left_where_the_operator_wants_none() -> None:
    links = link("map", SITEMAP_TAG), link("feed", FEED_TAG)
    assert kept(rules(sitemaps=False, feeds=False), *links) == (
        {}, {"sitemaps_off": 1, "feeds_off": 1},
    )  # fmt: skip
    assert kept(rules(), *links) == ({"map": "", "feed": ""}, {})


def test_entries_that_changed_too_long_ago_are_left_and_undated_ones_kept() -> None:
    entries = entry("old", 8), entry("new", 6), entry("undated")
    assert kept(rules(days=7), *entries) == ({"new": "", "undated": ""}, {"entry_too_old": 1})
    assert len(kept(rules(), *entries)[0]) == 3


def test_sitemaps_beyond_the_limit_of_a_host_are_put_off_and_ten_times_as_many_left() -> None:
    made = rules(max_sitemaps=1)
    followed, left = kept(made, *(link(f"{n}", SITEMAP_TAG) for n in range(12)))
    assert [path for path, guess in followed.items() if not guess] == ["0"]
    assert followed["9"] == f"more than 1 sitemaps of {HOST}"
    assert left == {"too_many_sitemaps": 2}
    assert made.full == {(HOST, "sitemaps_postponed"), (HOST, "too_many_sitemaps")}
    assert kept(made, link("0", SITEMAP_TAG), link("12", SITEMAP_TAG)) == (
        {"0": ""}, {"too_many_sitemaps": 1},
    ), "one that was counted stays, whoever names it again"  # fmt: skip


def test_a_sitemap_behind_too_many_indexes_is_put_off() -> None:
    near, far = (lease(payload=Payload(sitemap=level)) for level in (MAX_LEVELS - 1, MAX_LEVELS))
    assert kept(rules(), link("map", SITEMAP_TAG), page=near)[0] == {"map": ""}
    assert kept(rules(), link("map", SITEMAP_TAG), page=far)[0] == {
        "map": f"sitemaps of {HOST} behind {MAX_LEVELS} indexes"
    }
    assert url_source_payload(near, link("map", SITEMAP_TAG)) == Payload(sitemap=MAX_LEVELS)
    assert url_source_payload(near, link("1")) is NO_PAYLOAD


def test_listed_urls_beyond_the_limit_of_a_host_are_left() -> None:
    made = rules(max_listed=3)
    first = [entry(str(n)) for n in range(2)]
    made.note_stored(made.keep(lease(), analysis(), first)[0])
    followed, left = kept(made, *(entry(str(n)) for n in range(2, 5)), link("plain"))
    assert (set(followed), left) == ({"2", "plain"}, {"too_many_listed": 2})


def test_feeds_that_articles_announce_are_put_off_but_for_a_start_page() -> None:
    feed = link("comments", FEED_TAG)
    guess = f"feeds of {HOST} that articles announce"
    assert kept(rules(), feed, kind=Outcome.ARTICLE)[0] == {"comments": guess}
    assert kept(rules(), feed, kind=Outcome.ARTICLE, page=lease(0))[0] == {"comments": ""}


def test_feeds_beyond_a_hundred_of_a_host_are_put_off_and_known_ones_are_not() -> None:
    made = rules()
    kept(made, *(link(f"{n}", FEED_TAG) for n in range(MAX_FEEDS_PER_HOST)))
    followed, _ = kept(made, link("more", FEED_TAG), link("0", FEED_TAG))
    assert followed == {"more": f"feeds of {HOST} beyond {MAX_FEEDS_PER_HOST}", "0": ""}


def test_another_spelling_of_a_page_points_to_the_one_that_was_met_first() -> None:
    made = rules()
    allowed, _ = made.keep(lease(), analysis(), [link("news/"), link("news/index.html")])
    assert [each.same_as for each in allowed] == ["", f"http://{HOST}/news/"]
    made.note_stored(allowed[:1])
    (again,), _ = made.keep(lease(), analysis(), [link("news/index.html")])
    assert again.same_as == f"http://{HOST}/news/"


def test_a_url_that_a_rule_learnt_of_later_is_refused_unless_it_was_asked_for() -> None:
    path, made = "a/b/c/deep", rules()
    assert made.refusal(lease(path=path)) == f"trap: {HOST}/(path too deep)"
    assert made.refusal(lease(0, path=path)) == "", "a start page"
    assert made.refusal(lease(path=path, payload=Payload(taken_up="trap"))) == ""
    assert made.refusal(lease()) == ""


ARTICLE = Article("http://a.test/1", "归侨回乡", "正文。")
ON_TOPIC = (Relevance("t", 0.9, True, "blend"),)


@pytest.mark.parametrize(
    ("page", "value"),
    [
        (PageAnalysis(Outcome.ARTICLE, ARTICLE, (), "", relevance=ON_TOPIC), PageValue.STORY),
        (PageAnalysis(Outcome.ARTICLE, ARTICLE, (), ""), PageValue.WEAK),
        (PageAnalysis(Outcome.PART, Article("http://a.test/2", "归侨", "正文。",
                      published_at=datetime(2026, 3, 1, tzinfo=UTC)), (), ""), PageValue.STORY),
        (analysis(Outcome.LIST), PageValue.LIST),
        (analysis(Outcome.SOFT_404), PageValue.GONE),
        (analysis(Outcome.NOT_ARTICLE), PageValue.NOTHING),
    ],
)  # fmt: skip
def test_a_page_is_worth_what_its_topic_or_its_date_vouches_for(
    page: PageAnalysis, value: PageValue
) -> None:
    assert page_value(page, "t") is value
    if page.relevance:
        assert page_value(page, "another topic") is PageValue.WEAK


def test_two_addresses_of_one_article_have_one_digest_and_pages_without_text_none() -> None:
    one = PageAnalysis(Outcome.ARTICLE, ARTICLE, (), "", body_digest=b"x" * 16)
    other = PageAnalysis(Outcome.ARTICLE, ARTICLE, (), "gbk", body_digest=b"x" * 16)
    assert digest_of(one) == digest_of(other) != b""
    assert digest_of(analysis()) == digest_of(PageAnalysis(Outcome.ARTICLE, ARTICLE, (), "")) == b""
