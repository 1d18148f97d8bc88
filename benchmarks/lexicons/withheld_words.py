"""Words taken out of the dictionary, to be found again in texts: ours beside published scores."""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jieba

from benchmarks.crawl_orders.data import find_collections, load_collection
from qiaocrawl.lexicon.new_words import LEAST, MAX_LETTERS, Bonds, LetterBonds, new_words
from qiaocrawl.text.normalise import fold

DEPTHS = (100, 200, 500)
_CHINESE = re.compile("[\u4e00-\u9fff]{2,4}")
_MOST_TEXTS = 3_000
_LEAST_BYTES = 2_000_000

Score = Callable[[int, Bonds], float]

PEERS: dict[str, Score] = {
    "HMM, frequency": lambda count, bonds: count,
    "PMI": lambda count, bonds: bonds.cohesion,
    "PMI + entropy": lambda count, bonds: bonds.cohesion + bonds.freedom,
}
"""Scores of a word that the HMM cut *count* times."""


@dataclass(frozen=True, slots=True)
class Task:
    """Texts, and what was withheld from the dictionary that cut them."""

    collection: str
    texts: Sequence[str]
    withheld: frozenset[str]
    counts: Counter[str]
    dictionary: frozenset[str]


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast the bonds of a text are counted, by processor time of one core."""

    megabytes: float
    seconds: float


def tasks(data: Path) -> list[Task]:
    """A task for each collection with enough Chinese text."""
    jieba.initialize()
    known = {word for word, count in jieba.dt.FREQ.items() if count}
    withheld = frozenset(
        word for word in known if _CHINESE.fullmatch(word) and _digest(word) % 5 == 0
    )
    made = []
    for folder in find_collections(data / "focus"):
        pages = load_collection(folder).pages[:_MOST_TEXTS]
        texts = [fold(f"{page.words.title}\n{page.words.text}") for page in pages]
        chinese = sum(len(match) for text in texts for match in _CHINESE.findall(text))
        if chinese * 3 >= _LEAST_BYTES:
            counts = _cut(texts, withheld)
            made.append(Task(folder.name, texts, withheld, counts, frozenset(known - withheld)))
    return made


def rankings(task: Task) -> tuple[dict[str, list[str]], Speed]:
    """The words of each method, the best first, and how fast ours counted."""
    start = time.process_time()
    bonds = LetterBonds(task.texts)
    speed = Speed(sum(len(text.encode()) for text in task.texts) / 1e6, time.process_time() - start)
    ours = [new.text for new in new_words(task.counts, bonds, task.dictionary.__contains__)]
    candidates = [
        (word, count, own)
        for word, count in task.counts.items()
        if count >= LEAST and word not in task.dictionary and (own := bonds.of(word)) is not None
    ]
    others = {
        name: [word for word, *_ in sorted(candidates, key=lambda one: -score(one[1], one[2]))]
        for name, score in PEERS.items()
    }
    return {"ours": ours, **others}, speed


def precision(task: Task, words: Sequence[str], depth: int) -> float:
    """Share of withheld words among the first *depth*: a floor, since others may be words too."""
    return len(task.withheld.intersection(words[:depth])) / depth


def _cut(texts: Sequence[str], withheld: frozenset[str]) -> Counter[str]:
    """The words that jieba makes of *texts* when it does not know *withheld*."""
    cutter = jieba.Tokenizer()
    cutter.FREQ = {word: 0 if word in withheld else count for word, count in jieba.dt.FREQ.items()}
    cutter.total = sum(cutter.FREQ.values())
    cutter.initialized = True
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word in cutter.cut(text) if _CHINESE.fullmatch(word))
    return Counter({word: n for word, n in counts.items() if len(word) <= MAX_LETTERS})


def _digest(word: str) -> int:
    return hashlib.sha1(word.encode()).digest()[0]
