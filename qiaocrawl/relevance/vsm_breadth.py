"""Vector space model with breadth (ours): the page's words against the topic's weighted terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from operator import mul

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import chosen_threshold, judgement, page_scorers
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, build_profile

# Topic weight at which the page has reached 63 % of full breadth.
_BREADTH = 3.0
# Share of its heaviest term that does not count for breadth.
_FIRST_TERM_DISCOUNT = 0.85
# Shorter pages are measured as if they had this many other words.
_MIN_WORDS = 25


@page_scorers.register("vsm_breadth")
class VsmBreadthScorer:
    """Cosine of page and topic, times the breadth of what the page says of the topic.

    Page: x_i = frequency / highest frequency, times the term's weight (E5); a word outside
    the topic weighs 1. Topic: weight x idf, restricted to the words the page has, since no
    page speaks of four hundred terms (ours). Breadth (ours): 1 - exp(-W / 3), where W adds up
    the distinct topic words the page has, the heaviest by 0.15 of its weight only.

    So one term of weight 2 scores at most 1 - exp(-0.1) = 0.095 however often it comes, one
    of weight 3 at most 0.14: with the packs' threshold of 0.1 an ordinary term alone does not
    suffice, and a heavy one must fill a short page. ``terms`` of a judgement are the shares
    of the topic words in the page's topical part.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes the pack's own.

    Raises:
        ConfigError: a threshold outside [0, 1].
    """

    def __init__(self, pack: TopicPack, threshold: float = 0.0) -> None:
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, pack.threshold)
        self._is_given = threshold != 0
        self._words = PageWords(term.text for term in pack.terms)
        self._profile = build_profile(pack, self._words)

    def judge(self, page: PageText) -> Relevance:
        """The score of a page, explained by the terms that contributed most."""
        places = PagePlaces(page, self._words)
        parts = topical_parts(places.both, self._profile.weights)
        score = similarity(places.both, parts, self._profile.weights)
        return judgement(self._topic, "vsm_breadth", score, self.threshold, parts, places)

    def pack_threshold(self, score: float) -> float | None:
        """*score* itself; None where the operator gave a threshold, which overrules the pack."""
        return None if self._is_given else score


def topical_parts(counts: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Frequency times weight of each word of a page, *counts* so often, that is the topic's."""
    return {word: times * weights[word] for word, times in counts.items() if word in weights}


def breadth(weights: Mapping[str, float], words: Mapping[str, object]) -> float:
    """W of the scorer: the weight of the distinct *words* but most of the heaviest."""
    topic = [weights[word] for word in words]
    return math.fsum(topic) - _FIRST_TERM_DISCOUNT * max(topic, default=0.0)


def similarity(
    words: Counter[str], parts: Mapping[str, float], weights: Mapping[str, float]
) -> float:
    """Cosine times breadth, in [0, 1]; dividing by the highest frequency cancels out."""
    if not parts:
        return 0.0
    topic = [weights[word] for word in parts]
    square = math.fsum(part * part for part in parts.values())
    counts = words.values()
    other = sum(map(mul, counts, counts)) - sum(words[word] ** 2 for word in parts)
    page_length = math.sqrt(square + max(other, _MIN_WORDS))
    topic_length = math.sqrt(sum(weight * weight for weight in topic))
    product = math.fsum(map(mul, parts.values(), topic))
    cosine = min(1.0, product / (page_length * topic_length))
    return cosine * (1.0 - math.exp(-breadth(weights, parts) / _BREADTH))
