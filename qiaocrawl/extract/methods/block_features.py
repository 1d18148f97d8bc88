"""Features of the blocks of a page, with sums and word counts: the input of ``blend``.

Everything is worked out for all blocks at once: characters are classed by table lookup over
the joined text, sums over elements are differences of running sums. ``block_loops.py`` does the
same where it is compiled; where one of them changes, the other has to.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.extract.methods.block_vocabulary import (
    BULLET,
    CLASSES,
    COMMA,
    DIGIT,
    DOT,
    HAN,
    LETTER,
    NAME_KINDS,
    OTHER,
    QUOTE,
    SPACE,
    STOP,
    TAGS,
    WORD_NAMES,
    class_table,
    find_words,
    name_flags,
    tag_number,
    title_words,
)
from qiaocrawl.page.blocks import PageBlocks

# --- Sums over the blocks of a page, for all blocks at once ---------------------------------------

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]


def count_kinds(hits: list[tuple[int, int]], starts: Ints, kinds: int) -> Floats:
    """How often each kind of (position, kind) stands in each block, as (kinds, blocks)."""
    n = len(starts)
    if not hits:
        return np.zeros((kinds, n), dtype=np.float32)
    places, which = np.array(hits, dtype=np.int64).T
    cells = which * n + np.searchsorted(starts, places, side="right") - 1
    return np.bincount(cells, minlength=kinds * n).reshape(kinds, n).astype(np.float32)


def best_run(value: Floats) -> tuple[int, int]:
    """The range with the highest sum (Kadane), as [first, end)."""
    running = np.concatenate(([0.0], np.cumsum(value, dtype=np.float64)))
    lowest = np.minimum.accumulate(running[:-1])
    end = int((running[1:] - lowest).argmax()) + 1
    first = int(running[:end].argmin())
    return first, end


# --- What the words of blocks tell: what is looked for in their texts, by the block ---------------

_HEAD_CHARS = 150
_TAIL_CHARS = 100
"""Of long blocks only the beginning and the end are searched for words."""
_PAID_WORDS = ("推广", "推廣", "广告", "廣告", "赞助", "贊助")
_PAID = re.compile(
    r"{0}[：:]|【{0}】|\[{0}\]|（{0}）|\({0}\)".format(f"(?:{'|'.join(_PAID_WORDS)})")
)
# 推广：各地要… is a heading of a plan as well.
_MAY_BE_PAID = re.compile("(?:推[广廣]|[赞贊]助)[：:].*[。！？；]", re.DOTALL)


def is_paid_for(text: str) -> bool:
    """Whether *text* begins with a mark of what others paid for: （广告）, 【推广】."""
    return _PAID.match(text) is not None and not _MAY_BE_PAID.match(text)


Hits = list[tuple[int, int]]
"""(position in the joined heads, kind) of what was found."""


@dataclass(frozen=True)
class BlockWords:
    """The words of the blocks of a page.

    Attributes:
        page_blocks: the blocks and their elements.
        title: the page's ``<title>``, "" when it has none.
        texts: of all blocks.
        heads: the same without the middle of long ones.
    """

    page_blocks: PageBlocks
    title: str
    texts: list[str]
    heads: list[str]

    @classmethod
    def of(cls, page_blocks: PageBlocks, title: str) -> BlockWords:
        """Those of *page_blocks*, which has some, on a page called *title*."""
        texts = [block.text for block in page_blocks.blocks]
        heads = [
            text
            if len(text) <= _HEAD_CHARS + _TAIL_CHARS
            else text[:_HEAD_CHARS] + " " + text[-_TAIL_CHARS:]
            for text in texts
        ]
        return cls(page_blocks, title, texts, heads)

    @cached_property
    def text(self) -> str:
        """The heads in lower case, a line end before each."""
        joined = "\n" + "\n".join(self.heads)
        lower = joined.lower()
        # A few letters grow; then positions would shift.
        return lower if len(lower) == len(joined) else joined

    @cached_property
    def telling(self) -> Hits:
        """Where telling words stand, by their index in WORD_NAMES."""
        return find_words(self.text)

    @cached_property
    def title_words(self) -> tuple[str, ...]:
        """The title's letter pairs (words of four letters)."""
        return title_words(self.title.lower())

    @cached_property
    def of_title(self) -> Hits:
        """Where the title's words stand, by their index in :attr:`title_words`."""
        text, hits = self.text, []
        for kind, word in enumerate(self.title_words):
            at = text.find(word)
            while at >= 0:
                hits.append((at, kind))
                at = text.find(word, at + len(word))
        return hits

    @cached_property
    def paid_blocks(self) -> list[int]:
        """Indexes of the blocks that are marked as paid for."""
        if not any(word in self.text for word in _PAID_WORDS):
            return []
        return [number for number, text in enumerate(self.texts) if is_paid_for(text)]

    @cached_property
    def title_block(self) -> int:
        """The last block that is a beginning or most of ``<title>``; -1 when none is."""
        title = self.title
        longest = len(title) + 10
        best, best_size = -1, 0
        for i, text in enumerate(self.texts):
            size = len(text)
            if 4 <= size <= longest and size >= best_size and text in title:
                tag = self.page_blocks.elements[self.page_blocks.blocks[i].element].tag
                if 2 * size >= len(title) or title.startswith(text) or tag in ("h1", "h2"):
                    best, best_size = i, size
        return best


