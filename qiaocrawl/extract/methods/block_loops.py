"""The features of the blocks of a page: inner loops.

A page has about two hundred blocks and 198 features: NumPy, as ``block_features.py`` has the same,
spends its time on being called. The order of the rows is that of there, tests compare every value,
and what a feature is for is said there. Where this module is not compiled NumPy does it: as Python
it takes several times as long as that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.extract.methods.block_features import FEATURES, IMPRINT_CHARS, NOTICE_CHARS
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
)
from qiaocrawl.kernels import floats, ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.kernels import Floats, Ints

# --- What is given --------------------------------------------------------------------------------

_TAGS, _FLAGS, _WORDS = len(TAGS), len(TAGS) + len(NAME_KINDS), len(WORD_NAMES)
_LEGAL, _NOTICE = WORD_NAMES.index("legal"), WORD_NAMES.index("notice")
_LEVELS = 4
"""Elements around a block that are looked at."""

# Columns of a block, of an element; as compiled_features.py lays them out.
_LENGTH, _HEAD, _SEEN, _LINKED_CHARS, _BOLD = 0, 1, 2, 3, 4
_LINKS, _AFTER_BREAK, _ELEMENT = 5, 6, 7
_TAG, _NAMES, _NAME_FLAGS, _FIRST, _END, _PARENT, _DEPTH, _IMAGES = 0, 1, 2, 3, 4, 5, 6, 7


class Given:
    """A page with n blocks and m elements.

    Args:
        blocks, elements: their columns, (8, n) and (8, m).
        hits: where telling words stand in the joined heads and their kinds, two numbers a hit.
        title_hits: so words of the title: those of a word together, from left to right.
        title_block: the block that is the title; -1 for none.
        codes: the characters of all blocks, as code points.
        classes: of each character of the basic plane.
    """

    def __init__(
        self,
        blocks: NDArray[np.int64],
        elements: NDArray[np.int64],
        hits: NDArray[np.int64],
        title_hits: NDArray[np.int64],
        title_block: int,
        codes: NDArray[np.uint32],
        classes: NDArray[np.uint8],
    ) -> None:
        self.n, self.m = blocks.shape[1], elements.shape[1]
        self.blocks, self.elements = ints(blocks), ints(elements)
        self.hits, self.title_hits, self.title_block = ints(hits), ints(title_hits), title_block
        self.codes, self.classes = ints(codes), ints(classes)


# --- What is worked out on the way ----------------------------------------------------------------

# Rows of a block: the first six are summed up too.
_CHARS, _LINKED, _FREE, _STOPS, _PROSE, _WORDY, _SUMMED = 0, 1, 2, 3, 4, 5, 6
_SIZE, _LINK_SHARE, _LOG_STOPS, _TITLED, _POINTS, _BLOCK_ROWS = 6, 7, 8, 9, 10, 11
# Whole numbers of a block: those of the elements around it come first.
_ALIKE, _START, _FIRST_KIND, _LAST_KIND, _KEY, _BLOCK_INTS = 4, 5, 6, 7, 8, 9
# Of an element.
_CHARS_IN, _LINKS_IN, _PROSE_IN, _POINTS_IN, _POINTS_AROUND, _POINTS_FAR = 0, 1, 2, 3, 4, 5
_KIND, _GROUP, _OWN_FLAGS, _FLAGS_ABOVE, _TWIN_KEY = 0, 1, 2, 3, 4
_AROUND_ROWS = 7
# Of a group of blocks or elements.
_MEMBERS, _GROUP_PROSE, _GROUP_CHARS, _GROUP_LINKED = 0, 1, 2, 3

_BITS, _MULTIPLIER = 0xFFFFFFFFFFFFFFFF, 0x9E3779B97F4A7C15


class Work:
    """Room for n blocks and m elements.

    Args:
        values: (FEATURES, n), all to be filled.
    """

    def __init__(self, n: int, m: int, values: NDArray[np.float32]) -> None:
        self.values = floats(values)
        self.row = 0
        # In single precision, as NumPy has them: so sums of them are the same in any order.
        self.of_block = floats(np.zeros((_BLOCK_ROWS, n), np.float32))
        self.counts = floats(np.zeros((len(CLASSES), n), np.float32))
        self.words = floats(np.zeros((_WORDS, n), np.float32))
        self.before = floats(np.zeros((_SUMMED, n + 1)))
        self.of_element = floats(np.zeros((6, m)))
        self.around = floats(np.empty((_AROUND_ROWS, m)))
        self.groups = floats(np.zeros((4, max(n, m))))
        self.block_ints = ints(np.zeros((_BLOCK_INTS, n), np.int64))
        self.element_ints = ints(np.zeros((5, m), np.int64))
        self.table_bits = (2 * max(n, m)).bit_length()
        self.table = ints(np.empty(1 << self.table_bits, np.int64))
        self.all_chars = self.all_prose = 0.0


def _is_sound(given: Given, work: Work) -> bool:
    """Whether no number leads outside of an array."""
    codes = heads = 0
    if given.n < 1 or given.m < 1 or given.title_block >= given.n or len(work.values) != FEATURES:
        return False
    for i in range(given.n):
        element = given.blocks[_ELEMENT, i]
        if given.blocks[_LENGTH, i] < 1 or given.blocks[_HEAD, i] < 1:
            return False
        if element < 0 or element >= given.m:
            return False
        codes += given.blocks[_LENGTH, i]
        heads += given.blocks[_HEAD, i] + 1
    for e in range(given.m):
        first, end = given.elements[_FIRST, e], given.elements[_END, e]
        if first < 0 or first > end or end > given.n:
            return False
        if given.elements[_PARENT, e] >= e or given.elements[_PARENT, e] < -1:
            return False
    for at in range(0, len(given.hits), 2):
        if given.hits[at] < 1 or given.hits[at] >= heads:
            return False
        if given.hits[at + 1] < 0 or given.hits[at + 1] >= _WORDS:
            return False
    for at in range(0, len(given.title_hits), 2):
        if given.title_hits[at] < 1 or given.title_hits[at] >= heads:
            return False
    return codes == len(given.codes)


# --- Characters and words -------------------------------------------------------------------------


def _count_characters(given: Given, work: Work) -> None:
    at = 0
    for i in range(given.n):
        length = given.blocks[_LENGTH, i]
        kind = OTHER
        for place in range(length):
            kind = given.classes[min(given.codes[at + place], 0xFFFF)]
            work.counts[kind, i] += 1
            if place == 0:
                work.block_ints[_FIRST_KIND, i] = kind
        at += length
        work.block_ints[_LAST_KIND, i] = kind
        spaces, dots = work.counts[SPACE, i], work.counts[DOT, i]
        chars = max(length - spaces, 1)
        linked = min(given.blocks[_LINKED_CHARS, i], chars)
        # An English sentence ends with a dot before a space; abbreviations are few.
        stops = work.counts[STOP, i] + min(dots, spaces / 4 + 1)
        prose = chars - linked if stops > 0 else 0.0
        work.of_block[_CHARS, i] = chars
        work.of_block[_LINKED, i] = linked
        work.of_block[_FREE, i] = chars - linked
        work.of_block[_STOPS, i] = stops
        work.of_block[_PROSE, i] = prose
        work.of_block[_SIZE, i] = math.log1p(chars)
        work.of_block[_LINK_SHARE, i] = linked / chars
        work.of_block[_LOG_STOPS, i] = math.log1p(stops)
        work.all_chars += chars
        work.all_prose += prose
    work.all_chars, work.all_prose = max(work.all_chars, 1.0), max(work.all_prose, 1.0)


def _block_at(given: Given, work: Work, position: int) -> int:
    """The block of a position in the joined heads, which begin at 1."""
    low, high = 0, given.n
    while high - low > 1:
        middle = (low + high) // 2
        if work.block_ints[_START, middle] <= position:
            low = middle
        else:
            high = middle
    return low


def _count_words(given: Given, work: Work) -> None:
    start = 1
    for i in range(given.n):
        work.block_ints[_START, i] = start
        start += given.blocks[_HEAD, i] + 1
    for at in range(0, len(given.hits), 2):
        work.words[given.hits[at + 1], _block_at(given, work, given.hits[at])] += 1
    last_block = last_word = -1
    for at in range(0, len(given.title_hits), 2):
        block, word = _block_at(given, work, given.title_hits[at]), given.title_hits[at + 1]
        # A word counts once a block.
        if block != last_block or word != last_word:
            work.of_block[_TITLED, block] += 1
        last_block, last_word = block, word
    for i in range(given.n):
        weight = 0.0
        for kind in range(_WORDS):
            weight += work.words[kind, i]
        work.of_block[_WORDY, i] = math.log1p(weight)


# --- Elements -------------------------------------------------------------------------------------


def _look_at_elements(given: Given, work: Work) -> None:
    """The flags of elements and of what is around them, the elements around blocks, and sums."""
    for e in range(given.m):
        flags = given.elements[_NAME_FLAGS, e] << _TAGS
        if given.elements[_TAG, e] < _TAGS:
            flags |= 1 << given.elements[_TAG, e]
        parent = given.elements[_PARENT, e]
        work.element_ints[_OWN_FLAGS, e] = flags
        if parent >= 0:
            flags |= work.element_ints[_FLAGS_ABOVE, parent]
        work.element_ints[_FLAGS_ABOVE, e] = flags
        work.element_ints[_KIND, e] = given.elements[_TAG, e] * given.m + given.elements[_NAMES, e]
    for i in range(given.n):
        element = given.blocks[_ELEMENT, i]
        for level in range(_LEVELS):
            work.block_ints[level, i] = element
            element = _around(given, element)
    for signal in range(_SUMMED):
        for i in range(given.n):
            work.before[signal, i + 1] = work.before[signal, i] + work.of_block[signal, i]


def _around(given: Given, element: int) -> int:
    """The element around *element*; itself where there is none."""
    parent = given.elements[_PARENT, element]
    return parent if parent >= 0 else element


def _inside(given: Given, work: Work, signal: int, element: int) -> float:
    """The sum of a signal over the blocks of an element."""
    end = work.before[signal, given.elements[_END, element]]
    return end - work.before[signal, given.elements[_FIRST, element]]


# --- Rows -----------------------------------------------------------------------------------------


def _add_constant(given: Given, work: Work, value: float) -> None:
    for i in range(given.n):
        work.values[work.row, i] = value
    work.row += 1


def _add_share(given: Given, work: Work, kind: int) -> None:
    """How many of a block's characters are of a *kind*."""
    for i in range(given.n):
        count, chars = work.counts[kind, i], work.of_block[_CHARS, i]
        work.values[work.row, i] = count / chars
    work.row += 1


