"""The inner loops of the title index, compiled by ``row_kernels.pxd``: postings, search, insertion.

**Why nothing is missed.** Words have one fixed order, rare ones first. Of a title of length 1
the words are posted and probed in that order until what is left of it is shorter than the
threshold t. Let c be the first word two titles share: their cosine is at most the product of
what is left of both from c on, and at most w(c)·w'(c) + rest·rest'. If c were not probed, the
rest of the one would be shorter than t, and so the cosine. So every pair of cosine t or more
meets at the posting of its first shared word (prefix filtering, after Bayardo, Ma and Srikant
2007), and a pair that shares an earlier probed word has met there already.

**Postings** of a word lie in blocks of 2, 4, 8, 16, 32, 32 … entries, newest block first. The
first entry of a block says where the block before begins. The two bounds w(c) and rest are kept
in 8 bits, rounded up, so that they never exclude too much.

**Signatures.** Reading a row costs more than all else, so each has 64 bits, one set for each of
its words by a hash. By Cauchy and Schwarz the words after c add at most rest times the length of
those words of the query whose bit is set; most rows that share one word end there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from qiaocrawl.kernels import floats, ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.kernels import Floats, Ints

    Array = NDArray[Any]

# Bounds of postings are stored in 8 bits.
_STEPS = 255.0
# What a cosine may fall short of the threshold by rounding.
_SLACK = 1e-9
# Blocks of 2 << 4 = 32 entries at most: rare words, most of all, take little room.
_LAST_LEVEL = 4

_BITS = (1 << 64) - 1
_ONE = 1
# Multiplicative hashing (Knuth).
_SPREAD = 11400714819323198485
# FNV-1a.
_OFFSET = 14695981039346656037
_PRIME = 1099511628211


class TitleArrays:
    """All that titles are searched in; made anew where an array was replaced by a longer one.

    Args:
        threshold: cosine from which rows are found.
        arrays: those that follow, in this order.

    Attributes:
        sizes: int64: number of rows, end of the pool of postings.
        starts, terms: row r is ``terms[starts[r]:starts[r + 1]]``, in the title's order.
        heads: the newest member of each row, -1 if it has none.
        signatures: uint64, a bit for each word of a row.
        slots: rows by the hash of their words (open addressing), -1 if free; a power of two long.
        blocks: how many blocks of postings each word has.
        newest: where its newest block begins.
        fill: uint8, how many entries that block holds.
        entry_rows, entry_weights, entry_rests: the pool of all entries, with bounds in uint8.
        idf, commonness: float32, of each word.
        weights: float64, of the query by word; 0 but during a search.
        places: of the query's words in probing order, from 1; 0 but during a search.
        ids, parts: room for the query: its distinct words in probing order, their tf·idf.
        bits, squares: room for the bit of each, and for its share of the squared length.
    """

    def __init__(self, threshold: float, *arrays: Array) -> None:
        (
            sizes,
            starts,
            terms,
            heads,
            signatures,
            slots,
            blocks,
            newest,
            fill,
            entry_rows,
            entry_weights,
            entry_rests,
            idf,
            commonness,
            weights,
            places,
            ids,
            parts,
            bits,
            squares,
        ) = arrays
        self.threshold = threshold
        self.sizes = ints(sizes)
        self.starts, self.terms = ints(starts), ints(terms)
        self.heads, self.signatures, self.slots = ints(heads), ints(signatures), ints(slots)
        self.blocks, self.newest, self.fill = ints(blocks), ints(newest), ints(fill)
        self.entry_rows = ints(entry_rows)
        self.entry_weights, self.entry_rests = ints(entry_weights), ints(entry_rests)
        self.idf, self.commonness = floats(idf), floats(commonness)
        self.weights, self.places = floats(weights), ints(places)
        self.ids, self.parts = ints(ids), floats(parts)
        self.bits, self.squares = ints(bits), floats(squares)
        self.count = 0
        """How many distinct words the query has."""
        self.norm = 0.0
        """The length of the query."""
        self.found = 0
        """How many pairs :func:`place` has found."""


class PlacedTitles:
    """Titles to be entered, each as a new member of its row.

    Args:
        words, starts: the titles as TitleBatch has them.
        member_row, member_next: the row of each member, the next older one of the row; filled in.
        numbers: what each title is as a member.
    """

    def __init__(
        self, words: Array, starts: Array, member_row: Array, member_next: Array, numbers: Array
    ) -> None:
        self.words, self.starts = ints(words), ints(starts)
        self.member_row, self.member_next = ints(member_row), ints(member_next)
        self.numbers = ints(numbers)


class FoundPairs:
    """Room for the pairs that are found: the title, the row, their cosine, its newest member."""

    def __init__(self, title: Array, row: Array, cosine: Array, newest: Array) -> None:
        self.title, self.row = ints(title), ints(row)
        self.cosine, self.newest = floats(cosine), ints(newest)


def _lay_out(index: TitleArrays, words: Ints, start: int, end: int) -> None:
    """Make the title ``words[start:end]`` the query."""
    count = 0
    for place_of_word in range(start, end):
        word = words[place_of_word]
        # A linear search: titles have some ten words, and a set costs more in compiled code.
        at = 0
        while at < count and index.ids[at] != word:
            at += 1
        if at < count:
            index.parts[at] += index.idf[word]
            continue
        index.ids[count] = word
        index.parts[count] = index.idf[word]
        count += 1
    # Insertion sort by (commonness, word): the one fixed order that prefix filtering needs.
    total = 0.0
    for i in range(count):
        word, weight = index.ids[i], index.parts[i]
        total += weight * weight
        rank = index.commonness[word]
        at = i
        while at > 0 and (
            index.commonness[index.ids[at - 1]] > rank
            or (index.commonness[index.ids[at - 1]] == rank and index.ids[at - 1] > word)
        ):
            index.ids[at], index.parts[at] = index.ids[at - 1], index.parts[at - 1]
            at -= 1
        index.ids[at], index.parts[at] = word, weight
    index.count = count
    index.norm = math.sqrt(total)


def _bit(word: int) -> int:
    """The bit of a word in a signature."""
    # The upper 6 of 64 bits: a number from 0 to 63.
    return _ONE << ((word * _SPREAD & _BITS) >> 58)


def _capacity(block: int) -> int:
    """Entries of the block of this number, from 0, its first one apart."""
    return (2 << min(block, _LAST_LEVEL)) - 1


def _steps_up(share: float) -> int:
    """*share* in 8 bits, rounded up, so that the bound never lies below the true weight."""
    steps = int(math.ceil(share * _STEPS))
    return min(steps, 255)


def _post(index: TitleArrays, term: int, row: int, weight: float, rest: float) -> None:
    """One more entry."""
    blocks = index.blocks[term]
    # A new block is twice as large as the last one, up to 32, and its first entry points back.
    if blocks == 0 or index.fill[term] == _capacity(blocks - 1):
        pool = index.sizes[1]
        index.entry_rows[pool] = index.newest[term] if blocks > 0 else -1
        index.newest[term] = pool
        index.fill[term] = 0
        index.sizes[1] = pool + 1 + _capacity(blocks)
        index.blocks[term] = blocks + 1
    at = index.newest[term] + 1 + index.fill[term]
    index.entry_rows[at] = row
    index.entry_weights[at] = _steps_up(weight)
    index.entry_rests[at] = _steps_up(rest)
    index.fill[term] += 1


def _slot(index: TitleArrays, words: Ints, start: int, end: int) -> int:
    """The slot of the row of exactly these words, or the free one where it belongs."""
    # FNV-1a over words instead of bytes, with a shift that mixes the high bits down.
    value = _OFFSET
    for i in range(start, end):
        word = words[i]
        value = ((value ^ word) * _PRIME) & _BITS
        value ^= value >> 29
    mask = len(index.slots) - 1
    at = value & mask
    while True:
        row = index.slots[at]
        if row < 0:
            return at
        shift = index.starts[row] - start
        if index.starts[row + 1] - shift == end:
            i = start
            while i < end and index.terms[shift + i] == words[i]:
                i += 1
            if i == end:
                return at
        at = (at + 1) & mask


def refill_slots(index: TitleArrays) -> None:
    """Enter all rows into slots that are all free."""
    for row in range(index.sizes[0]):
        start, end = index.starts[row], index.starts[row + 1]
        index.slots[_slot(index, index.terms, start, end)] = row


def _cosine(index: TitleArrays, row: int, turn: int) -> float:
    """Cosine of the query with *row*; -1 if they have met at an earlier word."""
    start, end = index.starts[row], index.starts[row + 1]
    product = 0.0
    for i in range(start, end):
        term = index.terms[i]
        met = index.places[term]
        if met > 0:
            if met < turn:
                return -1.0
            weight = index.idf[term]
            product += index.weights[term] * weight
    total = 0.0
    for i in range(start, end):
        # Repeated words: the row's length needs tf² per distinct word, which is tf per occurrence.
        term = index.terms[i]
        times = 0
        for j in range(start, end):
            times += index.terms[j] == term
        weight = index.idf[term]
        total += times * (weight * weight)
    return product / (index.norm * math.sqrt(total))


def _search(index: TitleArrays, out_row: Ints, out_cosine: Floats, first: int) -> int:
    """Rows with members near enough to the query, from *first* on; how many, also beyond room."""
    total = 0
    least = index.threshold - _SLACK
    # In the same 8-bit steps as the postings, so that no division is needed.
    bound = least * _STEPS
    # Of the query's squared length 1, what is left after the words probed so far.
    left = 1.0
    count, norm = index.count, index.norm
    for k in range(count):
        weight = index.parts[k] / norm
        index.bits[k] = _bit(index.ids[k])
        index.squares[k] = weight * weight
    for k in range(count):
        if left < least * least:
            break
        term, weight = index.ids[k], index.parts[k] / norm
        rest = math.sqrt(max(left - weight * weight, 0.0))
        left -= weight * weight
        block = index.newest[term]
        number = index.blocks[term]
        fill = index.fill[term]
        while number > 0:
            for at in range(block + 1, block + 1 + fill):
                # Cheapest first: two products, without touching the row.
                entry_weight = index.entry_weights[at]
                entry_rest = index.entry_rests[at]
                if weight * entry_weight + rest * entry_rest < bound:
                    continue
                row = index.entry_rows[at]
                signature = index.signatures[row]
                shared = 0.0
                for later in range(k + 1, count):
                    if signature & index.bits[later]:
                        # Words whose bit is not set in the row's signature cannot be shared.
                        shared += index.squares[later]
                reach = weight * entry_weight + math.sqrt(shared) * entry_rest
                # A row without a head has no title left, or is the query's own.
                if reach < bound or index.heads[row] < 0:
                    continue
                cosine = _cosine(index, row, k + 1)
                if cosine >= least:
                    if first + total < len(out_row):
                        out_row[first + total] = row
                        out_cosine[first + total] = min(cosine, 1.0)
                    total += 1
            number -= 1
            if number > 0:
                block, fill = index.entry_rows[block], _capacity(number - 1)
    return total


def _look(
    index: TitleArrays,
    words: Ints,
    start: int,
    end: int,
    own: int,
    out_row: Ints,
    out_cosine: Floats,
    first: int,
) -> int:
    """All rows near ``words[start:end]``, whose own row is *own* (-1: none yet); how many."""
    count = 0
    if own >= 0 and end > start and index.heads[own] >= 0:
        if first < len(out_row):
            out_row[first], out_cosine[first] = own, 1.0
        count = 1
    _lay_out(index, words, start, end)
    if index.norm <= 0.0:
        return count
    for k in range(index.count):
        word = index.ids[k]
        index.weights[word] = index.parts[k]
        index.places[word] = k + 1
    # Its own row is in the result already; while it has no head the search skips it.
    head = 0
    if own >= 0:
        head = index.heads[own]
        index.heads[own] = -1
    count += _search(index, out_row, out_cosine, first + count)
    if own >= 0:
        index.heads[own] = head
    for k in range(index.count):
        word = index.ids[k]
        index.weights[word] = 0.0
        index.places[word] = 0
    return count


def _enter(index: TitleArrays, words: Ints, start: int, end: int, slot: int) -> int:
    """A new row of ``words[start:end]``, whose *slot* is free; returns its number."""
    row = index.sizes[0]
    to = index.starts[row]
    signature = 0
    for i in range(start, end):
        word = words[i]
        index.terms[to + i - start] = word
        signature |= _bit(word)
    index.starts[row + 1] = to + end - start
    index.heads[row] = -1
    index.slots[slot] = row
    index.signatures[row] = signature
    index.sizes[0] = row + 1
    _lay_out(index, words, start, end)
    norm = index.norm
    if norm <= 0.0:
        return row
    left, least = 1.0, index.threshold - _SLACK
    for k in range(index.count):
        # What is left is shorter than the threshold: further words need no posting (see above).
        if left < least * least:
            break
        weight = index.parts[k] / norm
        left -= weight * weight
        _post(index, index.ids[k], row, weight, math.sqrt(max(left, 0.0)))
    return row


def _keep_best(rows: Ints, cosines: Floats, first: int, count: int, limit: int) -> int:
    """Of *count* pairs from *first* on the *limit* of the highest cosine, then smallest row.

    They are moved to the front, in this order; returns how many.
    """
    end = first
    for at in range(first, first + count):
        row, cosine = rows[at], cosines[at]
        to = end
        # Insertion into the best ones so far; `limit` is small and most pairs end at once.
        if end < first + limit:
            end += 1
        else:
            to -= 1
            if cosine < cosines[to] or (cosine == cosines[to] and row > rows[to]):
                continue
        while to > first and (
            cosine > cosines[to - 1] or (cosine == cosines[to - 1] and row < rows[to - 1])
        ):
            rows[to], cosines[to] = rows[to - 1], cosines[to - 1]
            to -= 1
        rows[to], cosines[to] = row, cosine
    return end - first


def near(index: TitleArrays, words: Ints, out_row: Ints, out_cosine: Floats) -> int:
    """Rows near *words*, which are not entered; how many there are, also beyond *out*'s room."""
    own = index.slots[_slot(index, words, 0, len(words))]
    return _look(index, words, 0, len(words), own, out_row, out_cosine, 0)


