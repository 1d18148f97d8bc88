"""How alike two titles are, by each method that ``benchmarks/dedup.py`` compares.

A method gives every pair a score in [0, 1]; a pair is called the same from a threshold on. The
published method (``vsm``) is kept as published: jieba, tf * ln(N / df), cosine.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.titles.data import Pair
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.cleaning import TitleCleaner, TitleWords
from qiaocrawl.dedup.methods import LEAST_COSINE, TitlePair, methods
from qiaocrawl.dedup.title_store import TitleStore
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.items import TitleRecord
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.vsm import IdfSnapshot

Scores = NDArray[np.float64]
Idf = Callable[[str], float]

_DEFAULT = 0.8
_STEPS = 1000
_SLACK = 1e-9
_AT_A_TIME = 1000
_HASH_BYTES = 8
_PERMUTATIONS = 128
_NO_LETTER = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Material:
    """The pairs to judge, and the collection of titles that gives words their weights."""

    pairs: Sequence[Pair]
    titles: Sequence[str]

    @cached_property
    def documents(self) -> list[list[str]]:
        """The collection's words as the title index cuts them."""
        return documents_of(self.titles)

    @cached_property
    def snapshot(self) -> IdfSnapshot:
        """The collection's counts beside general usage."""
        return IdfSnapshot.of(self.documents, version=1)

    @cached_property
    def jieba(self) -> Segmenter:
        """The reference segmenter."""
        return Segmenter()

    @cached_property
    def words(self) -> list[tuple[list[str], list[str]]]:
        """jieba's words of both titles of each pair."""
        terms = self.jieba.terms
        return [(terms(pair.one), terms(pair.other)) for pair in self.pairs]

    @cached_property
    def letters(self) -> list[tuple[str, str]]:
        """Both titles of each pair folded, letters and digits alone."""
        return [(_letters(pair.one), _letters(pair.other)) for pair in self.pairs]

    @cached_property
    def vsm(self) -> Scores:
        """Cosines of the published method."""
        idf = published_idf(map(self.jieba.terms, self.titles))
        return np.array([weighted_cosine(one, other, idf) for one, other in self.words])


def documents_of(titles: Sequence[str]) -> list[list[str]]:
    """The words of each title as the title index cuts them."""
    words = TitleWords(TermTable(IdfSnapshot()))
    return [
        document for start in range(0, len(titles), _AT_A_TIME)
        for document in words.texts(titles[start : start + _AT_A_TIME])
    ]  # fmt: skip


# --- ours -----------------------------------------------------------------------------------


def title_scores(pairs: Sequence[Pair], snapshot: IdfSnapshot) -> Scores:
    """The highest threshold at which ``reprint`` calls each pair the same; 0 for none.

    That is the pair model's score, and 0 where a rule forbids it. Where the cosine is so low
    that an index would not have looked at the pair at the default threshold, the score is less
    than that; below the default two titles are judged as if laid beside each other by hand.
    """
    title_pairs = list(_title_pairs(pairs, snapshot))
    scores = np.array([pair.score for pair in title_pairs])
    looked_at = _reach(np.array([pair.cosine for pair in title_pairs]))
    # Below the default it does not matter by how much.
    reaches: Scores = np.minimum(scores, np.maximum(looked_at, _DEFAULT - 1 / _STEPS))
    for at, pair in enumerate(title_pairs):
        reach = 1.0 if pair.same_words else float(reaches[at])
        if reach <= 0 or not methods.get("reprint")(reach).relation(pair).is_same_story:
            reach = 0.0
        reaches[at] = reach
    return reaches


def _title_pairs(pairs: Sequence[Pair], snapshot: IdfSnapshot) -> Iterator[TitlePair]:
    """What an index knows of the second title of each pair beside the first one."""
    store = TitleStore(snapshot, LEAST_COSINE, (), bodies=False)
    records = [
        TitleRecord(number.to_bytes(16, "big"), title)
        for number, title in enumerate(title for pair in pairs for title in (pair.one, pair.other))
    ]
    for start in range(0, len(records), _AT_A_TIME):
        part = records[start : start + _AT_A_TIME]
        numbers, _ = store.enter(part, [cleaned(record.title) for record in part], search=False)
        rows = store.members.rows[numbers]
        ones, others = rows[1::2], rows[::2]
        cosines = np.array([store.cosine(*two) for two in zip(ones, others, strict=True)])
        scores = store.score_pairs(ones, others, cosines)
        for record, own, earlier, score in zip(
            part[1::2], numbers[1::2].tolist(), numbers[::2].tolist(), scores, strict=True
        ):
            yield store.pair(record, own, earlier, score, None)


def cleaned(title: str) -> str:
    """*title* as the index compares it when nothing is known of its host."""
    return TitleCleaner().clean(title)


def _reach(cosines: Scores) -> Scores:
    """The highest threshold at which titles of such a cosine are looked at, by steps of .001."""
    thresholds = np.arange(1, _STEPS + 1) / _STEPS
    method = methods.get("reprint")
    least = np.array([method(threshold).least_cosine for threshold in thresholds.tolist()])
    # A cosine that is the bound itself may have lost a bit.
    places = np.searchsorted(least, cosines + _SLACK, side="right")
    reach: Scores = np.concatenate(([0.0], thresholds))[places]
    return reach


