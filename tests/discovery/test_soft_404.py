"""Missing pages by their look: precision and recall over hosts of every manner (faults F-T5)."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.discovery.soft_404 import (
    as_missing,
    is_missing,
    missing_page,
    probe_url,
    without_address,
)
from qiaocrawl.items import Outcome, PageAnalysis
from qiaocrawl.items.article import Article
from qiaocrawl.runtime.follow_links import link_to

_HAN = "侨乡归华人回国参访座谈教育商会联谊文化传承发展交流合作故事老照片记忆码头骑楼"


def analysis(
    title: str, text: str, outcome: Outcome = Outcome.NOT_ARTICLE, path: str = "/"
) -> PageAnalysis:
    prints = body_fingerprints(without_address(text, "http://a.test" + path))
    return PageAnalysis(
        outcome,
        None,
        (),
        "utf-8",
        page_title=title,
        body_digest=prints.digest,
        body_simhash=prints.simhash,
    )


def words(seed: random.Random, count: int) -> str:
    return "".join(seed.choice(_HAN) for _ in range(count))


def test_fifty_hosts() -> None:
    wrong = missed = 0
    for number in range(50):
        seed = random.Random(number)
        title, notice = words(seed, 8), words(seed, seed.randint(40, 300))

        def gone(path: str, title: str = title, notice: str = notice, n: int = number) -> str:
            return f"{notice} 地址 {path}" if n % 2 else notice

        probe, dead = "/9f8e7d6c5b4a.html", "/news/1.html"
        known = missing_page(f"h{number}.test", analysis(title, gone(probe), path=probe))
        assert known is not None
        missed += not is_missing(analysis(title, gone(dead), path=dead), known)
        real = analysis(title, words(seed, seed.randint(60, 900)), Outcome.ARTICLE)
        wrong += is_missing(real, known)
    assert wrong == 0
    assert missed <= 2


def test_a_list_in_the_frame_of_a_home_page_is_there() -> None:
    frame = words(random.Random(1), 900)
    known = missing_page("a.test", analysis("侨联", f"{frame} 归侨座谈"))
    assert known is not None
    other = f"{frame} 校友回访"
    assert is_missing(analysis("侨联", other), known)
    assert not is_missing(analysis("侨联", other, Outcome.LIST), known)
    assert is_missing(analysis("侨联", f"{frame} 归侨座谈", Outcome.LIST), known)


def test_what_cannot_be_compared() -> None:
    assert missing_page("a.test", analysis("x", "")) is None
    known = missing_page("a.test", analysis("x", "走丢了" * 9))
    assert known is not None
    assert not is_missing(analysis("x", ""), known)
    gone = as_missing(analysis("x", "走丢了" * 9))
    assert (gone.outcome, gone.article, gone.links) == (Outcome.SOFT_404, None, ())
    assert gone.reason


def test_a_page_taken_for_a_missing_one_keeps_its_links_for_later() -> None:
    link = link_to("http://a.test/on")
    gone = as_missing(replace(analysis("x", "走丢了" * 9), links=(link,)), "a.test")
    (later,) = gone.links
    assert (later.url, gone.article) == (link.url, None)
    assert "a.test" in later.postponed


def test_a_dated_article_is_not_missing_for_its_looks() -> None:
    known = missing_page("a.test", analysis("侨网", "走丢了" * 30))
    assert known is not None
    alike = replace(analysis("侨网", "走丢了" * 30 + "二", Outcome.ARTICLE), body_digest=b"other")
    assert is_missing(alike, known)
    story = Article("http://a.test/1", "侨网", "走", published_at=datetime(2026, 3, 5, tzinfo=UTC))
    assert not is_missing(replace(alike, article=story), known)


def test_the_probe_is_one_address_a_host() -> None:
    one = probe_url("https://a.test:8443/x/y.html?z")
    assert one == probe_url("https://a.test:8443/")
    assert one.startswith("https://a.test:8443/")
    assert one != probe_url("https://b.test:8443/").replace("b.test", "a.test")
