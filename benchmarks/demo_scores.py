"""Scores what a crawl made of the demo web against the web's gold.

Body F1 is the harmonic mean of precision and recall over multisets of character 4-grams of
the NFKC-normalised, lower-case letters and digits of gold and found text, page by page, then
averaged over pages.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, select

from qiaocrawl.demo.happenings import Happening, Truth, known_places, load_happenings, places_in
from qiaocrawl.demo.inventory import load_sites
from qiaocrawl.demo.model import ARTICLE_KINDS, CHINA_TIME, Gold, Kind
from qiaocrawl.demo.web import DemoWeb
from qiaocrawl.news.names.places import resolve_place
from qiaocrawl.news.spread.publication import outlet_of
from qiaocrawl.news.spread.stored import publications_of, spread_of
from qiaocrawl.news.spread.tree import SpreadTree, change_reports
from qiaocrawl.news.stories import texts as story_texts
from qiaocrawl.news.tone_model import tone_of
from qiaocrawl.news.trends.trend import article_moments, trend_of
from qiaocrawl.news.trends.usual import Stretch, seconds_of
from qiaocrawl.news.warnings.stored import load_warnings
from qiaocrawl.storage.schema import article, article_name, story_article, url
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.normalise import to_simplified
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from qiaocrawl.news.trends.usual import HolidayCalendar

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
    for stored in articles:
        gold = web.find(stored.url)
        if gold is not None and gold.kind is Kind.PART:
            parts += 1
        elif gold is None or gold.kind not in ARTICLE_KINDS:
            false_articles += 1
        elif gold.url in matched:
            repeated += 1
        else:
            matched[gold.url] = (gold, stored)
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


# --- Scores what an analysis made of a crawl of the demo web against what happened there ----------

# Names are read from so much of a text.
_READ_CHARACTERS = 2_000
_BASE_DAYS = 56


@dataclass(slots=True)
class Found:
    """How often something was said rightly, left open, or said wrongly."""

    right: int = 0
    unknown: int = 0
    wrong: int = 0

    @property
    def total(self) -> int:
        """Of how many."""
        return self.right + self.unknown + self.wrong

    @property
    def share(self) -> float:
        """Right ones of all, in [0, 1]; 0 of none."""
        return self.right / self.total if self.total else 0.0

    def add(self, is_right: bool, is_known: bool = True) -> None:
        """Count one; what was not said is neither right nor wrong."""
        if not is_known:
            self.unknown += 1
        elif is_right:
            self.right += 1
        else:
            self.wrong += 1


@dataclass(slots=True)
class MeaningScore:
    """How right an analysis of the demo's articles is.

    Attributes:
        first: of groups of reprints of which two are stored: who published first.
        edges: of their copies whose parent is stored; ``edges_outside`` of the others.
        originals: that are not said to be taken from somewhere.
        places: that texts name: named, and put into their country.
        tone: of the articles of happenings with a clear tone.
        bursts: days of happenings that burst; wrong: days that are said to and did not.
        corrected, deleted: changes that were seen.
        not_followed: of these: exactly those listed who did not follow.
        warnings: stories that enough outlets tell: exactly one warning is right.
    """

    first: Found = field(default_factory=Found)
    edges: Found = field(default_factory=Found)
    edges_outside: Found = field(default_factory=Found)
    originals: Found = field(default_factory=Found)
    places: Found = field(default_factory=Found)
    tone: Found = field(default_factory=Found)
    bursts: Found = field(default_factory=Found)
    corrected: Found = field(default_factory=Found)
    deleted: Found = field(default_factory=Found)
    not_followed: Found = field(default_factory=Found)
    warnings: Found = field(default_factory=Found)


class _Stored(NamedTuple):
    """An article as it is stored; *story* is None before an analysis."""

    gold: Gold
    url_id: int
    article_id: int
    title: str
    text: str
    story: int | None


def score_meaning(
    c: Connection, golds: Sequence[Gold], topic: str, calendar: HolidayCalendar,
    warned: tuple[datetime, int],
) -> MeaningScore:  # fmt: skip
    """Score the analysis that is stored.

    Args:
        golds: of the demo web.
        warned: a rule warns of stories of the topic that so many outlets tell since then.
    """
    truth = Truth(golds)
    groups = _stored(c, truth)
    score = MeaningScore()
    for name, members in groups.items():
        if len(members) > 1:
            _score_spread(score, truth, name, _trees(c, members, topic), {
                own.gold.url for own in members
            })  # fmt: skip
    articles = [own for members in groups.values() for own in members if own.gold.on_topic]
    _score_places(c, score, articles)
    happened = [(happening, groups.get(happening.group, [])) for happening in load_happenings()]
    for happening, members in happened:
        for own in members if happening.tone != "neutral" else ():
            label = tone_of(own.title, own.text).label
            score.tone.add(label == happening.tone, label != "unsure")
        _score_bursts(c, score, happening, members, calendar)
    _score_changes(c, score, truth, groups, topic)
    _score_warnings(c, score, groups, *warned)
    return score


def earliest_score(c: Connection, golds: Sequence[Gold], topic: str) -> MeaningScore:
    """The naive way with spreads: the earliest date is the first, and all have it from there."""
    truth, score = Truth(golds), MeaningScore()
    for name, members in _stored(c, truth).items():
        if len(members) > 1:
            own = publications_of(c, [one.article_id for one in members], topic)
            first = min(own, key=lambda one: (one.window.earliest, one.key)).key
            score.first.add(first == truth.first_of(name)[1])
            for one in members:
                parent = truth.parent_of(one.gold)
                if parent in {other.gold.url for other in members}:
                    score.edges.add(first == parent, first != one.gold.url)
    return score


def _stored(c: Connection, truth: Truth) -> dict[str, list[_Stored]]:
    """The stored articles of each group of reprints."""
    rows = c.execute(
        select(url.c.url, url.c.id, article.c.id, article.c.title, article.c.text,
               story_article.c.story_id)
        .join(article, article.c.url_id == url.c.id)
        .outerjoin(story_article, story_article.c.url_id == url.c.id)
        .order_by(url.c.url)
    )  # fmt: skip
    groups: dict[str, list[_Stored]] = defaultdict(list)
    for address, *values in rows:
        if gold := truth.by_url.get(address):
            groups[gold.reprint_group].append(_Stored(gold, *values))
    return dict(groups)


# --- spread --------------------------------------------------------------------------------------


def _trees(c: Connection, members: Sequence[_Stored], topic: str) -> dict[str, SpreadTree]:
    """The tree that `qiaocrawl report spread` shows for each member, by its address."""
    trees: dict[str, SpreadTree] = {}
    for own in members:
        if own.gold.url not in trees:
            tree = spread_of(c, own.article_id, topic)
            trees |= dict.fromkeys(tree.publications, tree)
    return trees


def _score_spread(
    score: MeaningScore, truth: Truth, name: str, trees: dict[str, SpreadTree], here: set[str]
) -> None:
    host, original = truth.first_of(name)
    # Without the original: the tree that has most of the copies.
    tree = trees.get(original) or max(
        (trees[address] for address in sorted(here)),
        key=lambda one: len(here & one.publications.keys()),
    )
    assert tree.first is not None, "a tree of articles has a first"
    first = tree.first.key == original or (
        original not in here and outlet_of(tree.first.outlet) == _outlet(host)
    )
    score.first.add(first)
    for address in sorted(here):
        edge, gold = trees[address].edges[address], truth.by_url[address]
        parent = truth.parent_of(gold)
        if not parent:
            score.originals.add(not edge.is_known)
        elif parent in here:
            score.edges.add(edge.parent == parent, edge.is_known)
        else:
            right = outlet_of(edge.outside) == _outlet(gold.taken_from)
            score.edges_outside.add(right, edge.is_known)


def _outlet(host: str) -> str:
    return outlet_of(next(site.name for site in load_sites() if site.host == host))


# --- places, bursts ------------------------------------------------------------------------------


def _score_places(c: Connection, score: MeaningScore, articles: Sequence[_Stored]) -> None:
    statement = select(article_name.c.url_id, article_name.c.name)
    named: dict[int, set[str]] = defaultdict(set)
    for url_id, name in c.execute(statement.where(article_name.c.kind == "place")):
        named[url_id].add(name)
    for own in articles:
        said = {place.name: place.country for name in named[own.url_id]
                if (place := resolve_place(name))}  # fmt: skip
        for name in places_in(to_simplified(own.gold.body[:_READ_CHARACTERS])):
            known = resolve_place(name)
            country = said.get(known.name if known else name)
            score.places.add(country == known_places()[name], country is not None)


def _score_bursts(
    c: Connection, score: MeaningScore, happening: Happening, members: Sequence[_Stored],
    calendar: HolidayCalendar,
) -> None:  # fmt: skip
    """By day, over the month around it, of the story that most of its articles are in."""
    stories = Counter(own.story for own in members if own.story is not None)
    if not stories:
        return
    number = stories.most_common(1)[0][0]
    times = [text.at for text in story_texts.texts_of(c, [number])[number]]
    days = {telling.at.date() for telling in happening.tellings}
    stretch = Stretch(
        happening.tellings[0].at - timedelta(days=7), happening.tellings[-1].at + timedelta(days=7),
        base_days=_BASE_DAYS,
    )  # fmt: skip
    everything = seconds_of(moment.at for moment in article_moments(c, Selection()))
    trend = trend_of(times, everything, stretch, calendar)
    burst = {step.start.astimezone(SHANGHAI).date() for step in trend.steps if step.is_burst}
    if happening.burst:
        score.bursts.right += len(days & burst)
        score.bursts.unknown += len(days - burst)
    score.bursts.wrong += len(burst - days)


# --- changes, warnings ---------------------------------------------------------------------------


def _score_changes(
    c: Connection, score: MeaningScore, truth: Truth, groups: dict[str, list[_Stored]], topic: str
) -> None:
    for address, kind, not_followed in truth.changes():
        members = groups.get(truth.by_url[address].reprint_group, [])
        here = {own.gold.url for own in members}
        if address not in here:
            continue
        tree = _trees(c, members, topic)[address]
        reports = [report for report in change_reports(tree)
                   if (report.key, report.change.kind) == (address, kind)]  # fmt: skip
        seen = score.deleted if kind == "deleted" else score.corrected
        seen.add(bool(reports), bool(reports))
        if reports:
            score.not_followed.add(set(reports[0].not_followed) == not_followed & here)


def _score_warnings(
    c: Connection, score: MeaningScore, groups: dict[str, list[_Stored]], since: datetime,
    least_outlets: int,
) -> None:  # fmt: skip
    warned = [int(key) for key in load_warnings(c)]
    warnings = Counter(story_texts.stories_with(c, warned).values())
    for members in groups.values():
        told = [own for own in members if own.gold.on_topic and own.gold.published_at is not None
                and own.gold.published_at >= since]  # fmt: skip
        if len(told) >= least_outlets:
            stories = {own.story for own in told if own.story is not None}
            count = sum(warnings[number] for number in stories)
            score.warnings.add(count == 1, count > 0)
