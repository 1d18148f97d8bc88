"""The contract of a page scorer, the registry of all, and word counts of a page's places."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Protocol, cast, runtime_checkable
from urllib.parse import unquote

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import N_, _
from qiaocrawl.options.kinds import PluginOptions, option_defaults, plugin_options
from qiaocrawl.registry import Registry
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import (
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    PageWords,
    background_frequencies,
    rarity,
)

# --- Word counts of the places of a page (title, text, headings …), each made at most once --------

TITLE_TIMES = 3
"""An occurrence in the title counts as this many in the body (ours)."""


class PagePlaces:
    """How often each word stands in the places of *page*, as *words* cuts them."""

    def __init__(self, page: PageText, words: PageWords) -> None:
        self._page = page
        self._count = words.count

    @cached_property
    def title(self) -> Counter[str]:
        """Words of the title."""
        return self._count(self._page.title[:MAX_TITLE_CHARS])

    @cached_property
    def text(self) -> Counter[str]:
        """Words of the text."""
        return self._count(self._page.text[:MAX_TEXT_CHARS])

    @cached_property
    def both(self) -> Counter[str]:
        """Words of title and text, those of the title three times."""
        counts = Counter(self.text)
        for word, times in self.title.items():
            counts[word] += TITLE_TIMES * times
        return counts

    @cached_property
    def headings(self) -> Counter[str]:
        """Words of the headings."""
        return self._count(self._page.headings)

    @cached_property
    def meta(self) -> Counter[str]:
        """Words of the keywords and the description."""
        return self._count(self._page.meta)

    @cached_property
    def url(self) -> Counter[str]:
        """Words of the URL behind the host."""
        return self._count(unquote(self._page.url.partition("://")[2].partition("/")[2]))

    def where(self, words: Iterable[str]) -> tuple[str, ...]:
        """For each of *words* the names of its places, such as ``"title text"``; "" for none."""
        return tuple(" ".join(self._names(word)) for word in words)

    def _names(self, word: str) -> Iterator[str]:
        for name in ("title", "headings", "meta", "url", "text"):
            if word in getattr(self, name):
                yield name


MAX_EXPLAINED = 8
"""Words that explain one judgement, at most."""


class PageScorer(Protocol):
    """Judges pages for one topic. Holds no state between pages.

    Ours have an attribute ``threshold``, the score from which a page is on topic, which
    ``qiaocrawl topic evaluate`` shows. A plug-in may have one.
    """

    def judge(self, page: PageText) -> Relevance:
        """The topic's judgement of a page; the empty one scores 0."""
        ...


class ScorerFactory(Protocol):
    """What is registered: a class called once per process and topic.

    Its keyword-only arguments with defaults are options of the scorer.
    """

    def __call__(self, pack: TopicPack, threshold: float = 0.0) -> PageScorer:
        """A scorer for *pack*; *threshold* 0 takes the method's own, or the pack's."""
        ...


@runtime_checkable
class FollowsPack(Protocol):
    """A scorer whose verdicts move with the threshold of its topic's pack."""

    def pack_threshold(self, score: float) -> float | None:
        """The pack's threshold with which on topic is what now has *score* or more.

        None where no threshold of a pack does it.
        """
        ...


@runtime_checkable
class TellsWeights(Protocol):
    """A scorer that can tell what each word of a page adds to its judgement."""

    def word_weights(self, page: PageText) -> Mapping[str, float]:
        """By word, what it adds to ln(P / (1 - P)); below 0 it speaks against the topic."""
        ...


page_scorers: Registry[ScorerFactory] = Registry(
    N_("page scorer"),
    "qiaocrawl.page_scorers",
    "qiaocrawl.relevance",
    "qiaocrawl.relevance.published",
)


def make_scorer(
    name: str, pack: TopicPack, threshold: float = 0.0, options: str = ""
) -> PageScorer:
    """The page scorer called *name* for *pack*.

    Args:
        threshold: 0 takes the method's own.
        options: ``name=value``, joined by commas; "" keeps every default.

    Raises:
        ConfigError: an unknown scorer or option, or a value that is out of its bounds.
    """
    given = scorer_options(name, options)
    return cast(Callable[..., PageScorer], page_scorers.get(name))(pack, threshold, **given)


def scorer_options(name: str, options: str) -> PluginOptions:
    """What is written in *options* for the page scorer called *name*, by argument.

    Raises:
        ConfigError: an unknown scorer or option, or a value that is no number where one must be.
    """
    defaults = option_defaults(page_scorers.get(name))
    return plugin_options(f"page scorer {name!r}", defaults, options)


def chosen_threshold(given: float, own: float) -> float:
    """The threshold to judge by: *given*, or the method's *own* where that is 0.

    Raises:
        ConfigError: *given* does not lie in [0, 1].
    """
    if not 0 <= given <= 1:
        raise ConfigError(_("relevance threshold must lie in [0, 1], got {given!r}", given=given))
    return given or own


def explain_parts(parts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The words that contributed most, with their share of all above 0, largest first."""
    given = {word: part for word, part in parts.items() if part > 0}
    whole = math.fsum(given.values())
    best = sorted(given.items(), key=lambda part: (-part[1], part[0]))[:MAX_EXPLAINED]
    return tuple((word, round(float(part / whole), 4)) for word, part in best)


def judgement(
    topic: str,
    method: str,
    score: float,
    threshold: float,
    parts: Mapping[str, float],
    places: PagePlaces,
) -> Relevance:
    """What a scorer says of a page: on topic from *threshold* on, with the words that gave most.

    Args:
        topic, method: names.
        score: in [0, 1]; 0 is never on topic.
        threshold: in [0, 1].
        parts: what each word of the page gave.
        places: where the page's words stand.
    """
    terms = explain_parts(parts)
    return Relevance(
        topic=topic,
        score=score,
        relevant=score > 0 and score >= threshold,
        method=method,
        terms=terms,
        places=places.where(word for word, _ in terms),
    )


def term_weights(pack: TopicPack) -> dict[str, float]:
    """The expert's weight of each folded term, above 0; of equal terms the heavier counts."""
    weights: dict[str, float] = {}
    for term in pack.terms:
        text = fold(term.text)
        weights[text] = max(term.weight, weights.get(text, 0.0))
    return weights


def term_rarities(terms: dict[str, float]) -> dict[str, float]:
    """Each term's idf by the background collection, in [0.4, 1]; 1 for rare ones."""
    frequencies, total = background_frequencies(terms)
    return {term: rarity(frequencies[term] / total) for term in terms}