FEATURES = 198
NOTICE_CHARS = 400
IMPRINT_CHARS = 150
"""Longer blocks tell more than a notice or an imprint does."""
_WORDS_AT = 21
"""The first column of words in the features: those before it are :meth:`_Builder._own`'s."""
_MARKS = attrgetter("linked", "bold", "links", "after_break", "element")
_PLACE = attrgetter("first", "end", "parent", "depth", "images")
_TAG_FLAGS = np.eye(len(TAGS) + 1, dtype=np.float32)[:-1]
_LAST_KINDS = np.array([[STOP], [DOT], [COMMA], [QUOTE], [BULLET]])
_HALVES = np.array([[3], [8], [20]])
"""Blocks on each side of a block that are summed up around it."""
_NAME_BITS = np.arange(len(NAME_KINDS))[:, None]
_LEVELS = 4
"""Elements around a block that are looked at."""


@dataclass(frozen=True, slots=True)
class BlockFeatures:
    """Numbers for all n blocks of a page.

    Attributes:
        values: (n, f) features.
        chars: (n,) characters without white space.
        notices: (n,) whether a block may be a legal notice, an imprint or paid for by its words;
            whether it is one tells :func:`~qiaocrawl.extract.notices.told_by_words`.
    """

    values: Floats
    chars: Floats
    notices: NDArray[np.bool_]


def numpy_features(words: BlockWords) -> BlockFeatures:
    """The features of the blocks of *words*, which has some.

    What :func:`~qiaocrawl.extract.methods.compiled_features.features_of` gives, in Python.
    """
    return _Builder(words).build()


def without_notice_words(features: BlockFeatures, rows: NDArray[np.int64]) -> Floats:
    """The values of the blocks *rows* as if no word of imprints and notices stood in them."""
    values = features.values[rows].copy()
    values[:, [_WORDS_AT + WORD_NAMES.index(name) for name in ("legal", "notice")]] = 0
    share = _WORDS_AT + len(WORD_NAMES)
    weight = np.expm1(values[:, _WORDS_AT:share]).sum(axis=1)
    values[:, share] = np.minimum(8 * weight / features.chars[rows], 3)
    return values


def has_notice_words(features: BlockFeatures) -> NDArray[np.bool_]:
    """(n,) whether a word of imprints and notices stands in a block."""
    legal, notice = (
        features.values[:, _WORDS_AT + WORD_NAMES.index(name)] for name in ("legal", "notice")
    )
    return np.asarray((legal > 0) | (notice > 0))


