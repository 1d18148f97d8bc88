"""What an operator's judgements do to a list: the judge learns from them step by step.

The operator reads the list as it is shown: the pages on topic and, a quarter as many, the nearest
below the border, newest first (here: in a drawn order). What is wrong in it is judged; where
nothing is wrong, the next page is confirmed. After each of STEPS the list is made anew by what was
judged so far, and the operator goes on with the new list. Half of the pages, drawn, are never read
by the operator: they tell what the judge has learnt.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.judgements.score import figures
from qiaocrawl.items import PageText
from qiaocrawl.relevance import page_scorers
from qiaocrawl.relevance.scorer import PageScorer
from qiaocrawl.topic.pack import Sample, TopicPack

STEPS = (0, 1, 2, 5, 10, 20, 50)
"""Judgements after which F1 is measured."""
BELOW_BORDER = 4
"""One in so many of the pages on topic, so many stand below the border in the list."""
LEAST_BELOW = 10

Scores = NDArray[np.float64]
Verdicts = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Step:
    """The list after some judgements.

    Attributes:
        f1: of the pages that are read; those that were judged are as the operator said.
        f1_held_out: of the pages that nobody reads, by the judge alone.
        turned: of those, how many have another verdict than at the start.
    """

    judged: int
    f1: float
    f1_held_out: float
    turned: int


def corrections(
    pack: TopicPack,
    pages: Sequence[PageText],
    truth: Verdicts,
    *,
    seed: int = 0,
    method: str = "blend",
    build: Callable[[TopicPack], PageScorer] | None = None,
) -> Iterator[Step]:
    """F1 after each of STEPS judgements of *pages*.

    Args:
        build: makes the judge of a pack; that of *method* when None.
    """
    build = build or page_scorers.get(method)
    order = random.Random(seed).sample(range(len(pages)), len(pages))
    read, held_out = order[: (len(order) + 1) // 2], order[(len(order) + 1) // 2 :]
    judged: dict[int, bool] = {}
    scores, verdicts = _judged_by(build(pack), pages)
    first = verdicts
    for step in STEPS:
        while len(judged) < min(step, len(read)):
            wanted = min(step, len(read)) - len(judged)
            new = _chosen(read, scores, verdicts, truth, judged)[:wanted]
            judged.update((page, bool(truth[page])) for page in new)
        if judged:
            scorer = build(replace(pack, samples=(*pack.samples, *_samples(pages, judged))))
            scores, verdicts = _judged_by(scorer, pages)
        decided = verdicts.copy()
        decided[list(judged)] = list(judged.values())
        yield Step(
            judged=step,
            f1=_f1(decided, truth, read),
            f1_held_out=_f1(verdicts, truth, held_out),
            turned=int((verdicts != first)[held_out].sum()),
        )


def _samples(pages: Sequence[PageText], judged: dict[int, bool]) -> Iterator[Sample]:
    for page, relevant in judged.items():
        yield Sample(f"judged-{page}", pages[page].title, pages[page].text, relevant)


def _judged_by(scorer: PageScorer, pages: Sequence[PageText]) -> tuple[Scores, Verdicts]:
    judgements = [scorer.judge(page) for page in pages]
    scores = np.array([judgement.score for judgement in judgements])
    return scores, np.array([judgement.relevant for judgement in judgements])


def _chosen(
    read: Sequence[int], scores: Scores, verdicts: Verdicts, truth: Verdicts,
    judged: dict[int, bool],
) -> list[int]:  # fmt: skip
    """Pages the operator judges next: mistakes in the list first, then what is right in it."""
    below = sorted((page for page in read if not verdicts[page]), key=lambda page: -scores[page])
    near = set(below[: max(LEAST_BELOW, int(verdicts[read].sum()) // BELOW_BORDER)])
    shown = [page for page in read if page not in judged and (verdicts[page] or page in near)]
    wrong = [page for page in shown if verdicts[page] != truth[page]]
    right = [page for page in shown if verdicts[page] == truth[page]]
    return wrong or right or [page for page in read if page not in judged]


def _f1(verdicts: Verdicts, truth: Verdicts, pages: Sequence[int]) -> float:
    chosen, right = verdicts[pages], truth[pages]
    return figures(chosen.astype(np.float64), chosen, right).f1
