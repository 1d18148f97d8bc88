"""What the blocks of a page look like in numbers: the input of the ``blend`` extractor.

Everything is worked out for all blocks at once: characters are classed by table lookup over
the joined text, sums over elements are differences of running sums.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.extract.block_signs import (
    BULLET,
    CLASSES,
    COMMA,
    DIGIT,
    DOT,
    HAN,
    LETTER,
    OTHER,
    QUOTE,
    STOP,
    TAGS,
    WORD_NAMES,
    class_table,
    find_words,
    name_flags,
    tag_number,
    title_words,
)
from qiaocrawl.extract.block_sums import Floats, Ints, best_run, counted, shifted, window
from qiaocrawl.page.blocks import PageBlocks

_HEAD_CHARS = 150
_TAIL_CHARS = 100
"""Of long blocks only the beginning and the end are searched for words."""
_NOTICE_CHARS = 400
_IMPRINT_CHARS = 150
"""Longer blocks tell more than a notice or an imprint does."""
_LEVELS = 4
"""Elements around a block that are looked at."""


@dataclass(frozen=True, slots=True)
class BlockFeatures:
    """Numbers for all n blocks of a page.

    Attributes:
        values: (n, f) features.
        chars: (n,) characters without white space.
        holders: (n, 4) indexes of the elements around each block, innermost first; the
            outermost is repeated where there are fewer.
        first, end: (elements,) range of blocks of each element.
        notices: (n,) whether a block is a legal notice or an imprint by its words.
        alike: (n,) number of the group of blocks whose two innermost elements have the same
            tags and names.
    """

    values: Floats
    chars: Floats
    holders: Ints
    first: Ints
    end: Ints
    notices: NDArray[np.bool_]
    alike: Ints


def features_of(found: PageBlocks, title: str) -> BlockFeatures | None:
    """The features of a page's blocks; None when it has no block.

    Args:
        found: the blocks and their elements.
        title: the page's ``<title>``, "" when it has none.
    """
    return _Builder(found, title).build() if found.blocks else None


class _Builder:
    """Works out the features of one page, a group of columns after the other."""

    def __init__(self, found: PageBlocks, title: str) -> None:
        self.blocks = found.blocks
        self.elements = found.elements
        self.title = title
        self.n = len(found.blocks)
        self.columns: list[NDArray[np.generic]] = []

    def build(self) -> BlockFeatures:
        self._count_characters()
        self._look_at_elements()
        self._own()
        self._words()
        self._around()
        self._neighbours()
        self._position()
        self._main_container()
        self._repetition()
        self._page()
        values = np.empty((len(self.columns), self.n), dtype=np.float32)
        for row, column in enumerate(self.columns):
            values[row] = column
        return BlockFeatures(
            values.T, self.chars, self.holders, self.first, self.end, self.notices, self.alike
        )

    def _add(self, *columns: NDArray[np.generic]) -> None:
        self.columns.extend(columns)

    # --- counting -------------------------------------------------------------------------

    def _count_characters(self) -> None:
        self.texts = texts = [block.text for block in self.blocks]
        joined = "\n".join(texts)
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=self.n)
        self.starts = np.concatenate(([0], np.cumsum(lengths + 1)[:-1]))
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        kinds = np.where(
            codes < 0x10000, class_table()[np.minimum(codes, 0xFFFF)], np.uint8(OTHER)
        )
        self.last_kind = kinds[self.starts + lengths - 1]
        self.first_kind = kinds[self.starts]
        space = (codes == 32) | (codes == 10)
        self.counts = np.stack(
            [np.add.reduceat(kinds == kind, self.starts) for kind in range(len(CLASSES))]
        ).astype(np.float32)
        spaces = np.add.reduceat(space, self.starts).astype(np.float32)
        spaces[:-1] -= 1  # the line end after each block but the last
        self.counts[OTHER] -= np.add.reduceat(space, self.starts)
        self.spaces = spaces
        self.chars = np.maximum(self.counts.sum(axis=0), 1).astype(np.float32)
        self.linked = np.fromiter((b.linked for b in self.blocks), np.float32, self.n)
        self.linked = np.minimum(self.linked, self.chars)
        self.free = self.chars - self.linked
        # An English sentence ends with a dot before a space; abbreviations are few.
        self.stops = self.counts[STOP] + np.minimum(self.counts[DOT], self.spaces / 4 + 1)

    def _look_at_elements(self) -> None:
        elements = self.elements
        m = len(elements)
        numbers: dict[str, int] = {}
        rows = [
            (e.first, e.end, e.parent, e.depth, e.images,
             numbers.setdefault(e.names, len(numbers)),
             tag_number(e.tag))
            for e in elements
        ]  # fmt: skip
        columns = np.array(rows, dtype=np.int64).T
        self.first, self.end, parent, self.depth, self.images, self.names, self.tags = columns
        self.parent = np.where(parent < 0, np.arange(m), parent)
        named = np.array([name_flags(names) for names in numbers], dtype=np.float32)
        self.flags = named[self.names]
        self.tag_flags = np.eye(len(TAGS) + 1, dtype=np.float32)[self.tags, :-1]
        own = np.fromiter((b.element for b in self.blocks), np.int64, self.n)
        levels = [own]
        for _ in range(_LEVELS - 1):
            levels.append(self.parent[levels[-1]])
        self.holders = np.stack(levels, axis=1)

    def _above(self, flags: Floats) -> Floats:
        """For every block whether an element around it has each of *flags*."""
        steps = np.zeros((self.n + 1, flags.shape[1]), dtype=np.float32)
        marked = flags.any(axis=1)
        np.add.at(steps, self.first[marked], flags[marked])
        np.subtract.at(steps, self.end[marked], flags[marked])
        above: Floats = (np.cumsum(steps[:-1], axis=0) > 0.5).astype(np.float32)
        return above

    def _inside(self, per_block: NDArray[np.generic]) -> Floats:
        """Sums of *per_block* over the blocks of every element."""
        running = np.concatenate(([0.0], np.cumsum(per_block, dtype=np.float64)))
        sums: Floats = (running[self.end] - running[self.first]).astype(np.float32)
        return sums

    # --- columns ----------------------------------------------------------------------------

    def _own(self) -> None:
        chars, blocks = self.chars, self.blocks
        self.size = np.log1p(chars)
        self.link_share = self.linked / chars
        bold = np.fromiter((b.bold for b in blocks), np.float32, self.n)
        links = np.fromiter((b.links for b in blocks), np.float32, self.n)
        breaks = np.fromiter((b.after_break for b in blocks), np.float32, self.n)
        self._add(self.size, self.link_share, np.minimum(bold / chars, 1), np.log1p(links), breaks)
        for kind in (LETTER, HAN, DIGIT, OTHER, BULLET):
            self._add(self.counts[kind] / chars)
        self._add(
            np.log1p(self.stops), np.log1p(self.counts[COMMA]), np.log1p(self.counts[QUOTE]),
            np.minimum(self.stops / chars * 20, 3), np.log1p(self.spaces),
        )  # fmt: skip
        self._add(self.last_kind == STOP, self.last_kind == DOT, self.last_kind == COMMA,
                  self.last_kind == QUOTE, self.first_kind == BULLET, self.last_kind == BULLET)

    def _words(self) -> None:
        text, starts = self._heads()
        flags = counted(find_words(text), starts, len(WORD_NAMES))
        self.notices = self._notices(flags)
        weight = flags.sum(axis=0)
        self.wordy = np.log1p(weight)
        self._add(*np.log1p(flags), np.minimum(8 * weight / self.chars, 3))
        self._add(np.log1p(self._title_words(text, starts)))

    def _notices(self, flags: Floats) -> NDArray[np.bool_]:
        """Legal notices and imprints: too few of them in any collection to be learnt."""
        legal, notice = flags[WORD_NAMES.index("legal")], flags[WORD_NAMES.index("notice")]
        told = (notice >= 2) & (self.chars <= _NOTICE_CHARS)
        return np.asarray(told | (legal >= 2) & (self.chars <= _IMPRINT_CHARS), dtype=np.bool_)

    def _heads(self) -> tuple[str, Ints]:
        """The blocks in lower case, long ones without their middle; and where each begins."""
        heads = [
            text if len(text) <= _HEAD_CHARS + _TAIL_CHARS
            else text[:_HEAD_CHARS] + " " + text[-_TAIL_CHARS:]
            for text in self.texts
        ]  # fmt: skip
        joined = "\n" + "\n".join(heads)
        lower = joined.lower()
        if len(lower) != len(joined):  # a few letters grow; then positions would shift
            lower = joined
        lengths = np.fromiter(map(len, heads), dtype=np.int64, count=self.n) + 1
        return lower, np.cumsum(lengths) - lengths + 1

    def _title_words(self, text: str, starts: Ints) -> Floats:
        """How many of the title's letter pairs (words of four letters) stand in each block."""
        wanted = title_words(self.title.lower())
        hits = []
        for kind, word in enumerate(wanted):
            at = text.find(word)
            while at >= 0:
                hits.append((at, kind))
                at = text.find(word, at + len(word))
        counts = counted(hits, starts, max(len(wanted), 1))
        return np.asarray((counts > 0).sum(axis=0), dtype=np.float32)

    def _around(self) -> None:
        chars_in = self._inside(self.chars)
        links_in = self._inside(self.linked) / np.maximum(chars_in, 1)
        blocks_in = (self.end - self.first).astype(np.float32)
        stops_in = self._inside(self.stops)
        told_in = self._inside(np.where(self.stops > 0, self.free, 0))
        words_in = self._inside(self.wordy)
        self.told_in = told_in
        total = max(float(self.chars.sum()), 1.0)
        told = max(float(np.where(self.stops > 0, self.free, 0).sum()), 1.0)
        for level in range(_LEVELS):
            at = self.holders[:, level]
            self._add(
                np.log1p(chars_in)[at], links_in[at], np.log1p(blocks_in)[at],
                np.log1p(stops_in / np.maximum(blocks_in, 1))[at], (chars_in / total)[at],
                (told_in / told)[at], (words_in / np.maximum(blocks_in, 1))[at],
            )  # fmt: skip
        own, above = self.holders[:, 0], self.holders[:, 1]
        self._add(*self.tag_flags[own].T, *self._above(self.tag_flags).T)
        self._add(*self.flags[own].T, *self.flags[above].T, *self._above(self.flags).T)
        self._add(self.depth[own] / 10)

    def _neighbours(self) -> None:
        signals = (self.size, self.link_share, np.log1p(self.stops), self.wordy)
        own = self.holders[:, 0]
        for step in (-3, -2, -1, 1, 2, 3):
            for signal in signals:
                self._add(shifted(signal, step))
        for step in (-2, -1, 1, 2):
            self._add(shifted(own.astype(np.float32), step) == own)
        for half in (3, 8, 20):
            chars = window(self.chars, half)
            self._add(
                np.log1p(window(self.free, half)), window(self.linked, half) / chars,
                np.log1p(window(self.stops, half)),
            )  # fmt: skip

    def _position(self) -> None:
        n = self.n
        order = np.arange(n, dtype=np.float32)
        total = max(float(self.chars.sum()), 1.0)
        before = (np.cumsum(self.chars) - self.chars) / total
        told = np.where(self.stops > 0, self.free, 0)
        told_before = (np.cumsum(told) - told) / max(float(told.sum()), 1.0)
        self._add(order / n, before, told_before, np.log1p(order), np.log1p(n - order))
        at = self._title_block()
        if at < 0:
            self._add(*(np.zeros(n) for _ in range(4)))
            return
        away = order - at
        past = np.where(away > 0, np.log1p(np.maximum(away, 0)), 0)
        told_since = np.where(away > 0, np.log1p(np.maximum(np.cumsum(told) - told
                                                            - np.cumsum(told)[at], 0)), 0)
        self._add(np.sign(away), past, told_since, np.ones(n))

    def _title_block(self) -> int:
        """The last block that is a beginning or most of ``<title>``; -1 when none is."""
        title = self.title
        best, best_size = -1, 0
        for i, block in enumerate(self.blocks):
            text = block.text
            size = len(text)
            if 4 <= size <= len(title) + 10 and size >= best_size and text in title:
                own = self.elements[block.element].tag
                if 2 * size >= len(title) or title.startswith(text) or own in ("h1", "h2"):
                    best, best_size = i, size
        return best

    def _main_container(self) -> None:
        """Where two plain rules see the body: these are the other extractors' ideas."""
        # As in Arc90's Readability: text gives points to its element and half to the next.
        points = np.where(
            (self.free >= 20) & (self.link_share < 0.5),
            1 + np.log1p(self.counts[COMMA] + self.stops) * 2 + np.minimum(self.free / 100, 5), 0,
        )  # fmt: skip
        m = len(self.elements)
        near = np.bincount(self.holders[:, 0], points, m) + np.bincount(
            self.holders[:, 1], points, m)
        far = 0.5 * np.bincount(self.holders[:, 2], points, m)
        chars_in = np.maximum(self._inside(self.chars), 1)
        score = (near + far) * (1 - self._inside(self.linked) / chars_in)
        self._range(int(score.argmax()))
        # The element with most told text when every other character counts against it.
        told = np.where(self.stops > 0, self.free, 0)
        gain = self._inside(told) - 2.0 * self._inside(self.chars - told)
        self._range(int(gain.argmax()))
        # The run of blocks with the highest sum, as in maximum subsequence segmentation.
        value = np.where(self.stops > 0, self.free, 0) - 1.5 * self.linked - 12
        lo, hi = best_run(value)
        self._inside_columns(lo, hi)

    def _range(self, element: int) -> None:
        self._inside_columns(int(self.first[element]), int(self.end[element]))

    def _inside_columns(self, lo: int, hi: int) -> None:
        order = np.arange(self.n, dtype=np.float32)
        inside = (order >= lo) & (order < hi)
        outside = np.maximum(np.maximum(lo - order, order - hi + 1), 0)
        at = np.clip((order - lo) / max(hi - lo, 1), 0, 1)
        share = float(self.free[lo:hi].sum()) / max(float(self.free.sum()), 1.0)
        self._add(inside, np.log1p(outside) * np.where(order < lo, -1, 1), at,
                  np.full(self.n, share))

    def _repetition(self) -> None:
        # Elements are alike when they and what is around them have the same tags and names.
        kind = self.tags * (int(self.names.max()) + 1) + self.names
        outer = kind[self.parent] * (int(kind.max()) + 1) + kind
        groups = np.unique(outer, return_inverse=True)[1]
        self.alike = groups[self.holders[:, 0]]
        count = int(self.alike.max()) + 1
        told = np.where(self.stops > 0, self.free, 0)
        size = np.bincount(self.alike, minlength=count)
        told_alike = np.bincount(self.alike, told, count) / max(float(told.sum()), 1.0)
        chars_alike = np.bincount(self.alike, self.chars, count)
        links_alike = np.bincount(self.alike, self.linked, count) / np.maximum(chars_alike, 1)
        mean = np.log1p(chars_alike / np.maximum(size, 1))
        self._add(*(column[self.alike] for column in
                    (np.log1p(size), told_alike, links_alike, mean)))
        siblings = self.parent * (int(kind.max()) + 1) + kind
        _, which, twins = np.unique(siblings, return_inverse=True, return_counts=True)
        for level in range(3):
            self._add(np.log1p(twins)[which[self.holders[:, level]]])
        seen = Counter(block.text for block in self.blocks)
        self._add(np.log1p(np.fromiter((seen[b.text] for b in self.blocks), np.float32, self.n)))
        images = np.log1p(self.images)
        self._add(images[self.holders[:, 0]], images[self.holders[:, 1]])

    def _page(self) -> None:
        total = max(float(self.chars.sum()), 1.0)
        told = float(np.where(self.stops > 0, self.free, 0).sum())
        longest = float(self.free.max())
        for value in (np.log1p(total), float(self.linked.sum()) / total, np.log1p(self.n),
                      float(self.counts[HAN].sum()) / total, np.log1p(told), np.log1p(longest)):
            self._add(np.full(self.n, value))
        self._add(self.free / max(longest, 1.0))