def _add_amount(given: Given, work: Work, kind: int) -> None:
    for i in range(given.n):
        work.values[work.row, i] = math.log1p(work.counts[kind, i])
    work.row += 1


def _add_is_kind(given: Given, work: Work, place: int, kind: int) -> None:
    """Whether the character at a *place*, the first or the last, is of a *kind*."""
    for i in range(given.n):
        work.values[work.row, i] = 1.0 if work.block_ints[place, i] == kind else 0.0
    work.row += 1


def _add_own(given: Given, work: Work) -> None:
    row = work.row
    for i in range(given.n):
        chars, stops = work.of_block[_CHARS, i], work.of_block[_STOPS, i]
        bold = given.blocks[_BOLD, i]
        work.values[row, i] = work.of_block[_SIZE, i]
        work.values[row + 1, i] = work.of_block[_LINK_SHARE, i]
        work.values[row + 2, i] = min(bold / chars, 1.0)
        work.values[row + 3, i] = math.log1p(given.blocks[_LINKS, i])
        work.values[row + 4, i] = given.blocks[_AFTER_BREAK, i]
        work.values[row + 5, i] = work.of_block[_LOG_STOPS, i]
        work.values[row + 6, i] = min(stops / chars * 20, 3.0)
    work.row += 7
    _add_share(given, work, LETTER)
    _add_share(given, work, HAN)
    _add_share(given, work, DIGIT)
    _add_share(given, work, OTHER)
    _add_share(given, work, BULLET)
    _add_amount(given, work, COMMA)
    _add_amount(given, work, QUOTE)
    _add_amount(given, work, SPACE)
    _add_is_kind(given, work, _LAST_KIND, STOP)
    _add_is_kind(given, work, _LAST_KIND, DOT)
    _add_is_kind(given, work, _LAST_KIND, COMMA)
    _add_is_kind(given, work, _LAST_KIND, QUOTE)
    _add_is_kind(given, work, _LAST_KIND, BULLET)
    _add_is_kind(given, work, _FIRST_KIND, BULLET)


