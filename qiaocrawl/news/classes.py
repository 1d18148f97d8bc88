"""Classes of articles: multinomial logistic regression that begins at what the terms say.

Without examples a class is known by its terms alone; each example that people mark moves the
weights of its terms and words away from there (a Gaussian prior around them).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.news.names.entity import NameList
from qiaocrawl.news.summary_sentences import rarity, words_of
from qiaocrawl.storage.topics import classes
from qiaocrawl.storage.topics.classes import ArticleClass, MarkedArticle, class_names
from qiaocrawl.text.normalise import to_simplified

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from qiaocrawl.runtime.runtime import Runtime
    from qiaocrawl.topic.pack import Term, TopicPack

SURE_FROM = 0.6
"""Probability from which a class is given; below it none is sure."""
MOST_EXAMPLES = 500

_TERM, _WORD = "t", "w"
_READ = 2_000
_TITLE_TIMES = 3.0
# Of a class's terms, and of words that stand in them, before people said anything; chosen on the
# headlines of the qiaoqing pack.
_PRIOR = 4.0
_WORD_PRIOR = 9.0
_SOFTENED = 1.0
_SHRINKING, _STEPS = 0.05, 200
_MOST_WORDS = 5_000
_SHOWN = 5

Features = dict[tuple[str, str], float]


class ClassModel(NamedTuple):
    """What was learnt.

    Args:
        names: of the classes.
        terms: of the topic, that are looked for as wholes.
        weights: of terms and words, a number a class, and the last one for none of them.
        digest: another one for what was learnt from other things.
    """

    names: tuple[str, ...]
    terms: NameList
    weights: Mapping[tuple[str, str], NDArray[np.float64]]
    digest: str

    def judge(self, title: str, text: str, sure_from: float = SURE_FROM) -> ArticleClass:
        """The class of an article, in either script."""
        if not self.names:
            return ArticleClass("", 0.0, ())
        features = _features(title, text, self.terms)
        known = {own: share for own, share in features.items() if own in self.weights}
        scores = np.zeros(len(self.names) + 1)
        for own, share in known.items():
            scores += share * self.weights[own]
        chances = _softmax(scores[None, :])[0]
        best = int(chances[:-1].argmax())
        spoke = {own: share * float(self.weights[own][best]) for own, share in known.items()}
        words = [
            own[1] for own in sorted(spoke, key=lambda own: (-spoke[own], own)) if spoke[own] > 0
        ]
        sure = chances[best] >= sure_from and bool(words)
        return ArticleClass(
            self.names[best] if sure else "",
            float(chances[best]),
            tuple(dict.fromkeys(words))[:_SHOWN],
        )


def learn_classes(terms: Sequence[Term], examples: Sequence[MarkedArticle] = ()) -> ClassModel:
    """The model of a topic's *terms* and of *examples*, of which the first 500 count."""
    examples = list(examples)[:MOST_EXAMPLES]
    names = class_names((term.kind for term in terms), (example.name for example in examples))
    whole = NameList([to_simplified(term.text) for term in terms])
    prior = _prior(terms, names)
    digest = _digest(terms, examples)
    if not examples or not names:
        return ClassModel(names, whole, prior, digest)
    rows = [_features(example.title, example.text, whole) for example in examples]
    columns = _columns(rows)
    table = np.zeros((len(rows), len(columns)))
    for at, row in enumerate(rows):
        for own, share in row.items():
            if own in columns:
                table[at, columns[own]] = share
    start = np.zeros((len(columns), len(names) + 1))
    for own, column in columns.items():
        if own in prior:
            start[column] = prior[own]
    wanted = np.array([names.index(example.name) for example in examples])
    learnt = _fit(table, wanted, start)
    weights = dict(prior) | {own: learnt[column] for own, column in columns.items()}
    return ClassModel(names, whole, weights, digest)


def _prior(
    terms: Iterable[Term], names: Sequence[str]
) -> dict[tuple[str, str], NDArray[np.float64]]:
    """What terms say by their kind, and words by the terms that hold them."""
    weights = {}
    held: dict[str, Counter[str]] = defaultdict(Counter)
    for term in terms:
        text = to_simplified(term.text)
        for word in words_of(text):
            held[word][term.kind] += 1
        if term.kind in names:
            row = np.zeros(len(names) + 1)
            row[names.index(term.kind)] = _PRIOR
            weights[_TERM, text] = row
    for word, kinds in held.items():
        if own := [kind for kind in kinds if kind in names]:
            row = np.zeros(len(names) + 1)
            for kind in own:
                row[names.index(kind)] = _WORD_PRIOR * kinds[kind] / (kinds.total() + 1)
            weights[_WORD, word] = row
    return weights


