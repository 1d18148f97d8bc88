"""The scorer: what it counts and what it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from benchmarks.demo_scores import Rates, ScoredArticle, body_f1, rates, score
from qiaocrawl.demo.model import ARTICLE_KINDS, Gold, Kind
from qiaocrawl.demo.web import DemoWeb


def perfect(gold: Gold) -> ScoredArticle:
    return ScoredArticle(
        url=gold.url,
        title=gold.title,
        text=gold.body,
        published_at=gold.published_at,
        author=gold.author,
        source=gold.source,
        relevant=gold.on_topic,
        group=gold.reprint_group,
    )


def articles_of(web: DemoWeb) -> list[Gold]:
    return [gold for gold in web.gold() if gold.kind in ARTICLE_KINDS]


def test_a_perfect_crawl_scores_one(demo_web: DemoWeb) -> None:
    readable = [gold for gold in articles_of(demo_web) if gold.robots_allowed]
    result = score(demo_web, map(perfect, readable))
    assert result.articles == len(readable)
    for share in ("body_f1", "paged_f1", "title_exact", "date_exact", "author_exact",
                  "source_exact", "coverage", "coverage_authoritative",
                  "coverage_on_topic"):  # fmt: skip
        assert getattr(result, share) == 1.0, share
    assert result.topic == result.reprint == Rates(1.0, 1.0, 1.0)
    assert (result.false_articles, result.parts, result.repeated) == (0, 0, 0)


def test_first_pages_alone_lower_the_score_of_paged_articles(demo_web: DemoWeb) -> None:
    paged = {gold.target_url for gold in demo_web.gold() if gold.kind is Kind.PART}
    golds = [gold for gold in articles_of(demo_web) if gold.url in paged][:3]
    assert golds
    halves = [replace(perfect(gold), text=gold.body[: len(gold.body) // 2]) for gold in golds]
    assert 0.6 < score(demo_web, halves).paged_f1 < 0.7
    assert score(demo_web, map(perfect, golds)).paged_f1 == 1.0


def test_an_empty_crawl_scores_zero(demo_web: DemoWeb) -> None:
    result = score(demo_web, [])
    assert result.articles == result.body_f1 == result.coverage == 0
    assert result.topic == result.reprint == Rates(0.0, 0.0, 0.0)


def test_wrong_fields_lower_their_own_share_only(demo_web: DemoWeb) -> None:
    golds = articles_of(demo_web)[:10]
    found = [perfect(gold) for gold in golds]
    day = found[0].published_at
    assert day is not None
    found[0] = replace(found[0], title="别的", published_at=day + timedelta(days=1))
    found[1] = replace(found[1], text="")
    result = score(demo_web, found)
    assert result.title_exact == result.date_exact == pytest.approx(0.9)
    assert result.body_f1 == pytest.approx(0.9)


def test_titles_are_compared_without_spaces_and_width(demo_web: DemoWeb) -> None:
    gold = articles_of(demo_web)[0]
    loose = replace(perfect(gold), title=f" {' '.join(gold.title)}\u3000")
    assert score(demo_web, [loose]).title_exact == 1.0


def test_a_date_is_right_by_its_day_in_china(demo_web: DemoWeb) -> None:
    gold = articles_of(demo_web)[0]
    assert gold.published_at is not None
    midnight = gold.published_at.replace(hour=0, minute=0)
    same_day = replace(perfect(gold), published_at=midnight.astimezone(UTC))
    assert score(demo_web, [same_day]).date_exact == 1.0
    missing = replace(perfect(gold), published_at=None)
    assert score(demo_web, [missing]).date_exact == 0.0


def test_topic_counts_wrong_and_missed_ones(demo_web: DemoWeb) -> None:
    golds = articles_of(demo_web)
    on = [gold for gold in golds if gold.on_topic][:4]
    off = [gold for gold in golds if not gold.on_topic][:2]
    found = [replace(perfect(gold), relevant=True) for gold in (*on[:3], off[0])]
    found += [replace(perfect(gold), relevant=False) for gold in (on[3], off[1])]
    assert score(demo_web, found).topic == Rates(0.75, 0.75, 0.75)


def test_reprints_are_scored_in_pairs_without_print_versions(demo_web: DemoWeb) -> None:
    groups: dict[str, list[Gold]] = {}
    for gold in articles_of(demo_web):
        if gold.kind is not Kind.PRINT:
            groups.setdefault(gold.reprint_group, []).append(gold)
    three = next(golds for golds in groups.values() if len(golds) >= 3)[:3]
    alone = next(golds for golds in groups.values() if len(golds) == 1)
    found = [replace(perfect(gold), group="a") for gold in (*three[:2], *alone)]
    found.append(replace(perfect(three[2]), group="b"))
    # Pairs said: 3, true: 3, right: 1.
    result = score(demo_web, found).reprint
    assert result.precision == pytest.approx(1 / 3)
    assert result.recall == pytest.approx(1 / 3)


def test_what_is_no_article_is_counted_apart(demo_web: DemoWeb) -> None:
    golds = demo_web.gold()
    part = next(gold for gold in golds if gold.kind is Kind.PART)
    listing = next(gold for gold in golds if gold.kind is Kind.LIST)
    article = articles_of(demo_web)[0]
    again = replace(perfect(article), url=f"{article.url}?utm_source=x")
    unknown = replace(perfect(article), url="http://www.mnqw.test/nothing.html")
    found = [*map(perfect, (article, part, listing)), again, unknown]
    result = score(demo_web, found)
    assert result.articles == 1
    assert (result.parts, result.false_articles, result.repeated) == (1, 2, 1)


def test_body_f1() -> None:
    assert body_f1("海外侨胞回乡寻根", "海外，侨胞 回乡寻根！") == 1.0
    assert body_f1("海外侨胞", "") == body_f1("", "海外侨胞") == 0.0
    # 4-grams: gold 1, found 5, common 1.
    assert body_f1("海外侨胞", "海外侨胞回乡寻根") == pytest.approx(2 / 6)
    assert body_f1("侨", "侨") == 1.0


def test_rates_of_nothing_are_zero() -> None:
    assert rates(0, 0, 0) == Rates(0.0, 0.0, 0.0)
    assert rates(1, 2, 4) == Rates(0.5, 0.25, 1 / 3)
