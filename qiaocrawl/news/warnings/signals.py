"""What is known of a story, and whether a rule's conditions hold for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from qiaocrawl.news.tone import Label
    from qiaocrawl.news.warnings.rules import FirstKind, Rule

ReasonKind = Literal[
    "words", "group", "medium", "tier", "count", "tone", "deviation", "burst", "first"
]

_LEAST_TONES = 3
_WORDS_NAMED, _KEYS_KEPT = 5, 20


@dataclass(frozen=True, slots=True)
class SignalArticle:
    """An article of a story; *at* is its publication, aware, or its fetch.

    Args:
        groups: topic and name of each group of words it is marked with.
        medium: the kind of its site, a key of ``topic.media.MEDIA``; "" where no rule asks.
    """

    key: str
    title: str
    text: str
    outlet: str
    at: datetime
    tier: int | None = None
    topics: frozenset[str] = frozenset()
    tone: Label = "unsure"
    groups: frozenset[tuple[str, str]] = frozenset()
    medium: str = ""


@dataclass(frozen=True, slots=True)
class First:
    """Something that no earlier text had, and the article that has it."""

    kind: FirstKind
    value: str
    key: str


@dataclass(frozen=True, slots=True)
class StorySignal:
    """A story as it stands now.

    Args:
        deviation: robust z of its newest step; None without a base.
    """

    story: str
    title: str
    articles: tuple[SignalArticle, ...]
    deviation: float | None = None
    in_burst: bool = False
    firsts: tuple[First, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a rule holds: *value* is what was seen, in the words of the articles or in figures."""

    kind: ReasonKind
    value: str = ""


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A rule that holds, why, and the articles that say so, the newest first."""

    rule: Rule
    reasons: tuple[Reason, ...]
    keys: tuple[str, ...]


def rule_hit(rule: Rule, signal: StorySignal, now: datetime) -> RuleHit | None:
    """Whether *rule* holds for a story at the aware moment *now*; None if not."""
    if not rule.enabled:
        return None
    terms: Counter[str] = Counter()
    articles = [article for article in signal.articles if _counts(rule, article, now, terms)]
    outlets = {article.outlet for article in articles}
    if len(articles) < rule.least_articles or len(outlets) < rule.least_outlets:
        return None
    reasons: list[Reason] = []
    if terms:
        words = [word for word, _count in terms.most_common(_WORDS_NAMED)]
        reasons.append(Reason("words", "、".join(words)))
    if rule.groups:
        touched = Counter(name for article in articles for name in _touched(rule, article))
        reasons.append(Reason("group", "、".join(name for name, _count in touched.most_common())))
    if rule.media:
        kinds = Counter(article.medium for article in articles)
        reasons.append(Reason("medium", kinds.most_common(1)[0][0]))
    if rule.most_tier is not None:
        highest = min(articles, key=lambda article: (article.tier or 0, article.at, article.key))
        reasons.append(Reason("tier", f"{highest.outlet}/{highest.tier}"))
    hours = f"/{rule.within_hours:g}" if rule.within_hours else ""
    reasons.append(Reason("count", f"{len(articles)}/{len(outlets)}{hours}"))
    more = _more_reasons(rule, signal, articles)
    if more is None:
        return None
    newest = sorted(articles, key=lambda article: (article.at, article.key), reverse=True)
    keys = tuple(article.key for article in newest[:_KEYS_KEPT])
    return RuleHit(rule, (*reasons, *more), keys)


def _counts(rule: Rule, article: SignalArticle, now: datetime, terms: Counter[str]) -> bool:
    """Whether an article is one that the rule means; its words are added to *terms*."""
    if rule.topic and rule.topic not in article.topics:
        return False
    if rule.most_tier is not None and (article.tier is None or article.tier > rule.most_tier):
        return False
    if rule.groups and not _touched(rule, article):
        return False
    if rule.media and article.medium not in rule.media:
        return False
    if rule.within_hours and article.at < now - timedelta(hours=rule.within_hours):
        return False
    if rule.terms is None:
        return True
    words = rule.terms.terms_in(fold(f"{article.title}\n{article.text}"))
    terms.update(words.keys())
    return bool(words)


def _touched(rule: Rule, article: SignalArticle) -> set[str]:
    """Those of the rule's groups that the article touches."""
    return {
        name for topic, name in article.groups if name in rule.groups and rule.topic in ("", topic)
    }


def _more_reasons(
    rule: Rule, signal: StorySignal, articles: Sequence[SignalArticle]
) -> list[Reason] | None:
    """Of tone, dynamics and novelty; None where a condition does not hold."""
    reasons: list[Reason] = []
    if rule.least_negative is not None:
        sure = [article for article in articles if article.tone != "unsure"]
        negative = sum(article.tone == "negative" for article in sure)
        if len(sure) < _LEAST_TONES or negative / len(sure) < rule.least_negative:
            return None
        reasons.append(Reason("tone", f"{negative}/{len(sure)}"))
    if rule.least_deviation is not None:
        if signal.deviation is None or signal.deviation < rule.least_deviation:
            return None
        reasons.append(Reason("deviation", f"{signal.deviation:.1f}"))
    if rule.in_burst:
        if not signal.in_burst:
            return None
        reasons.append(Reason("burst"))
    if rule.first:
        firsts = [first for first in signal.firsts if first.kind in rule.first]
        if not firsts:
            return None
        by_kind: dict[str, list[str]] = {}
        for first in firsts:
            by_kind.setdefault(first.kind, []).append(first.value)
        reasons += [Reason("first", f"{kind}/{'、'.join(own)}") for kind, own in by_kind.items()]
    return reasons