def _features(title: str, text: str, terms: NameList) -> Features:
    """Terms and words of an article with their shares: of each kind a vector shorter than 1."""
    counts: dict[str, dict[str, float]] = {_TERM: defaultdict(float), _WORD: defaultdict(float)}
    for part, times in ((to_simplified(title), _TITLE_TIMES), (to_simplified(text[:_READ]), 1.0)):
        for start, end in terms.matches(part):
            counts[_TERM][part[start:end]] += times
        for word in words_of(part):
            counts[_WORD][word] += times
    features: Features = {}
    for kind, own in counts.items():
        heavy = {
            word: (1 + math.log(count)) * (rarity(word) if kind == _WORD else 1.0)
            for word, count in own.items()
        }
        size = math.sqrt(sum(weight * weight for weight in heavy.values())) + _SOFTENED
        features |= {(kind, word): weight / size for word, weight in heavy.items()}
    return features


def _columns(rows: Sequence[Features]) -> dict[tuple[str, str], int]:
    """A column for each term and for the words that most examples have."""
    counts = Counter(own for row in rows for own in row)
    ranked = sorted(counts, key=lambda own: (own[0] == _WORD, -counts[own], own))
    return {own: column for column, own in enumerate(ranked[:_MOST_WORDS])}


def _fit(
    table: NDArray[np.float64], wanted: NDArray[np.int64], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of least loss near *start*, by a fixed number of steps, so always the same ones."""
    weights = start.copy()
    target = np.eye(start.shape[1])[wanted]
    # No step is longer than the loss is smooth.
    rate = 1 / (_SHRINKING + 0.5 * _largest_square(table))
    momentum = np.zeros_like(weights)
    for step in range(_STEPS):
        ahead = weights + (step / (step + 3)) * momentum
        slope = table.T @ (_softmax(table @ ahead) - target) + _SHRINKING * (ahead - start)
        moved = ahead - rate * slope
        momentum, weights = moved - weights, moved
    return weights


def _largest_square(table: NDArray[np.float64]) -> float:
    """About the largest eigenvalue of the products of *table*'s columns, by power iteration."""
    direction = np.ones(table.shape[1])
    size = 0.0
    for _round in range(20):
        moved = table.T @ (table @ direction)
        size = float(np.linalg.norm(moved) / np.linalg.norm(direction))
        direction = moved / np.linalg.norm(moved) if size else direction
    return 1.1 * size


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _digest(terms: Iterable[Term], examples: Iterable[MarkedArticle]) -> str:
    parts = [f"{term.text}\t{term.kind}" for term in terms]
    parts += ["\f".join(example) for example in examples]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


# --- What articles of a topic are about, judged once, and again when people said more -------------

_AT_A_TIME = 200
_EACH_COUNTS, _STEP = 10, 10


def topic_model(c: Connection, pack: TopicPack) -> ClassModel:
    """What is learnt of a topic's classes.

    The first ten examples count at once, later ones in tens, so that all articles are not judged
    anew after each.
    """
    marked = classes.marked_articles(c, pack.name)
    count = len(marked) if len(marked) < _EACH_COUNTS else len(marked) - len(marked) % _STEP
    return learn_classes(pack.terms, marked[:count])


def topic_models(runtime: Runtime) -> dict[str, ClassModel]:
    """The models of all topics that have classes."""
    models = {
        name: runtime.reader.run(partial(topic_model, pack=pack))
        for name, pack in runtime.catalogue.packs.items()
    }
    return {name: model for name, model in models.items() if model.names}


def count_waiting(c: Connection, models: dict[str, ClassModel]) -> int:
    """How many articles are to be judged."""
    return sum(classes.count_stale(c, name, model.digest) for name, model in models.items())


def judge_classes(
    runtime: Runtime, models: dict[str, ClassModel], advance: Callable[[int], bool]
) -> int:
    """Judge all articles on topic that no person and not this model judged; returns how many.

    A kill costs two hundred articles at most. Two workers that judge the same article write the
    same.

    Args:
        advance: called with the number of articles just judged; False asks to stop.
    """
    done = 0
    for name, model in models.items():
        after = -1
        while True:
            waiting = runtime.reader.run(
                partial(
                    classes.stale, topic_name=name, model=model.digest, after=after, most=_AT_A_TIME
                )
            )
            if not waiting:
                break
            judged = [(url_id, model.judge(title, body)) for url_id, title, body in waiting]
            runtime.write_now(
                partial(classes.keep_classes, topic_name=name, model=model.digest, judged=judged)
            )
            after, done = waiting[-1][0], done + len(waiting)
            if not advance(len(waiting)):
                return done
    return done
