"""The articles around a threshold of relevance, what another would change, and why few pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlalchemy import ColumnElement, Connection, Table, exists, false, func, select, true

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _, ngettext
from qiaocrawl.storage.pages.articles import ArticleText
from qiaocrawl.storage.schema import (
    article,
    host,
    judgement,
    query,
    query_hit,
    relevance,
    sample,
    term,
    topic,
    url,
    verdict,
)
from qiaocrawl.storage.selection import any_word_condition
from qiaocrawl.storage.topics.judgements import OPERATOR
from qiaocrawl.storage.topics.lexicon_decisions import under_decisions
from qiaocrawl.storage.topics.topics import find_topic_id, load_pack, topic_id
from qiaocrawl.storage.values import clean_word, from_time
from qiaocrawl.topic.check import merge_packs, pack_name_reason, require_valid
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Site, Term, TopicPack

# With fewer articles nothing can be said of their share.
_LEAST_ARTICLES = 10
# Below one in fifty something is amiss more often than the sites are.
_FEW = 50
_MOST_ARTICLES = 5_000
_NEAREST = 500
# Round lines that are tried, in per cent, the strictest first.
_LINES = (45, 40, 35, 30, 25, 20, 15, 10, 8, 6, 4, 2)
_ENOUGH_MORE = 5
# With so many samples of either kind the words are not alone any more.
_SOME_SAMPLES = 3
_FEW_WORDS = 10


@dataclass(frozen=True, slots=True)
class Basis:
    """What a topic judges by: its words, and its samples on and off topic, judged articles too."""

    words: int
    on_topic: int
    off_topic: int

    @property
    def note(self) -> str:
        """What makes its judgements less sure, in words; "" for nothing."""
        if min(self.on_topic, self.off_topic) >= _SOME_SAMPLES:
            return ""
        words = ngettext(
            "judged by {count} word alone, without samples of both kinds",
            "judged by {count} words alone, without samples of both kinds",
            self.words,
        )
        if not self.words:
            words = _("judged without words and without samples of both kinds")
        few = _("few words find few articles; ") if 0 < self.words < _FEW_WORDS else ""
        advice = _("mark some articles on topic and some off topic to make it surer")
        return _("{words}: {few}{advice}", words=words, few=few, advice=advice)


@dataclass(frozen=True, slots=True)
class FewOnTopic:
    """A topic of whose articles few or none are on it, and what would change that.

    Attributes:
        articles: that were judged; of more than 5,000 so many.
        line: the score from which *more* others would be on topic, in [0, 1]; None where no line
            brings any.
    """

    topic: str
    title: str
    articles: int
    on_topic: int
    basis: Basis
    line: float | None
    more: int

    @property
    def percent(self) -> int:
        """The line in per cent; 0 where there is none."""
        return round(100 * (self.line or 0))

    @property
    def why(self) -> str:
        """What is the matter, in words."""
        counted = _(
            "{title}: {on_topic} of {articles} articles are on topic",
            title=self.title,
            on_topic=self.on_topic,
            articles=self.articles,
        )
        if self.line is None:
            reason = _("the others hardly have one of its words: look through its words and sites")
        else:
            reason = _("the threshold is above what most articles reach")
        why = _("{what}: {reason}", what=counted, reason=reason)
        return _("{what}; {more}", what=why, more=self.basis.note) if self.basis.note else why

    @property
    def remedy(self) -> str:
        """What one step would do, in words; "" where there is none."""
        if self.line is None:
            return ""
        return ngettext(
            "with the threshold at {line:.2f} {count} article more is on topic",
            "with the threshold at {line:.2f} {count} articles more are on topic",
            self.more,
            line=self.line,
        )


@dataclass(frozen=True, slots=True)
class ScoredArticle:
    """An article with its stored score in [0, 1] and whether it counts as on topic."""

    id: int
    title: str
    url: str
    site: str
    score: float
    is_on_topic: bool


@dataclass(frozen=True, slots=True)
class ThresholdView:
    """The articles next to a threshold, and how many verdicts it would turn.

    Attributes:
        above, below: the nearest first.
        to_on, to_off: articles that would become on topic, and off topic.
    """

    above: tuple[ScoredArticle, ...]
    below: tuple[ScoredArticle, ...]
    to_on: int
    to_off: int


def threshold_view(c: Connection, topic: str, threshold: float, limit: int) -> ThresholdView:
    """The view of *threshold*; what operators judged themselves is left out, as it stays.

    Raises:
        StorageError: *topic* was never imported.
    """
    table = relevance.c
    by_scorer = (table.topic_id == topic_id(c, topic), table.method != OPERATOR)
    statement = (
        select(
            article.c.id, article.c.title, url.c.url, article.c.site, table.score, table.relevant
        )
        .join(article, article.c.id == table.article_id)
        .join(url, url.c.id == article.c.url_id)
        .where(*by_scorer)
        .limit(limit)
    )
    above = statement.where(table.score >= threshold).order_by(table.score, article.c.id)
    below = statement.where(table.score < threshold).order_by(table.score.desc(), article.c.id)
    counts = select(func.count()).select_from(relevance).where(*by_scorer)
    return ThresholdView(
        tuple(ScoredArticle(*row) for row in c.execute(above)),
        tuple(ScoredArticle(*row) for row in c.execute(below)),
        int(c.scalar(counts.where(~table.relevant, table.score >= threshold)) or 0),
        int(c.scalar(counts.where(table.relevant, table.score < threshold)) or 0),
    )


def basis_of(c: Connection, name: str) -> Basis:
    """What the topic called *name* judges by.

    Raises:
        StorageError: it was never imported.
    """
    whose = topic_id(c, name)

    def by_answer(table: Table) -> dict[bool, int]:
        rows = c.execute(
            select(table.c.relevant, func.count())
            .where(table.c.topic_id == whose)
            .group_by(table.c.relevant)
        )
        return {bool(answer): int(count) for answer, count in rows}

    words = c.execute(select(func.count()).where(term.c.topic_id == whose)).scalar_one()
    given, marked = by_answer(sample), by_answer(judgement)
    on, off = (given.get(answer, 0) + marked.get(answer, 0) for answer in (True, False))
    return Basis(int(words), on, off)


class _Judged(Protocol):
    @property
    def topic(self) -> str: ...

    @property
    def method(self) -> str: ...


def bases_of(c: Connection, judged: Iterable[_Judged]) -> dict[str, str]:
    """By topic, what makes what a scorer said for it less sure; not of what operators said."""
    notes = {one.topic: basis_of(c, one.topic).note for one in judged if one.method != OPERATOR}
    return {name: note for name, note in notes.items() if note}


def few_on_topic(c: Connection, name: str) -> FewOnTopic | None:
    """Why few or none of a topic's articles are on it; None where enough are, or hardly any is.

    Raises:
        StorageError: the topic was never imported.
    """
    whose = topic_id(c, name)

    def count(most: int, *conditions: ColumnElement[bool]) -> int:
        rows = select(relevance.c.article_id).where(relevance.c.topic_id == whose, *conditions)
        return int(
            c.execute(select(func.count()).select_from(rows.limit(most).subquery())).scalar_one()
        )

    articles = count(_MOST_ARTICLES)
    on_topic = count(_MOST_ARTICLES // _FEW, relevance.c.relevant == true())
    if articles < _LEAST_ARTICLES or on_topic * _FEW >= articles:
        return None
    nearest = (
        select(relevance.c.score)
        .where(
            relevance.c.topic_id == whose,
            relevance.c.relevant == false(),
            relevance.c.method != OPERATOR,
        )
        .order_by(relevance.c.score.desc())
        .limit(_NEAREST)
    )
    scores = list(c.execute(nearest).scalars())
    line, more = _line(scores, max(_ENOUGH_MORE, articles // _FEW - on_topic))
    title = c.execute(select(topic.c.title).where(topic.c.id == whose)).scalar_one()
    return FewOnTopic(name, title or name, articles, on_topic, basis_of(c, name), line, more)


def few_on_topics(c: Connection, names: Iterable[str]) -> tuple[FewOnTopic, ...]:
    """The same for several topics, those that have enough left out."""
    return tuple(few for name in names if (few := few_on_topic(c, name)) is not None)


def _line(scores: Sequence[float], wanted: int) -> tuple[float | None, int]:
    """The strictest line that *wanted* of *scores* reach, else that most do; and how many."""
    reached = [(line / 100, sum(score >= line / 100 for score in scores)) for line in _LINES]
    enough = next(((line, more) for line, more in reached if more >= wanted), None)
    line, more = enough or max(reached, key=lambda one: (one[1], one[0]))
    return (line, more) if more else (None, 0)


# --- Tables on their way into a topic: what it would be, and what that changes --------------------


def with_tables(
    c: Connection, name: str, title: str, terms: Sequence[Term], sites: Sequence[Site]
) -> tuple[TopicPack | None, TopicPack]:
    """The topic called *name* as it is (None: a new one), and with *terms* and *sites* over it.

    Nothing is written. Words that an expert rejected stay away.

    Args:
        title: of a new topic.

    Raises:
        ConfigError: *name* can be no topic's.
        TopicError: the rows make no valid topic.
    """
    if reason := pack_name_reason(name):
        raise ConfigError(_("topic {topic!r}: {reason}", topic=name, reason=reason))
    given = TopicPack(name, title or name, "", DEFAULT_THRESHOLD, tuple(terms), tuple(sites), ())
    if find_topic_id(c, name) is None:
        require_valid(given)
        return None, given
    before = load_pack(c, name)
    rows = replace(before, terms=given.terms, sites=given.sites, samples=())
    after = under_decisions(c, merge_packs(before, rows))
    require_valid(after)
    return before, after


# --- What the store knows of words that are no topic yet: articles that say them, hosts they
# hit


def articles_with_words(c: Connection, words: Sequence[str], limit: int) -> list[ArticleText]:
    """The newest *limit* articles that say one of *words* (() = any), reprints once.

    With words it reads every text.
    """
    is_reprint = exists().where(
        verdict.c.article_id == article.c.id, verdict.c.group_id != article.c.id
    )
    own = [~is_reprint]
    rows = c.execute(
        select(url.c.url, article.c.site, article.c.title, article.c.text, article.c.published_at)
        .join(url, url.c.id == article.c.url_id)
        .where(*own, *any_word_condition(c, words, own))
        .order_by(article.c.id.desc())
        .limit(limit)
    )
    return [ArticleText(*row[:4], from_time(row[4])) for row in rows]


def hit_hosts(c: Connection, words: Sequence[str], limit: int) -> dict[str, int]:
    """How many different URLs of each host answered queries with *words*, the most first."""
    pages = func.count(query_hit.c.key.distinct())
    rows = c.execute(
        select(host.c.name, pages)
        .select_from(query_hit)
        .join(query, query.c.id == query_hit.c.query_id)
        .join(url, url.c.key == query_hit.c.key)
        .join(host, host.c.id == url.c.host_id)
        .where(query.c.term.in_([clean_word(word, 100) for word in words]))
        .group_by(host.c.name)
        .order_by(pages.desc(), host.c.name)
        .limit(limit)
    )
    return {name: int(count) for name, count in rows}