def _add_words(given: Given, work: Work, notices: Ints) -> None:
    for kind in range(_WORDS):
        for i in range(given.n):
            work.values[work.row + kind, i] = math.log1p(work.words[kind, i])
    work.row += _WORDS
    for i in range(given.n):
        chars, weight = work.of_block[_CHARS, i], 0.0
        for kind in range(_WORDS):
            weight += work.words[kind, i]
        work.values[work.row, i] = min(8 * weight / chars, 3.0)
        work.values[work.row + 1, i] = math.log1p(work.of_block[_TITLED, i])
        is_notice = work.words[_NOTICE, i] >= 2 and chars <= NOTICE_CHARS
        is_imprint = work.words[_LEGAL, i] >= 2 and chars <= IMPRINT_CHARS
        notices[i] = is_notice or is_imprint
    work.row += 2


def _add_around(given: Given, work: Work, kind: int, levels: int) -> None:
    """A number of the elements around each block."""
    for level in range(levels):
        for i in range(given.n):
            work.values[work.row, i] = work.around[kind, work.block_ints[level, i]]
        work.row += 1


def _add_flags(given: Given, work: Work, kind: int, first: int, level: int) -> None:
    """One row for each of the flags from *first* on of the element around each block."""
    for bit in range(first, _FLAGS):
        for i in range(given.n):
            flags = work.element_ints[kind, work.block_ints[level, i]]
            work.values[work.row, i] = (flags >> bit) & 1
        work.row += 1


