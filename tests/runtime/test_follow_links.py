"""Which links enter the frontier."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from qiaocrawl.frontier import CrawlTopic, scores_of, strategies
from qiaocrawl.items import (
    PRUNED,
    SEED_SCORE,
    Lease,
    LeftOut,
    Link,
    Outcome,
    PageAnalysis,
    Payload,
    Queue,
    Relevance,
    Visit,
)
from qiaocrawl.items.article import ArticlePart
from qiaocrawl.runtime.follow_links import (
    NOFOLLOW,
    FollowPolicy,
    LinkSelection,
    follow_links,
    follow_redirect,
    link_to,
    seed_candidate,
)
from qiaocrawl.topic.pack import TopicPack


def lease(queue: Queue = Queue.SITE) -> Lease:
    link = link_to("http://www.a.test/page")
    return Lease(1, 7, 1, link.url, link.key, link.host, queue, "t", 5.0, 2, 0, anchor="here")


def analysis(*urls: str, **changes: object) -> PageAnalysis:
    links = tuple(link_to(url) for url in urls)
    return PageAnalysis(Outcome.LIST, None, links, "utf-8", **changes)  # type: ignore[arg-type]


def follow(
    found: PageAnalysis, policy: FollowPolicy, known: Collection[bytes] = ()
) -> LinkSelection:
    return follow_links(
        lease(),
        found,
        policy,
        BREADTH_FIRST,
        fresh=lambda key, score: key not in known,
        why_pruned=why,
        now=1_800_000_000.0,
    )


def why(visit: Visit, place: int) -> str:
    return f"link {place} of {visit.url}"


TOPIC = CrawlTopic(TopicPack("t", "", "", 0.1, (), (), ()))
BREADTH_FIRST = partial(scores_of, strategies.get("bfs")(TOPIC))
SITES = FollowPolicy(sites=frozenset({"www.a.test"}))


def test_links_of_the_sites_become_candidates_one_deeper() -> None:
    urls = (
        "http://www.a.test/1",
        "http://news.a.test/2",
        "http://a.test/3",
        "http://b.test/4",
        "http://xa.test/5",
    )
    followed = follow(analysis(*urls), SITES)
    assert [one.url for one in followed.candidates] == list(urls[:3])
    assert followed.left_by_reason["offsite"] == 2
    first = followed.candidates[0]
    assert (first.queue, first.topic, first.depth, first.score) == (Queue.SITE, "t", 3, -3.0)
    assert first.parent == lease().key


def test_known_links_are_counted_and_not_built() -> None:
    known = link_to("http://www.a.test/1")
    followed = follow(analysis(known.url, "http://www.a.test/2"), SITES, known={known.key})
    assert [one.url for one in followed.candidates] == ["http://www.a.test/2"]
    assert followed.left_by_reason["known"] == 1


def test_bounds_leave_links_and_say_so() -> None:
    urls = [f"http://www.a.test/{n}" for n in range(5)]
    deep = follow(analysis(*urls), FollowPolicy(SITES.sites, max_depth=2))
    assert not deep.candidates
    assert deep.left_by_reason["too_deep"] == 5
    many = follow(analysis(*urls, links_left=10), FollowPolicy(SITES.sites, max_links=3))
    assert len(many.candidates) == 3
    assert many.left_by_reason["too_many"] == 12


def test_what_the_strategy_leaves_out_is_kept_with_its_reason() -> None:
    urls = [f"http://www.a.test/{n}" for n in range(3)]
    known = link_to(urls[2]).key
    followed = follow_links(
        lease(), analysis(*urls), SITES, lambda visit: [1.0, PRUNED, PRUNED],
        fresh=lambda key, score: key != known, why_pruned=why, now=1_800_000_000.0,
    )  # fmt: skip
    kept, left_out = followed.candidates
    assert (kept.score, kept.left_out) == (1.0, None)
    why_left = LeftOut(Outcome.PRUNED, "link 1 of http://www.a.test/page")
    assert (left_out.score, left_out.left_out) == (PRUNED, why_left)
    assert (followed.left_by_reason["pruned"], followed.left_by_reason["known"]) == (2, 0)


def test_what_a_guess_puts_off_is_kept_beside_what_is_followed() -> None:
    urls = [f"http://www.a.test/{n}" for n in range(3)]
    page = analysis(*urls)
    later, now = replace(page.links[0], postponed="a pager"), page.links[1:]
    found = replace(page, links=(later, *now))
    asked: list[tuple[bytes, float]] = []

    def fresh(key: bytes, score: float) -> bool:
        asked.append((key, score))
        return True

    def followed_by(policy: FollowPolicy) -> LinkSelection:
        return follow_links(
            replace(lease(), score=0.4),
            found,
            policy,
            lambda visit: [0.9] * len(visit.links),
            fresh=fresh,
            why_pruned=why,
            now=1.0,
        )

    followed = followed_by(replace(SITES, max_links=2))
    assert [one.url for one in followed.visit.links] == urls[1:], "the order hears of it later"
    assert [one.left_out for one in followed.candidates] == [None, None], "and it takes no place"
    both = followed_by(SITES)
    put_off = both.candidates[-1]
    assert (put_off.url, put_off.score) == (urls[0], 0.4)
    assert put_off.left_out == LeftOut(Outcome.POSTPONED, "a pager")
    assert asked[-1] == (later.key, PRUNED), "a plain link to it is news"
    assert both.left_by_reason["postponed"] == 1


def test_a_page_without_links_to_follow_teaches_as_well() -> None:
    seen: list[Visit] = []

    def scores(visit: Visit) -> list[float]:
        seen.append(visit)
        return []

    judged = (Relevance("t", 0.75, True, "vsm"),)
    for found, policy in (
        (analysis("http://b.test/", page_relevance=judged), SITES),
        (analysis("http://www.a.test/1", nofollow=True, page_relevance=judged), SITES),
        (analysis("http://www.a.test/1", page_relevance=judged),
         FollowPolicy(SITES.sites, max_depth=2)),
    ):  # fmt: skip
        follow_links(lease(), found, policy, scores, fresh=lambda key, score: True,
                     why_pruned=why, now=1.0)  # fmt: skip
    assert [(one.relevance, one.relevant, one.links) for one in seen] == [(0.75, True, [])] * 3


def test_a_page_may_forbid_to_follow_it() -> None:
    followed = follow(analysis("http://www.a.test/1", "http://b.test/", nofollow=True), SITES)
    (one,) = followed.candidates
    assert one.left_out == LeftOut(Outcome.PRUNED, NOFOLLOW), "it is listed"
    assert followed.left_by_reason["nofollow"] == 1
    assert followed.visit.links == []


def test_a_meta_refresh_is_the_first_link() -> None:
    followed = follow(analysis("http://www.a.test/1", refresh_url="http://www.a.test/next"), SITES)
    assert followed.candidates[0].url == "http://www.a.test/next"


def test_a_redirect_keeps_the_rank_of_the_url_it_came_from() -> None:
    target = follow_redirect(lease(), "http://news.a.test/new", SITES)
    assert target is not None
    assert (target.score, target.depth, target.anchor) == (5.0, 2, "here")


def test_a_redirect_does_not_take_a_deep_crawl_off_its_sites() -> None:
    assert follow_redirect(lease(), "http://b.test/", SITES) is None
    assert follow_redirect(lease(Queue.PAGES), "http://b.test/", SITES) is not None


def test_seeds_are_at_the_top() -> None:
    seed = seed_candidate("http://www.a.test/", Queue.SITE, "t", refetch=True)
    assert (seed.depth, seed.score, seed.refetch) == (0, SEED_SCORE, True)
    assert isinstance(link_to(seed.url), Link)


PARTS = ("http://www.a.test/n.html", "http://www.a.test/page", "http://www.a.test/n_3.html")


def part_of(*urls: str, number: int = 2) -> ArticlePart:
    return ArticlePart(number, urls or PARTS)


def test_other_parts_of_an_article_have_its_depth_rank_and_queue() -> None:
    found = analysis(PARTS[2], "http://www.a.test/other", part=part_of())
    followed = follow(found, SITES)
    first, third, other = followed.candidates
    assert [first.url, third.url] == [PARTS[0], PARTS[2]], "also one the page does not link"
    for one in (first, third):
        assert (one.depth, one.score, one.anchor, one.queue) == (2, 5.0, "here", Queue.SITE)
        assert one.payload == Payload(part_of=link_to(PARTS[0]).key.hex())
    assert (other.depth, other.payload) == (3, Payload())


def test_parts_are_followed_where_links_are_not() -> None:
    found = analysis("http://www.a.test/other", part=part_of())
    deep = follow(found, FollowPolicy(SITES.sites, max_depth=2))
    assert [one.url for one in deep.candidates] == [PARTS[0], PARTS[2]]
    assert all(one.left_out for one in follow(replace(found, nofollow=True), SITES).candidates)
    known = {link_to(url).key for url in PARTS}
    assert follow(found, SITES, known=known).left_by_reason["known"] == 2
    single = follow_links(
        lease(Queue.PAGES), found, FollowPolicy(frozenset()), BREADTH_FIRST,
        fresh=lambda key, score: True, why_pruned=why, now=1_800_000_000.0,
    )  # fmt: skip
    assert [one.queue for one in single.candidates] == [Queue.PAGES] * 2


def test_a_chain_of_parts_of_parts_gets_deeper() -> None:
    found = analysis(PARTS[0], part=part_of())
    payload = Payload(part_of=link_to("http://www.a.test/elsewhere").key.hex())
    followed = follow_links(
        replace(lease(), payload=payload), found, SITES, BREADTH_FIRST,
        fresh=lambda key, score: True, why_pruned=why, now=1_800_000_000.0,
    )  # fmt: skip
    assert [(one.url, one.depth) for one in followed.candidates] == [(PARTS[0], 3)]
    moved = follow_redirect(replace(lease(), payload=payload), "http://www.a.test/new", SITES)
    assert moved is not None
    assert moved.payload == replace(payload, hops=1)
