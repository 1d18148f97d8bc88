"""What is seen of a text when its tone towards a target is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.analysis.tone.features import (
    judgement_features,
    run_hashes,
    segmented,
    word_hashes,
)
from qiaocrawl.analysis.tone.polarity import judgements, polarity_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CLAUSE = re.compile("[。！？!?；;\n，, ]")
_TARGET_RUNS, _CLAUSE_RUNS, _TARGET_WORDS = 7, 8, 103
_SHARED, _ONLY_TARGET, _JUDGING = 101, 102, 201
_FAR, _NEAR = 0.3, 0.6


def target_features(
    text: str, words: list[str], target: str
) -> tuple[NDArray[np.uint64], list[float]]:
    """Hashed and dense features of a prepared *text* towards a prepared *target*."""
    target_words = segmented(target)
    clause = nearest_clause(text, target)
    known = polarity_words()
    judging = known.positive | known.negative | known.negations
    sign = int(np.sign(sum(judgements(target_words))))
    hashes = np.concatenate(
        [
            run_hashes(text),
            run_hashes(target, _TARGET_RUNS),
            run_hashes(clause, _CLAUSE_RUNS),
            word_hashes(target_words, _TARGET_WORDS),
            word_hashes(sorted(set(target_words) & set(words)), _SHARED),
            word_hashes(sorted(set(target_words) - set(words)), _ONLY_TARGET),
            word_hashes([word for word in words if word in judging], _JUDGING + sign),
        ]
    )
    return np.unique(hashes), _dense(text, words, target, target_words, clause)


def nearest_clause(text: str, target: str) -> str:
    """The clause of *text* that shares most pairs of letters with *target*."""
    clauses = [clause for clause in _CLAUSE.split(text) if clause] or [text]
    pairs = _pairs(target)
    return max(clauses, key=lambda clause: len(_pairs(clause) & pairs))


def _dense(
    text: str, words: list[str], target: str, target_words: list[str], clause: str
) -> list[float]:
    pairs = _pairs(target)
    shared = _share(_pairs(text) & pairs, pairs)
    letters = _share(set(text) & set(target), set(target))
    in_clause = _share(_pairs(clause) & pairs, pairs)
    clause_words = segmented(clause)
    whole, own, near = (judgement_features(some)[2] for some in (words, target_words, clause_words))
    text_sign, own_sign, near_sign = (float(np.sign(value)) for value in (whole, own, near))
    negations = polarity_words().negations
    negated = float(sum(word in negations for word in target_words) % 2)
    turned = float(negated != sum(word in negations for word in clause_words) % 2)
    return [
        shared, letters, _share(set(words) & set(target_words), set(target_words)), in_clause,
        float(shared > _FAR), float(shared > _NEAR), float(shared == 1), len(target_words) / 20,
        text_sign, own_sign, near_sign, text_sign * own_sign, near_sign * own_sign,
        text_sign * own_sign * letters, near_sign * own_sign * in_clause, whole, own,
        whole * letters, own_sign * letters, own_sign * (1 - letters), (1 - letters) * text_sign,
        negated, turned * in_clause, negated * letters, negated * (1 - letters), near * in_clause,
        float(own_sign * text_sign < 0) * letters, float(own_sign * text_sign > 0) * letters,
    ]  # fmt: skip


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def _share(part: set[str], whole: set[str]) -> float:
    return len(part) / max(1, len(whole))
