"""The demo web tells good methods from naive ones: the published ones stay well below 1."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from benchmarks.demo_scores import Rates, body_f1, rates
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.demo.model import ARTICLE_KINDS, Kind
from qiaocrawl.demo.web import DemoWeb
from qiaocrawl.extract.base import extractors
from qiaocrawl.items import TitleRecord
from qiaocrawl.page.page import parse_page


def test_published_density_is_no_solution(demo_web: DemoWeb) -> None:
    extractor = extractors.get("density")
    scores = []
    for page in demo_web.pages.values():
        if page.gold is not None and page.gold.kind in ARTICLE_KINDS:
            content_type = dict(page.headers)["Content-Type"]
            parsed = parse_page(page.body, content_type, page.gold.url)
            scores.append(body_f1(page.gold.body, extractor.body(parsed).text))
    mean = sum(scores) / len(scores)
    # Not so hard either that nothing could be learnt: real pages give it .62 to .87.
    assert 0.5 < mean < 0.85


def reprint_rates(demo_web: DemoWeb, method: str, *, bodies: bool) -> Rates:
    """Pairs of the gold's articles that *method* groups, against the gold's groups."""
    golds = [
        gold for gold in demo_web.gold()
        if gold.kind in ARTICLE_KINDS and gold.kind is not Kind.PRINT
    ]  # fmt: skip
    prints = [body_fingerprints(gold.body if bodies else "") for gold in golds]
    records = [
        TitleRecord(
            gold.url.encode(), gold.title, urlsplit(gold.url).netloc, gold.published_at,
            gold.source, body.digest, body.simhash, body.sketch,
        )
        for gold, body in zip(golds, prints, strict=True)
    ]  # fmt: skip
    groups = TitleIndex(method).regroup(records).groups
    pairs = [(gold.reprint_group, groups[gold.url.encode()]) for gold in golds]
    sizes = (Counter(pairs), Counter(found for _, found in pairs), Counter(w for w, _ in pairs))
    common, found, wanted = (sum(n * (n - 1) // 2 for n in size.values()) for size in sizes)
    return rates(common, found, wanted)


def test_published_title_deduplication_is_no_solution(demo_web: DemoWeb) -> None:
    result = reprint_rates(demo_web, "vsm", bodies=True)
    # Both sides are hard: titles that changed, and titles that differ in one word.
    assert 0.35 < result.f1 < 0.70
    assert result.precision < 0.8
    assert result.recall < 0.8


def test_bodies_tell_reprints(demo_web: DemoWeb) -> None:
    assert reprint_rates(demo_web, "reprint", bodies=True).f1 >= 0.97


def test_judged_titles_are_more_precise_than_the_published_ones(demo_web: DemoWeb) -> None:
    assert reprint_rates(demo_web, "reprint", bodies=False).precision >= 0.8
