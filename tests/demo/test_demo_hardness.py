"""The demo web tells good methods from naive ones: the published ones stay well below 1."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from qiaocrawl.dedup import dedupers
from qiaocrawl.demo.model import ARTICLE_KINDS, Kind
from qiaocrawl.demo.score import body_f1, rates
from qiaocrawl.demo.web import DemoWeb
from qiaocrawl.extract import extractors
from qiaocrawl.items import TitleRecord
from qiaocrawl.page import parse_page


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


def test_published_title_deduplication_is_no_solution(demo_web: DemoWeb) -> None:
    golds = [
        gold for gold in demo_web.gold()
        if gold.kind in ARTICLE_KINDS and gold.kind is not Kind.PRINT
    ]  # fmt: skip
    records = [
        TitleRecord(
            key=gold.url.encode(),
            title=gold.title,
            host=urlsplit(gold.url).netloc,
            published_at=gold.published_at,
        )
        for gold in golds
    ]
    verdicts = dedupers.get("vsm")(0.8).regroup(records)
    groups = {url: verdict.of or url for url, verdict in verdicts.items()}
    pairs = [(gold.reprint_group, groups[gold.url.encode()]) for gold in golds]
    sizes = (Counter(pairs), Counter(found for _, found in pairs), Counter(w for w, _ in pairs))
    common, found, wanted = (sum(n * (n - 1) // 2 for n in size.values()) for size in sizes)
    result = rates(common, found, wanted)
    # Both sides are hard: titles that changed, and titles that differ in one word.
    assert 0.35 < result.f1 < 0.70
    assert result.precision < 0.8
    assert result.recall < 0.8
