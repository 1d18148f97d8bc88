"""Keyphrases of texts whose authors named theirs: ours beside published methods."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jieba.analyse
import numpy as np
from numpy.typing import NDArray

from qiaocrawl.lexicon.phrases import (
    Frequencies,
    Tagged,
    candidate_phrases,
    keyphrases,
    phrase_features,
    tagged_words,
)
from qiaocrawl.relevance.blend import fit_logistic
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

FILE = Path("analysis") / "keywords" / "csl.jsonl.gz"
SET = "csl"
_MOST = 10
# How sure the fit is of weights near 0; of thousands of rows it hardly matters.
_STRENGTH = 1.0


@dataclass(frozen=True, slots=True)
class Abstract:
    """A text with its authors' keywords, folded."""

    id: str
    title: tuple[Tagged, ...]
    body: tuple[Tagged, ...]
    text: str
    keywords: frozenset[str]

    @property
    def is_for_choosing(self) -> bool:
        """Whether weights are fitted on it; figures are reported on the other half."""
        return hashlib.sha1(self.id.encode()).digest()[0] % 2 == 0


def read_abstracts(data: Path) -> list[Abstract]:
    """The abstracts of the set; the title stands behind the last space of each."""
    segmenter, abstracts = Segmenter(), []
    with gzip.open(data / FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            body, _, title = row["text"].rpartition(" ")
            abstracts.append(
                Abstract(
                    row["id"],
                    tuple(tagged_words(segmenter, title)),
                    tuple(tagged_words(segmenter, body)),
                    row["text"],
                    frozenset(map(fold, row["keywords"])),
                )
            )
    return abstracts


def frequencies_of(abstracts: Sequence[Abstract]) -> Frequencies:
    """In how many *abstracts* each candidate stands."""
    counts: Counter[str] = Counter()
    for abstract in abstracts:
        counts.update(set(candidate_phrases([*abstract.body, ("\n", "x"), *abstract.title])))
    return Frequencies(len(abstracts), counts)


def scores(abstracts: Sequence[Abstract]) -> dict[str, dict[str, float]]:
    """F at 5 and at 10 of each method, on the half that nothing was chosen on."""
    frequencies = frequencies_of(abstracts)
    reported = [abstract for abstract in abstracts if not abstract.is_for_choosing]
    return {
        method: {
            f"f_at_{count}": _f(
                reported, [ranked(abstract)[:count] for abstract in reported], count
            )
            for count in (5, 10)
        }
        for method, ranked in _methods(frequencies).items()
    }


def fitted(abstracts: Sequence[Abstract]) -> NDArray[np.float64]:
    """The weights of :mod:`qiaocrawl.lexicon.phrases`, fitted on the half for choosing."""
    frequencies = frequencies_of(abstracts)
    features, targets = [], []
    for abstract in abstracts:
        if abstract.is_for_choosing:
            phrases, rows = phrase_features(abstract.title, abstract.body, frequencies)
            features.append(rows)
            targets += [phrase in abstract.keywords for phrase in phrases]
    rows = np.vstack(features)
    rows = np.column_stack([rows, np.ones(len(rows))])
    zeros = np.zeros(rows.shape[1])
    weights = fit_logistic(
        rows, np.array(targets, float), np.ones(len(rows)), zeros, zeros + _STRENGTH
    )
    return weights[:-1]


def _methods(frequencies: Frequencies) -> dict[str, Callable[[Abstract], list[str]]]:
    return {
        "ours": lambda one: keyphrases(one.title, one.body, frequencies, _MOST),
        "phrases by part of speech, TF-IDF": lambda one: _tfidf_phrases(one, frequencies),
        "jieba TF-IDF": lambda one: jieba.analyse.extract_tags(fold(one.text), _MOST),
        "jieba TextRank": lambda one: jieba.analyse.textrank(fold(one.text), _MOST),
    }


def _tfidf_phrases(abstract: Abstract, frequencies: Frequencies) -> list[str]:
    phrases = candidate_phrases([*abstract.body, ("\n", "x"), *abstract.title])
    return sorted(
        phrases,
        key=lambda phrase: (
            -len(phrases[phrase]) * frequencies.rarity(phrase) * math.log2(1 + len(phrase))
        ),
    )[:_MOST]


def _f(abstracts: Sequence[Abstract], found: Sequence[Sequence[str]], count: int) -> float:
    """The harmonic mean of mean precision at *count* and mean recall."""
    hits = [len(one.keywords & set(own)) for one, own in zip(abstracts, found, strict=True)]
    precision = sum(hits) / count / len(hits)
    recall = sum(hit / len(one.keywords) for hit, one in zip(hits, abstracts, strict=True)) / len(
        hits
    )
    return 2 * precision * recall / (precision + recall) if hits else 0.0
