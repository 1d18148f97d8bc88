"""A headline and a summary of one article, made of its own words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qiaocrawl.analysis.summaries.candidates import Candidate, candidates_of, feature_rows
from qiaocrawl.analysis.summaries.ranker import LONGEST, SHORTEST, Ranker, default_ranker
from qiaocrawl.analysis.summaries.sentences import Piece, clauses_of, sentences_of
from qiaocrawl.analysis.summaries.words import TextWords

_SAME_FROM = 0.6
"""A sentence that shares more of its words than this with what is said already says nothing new."""
SHORTEST_SENTENCE = 10
"""Letters below which a sentence stands in a summary only if there is no other: 大家好."""


def headline_of(text: str, ranker: Ranker | None = None) -> Piece | None:
    """The run of clauses that says most of *text* as a headline would; None of no text."""
    sentences = sentences_of(text)
    candidates = candidates_of(sentences, SHORTEST, LONGEST)
    if not candidates:
        return sentences[0] if sentences else None
    rows = feature_rows(candidates, TextWords(one.text for one in sentences))
    return candidates[int((ranker or default_ranker()).scores(rows).argmax())].piece


def summarise(
    title: str, text: str, *, max_characters: int = 160, ranker: Ranker | None = None
) -> tuple[Piece, ...]:
    """Sentences of *text* that say what it tells, in its order.

    They are chosen by where they stand, how much of the text's words they carry, and the title; one
    that repeats another is left out, and so is the first if it says little.

    Args:
        max_characters: of all sentences together; one may pass it.
    """
    sentences = sentences_of(text)
    if not sentences:
        return ()
    words = TextWords(one.text for one in sentences)
    scores = sentence_scores(sentences, words, title, ranker)
    chosen: list[int] = []
    length = 0
    for at in np.argsort(-scores, kind="stable").tolist():
        size = len(sentences[at].text)
        if chosen and (size < SHORTEST_SENTENCE or length + size > max_characters):
            continue
        if not repeats(words.by_sentence[at], [words.by_sentence[other] for other in chosen]):
            chosen.append(at)
            length += size
    return tuple(sentences[at] for at in sorted(chosen))


def sentence_scores(
    sentences: Sequence[Piece], words: TextWords, title: str, ranker: Ranker | None = None
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How well each of *sentences* stands for the text."""
    whole = []
    for number, sentence in enumerate(sentences):
        count = max(1, len(clauses_of(sentence)))
        whole.append(Candidate(sentence, number, 0, count, count))
    return (ranker or default_ranker()).scores(feature_rows(whole, words, title))


def repeats(own: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether most of the words *own* stand in one of *others*; a sentence without words does."""
    mine = set(own)
    return not mine or any(len(mine & set(other)) > _SAME_FROM * len(mine) for other in others)