def _add_elements(given: Given, work: Work) -> None:
    for e in range(given.m):
        count = given.elements[_END, e] - given.elements[_FIRST, e]
        blocks = max(count, 1.0)
        chars = _inside(given, work, _CHARS, e)
        prose = _inside(given, work, _PROSE, e)
        links = _inside(given, work, _LINKED, e) / max(chars, 1.0)
        work.of_element[_CHARS_IN, e] = chars
        work.of_element[_LINKS_IN, e] = links
        work.of_element[_PROSE_IN, e] = prose
        work.around[0, e] = math.log1p(chars)
        work.around[1, e] = links
        work.around[2, e] = math.log1p(count)
        work.around[3, e] = math.log1p(_inside(given, work, _STOPS, e) / blocks)
        work.around[4, e] = chars / work.all_chars
        work.around[5, e] = prose / work.all_prose
        work.around[6, e] = _inside(given, work, _WORDY, e) / blocks
    for kind in range(_AROUND_ROWS):
        _add_around(given, work, kind, _LEVELS)
    _add_flags(given, work, _OWN_FLAGS, 0, 0)
    _add_flags(given, work, _OWN_FLAGS, _TAGS, 1)
    _add_flags(given, work, _FLAGS_ABOVE, 0, 0)
    for e in range(given.m):
        work.around[0, e] = given.elements[_DEPTH, e] / 10.0
    _add_around(given, work, 0, 1)


def _add_beside(given: Given, work: Work, signal: int, step: int) -> None:
    """What a signal is *step* blocks on; -1 beyond the page."""
    for i in range(given.n):
        is_inside = 0 <= i + step < given.n
        work.values[work.row, i] = work.of_block[signal, i + step] if is_inside else -1.0
    work.row += 1


def _add_neighbours(given: Given, work: Work) -> None:
    for step in range(-3, 4):
        if step != 0:
            _add_beside(given, work, _SIZE, step)
            _add_beside(given, work, _LINK_SHARE, step)
            _add_beside(given, work, _LOG_STOPS, step)
            _add_beside(given, work, _WORDY, step)
        if step != 0 and -3 < step < 3:
            for i in range(given.n):
                is_same = 0 <= i + step < given.n
                if is_same:
                    is_same = work.block_ints[0, i + step] == work.block_ints[0, i]
                work.values[work.row, i] = is_same
            work.row += 1
    _add_window(given, work, 3)
    _add_window(given, work, 8)
    _add_window(given, work, 20)


def _add_window(given: Given, work: Work, half: int) -> None:
    """Sums over *half* as many blocks on each side."""
    for i in range(given.n):
        low, high = max(i - half, 0), min(i + half + 1, given.n)
        chars = work.before[_CHARS, high] - work.before[_CHARS, low]
        linked = work.before[_LINKED, high] - work.before[_LINKED, low]
        free = work.before[_FREE, high] - work.before[_FREE, low]
        stops = work.before[_STOPS, high] - work.before[_STOPS, low]
        work.values[work.row, i] = math.log1p(free)
        work.values[work.row + 1, i] = linked / max(chars, 1.0)
        work.values[work.row + 2, i] = math.log1p(stops)
    work.row += 3