class _Builder:
    """Works out the features of one page, a group of rows after the other.

    A page has about two hundred blocks, so that the number of numpy calls counts, not their
    size: related rows are worked out together, as (rows, n).
    """

    def __init__(self, words: BlockWords) -> None:
        self.words = words
        self.blocks = words.page_blocks.blocks
        self.elements = words.page_blocks.elements
        self.n = len(self.blocks)
        self.rows: list[NDArray[np.generic]] = []

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
        values = np.empty((sum(map(len, self.rows)), self.n), dtype=np.float32)
        at = 0
        for rows in self.rows:
            values[at : at + len(rows)] = rows
            at += len(rows)
        return BlockFeatures(values.T, self.chars, self.notices)

    def _add(self, rows: NDArray[np.generic]) -> None:
        """Add features as (rows, n), or as (rows, 1) where they are the same for all blocks."""
        self.rows.append(rows)

    def _add_each(self, *rows: NDArray[np.generic]) -> None:
        """Add features as (n,) each; stacking them first costs more than to write them."""
        self.rows += [row[None] for row in rows]

    # --- counting -------------------------------------------------------------------------

    def _count_characters(self) -> None:
        blocks, n, texts = self.blocks, self.n, self.words.texts
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=n)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        kinds = class_table()[np.minimum(codes, 0xFFFF)]
        self.first_kind, self.last_kind = kinds[starts], kinds[ends - 1]
        cells = np.repeat(np.arange(n) * len(CLASSES), lengths) + kinds
        counts = np.bincount(cells, minlength=n * len(CLASSES)).reshape(n, len(CLASSES))
        self.counts = np.ascontiguousarray(counts.T, dtype=np.float32)
        self.spaces = self.counts[SPACE]
        self.chars = np.maximum(lengths - self.spaces, 1).astype(np.float32)
        marks = chain.from_iterable(map(_MARKS, blocks))
        self.marks = np.fromiter(marks, np.int64, 5 * n).reshape(n, 5).T
        self.linked = np.minimum(self.marks[0].astype(np.float32), self.chars)
        self.free = self.chars - self.linked
        # An English sentence ends with a dot before a space; abbreviations are few.
        self.stops = self.counts[STOP] + np.minimum(self.counts[DOT], self.spaces / 4 + 1)
        self.prose = np.where(self.stops > 0, self.free, np.float32(0))
        self.all_chars = max(float(self.chars.sum()), 1.0)
        self.all_prose = max(float(self.prose.sum()), 1.0)

    def _look_at_elements(self) -> None:
        elements = self.elements
        m = len(elements)
        numbers: dict[str, int] = {}
        names = [numbers.setdefault(e.names, len(numbers)) for e in elements]
        self.names = np.fromiter(names, np.int64, m)
        self.tags = np.fromiter([tag_number(e.tag, len(TAGS)) for e in elements], np.int64, m)
        places = chain.from_iterable(map(_PLACE, elements))
        columns = np.fromiter(places, np.int64, 5 * m).reshape(m, 5).T
        self.first, self.end, parent, self.depth, self.images = columns
        self.parent = np.where(parent < 0, np.arange(m), parent)
        named = np.fromiter(map(name_flags, numbers), np.int64, len(numbers))
        bits = (named[self.names] >> _NAME_BITS) & 1
        self.flags = np.empty((len(TAGS) + len(bits), m), dtype=np.float32)
        _TAG_FLAGS.take(self.tags, axis=1, out=self.flags[: len(TAGS)])
        self.flags[len(TAGS) :] = bits
        levels = [self.marks[4]]
        for _ in range(_LEVELS - 1):
            levels.append(self.parent[levels[-1]])
        self.containers = np.stack(levels)

    def _inside(self, *per_block: Floats) -> NDArray[np.float64]:
        """Sums of (n,) each over the blocks of every element, as (rows, elements)."""
        running = _running(*per_block)
        return running[:, self.end] - running[:, self.first]

    def _above(self) -> NDArray[np.bool_]:
        """For every flag and block whether an element around the block has the flag."""
        flag, element = np.nonzero(self.flags)
        width = self.n + 1
        size = len(self.flags) * width
        steps = np.bincount(flag * width + self.first[element], minlength=size)
        steps -= np.bincount(flag * width + self.end[element], minlength=size)
        return np.asarray(np.cumsum(steps.reshape(-1, width)[:, :-1], axis=1) > 0)

    # --- rows -------------------------------------------------------------------------------

    def _own(self) -> None:
        chars, marks, counts = self.chars, self.marks, self.counts
        self.size = np.log1p(chars)
        self.link_share = self.linked / chars
        self.log_stops = np.log1p(self.stops)
        self._add_each(
            self.size,
            self.link_share,
            np.minimum(marks[1] / chars, 1),
            np.log1p(marks[2]),
            marks[3],
            self.log_stops,
            np.minimum(self.stops / chars * 20, 3),
        )
        self._add(counts[[LETTER, HAN, DIGIT, OTHER, BULLET]] / chars)
        self._add(np.log1p(counts[[COMMA, QUOTE, SPACE]]))
        self._add(self.last_kind == _LAST_KINDS)
        self._add((self.first_kind == BULLET)[None])

    def _words(self) -> None:
        lengths = np.fromiter(map(len, self.words.heads), dtype=np.int64, count=self.n) + 1
        # Behind the line end before the first one.
        starts = np.cumsum(lengths) - lengths + 1
        flags = count_kinds(self.words.telling, starts, len(WORD_NAMES))
        self.notices = self._notices(flags)
        weight = flags.sum(axis=0)
        self.wordy = np.log1p(weight)
        self._add(np.log1p(flags))
        self._add_each(np.minimum(8 * weight / self.chars, 3), np.log1p(self._title_words(starts)))

    def _notices(self, flags: Floats) -> NDArray[np.bool_]:
        """What may be notices, imprints, paid text: too few in any collection to be learnt."""
        legal, notice = flags[WORD_NAMES.index("legal")], flags[WORD_NAMES.index("notice")]
        is_notice = (notice >= 2) & (self.chars <= NOTICE_CHARS)
        is_notice |= (legal >= 2) & (self.chars <= IMPRINT_CHARS)
        is_notice[self.words.paid_blocks] = True
        return np.asarray(is_notice)

    def _title_words(self, starts: Ints) -> Floats:
        """How many of the title's words stand in each block."""
        counts = count_kinds(self.words.of_title, starts, max(len(self.words.title_words), 1))
        return np.asarray((counts > 0).sum(axis=0), dtype=np.float32)

    def _around(self) -> None:
        sums = self._inside(self.chars, self.linked, self.stops, self.prose, self.wordy)
        self.chars_in, linked_in, stops_in, self.prose_in, words_in = sums
        count = self.end - self.first
        blocks_in = np.maximum(count, 1)
        self.links_in = linked_in / np.maximum(self.chars_in, 1)
        for around in (
            np.log1p(self.chars_in),
            self.links_in,
            np.log1p(count),
            np.log1p(stops_in / blocks_in),
            self.chars_in / self.all_chars,
            self.prose_in / self.all_prose,
            words_in / blocks_in,
        ):
            self._add(around[self.containers])
        own = self.flags[:, self.containers[0]]
        self._add(own)
        self._add(self.flags[len(TAGS) :, self.containers[1]])
        self._add(self._above())
        self._add(self.depth[self.containers[0]][None] / 10)

    def _neighbours(self) -> None:
        n, far = self.n, 3
        signals = (self.size, self.link_share, self.log_stops, self.wordy, self.containers[0])
        padded = np.full((len(signals), n + 2 * far), -1.0, dtype=np.float32)
        for row, signal in zip(padded, signals, strict=True):
            row[far : far + n] = signal
        for step in (-3, -2, -1, 1, 2, 3):
            beside = padded[:, far + step : far + step + n]
            self._add(beside[:4])
            if abs(step) < far:
                self._add(beside[4:] == signals[4])
        running = _running(self.chars, self.free, self.linked, self.stops)
        order = np.arange(n)
        lower, upper = np.maximum(order - _HALVES, 0), np.minimum(order + _HALVES + 1, n)
        chars, free, linked, stops = running[:, upper] - running[:, lower]
        windows = np.stack((free, linked / np.maximum(chars, 1), stops), axis=1)
        np.log1p(windows[:, ::2], out=windows[:, ::2])
        self._add(windows.reshape(-1, n))

    def _position(self) -> None:
        n = self.n
        order = np.arange(n)
        self.order = order
        before, prose_before = _running(self.chars, self.prose)[:, :-1]
        self._add_each(
            order / n,
            before / self.all_chars,
            prose_before / self.all_prose,
            np.log1p(order),
            np.log1p(n - order),
        )
        at = self.words.title_block
        if at < 0:
            self._add(np.zeros((4, 1)))
            return
        away = order - at
        since = np.maximum(prose_before - prose_before[at] - self.prose[at], 0) * (away > 0)
        self._add_each(np.sign(away), np.log1p(np.maximum(away, 0)), np.log1p(since), np.ones(1))

    def _main_container(self) -> None:
        """Where three plain rules see the body: these are the other extractors' ideas."""
        # As in Arc90's Readability: text gives points to its element and half to the next.
        points = np.where(
            (self.free >= 20) & (self.link_share < 0.5),
            1 + np.log1p(self.counts[COMMA] + self.stops) * 2 + np.minimum(self.free / 100, 5),
            0,
        )
        m = len(self.elements)
        near = np.bincount(self.containers[0], points, m) + np.bincount(
            self.containers[1], points, m
        )
        far = 0.5 * np.bincount(self.containers[2], points, m)
        by_points = int(((near + far) * (1 - self.links_in)).argmax())
        # The element with most told text when every other character counts against it twice.
        by_text = int((3 * self.prose_in - 2 * self.chars_in).argmax())
        # The run of blocks with the highest sum, as in maximum subsequence segmentation.
        run = best_run(self.prose - 1.5 * self.linked - 12)
        ranges = [*((int(self.first[e]), int(self.end[e])) for e in (by_points, by_text)), run]
        lo, hi = np.array(ranges).T[:, :, None]
        order = self.order
        all_free = max(self.free.sum(), 1.0)
        shares = [[self.free[a:b].sum() / all_free] for a, b in ranges]
        self._add((order >= lo) & (order < hi))
        self._add(
            np.sign(order - lo + 0.5)
            * np.log1p(np.maximum(np.maximum(lo - order, order - hi + 1), 0))
        )
        self._add(np.clip((order - lo) / np.maximum(hi - lo, 1), 0, 1))
        self._add(np.array(shares))

    def _repetition(self) -> None:
        # Elements are alike when they and what is around them have the same tags and names.
        kind = self.tags * (int(self.names.max()) + 1) + self.names
        many = int(kind.max()) + 1
        own, around = kind[self.containers[:2]]
        self.alike = np.unique(around * many + own, return_inverse=True)[1]
        count = int(self.alike.max()) + 1
        size, prose, chars, linked = (
            np.bincount(self.alike, weights, count)
            for weights in (None, self.prose, self.chars, self.linked)
        )
        mean = np.log1p(chars / np.maximum(size, 1))
        links = linked / np.maximum(chars, 1)
        for of_group in (np.log1p(size), prose / self.all_prose, links, mean):
            self._add(of_group[None, self.alike])
        _, which, twins = np.unique(
            self.parent * many + kind, return_inverse=True, return_counts=True
        )
        self._add(np.log1p(twins)[which][self.containers[:3]])
        seen = Counter(self.words.texts)
        self._add(np.log1p(np.array([[seen[text] for text in self.words.texts]])))
        self._add(np.log1p(self.images)[self.containers[:2]])

    def _page(self) -> None:
        longest = max(float(self.free.max()), 1.0)
        prose = float(self.prose.sum())
        self._add(
            np.array(
                [
                    [np.log1p(self.all_chars)],
                    [float(self.linked.sum()) / self.all_chars],
                    [np.log1p(self.n)],
                    [float(self.counts[HAN].sum()) / self.all_chars],
                    [np.log1p(prose)],
                    [np.log1p(longest)],
                ]
            )
        )
        self._add(self.free[None] / longest)


def _running(*rows: Floats) -> NDArray[np.float64]:
    """Running sums of (n,) each along the blocks, with a 0 before the first, as (rows, n + 1)."""
    running = np.zeros((len(rows), len(rows[0]) + 1))
    for row, sums in zip(rows, running, strict=True):
        row.cumsum(out=sums[1:])
    return running
