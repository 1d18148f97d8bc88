"""The nearest word of a page (T6): how RWB looks at the page a link stands on."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import chosen_threshold, judgement, page_scorers
from qiaocrawl.relevance.word_nearness import WordNearness
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, build_profile

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