def _add_position(given: Given, work: Work) -> None:
    at, row, blocks = given.title_block, work.row, float(given.n)
    for i in range(given.n):
        chars, prose = work.before[_CHARS, i], work.before[_PROSE, i]
        work.values[row, i] = i / blocks
        work.values[row + 1, i] = chars / work.all_chars
        work.values[row + 2, i] = prose / work.all_prose
        work.values[row + 3, i] = math.log1p(i)
        work.values[row + 4, i] = math.log1p(given.n - i)
        for place in range(row + 5, row + 9):
            work.values[place, i] = 0.0
        if at >= 0:
            since = prose - work.before[_PROSE, at] - work.of_block[_PROSE, at]
            if i > at:
                work.values[row + 5, i] = 1.0
                work.values[row + 6, i] = math.log1p(i - at)
                work.values[row + 7, i] = math.log1p(max(since, 0.0))
            elif i < at:
                work.values[row + 5, i] = -1.0
            work.values[row + 8, i] = 1.0
    work.row += 9


# --- Where three plain rules see the body ---------------------------------------------------------


def _best_by_points(given: Given, work: Work) -> int:
    """As in Arc90's Readability: text gives points to its element and half to the next."""
    for i in range(given.n):
        free, stops = work.of_block[_FREE, i], work.of_block[_STOPS, i]
        if free >= 20 and work.of_block[_LINK_SHARE, i] < 0.5:
            points = 1 + math.log1p(work.counts[COMMA, i] + stops) * 2 + min(free / 100, 5.0)
            work.of_block[_POINTS, i] = points
            for level in range(3):
                element = work.block_ints[level, i]
                work.of_element[_POINTS_IN + level, element] += work.of_block[_POINTS, i]
    best, highest = 0, 0.0
    for e in range(given.m):
        points = work.of_element[_POINTS_IN, e] + work.of_element[_POINTS_AROUND, e]
        points += 0.5 * work.of_element[_POINTS_FAR, e]
        points *= 1 - work.of_element[_LINKS_IN, e]
        if e == 0 or points > highest:
            best, highest = e, points
    return best


def _best_by_text(given: Given, work: Work) -> int:
    """The element with most told text when every other character counts against it twice."""
    best, highest = 0, 0.0
    for e in range(given.m):
        value = 3 * work.of_element[_PROSE_IN, e] - 2 * work.of_element[_CHARS_IN, e]
        if e == 0 or value > highest:
            best, highest = e, value
    return best


def _add_range(given: Given, work: Work, place: int, low: int, high: int) -> None:
    """Where blocks are as seen from the range rule *place* found, and its share of the text."""
    row, size = work.row + place, max(high - low, 1.0)
    for i in range(given.n):
        outside = max(low - i, i - high + 1, 0)
        share = (i - low) / size
        work.values[row, i] = 1.0 if low <= i < high else 0.0
        work.values[row + 3, i] = math.log1p(outside) if i >= low else -math.log1p(outside)
        work.values[row + 6, i] = max(min(share, 1.0), 0.0)
    free = work.before[_FREE, high] - work.before[_FREE, low]
    share = free / max(work.before[_FREE, given.n], 1.0)
    for i in range(given.n):
        work.values[row + 9, i] = share


def _add_main_container(given: Given, work: Work) -> None:
    element = _best_by_points(given, work)
    _add_range(given, work, 0, given.elements[_FIRST, element], given.elements[_END, element])
    element = _best_by_text(given, work)
    _add_range(given, work, 1, given.elements[_FIRST, element], given.elements[_END, element])
    # The run of blocks with the highest sum, as in maximum subsequence segmentation (Kadane).
    running = lowest = highest = 0.0
    lowest_at, low, high = 0, 0, 1
    for i in range(given.n):
        linked = work.of_block[_LINKED, i]
        running += work.of_block[_PROSE, i] - 1.5 * linked - 12
        if i == 0 or running - lowest > highest:
            highest = running - lowest
            low, high = lowest_at, i + 1
        if running < lowest:
            lowest, lowest_at = running, i + 1
    _add_range(given, work, 2, low, high)
    work.row += 12


# --- What repeats ---------------------------------------------------------------------------------