def verdicts(
    pairs: Iterable[Pair], snapshot: IdfSnapshot, method: str = "reprint"
) -> NDArray[np.bool_]:
    """Whether a real index that holds the one title calls the other the same story."""
    index = TitleIndex(method, snapshot=snapshot)
    same = []
    for pair in pairs:
        index.add([TitleRecord(b"one", pair.one)])
        same.append(index.judge(TitleRecord(b"other", pair.other)).is_same_story)
        index.remove(b"one")
        index.remove(b"other")
    return np.array(same, dtype=np.bool_)


# --- vector spaces ----------------------------------------------------------------------------


def published_idf(documents: Iterable[Iterable[str]]) -> Idf:
    """ln(N / df) over *documents* (Q6); a word of none counts as one of a single document."""
    frequencies: Counter[str] = Counter()
    total = 0
    for words in documents:
        frequencies.update(set(words))
        total += 1
    return lambda word: math.log(max(total, 1) / max(frequencies[word], 1))


def weighted_cosine(one: Sequence[str], other: Sequence[str], idf: Idf) -> float:
    """Cosine in [0, 1] of two lists' tf * idf; 0 when one has no weight."""
    first, second = Counter(one), Counter(other)
    weights = {word: idf(word) for word in first.keys() | second.keys()}
    product = sum(first[word] * second[word] * weights[word] ** 2 for word in first)
    lengths = math.prod(
        math.sqrt(sum((times * weights[word]) ** 2 for word, times in counted.items()))
        for counted in (first, second)
    )
    return min(1.0, product / lengths) if lengths else 0.0


def _of_snapshot(material: Material) -> Scores:
    idf = material.snapshot.idf
    return np.array([weighted_cosine(one, other, idf) for one, other in material.words])


def _bigram_vectors(material: Material) -> Scores:
    idf = published_idf(_bigrams(_letters(title)) for title in material.titles)
    return np.array(
        [weighted_cosine(_bigrams(one), _bigrams(other), idf) for one, other in material.letters]
    )


def _numbers_apart(material: Material) -> Scores:
    """The published method, and titles of differing numbers are different."""
    same = [_NUMBER.findall(fold(p.one)) == _NUMBER.findall(fold(p.other)) for p in material.pairs]
    scores: Scores = np.where(same, material.vsm, 0.0)
    return scores


def _letters(title: str) -> str:
    return _NO_LETTER.sub("", fold(title))


def _bigrams(text: str) -> list[str]:
    """Overlapping pairs of characters; the text itself when it is shorter."""
    return [text[i : i + 2] for i in range(len(text) - 1)] or [text]


# --- others -----------------------------------------------------------------------------------


def simhash(grams: Iterable[str]) -> int:
    """64 bits, each the majority over hashed *grams* (Charikar 2002; BLAKE2b is ours)."""
    digests = b"".join(
        blake2b(gram.encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest() for gram in grams
    )
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, _HASH_BYTES), axis=1)
    return int.from_bytes(np.packbits(2 * bits.sum(0) > len(bits)).tobytes(), "big")


def _simhash(material: Material) -> Scores:
    """Share of equal bits, over 2-grams of characters."""
    pairs = [(simhash(_bigrams(one)), simhash(_bigrams(other))) for one, other in material.letters]
    return np.array([1 - (one ^ other).bit_count() / 64 for one, other in pairs])


def _minhash(material: Material) -> Scores:
    """Estimated Jaccard index of the sets of 2-grams."""
    minhash = import_module("datasketch").MinHash

    def made(text: str) -> Any:
        (sketch,) = minhash.bulk([[gram.encode() for gram in _bigrams(text)]],
                                 num_perm=_PERMUTATIONS)  # fmt: skip
        return sketch

    return np.array([made(one).jaccard(made(other)) for one, other in material.letters])


def _ratio(material: Material) -> Scores:
    """Share of letters that need no edit."""
    ratio = import_module("rapidfuzz").fuzz.ratio
    return np.array([ratio(one, other) / 100 for one, other in material.letters])


def _token_set_ratio(material: Material) -> Scores:
    """The same over sorted sets of jieba's words."""
    ratio = import_module("rapidfuzz").fuzz.token_set_ratio
    return np.array([ratio(" ".join(a), " ".join(b)) / 100 for a, b in material.words])


SCORERS: Mapping[str, Callable[[Material], Scores]] = MappingProxyType(
    {
        "reprint": lambda material: title_scores(material.pairs, IdfSnapshot()),
        "reprint+snapshot": lambda material: title_scores(material.pairs, material.snapshot),
        "vsm": lambda material: material.vsm,
        "vsm+snapshot": _of_snapshot,
        "vsm, numbers differ": _numbers_apart,
        "2-grams TF-IDF": _bigram_vectors,
        "SimHash-64": _simhash,
        "MinHash-128": _minhash,
        "rapidfuzz ratio": _ratio,
        "rapidfuzz token_set_ratio": _token_set_ratio,
    }
)
"""By name; ``reprint`` is what a crawl begins with, ``+snapshot`` weighs words as the
collection does. One whose package is missing raises ImportError."""
