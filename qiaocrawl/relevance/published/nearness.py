"""Scorers by nearness of words: ontology (O2), the nearest word (T6)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import lru_cache
from heapq import nlargest
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import _
from qiaocrawl.ontology.similarity import DEFAULT_FUNCTION, LEAST, TopicWords, named_words
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.options.kinds import within
from qiaocrawl.relevance.scorer import PagePlaces, chosen_threshold, judgement, page_scorers
from qiaocrawl.relevance.word_nearness import WordNearness
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, build_profile

logger = logging.getLogger(__name__)

ALPHA, BETA = 0.4, 0.4
"""Weights of title and keywords, and of the body (ours); gamma is what is left of 1."""
TOP_TITLE_WORDS, TOP_BODY_WORDS = 5, 15
"""The k of Top-k (ours): what a title holds, and a paragraph's worth of a body."""

THRESHOLD = 0.15
"""Where nobody says otherwise (ours). The samples of both packs this repository carries lie on
their own side of it, with the own ontology alone (relevant ones from .19, others to .05) as with
WordNet and the open Chinese wordnets beside it (from .20, to .13)."""


@page_scorers.register("ontology")
class OntologyScorer:
    """Mean similarity of the page's nearest words to the topic, over concepts (O2).

    score = (alpha * mean Top-k sim(title and keyword words) + beta * mean Top-k sim(body
    words)) / (alpha + beta), over distinct words; where there are fewer than k, the others
    count as 0 **(the form is ours)**. The part of the pages that link here (gamma) is left
    out and the weights made whole again, since a page scorer sees one page; the strategy of
    this name has the parent's relevance.

    sim(word) is the similarity to the nearest term of the topic, times the term's weight over
    the heaviest one's, see :class:`qiaocrawl.ontology.similarity.TopicWords`. Chinese and English
    words meet over their concepts. A word no ontology knows meets itself only, as do the words
    learnt from the samples. ``terms`` of a judgement are the page's words with their shares.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes :data:`THRESHOLD`.
        alpha, beta: weights of title with keywords, and of the body, in [0, 1]; one above 0.
        top_title, top_body: the k of Top-k, 1 to 1,000.
        function: of the word similarity: exponential, logarithmic or linear.

    Raises:
        ConfigError: a threshold outside [0, 1], another option out of bounds, or no such function.
        OntologyError: an installed ontology is damaged.
    """

    def __init__(
        self,
        pack: TopicPack,
        threshold: float = 0.0,
        *,
        alpha: float = ALPHA,
        beta: float = BETA,
        top_title: int = TOP_TITLE_WORDS,
        top_body: int = TOP_BODY_WORDS,
        function: str = DEFAULT_FUNCTION,
    ) -> None:
        what = "page scorer 'ontology'"
        self._weights = within(what, "alpha", alpha, 0, 1), within(what, "beta", beta, 0, 1)
        if sum(self._weights) == 0:
            raise ConfigError(_("{what} needs alpha or beta above 0", what=what))
        limits = ("top_title", top_title), ("top_body", top_body)
        self._limits = [int(within(what, name, limit, 1, 1000)) for name, limit in limits]
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, THRESHOLD)
        terms = [term.text for term in pack.terms]
        profile = build_profile(pack, PageWords(terms))
        named = named_words(pack.terms)
        self._near = TopicWords(
            current_ontology(),
            profile.weights,
            profile.terms,
            named,
            function=function,
            least=LEAST,
        )
        self._words = PageWords([*terms, *self._near.near_words()])

    def judge(self, page: PageText) -> Relevance:
        """The score of a page, explained by the words that contributed most."""
        places = PagePlaces(page, self._words)
        shares: dict[str, float] = {}
        read: tuple[Iterable[str], ...] = ({*places.title, *places.meta}, places.text)
        for words, weight, limit in zip(read, self._weights, self._limits, strict=True):
            share = weight / sum(self._weights) / limit
            for alike, word in self._nearest(words, limit):
                shares[word] = shares.get(word, 0.0) + alike * share
        score = min(1.0, sum(shares.values()))
        return judgement(self._topic, "ontology", score, self.threshold, shares, places)

    def _nearest(self, words: Iterable[str], limit: int) -> list[tuple[float, str]]:
        """The *limit* words nearest to the topic, with their similarity; equal ones by word."""
        return nlargest(limit, ((self._near.similarity(word), word) for word in words))


def warn_of_unknown_terms(pack: TopicPack) -> None:
    """Log a warning where the ontologies at hand know less than half of the topic's terms.

    Their words then meet themselves only, most links score nothing, and a crawl by the strategy
    of this name ends early.
    """
    ontology = current_ontology()
    terms = {fold(term.text) for term in pack.terms}
    unknown = sorted(term for term in terms if not ontology.senses(term))
    if len(unknown) * 2 > len(terms):
        logger.warning(
            "ontology: %d of %d terms of topic %r are in no installed ontology (such as %s): links "
            "and pages are judged by the others alone, and the crawl may end early; install "
            "wordnets (qiaocrawl ontology install) or take another strategy",
            len(unknown),
            len(terms),
            pack.name,
            ", ".join(unknown[:5]),
        )


# --- The nearest word of a page (T6): how RWB looks at the page a link stands on ------------------

_THRESHOLD = 1.0
_REMEMBERED = 50_000


@page_scorers.register("nearest_word")
class NearestWordScorer:
    """max sim(word, topic) over the words of title and text, as RW judges a link's metadata.

    Any page with one term of the topic, or a synonym, scores 1 and is on topic **(ours)**: made
    for the second look of the strategy ``rwb``, too generous for articles.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes 1.

    Raises:
        ConfigError: a threshold outside [0, 1].
    """

    name: ClassVar[str] = "nearest_word"

    def __init__(self, pack: TopicPack, threshold: float = 0.0) -> None:
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, _THRESHOLD)
        terms = PageWords(term.text for term in pack.terms)
        nearness = WordNearness(pack, build_profile(pack, terms))
        self._words = nearness.words
        self._of_word = lru_cache(_REMEMBERED)(nearness.of_word)

    def judge(self, page: PageText) -> Relevance:
        """The similarity of the nearest word, explained by all that are as near."""
        places = PagePlaces(page, self._words)
        near = {word: self._of_word(word) for word in places.both}
        score = max(near.values(), default=0.0)
        best = {word: alike for word, alike in near.items() if alike == score}
        return judgement(self._topic, self.name, score, self.threshold, best, places)