def _number_equal(work: Work, keys: Ints, key: int, count: int, numbers: Ints, number: int) -> int:
    """Number the first *count* of ``keys[key]``, equal ones alike, in ``numbers[number]``.

    Returns:
        How many there are.
    """
    size = len(work.table)
    for slot in range(size):
        work.table[slot] = -1
    found = 0
    for at in range(count):
        mixed = (keys[key, at] * _MULTIPLIER) & _BITS
        slot = mixed >> (64 - work.table_bits)
        while work.table[slot] >= 0 and keys[key, work.table[slot]] != keys[key, at]:
            slot = (slot + 1) % size
        if work.table[slot] < 0:
            work.table[slot] = at
            numbers[number, at] = found
            found += 1
        else:
            numbers[number, at] = numbers[number, work.table[slot]]
    return found


def _add_alike(given: Given, work: Work) -> None:
    """Elements are alike when they and what is around them have the same tags and names."""
    kinds = (_TAGS + 1) * given.m
    for i in range(given.n):
        own = work.element_ints[_KIND, work.block_ints[0, i]]
        around = work.element_ints[_KIND, work.block_ints[1, i]]
        work.block_ints[_KEY, i] = around * kinds + own
    _number_equal(work, work.block_ints, _KEY, given.n, work.block_ints, _ALIKE)
    for i in range(given.n):
        group = work.block_ints[_ALIKE, i]
        work.groups[_MEMBERS, group] += 1
        work.groups[_GROUP_PROSE, group] += work.of_block[_PROSE, i]
        work.groups[_GROUP_CHARS, group] += work.of_block[_CHARS, i]
        work.groups[_GROUP_LINKED, group] += work.of_block[_LINKED, i]
    for i in range(given.n):
        group = work.block_ints[_ALIKE, i]
        size, chars = work.groups[_MEMBERS, group], work.groups[_GROUP_CHARS, group]
        work.values[work.row, i] = math.log1p(size)
        work.values[work.row + 1, i] = work.groups[_GROUP_PROSE, group] / work.all_prose
        work.values[work.row + 2, i] = work.groups[_GROUP_LINKED, group] / max(chars, 1.0)
        work.values[work.row + 3, i] = math.log1p(chars / size)
    work.row += 4


def _add_twins(given: Given, work: Work) -> None:
    """How many elements beside one are like it, texts like a block's, and images."""
    kinds = (_TAGS + 1) * given.m
    for e in range(given.m):
        key = _around(given, e) * kinds + work.element_ints[_KIND, e]
        work.element_ints[_TWIN_KEY, e] = key
    count = _number_equal(work, work.element_ints, _TWIN_KEY, given.m, work.element_ints, _GROUP)
    for group in range(count):
        work.groups[_MEMBERS, group] = 0.0
    for e in range(given.m):
        work.groups[_MEMBERS, work.element_ints[_GROUP, e]] += 1
    for e in range(given.m):
        work.around[0, e] = math.log1p(work.groups[_MEMBERS, work.element_ints[_GROUP, e]])
        work.around[1, e] = math.log1p(given.elements[_IMAGES, e])
    _add_around(given, work, 0, 3)
    for i in range(given.n):
        work.values[work.row, i] = math.log1p(given.blocks[_SEEN, i])
    work.row += 1
    _add_around(given, work, 1, 2)


def _add_page(given: Given, work: Work) -> None:
    longest, han = 1.0, 0.0
    for i in range(given.n):
        longest = max(longest, work.of_block[_FREE, i])
        han += work.counts[HAN, i]
    _add_constant(given, work, math.log1p(work.all_chars))
    _add_constant(given, work, work.before[_LINKED, given.n] / work.all_chars)
    _add_constant(given, work, math.log1p(given.n))
    _add_constant(given, work, han / work.all_chars)
    _add_constant(given, work, math.log1p(work.before[_PROSE, given.n]))
    _add_constant(given, work, math.log1p(longest))
    for i in range(given.n):
        free = work.of_block[_FREE, i]
        work.values[work.row, i] = free / longest
    work.row += 1


def fill_features(given: Given, work: Work, chars: Floats, notices: Ints) -> bool:
    """Work out all features, the characters of each block, and what may be notices.

    Returns:
        False where something given leads nowhere: nothing is worked out then.
    """
    if not _is_sound(given, work):
        return False
    _count_characters(given, work)
    _count_words(given, work)
    _look_at_elements(given, work)
    _add_own(given, work)
    _add_words(given, work, notices)
    _add_elements(given, work)
    _add_neighbours(given, work)
    _add_position(given, work)
    _add_main_container(given, work)
    _add_alike(given, work)
    _add_twins(given, work)
    _add_page(given, work)
    for i in range(given.n):
        chars[i] = work.of_block[_CHARS, i]
    return True
