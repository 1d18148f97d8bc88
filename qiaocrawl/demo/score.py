"""Scores what a crawl made of the demo web against the web's gold.

Body F1 is the harmonic mean of precision and recall over multisets of character 4-grams of
the NFKC-normalised, lower-case letters and digits of gold and found text, page by page, then
averaged over pages.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from qiaocrawl.demo.model import ARTICLE_KINDS, CHINA_TIME, Gold, Kind
from qiaocrawl.demo.web import DemoWeb

_GRAM = 4
# Pages that tell a story in their own right; print versions are copies by design.
_STORY_KINDS = ARTICLE_KINDS - {Kind.PRINT}


@dataclass(frozen=True, slots=True)
class ScoredArticle:
    """One article as the crawl stored it. ``group`` is equal for reprints of one another."""

    url: str
    title: str
    text: str
    published_at: datetime | None
    author: str
    source: str
    relevant: bool
    group: object


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and their harmonic mean, each in [0, 1] (0 where nothing counts)."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Score:
    """How right a crawl was; shares lie in [0, 1].

    Attributes:
        articles: gold articles that were found, print versions among them.
        body_f1: mean over them, see the module.
        paged_f1: mean over those that have several pages, whose gold is the whole text.
        title_exact, date_exact, author_exact, source_exact: shares of them; spaces and forms
            of width do not count, a date is right by its day in China, and author and source
            are asked of pages that show one.
        topic: relevance of the found articles.
        reprint: pairs of found articles that tell one story, print versions left out.
        coverage: share of all articles a crawler may read that was found; also of those on
            authoritative sites and of those on topic.
        false_articles: stored pages that are no article (lists, forms, "not found" ...).
        parts: second and later pages of paged articles that were stored as articles.
        repeated: articles stored again under another address.
    """

    articles: int
    body_f1: float
    paged_f1: float
    title_exact: float
    date_exact: float
    author_exact: float
    source_exact: float
    topic: Rates
    reprint: Rates
    coverage: float
    coverage_authoritative: float
    coverage_on_topic: float
    false_articles: int
    parts: int
    repeated: int


def body_f1(gold: str, found: str) -> float:
    """Character 4-gram F1 of *found* against *gold*, in [0, 1]; 0 when either is empty."""
    gold_grams, given_grams = _grams(gold), _grams(found)
    common = (gold_grams & given_grams).total()
    return 2 * common / (gold_grams.total() + given_grams.total()) if common else 0.0


def rates(common: int, found: int, wanted: int) -> Rates:
    """Rates of *common* right ones among *found*, of *wanted* in all."""
    precision = common / found if found else 0.0
    recall = common / wanted if wanted else 0.0
    total = found + wanted
    return Rates(precision, recall, 2 * common / total if total else 0.0)


def score(web: DemoWeb, articles: Iterable[ScoredArticle]) -> Score:
    """Compare *articles* with the gold of *web*; the first of several for a page counts."""
    matched: dict[str, tuple[Gold, ScoredArticle]] = {}
    false_articles = parts = repeated = 0
    for article in articles:
        gold = web.find(article.url)
        if gold is not None and gold.kind is Kind.PART:
            parts += 1
        elif gold is None or gold.kind not in ARTICLE_KINDS:
            false_articles += 1
        elif gold.url in matched:
            repeated += 1
        else:
            matched[gold.url] = (gold, article)
    pairs = list(matched.values())
    everything, authoritative, on_topic = _coverage(web, pairs)
    paged = {gold.target_url for gold in web.gold() if gold.kind is Kind.PART}
    return Score(
        articles=len(pairs),
        body_f1=_mean([body_f1(gold.body, article.text) for gold, article in pairs]),
        paged_f1=_mean([body_f1(g.body, a.text) for g, a in pairs if g.url in paged]),
        title_exact=_mean([_same(gold.title, article.title) for gold, article in pairs]),
        date_exact=_mean([_same_day(gold, article) for gold, article in pairs]),
        author_exact=_mean([_same(g.author, a.author) for g, a in pairs if g.author]),
        source_exact=_mean([_same(g.source, a.source) for g, a in pairs if g.source]),
        topic=_topic(pairs),
        reprint=_reprints(pairs),
        coverage=everything,
        coverage_authoritative=authoritative,
        coverage_on_topic=on_topic,
        false_articles=false_articles,
        parts=parts,
        repeated=repeated,
    )


def _topic(pairs: Sequence[tuple[Gold, ScoredArticle]]) -> Rates:
    right = sum(gold.on_topic and article.relevant for gold, article in pairs)
    judged_relevant = sum(article.relevant for _, article in pairs)
    return rates(right, judged_relevant, sum(gold.on_topic for gold, _ in pairs))


def _reprints(pairs: Sequence[tuple[Gold, ScoredArticle]]) -> Rates:
    """Counted through the sizes of groups: n members make n(n-1)/2 pairs."""
    stories = [(gold, article) for gold, article in pairs if gold.kind in _STORY_KINDS]
    gold_groups = Counter(gold.reprint_group for gold, _ in stories)
    crawl_groups = Counter(article.group for _, article in stories)
    common = Counter((gold.reprint_group, article.group) for gold, article in stories)
    sizes = (common, crawl_groups, gold_groups)
    return rates(*(sum(n * (n - 1) // 2 for n in size.values()) for size in sizes))


def _coverage(web: DemoWeb, pairs: Sequence[tuple[Gold, ScoredArticle]]) -> tuple[float, ...]:
    """Shares found of: all articles, those of authoritative sites, those on topic."""
    crawled = {gold.url for gold, _ in pairs}
    hosts = {site.host for site in web.sites.values() if site.role == "authoritative"}
    readable = [gold for gold in web.gold() if gold.kind in _STORY_KINDS and gold.robots_allowed]
    home = [gold for gold in readable if gold.url.split("/")[2] in hosts]
    on_topic = [gold for gold in readable if gold.on_topic]
    return tuple(
        _mean([gold.url in crawled for gold in urls]) for urls in (readable, home, on_topic)
    )


def _grams(text: str) -> Counter[str]:
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))
    if not letters:
        return Counter()
    return Counter(letters[at : at + _GRAM] for at in range(max(1, len(letters) - _GRAM + 1)))


def _same(gold: str, found: str) -> bool:
    return _folded(gold) == _folded(found)


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _same_day(gold: Gold, article: ScoredArticle) -> bool:
    if gold.published_at is None or article.published_at is None:
        return gold.published_at is article.published_at
    return gold.published_at.date() == article.published_at.astimezone(CHINA_TIME).date()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
