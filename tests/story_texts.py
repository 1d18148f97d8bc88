"""Texts of their own for tests of traps: as writers write them, and as programs make them up."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable

_VOCABULARY = 3_000
_SHAPES = (
    "{a}代表团到{b}参访，{c}介绍了{d}的新进展。", "记者{a}从{b}获悉，{c}将于下月举行。",
    "{a}与{b}座谈时说，{c}的工作要常抓不懈。", "据{b}统计，{a}今年参加{c}的人数又有增加。",
    "{d}负责人表示，{a}会继续支持{b}。", "来自{c}的{a}说，希望{b}办得越来越好。",
)  # fmt: skip


def written(number: int, letters: int = 500) -> str:
    """A text with matters of its own: each word drawn anew, or one that stood before, again.

    Simon's process (1955), which gives the frequencies of real words, within one text.
    """
    seed = random.Random(f"written {number}")
    said: list[str] = []
    while len(said) < letters // 2:
        said.append(seed.choice(said) if said and seed.random() < 0.3 else _word(seed))
    return _sentences(said)


def drawn(number: int, letters: int = 500) -> str:
    """A text of words that are drawn from one urn."""
    seed = random.Random(f"drawn {number}")
    return _sentences([_word(seed) for _ in range(letters // 2)])


def filled(number: int) -> str:
    """A form with words filled in."""
    seed = random.Random(f"filled {number}")
    return "".join(
        seed.choice(_SHAPES).format(**{name: _word(seed) for name in "abcd"}) for _ in range(14)
    )


def chained(number: int, letters: int = 500) -> str:
    """A walk through the pairs of words of some written texts: a Markov chain."""
    seed = random.Random(f"chained {number}")
    after = _chain()
    said = [seed.choice(list(after))]
    while len(said) < letters // 2:
        said.append(seed.choice(after.get(said[-1]) or list(after)))
    return _sentences(said)


Text = Callable[[int], str]
MADE_UP: tuple[Text, ...] = (drawn, filled, chained)

_after: dict[str, list[str]] = {}


def _chain() -> dict[str, list[str]]:
    if not _after:
        found = defaultdict(list)
        for number in range(60):
            words = written(10_000 + number).replace("。", "，").split("，")
            letters = "".join(words)
            said = [letters[at : at + 2] for at in range(0, len(letters) - 1, 2)]
            for word, follower in zip(said, said[1:], strict=False):
                found[word].append(follower)
        _after.update(found)
    return _after


def _word(seed: random.Random) -> str:
    """One of 3,000, the first ones far oftener than the last ones (Zipf)."""
    rank = int(_VOCABULARY ** seed.random())
    return chr(0x4E00 + rank * 7 % 5003) + chr(0x4E00 + rank * 11 % 4999)


def _sentences(words: list[str]) -> str:
    lines = ["".join(words[at : at + 9]) for at in range(0, len(words), 9)]
    return "".join(f"{line}{'。' if n % 3 == 2 else '，'}" for n, line in enumerate(lines))
