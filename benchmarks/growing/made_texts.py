"""Titles and bodies no two of which are alike by accident, as those of real news are not.

Words are drawn by how often Chinese at large uses them. Titles of a few templates would have
more neighbours with every thousand that is stored, so a search among them would be measured
that no crawl has to make. One article in seven is a near reprint of one before.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from pathlib import Path

from qiaocrawl.vsm.terms import word_counts, word_tags

REPRINT_SHARE = 0.15
# What titles are made of: names, nouns, verbs, times. Bodies have all words.
_OF_TITLES = ("n", "v", "a", "t", "j")
_OUTLETS = ("中国新闻网", "侨网", "人民网", "新华社", "本报")


@dataclass(frozen=True, slots=True)
class MadeText:
    """A title and the lines of its body."""

    title: str
    lines: tuple[str, ...]


class TextMaker:
    """Makes texts, the same for the same *seed*.

    Args:
        titles: taken one after the other as long as there are any, made afterwards.
    """

    def __init__(self, seed: int, titles: Sequence[str] = ()) -> None:
        self._rng = random.Random(seed)
        self._given = iter(titles)

    def texts(self, count: int) -> list[MadeText]:
        """So many texts, some of them reprints of earlier ones among them."""
        made: list[MadeText] = []
        for _ in range(count):
            is_reprint = made and self._rng.random() < REPRINT_SHARE
            made.append(self._reprint(self._rng.choice(made)) if is_reprint else self._new())
        return made

    def title(self) -> str:
        """A title of some twenty characters."""
        words = self._drawn(_title_words(), self._rng.randint(6, 12))
        return "".join(words)

    def _new(self) -> MadeText:
        lines = tuple(self._line() for _ in range(self._rng.randint(4, 14)))
        return MadeText(next(self._given, "") or self.title(), lines)

    def _line(self) -> str:
        """Two or three sentences."""
        words = iter(self._drawn(_all_words(), self._rng.randint(30, 60)))
        sentences = []
        while sentence := [*islice(words, self._rng.randint(14, 24))]:
            half = len(sentence) // 2
            sentences.append(f"{''.join(sentence[:half])}，{''.join(sentence[half:])}。")
        return "".join(sentences)

    def _drawn(self, words: tuple[list[str], list[int]], count: int) -> list[str]:
        return self._rng.choices(words[0], cum_weights=words[1], k=count)

    def _reprint(self, text: MadeText) -> MadeText:
        """As other outlets print it: another name in the title, a word less, a line less."""
        rng, title = self._rng, text.title
        if rng.random() < 0.5:
            title = f"{title}_{rng.choice(_OUTLETS)}"
        elif len(title) > 8:
            at = rng.randrange(len(title) - 2)
            title = title[:at] + title[at + 2 :]
        lines = text.lines if rng.random() < 0.5 else text.lines[:-1]
        return MadeText(title, lines)


def titles_of(path: Path) -> list[str]:
    """The titles in a file of one a line, packed with gzip or not."""
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    return [title for line in text.splitlines() if (title := line.strip())]


def lots_of(titles: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """*titles* in lots of *size*; empty ones when there are no more."""
    for start in range(0, len(titles), size):
        yield titles[start : start + size]
    while True:
        yield ()


@cache
def _title_words() -> tuple[list[str], list[int]]:
    tags = word_tags()
    return _by_use({word: count for word, count in word_counts()[0].items()
                   if tags[word].startswith(_OF_TITLES) and len(word) > 1})  # fmt: skip


@cache
def _all_words() -> tuple[list[str], list[int]]:
    return _by_use(dict(word_counts()[0]))


def _by_use(counts: dict[str, int]) -> tuple[list[str], list[int]]:
    """Words and their summed weights."""
    # Common words first: most draws find theirs in few steps of memory.
    words = sorted(counts, key=lambda word: -counts[word])
    return words, [*accumulate(counts[word] for word in words)]
