"""Packs made by ``topic new`` from samples of a category, beside other ways to make one of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.data import Collection, find_collections, load_collection
from benchmarks.judgements.score import figures
from qiaocrawl.items import PageText
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.relevance import page_scorers
from qiaocrawl.relevance.topic_draft import DraftSources, draft_topic, with_counter_examples
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Sample, Term, TopicPack
from qiaocrawl.topic.tree import ROOT, topic_tree

SAMPLES = 30
COLLECTIONS = ("linuxcn_2020s", "zhsites_a")
METRICS = ("f1", "precision", "recall")
_SHORTEST_LETTERS = 200
_STORED = 100
_MOST_PAGES = 500
_HAND_WEIGHT = 2.0


@dataclass(frozen=True)
class NewTopic:
    """A category of a collection with the samples that are shown and the pages to judge.

    Args:
        shown: 30 pages on the topic.
        others: 30 pages of the collection that are not.
        stored: 100 pages of the collection whose labels nobody told.
        words: the query that somebody wrote for the topic.
    """

    collection: str
    topic: str
    shown: tuple[PageText, ...]
    others: tuple[PageText, ...]
    stored: tuple[PageText, ...]
    words: tuple[str, ...]
    pages: tuple[PageText, ...]
    truth: NDArray[np.bool_]

    @cached_property
    def alone(self) -> TopicPack:
        """As ``topic new --samples`` makes it in an empty database."""
        return _drafted(self, (), ())

    @cached_property
    def with_stored(self) -> TopicPack:
        """As it makes it where pages of the site are stored."""
        return _drafted(self, (), self.stored)

    @cached_property
    def with_counter(self) -> TopicPack:
        """As it makes it with ``--counter``."""
        return _drafted(self, self.others, ())


def new_topics(data: Path) -> Iterator[NewTopic]:
    """The categories of the tagged collections that have samples and as many pages to find."""
    for folder in find_collections(data / "focus"):
        if folder.name in COLLECTIONS:
            collection = load_collection(folder)
            tasks = (_new_topic(collection, topic) for topic in collection.queries)
            yield from (task for task in tasks if task is not None)


def methods() -> dict[str, Callable[[NewTopic], NDArray[np.bool_]]]:
    """What makes verdicts of samples; the machine of scikit-learn where that is installed."""
    judges: dict[str, Callable[[NewTopic], NDArray[np.bool_]]] = {
        "words by hand": lambda task: _verdicts("blend", _by_hand(task, ()), task),
        "topic new, samples alone": lambda task: _verdicts("blend", task.alone, task),
        "topic new, stored pages": lambda task: _verdicts("blend", task.with_stored, task),
        "topic new, counter-examples": lambda task: _verdicts("blend", task.with_counter, task),
        "words by hand, counter-examples": (
            lambda task: _verdicts("blend", _by_hand(task, task.with_counter.samples), task)
        ),
        "svm (ours), counter-examples": (
            lambda task: _verdicts("svm", _by_hand(task, task.with_counter.samples), task)
        ),
    }
    if find_spec("sklearn") is not None:
        judges["LinearSVC, samples alone"] = lambda task: _linear_svc(task, task.alone)
        judges["LinearSVC, counter-examples"] = lambda task: _linear_svc(task, task.with_counter)
    return judges


def scores(task: NewTopic, verdicts: NDArray[np.bool_]) -> dict[str, float]:
    """F1, precision and recall."""
    result = figures(verdicts.astype(np.float64), verdicts, task.truth)
    return {metric: float(getattr(result, metric)) for metric in METRICS}


def _new_topic(collection: Collection, topic: str) -> NewTopic | None:
    draw = random.Random(f"{collection.name}/{topic}")
    numbers = [n for n, page in enumerate(collection.pages)
               if len(page.words.text) >= _SHORTEST_LETTERS]  # fmt: skip
    draw.shuffle(numbers)
    own = [n for n in numbers if topic in collection.labels[n]]
    others = [n for n in numbers if topic not in collection.labels[n]]
    if len(own) < 2 * SAMPLES:
        return None
    shown, counter = own[:SAMPLES], others[:SAMPLES]
    left = [n for n in numbers if n not in {*shown, *counter}]
    # Anew: those shown were the first of their kind.
    draw.shuffle(left)
    stored, judged = left[:_STORED], left[_STORED : _STORED + _MOST_PAGES]
    pages = [page.words for page in collection.pages]
    return NewTopic(
        collection.name,
        topic,
        tuple(pages[n] for n in shown),
        tuple(pages[n] for n in counter),
        tuple(pages[n] for n in stored),
        tuple(collection.queries[topic].split()),
        tuple(pages[n] for n in judged),
        np.array([topic in collection.labels[n] for n in judged]),
    )


def _drafted(
    task: NewTopic, counter: tuple[PageText, ...], stored: tuple[PageText, ...]
) -> TopicPack:
    tree = topic_tree()
    far = [Document(one.title, one.text) for one in tree.samples(tree.nodes[ROOT])]
    sources = DraftSources("t", "t", _documents(task.shown), _documents(counter))
    return draft_topic(with_counter_examples(sources, _documents(stored), far)).pack


def _documents(pages: tuple[PageText, ...]) -> list[Document]:
    return [Document(page.title, page.text) for page in pages]


def _by_hand(task: NewTopic, samples: tuple[Sample, ...]) -> TopicPack:
    terms = tuple(Term(word, "core", _HAND_WEIGHT) for word in task.words)
    return TopicPack("t", "t", "", DEFAULT_THRESHOLD, terms, (), samples)


def _verdicts(method: str, pack: TopicPack, task: NewTopic) -> NDArray[np.bool_]:
    scorer = page_scorers.get(method)(pack)
    return np.array([scorer.judge(page).relevant for page in task.pages])


def _linear_svc(task: NewTopic, pack: TopicPack) -> NDArray[np.bool_]:
    from benchmarks.judgements.peers import judge

    return judge("LinearSVC", _by_hand(task, pack.samples), task.pages) >= 0.5