def place(
    index: TitleArrays, titles: PlacedTitles, first: int, pairs: FoundPairs, limit: int
) -> int:
    """Search for and enter *titles* from *first* on, each with a new member of its row.

    Args:
        pairs: filled in with room for *limit* at least. Titles are only entered where there is no
            room at all.
        limit: pairs of one title at most, those of the highest cosine; 0 = all.

    Returns:
        The title it came to; how many pairs it found stands in ``index.found``. It ends before a
        title whose pairs find no more room.
    """
    words, starts = titles.words, titles.starts
    count = 0
    index.found = 0
    for title in range(first, len(starts) - 1):
        start, end = starts[title], starts[title + 1]
        slot = _slot(index, words, start, end)
        row = index.slots[slot]
        if len(pairs.row) > 0:
            more = _look(index, words, start, end, row, pairs.row, pairs.cosine, count)
            # Nothing of this title was entered: the caller makes room and goes on from here.
            if count + more > len(pairs.row):
                return title
            if limit > 0:
                more = _keep_best(pairs.row, pairs.cosine, count, more, limit)
            for i in range(count, count + more):
                pairs.title[i] = title
                pairs.newest[i] = index.heads[pairs.row[i]]
            count += more
            index.found = count
        if row < 0:
            row = _enter(index, words, start, end, slot)
        number = titles.numbers[title]
        titles.member_row[number] = row
        titles.member_next[number] = index.heads[row]
        index.heads[row] = number
    return len(starts) - 1


def unlink(heads: Ints, next_in_row: Ints, row: int, member: int) -> None:
    """Take *member* off its row: linear in the row's members, 1 to 5 ns each."""
    at = heads[row]
    if at == member:
        heads[row] = next_in_row[member]
        return
    while next_in_row[at] != member:
        at = next_in_row[at]
    next_in_row[at] = next_in_row[member]
