"""What a tone model sees of a text: runs of letters, words, and how its words judge."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.analysis.tone.polarity import judgements, polarity_words
from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.text.segment import Segmenter

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_LONGEST_RUN = 3
_MAX_LETTERS = 2_000
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ADDRESS = re.compile(r"https?://\S+|//@[^:：]{1,30}[:：]|@[\w\-]{1,30}")


def prepared(text: str) -> str:
    """*text* folded, numbers and addresses made alike, at most 2,000 letters."""
    return _NUMBER.sub("0", _ADDRESS.sub(" ", fold(text[:_MAX_LETTERS])))


def run_hashes(text: str, template: int = 0) -> NDArray[np.uint64]:
    """Runs of one to three letters of a prepared text.

    Args:
        template: runs of one template are no runs of another.
    """
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    parts = []
    value = np.full(len(codes), template + 1, np.uint64) * _FACTOR
    for length in range(_LONGEST_RUN):
        if len(codes) <= length:
            break
        value = (value[: len(codes) - length] ^ codes[length:]) * _FACTOR
        value ^= value >> _SHIFT
        parts.append(value)
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def word_hashes(words: list[str], template: int = 100) -> NDArray[np.uint64]:
    """Words and pairs of words that stand side by side."""
    singles = np.array([_word_hash(word) for word in words], np.uint64)
    pairs = (singles[:-1] * np.uint64(3) ^ singles[1:]) * _FACTOR
    both = np.concatenate([singles, pairs ^ (pairs >> _SHIFT)])
    both = (both ^ np.uint64(template)) * _FACTOR
    return both ^ (both >> _SHIFT)


@cache
def _word_hash(word: str) -> int:
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def segmented(text: str) -> list[str]:
    """The words of a prepared text, marks included."""
    return [word for word in _segmenter().words(text) if not word.isspace()]


@cache
def _segmenter() -> Segmenter:
    from qiaocrawl.text.segment import Segmenter

    words = polarity_words()
    return Segmenter(words.negations, backend="rjieba")


def judgement_features(words: list[str]) -> list[float]:
    """How the words of a text judge, as few numbers that mean the same in every domain."""
    values = np.array(judgements(words) or [0.0])
    good, bad = float(values[values > 0].sum()), float(-values[values < 0].sum())
    turn = max((at for at, word in enumerate(words) if word in polarity_words().turns), default=-1)
    after = float(values[turn + 1 :].sum()) if turn >= 0 else 0.0
    judging = values[values != 0]
    last = float(judging[-1]) if len(judging) else 0.0
    first = float(judging[0]) if len(judging) else 0.0
    return [
        np.log1p(good), np.log1p(bad), (good - bad) / (good + bad + 1.0),
        float(np.sign(good - bad)), after / (1.0 + abs(after)), last, first,
        float("!" in words), float("?" in words),
    ]  # fmt: skip
