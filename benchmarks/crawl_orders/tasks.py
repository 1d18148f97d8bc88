"""Tasks for the crawl order: one topic of one collection with samples and start pages."""

from __future__ import annotations

import hashlib
import io
import json
import random
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.data import (
    Collection,
    Example,
    FocusError,
    cache_folder,
    code_digest,
    write_whole,
)
from qiaocrawl.items import PageText
from qiaocrawl.relevance import page_scorers
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Sample, Term, TopicPack

RELEVANT_SAMPLES, OTHER_SAMPLES = 10, 60
RELEVANT_EXAMPLES, OTHER_EXAMPLES, UNLABELLED_EXAMPLES = 150, 100, 300
NO_LABEL = "other"
"""The label of training pages that belong to no class."""
DRAWN_STARTS = 3
MIN_TARGETS = 8
"""Tasks with fewer relevant pages to find say nothing and are left out."""

_JUDGES = ("relevance", "topic", "ontology", "vsm", "text", "items", "registry.py")


@dataclass(frozen=True, slots=True)
class Judgements:
    """A page scorer's judgement of every page that can be reached; zero for the others.

    Attributes:
        scores: in [0, 1], by number of the page.
        relevant: its verdicts.
    """

    scores: NDArray[np.float64]
    relevant: NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """A topic of a collection with one draw of samples.

    Attributes:
        starts: numbers of the start pages.
        neutral: start pages and samples, which count neither as found nor as missed.
        reachable: pages that links lead to from the start pages, those included.
        targets: relevant pages to find.
    """

    collection: Collection
    topic: str
    seed: int
    starts: tuple[int, ...]
    neutral: frozenset[int]
    reachable: frozenset[int]
    targets: frozenset[int]
    pack: TopicPack

    @property
    def name(self) -> str:
        """Collection, topic and number of the draw."""
        return f"{self.collection.name}/{self.topic}/{self.seed}"

    @property
    def steps(self) -> int:
        """Fetches of a whole crawl after its start pages."""
        return len(self.reachable) - len(self.starts)

    @cached_property
    def numbers(self) -> dict[bytes, int]:
        """Numbers of pages by key."""
        return {page.key: number for number, page in enumerate(self.collection.pages)}


def make_task(
    collection: Collection, topic: str, seed: int, samples: int = RELEVANT_SAMPLES
) -> Task:
    """The task of that name: the same on every machine and in every run.

    Args:
        samples: relevant pages shown, at most; a quarter of all, and three at least.

    Raises:
        FocusError: the collection has no such topic.
    """
    if topic not in collection.queries:
        raise FocusError(f"{collection.name} has no topic {topic!r} "
                         f"(there are: {', '.join(collection.queries)})")  # fmt: skip
    draw = _generator(collection.name, topic, seed)
    relevant = [n for n, labels in enumerate(collection.labels) if topic in labels]
    others = [n for n, labels in enumerate(collection.labels) if topic not in labels]
    most = min(max(DRAWN_STARTS, samples), max(DRAWN_STARTS, len(relevant) // 4))
    shown = draw.sample(relevant, min(most, len(relevant)))
    starts = collection.seeds or tuple(shown[:DRAWN_STARTS])
    if collection.examples:
        shown = [] if collection.seeds else list(starts)
        counter: list[int] = []
    else:
        counter = draw.sample(others, min(OTHER_SAMPLES, len(others)))
    documents = [*_documents(collection, shown, relevant=True),
                 *_documents(collection, counter, relevant=False),
                 *_examples(collection.examples, topic, draw)]  # fmt: skip
    neutral = frozenset((*starts, *shown, *counter))
    reachable = reachable_from(collection, starts)
    targets = (reachable & frozenset(relevant)) - neutral
    pack = _pack(topic, collection.queries[topic], documents)
    return Task(collection, topic, seed, starts, neutral, reachable, targets, pack)


def reachable_from(collection: Collection, starts: Iterable[int]) -> frozenset[int]:
    """All pages that links lead to from *starts*, those included."""
    seen = set(starts)
    waiting = deque(seen)
    while waiting:
        for number, _ in collection.pages[waiting.popleft()].links:
            if number not in seen:
                seen.add(number)
                waiting.append(number)
    return frozenset(seen)


def judgements(task: Task, scorer: str) -> Judgements:
    """What the page scorer called *scorer* says of every reachable page; kept in the cache.

    Raises:
        ConfigError: no scorer is called that.
    """
    factory = page_scorers.get(scorer)
    target = cache_folder() / f"judged-{_judged_digest(task, scorer)}.npy"
    size = len(task.collection.pages)
    if target.is_file():
        both = np.load(target)
    else:
        judge = factory(task.pack).judge
        both = np.zeros((2, size))
        for number in sorted(task.reachable):
            judgement = judge(task.collection.pages[number].words)
            both[:, number] = judgement.score, judgement.relevant
        content = io.BytesIO()
        np.save(content, both)
        write_whole(target, content.getvalue())
    return Judgements(both[0], both[1] > 0)


def _judged_digest(task: Task, scorer: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps([task.collection.digest, scorer, code_digest(*_JUDGES)]).encode())
    digest.update(repr((task.pack, sorted(task.reachable))).encode())
    return digest.hexdigest()


def _generator(*names: object) -> random.Random:
    written = "|".join(map(str, names)).encode()
    return random.Random(int.from_bytes(hashlib.blake2b(written, digest_size=8).digest()))


def _documents(
    collection: Collection, numbers: Iterable[int], *, relevant: bool
) -> Iterable[tuple[PageText, bool]]:
    return [(collection.pages[number].words, relevant) for number in numbers]


def _examples(
    examples: Sequence[Example], topic: str, draw: random.Random
) -> Iterable[tuple[PageText, bool]]:
    """Of the training pages 150 of the topic, 100 of each other label, 300 of none."""
    for label in sorted({label for one in examples for label in one.labels}):
        own = [one.words for one in examples if label in one.labels
               and (label == topic or topic not in one.labels)]  # fmt: skip
        most = UNLABELLED_EXAMPLES if label == NO_LABEL else OTHER_EXAMPLES
        if label == topic:
            most = RELEVANT_EXAMPLES
        for words in draw.sample(own, min(most, len(own))):
            yield words, label == topic


def _pack(topic: str, query: str, documents: Sequence[tuple[PageText, bool]]) -> TopicPack:
    terms = tuple(Term(word, "core") for word in dict.fromkeys(query.split()))
    samples = tuple(
        Sample(f"s{number}", words.title, words.text, relevant)
        for number, (words, relevant) in enumerate(documents)
    )
    return TopicPack(topic, topic, "", DEFAULT_THRESHOLD, terms, (), samples)
