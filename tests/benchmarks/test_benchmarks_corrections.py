"""The benchmark of corrections: an operator who reads a small made-up list."""

from __future__ import annotations

import numpy as np

from benchmarks.judgements.corrections import STEPS, Step, corrections
from qiaocrawl.items import PageText
from qiaocrawl.topic.pack import Term, TopicPack

PACK = TopicPack("t", "", "", 0.1, (Term("harbour", "core"),), (), ())
# What is on topic is told by "sails"; the term alone takes markets for it and misses some.
KINDS = (
    ("The harbour and its sails", True), ("A market at the harbour with fish", False),
    ("Sails and oars in the wind", True), ("Bread and butter for all", False),
)  # fmt: skip


def corrected(seed: int) -> tuple[Step, ...]:
    texts = [KINDS[number % len(KINDS)] for number in range(80)]
    pages = [
        PageText(f"Day {number}", f"{text}, on day {number} of the year.")
        for number, (text, _) in enumerate(texts)
    ]
    truth = np.array([relevant for _, relevant in texts])
    return tuple(corrections(PACK, pages, truth, seed=seed))


def test_judgements_mend_the_list_and_what_nobody_reads() -> None:
    steps = corrected(seed=0)
    assert tuple(step.judged for step in steps) == STEPS
    assert steps[0].turned == 0
    assert steps[0].f1 < 0.8
    assert all(step.f1 >= steps[0].f1 - 0.01 for step in steps)
    assert steps[-1].f1 == 1.0
    assert steps[-1].f1_held_out > steps[0].f1_held_out
    assert steps == corrected(seed=0), "the same draw gives the same figures"
