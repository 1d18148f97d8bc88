"""The compiled inner loops of the title index: postings, search and insertion.

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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels.compiled import compiled

# --- The tuples of arrays that the compiled loops of the title index work on ----------------------

Array = NDArray[Any]


class RowArrays(NamedTuple):
    """Distinct titles: row r is ``terms[starts[r]:starts[r + 1]]``, in the title's order."""

    starts: Array
    terms: Array
    heads: Array
    """Newest member of each row, -1 if it has none."""
    signatures: Array
    """A bit for each word, uint64."""
    slots: Array
    """Open addressing by the hash of the words: row, -1 if free; a power of two long."""


class PostingArrays(NamedTuple):
    """Postings by word, and the pool of their entries."""

    blocks: Array
    """How many blocks each word has."""
    newest: Array
    """Where its newest block begins."""
    fill: Array
    """How many entries that block holds."""
    row: Array
    weight: Array
    rest: Array


class TermArrays(NamedTuple):
    """Weight and probing order of each word, and room for one query."""

    idf: Array
    commonness: Array
    weights: Array
    """Of the query, by word; 0 but during a search."""
    places: Array
    """Of the query's words in probing order, from 1; 0 but during a search."""


class IndexArrays(NamedTuple):
    """All that titles are searched in."""

    threshold: float
    """Cosine from which rows are found."""
    rows: RowArrays
    postings: PostingArrays
    terms: TermArrays


class Query(NamedTuple):
    """A title's distinct words in probing order, their tf·idf, and the length of all."""

    ids: Array
    weights: Array
    norm: float


# --- The compiled inner loops of the title index: postings, search and insertion ------------------

# Bounds of postings are stored in 8 bits.
_STEPS = 255.0
# What a cosine may fall short of the threshold by rounding.
_SLACK = 1e-9
# Blocks of 2 << 4 = 32 entries at most: rare words, most of all, take little room.
_LAST_LEVEL = 4


@compiled
def _query(words, terms):  # type: ignore[no-untyped-def]
    """The title of these *words* as a query."""
    ids, weights = np.empty(len(words), np.int32), np.empty(len(words), np.float64)
    count, norm = _distinct(words, terms, ids, weights)
    return Query(ids[:count], weights[:count], norm)


@compiled
def _distinct(words, terms, ids, weights):  # type: ignore[no-untyped-def]
    """The distinct words of a title in probing order, with tf·idf; returns how many, and norm."""
    count = 0
    for word in words:
        # A linear search: titles have some ten words, and a set costs more in compiled code.
        at = 0
        while at < count and ids[at] != word:
            at += 1
        if at < count:
            weights[at] += terms.idf[word]
            continue
        ids[count] = word
        weights[count] = terms.idf[word]
        count += 1
    # Insertion sort by (commonness, word): the one fixed order that prefix filtering needs.
    squares = 0.0
    for i in range(count):
        squares += weights[i] * weights[i]
        word, weight, rank = ids[i], weights[i], terms.commonness[ids[i]]
        at = i
        while at and (
            terms.commonness[ids[at - 1]] > rank
            or (terms.commonness[ids[at - 1]] == rank and ids[at - 1] > word)
        ):
            ids[at], weights[at] = ids[at - 1], weights[at - 1]
            at -= 1
        ids[at], weights[at] = word, weight
    return count, np.sqrt(squares)


@compiled
def _bit(word):  # type: ignore[no-untyped-def]
    """The bit of a word in a signature (multiplicative hashing, Knuth)."""
    # 58: the upper 6 of 64 bits, a number from 0 to 63.
    return np.uint64(1) << (np.uint64(word) * np.uint64(11400714819323198485) >> np.uint64(58))


@compiled
def _capacity(block):  # type: ignore[no-untyped-def]
    """Entries of the block of this number, from 0, its first one apart."""
    return (2 << min(block, _LAST_LEVEL)) - 1


@compiled
def _post(term, row, weight, rest, postings, pool):  # type: ignore[no-untyped-def]
    """One more entry; returns the new end of the pool."""
    blocks = postings.blocks[term]
    # A new block is twice as large as the last one, up to 32, and its first entry points back.
    if not blocks or postings.fill[term] == _capacity(blocks - 1):
        postings.row[pool] = postings.newest[term] if blocks else -1
        postings.newest[term] = pool
        postings.fill[term] = 0
        pool += 1 + _capacity(blocks)
        postings.blocks[term] = blocks + 1
    at = postings.newest[term] + 1 + postings.fill[term]
    postings.row[at] = row
    # Rounded up, so that the bound never lies below the true weight.
    postings.weight[at] = min(np.ceil(weight * _STEPS), _STEPS)
    postings.rest[at] = min(np.ceil(rest * _STEPS), _STEPS)
    postings.fill[term] += 1
    return pool


@compiled
def _hash(words):  # type: ignore[no-untyped-def]
    # FNV-1a over words instead of bytes, with a shift that mixes the high bits down.
    value = np.uint64(14695981039346656037)
    for word in words:
        value = (value ^ np.uint64(word)) * np.uint64(1099511628211)
        value ^= value >> np.uint64(29)
    return value


@compiled
def _slot(words, rows):  # type: ignore[no-untyped-def]
    """The slot of the row of exactly these words, or the free one where it belongs."""
    mask = np.uint64(len(rows.slots) - 1)
    at = _hash(words) & mask
    while True:
        row = rows.slots[at]
        if row < 0:
            return at
        start, end = rows.starts[row], rows.starts[row + 1]
        if end - start == len(words):
            same = True
            for i in range(len(words)):
                if rows.terms[start + i] != words[i]:
                    same = False
                    break
            if same:
                return at
        at = (at + np.uint64(1)) & mask


@compiled
def refill_slots(rows, count):  # type: ignore[no-untyped-def]
    """Enter the first *count* rows into slots that are all free."""
    for row in range(count):
        words = rows.terms[rows.starts[row] : rows.starts[row + 1]]
        rows.slots[_slot(words, rows)] = row


@compiled
def _cosine(row, place, norm, rows, terms):  # type: ignore[no-untyped-def]
    """Cosine of the query with *row*; -1 if they have met at an earlier word."""
    start, end = rows.starts[row], rows.starts[row + 1]
    product = 0.0
    for i in range(start, end):
        term = rows.terms[i]
        met = terms.places[term]
        if met:
            if met < place:
                return -1.0
            product += terms.weights[term] * terms.idf[term]
    squares = 0.0
    for i in range(start, end):
        # Repeated words: the row's length needs tf² per distinct word, which is tf per occurrence.
        times = 0
        for j in range(start, end):
            times += rows.terms[j] == rows.terms[i]
        squares += times * np.float64(terms.idf[rows.terms[i]]) ** 2
    return product / (norm * np.sqrt(squares))


@compiled
def _bits_and_squares(ids, weights, norm):  # type: ignore[no-untyped-def]
    """Of each word of a query: its bit in signatures, and its share of the squared length."""
    count = len(ids)
    bits, squares = np.empty(count, np.uint64), np.empty(count, np.float64)
    for k in range(count):
        bits[k] = _bit(ids[k])
        squares[k] = (weights[k] / norm) ** 2
    return bits, squares


@compiled
def _search(query, index, out):  # type: ignore[no-untyped-def]
    """Rows with members near enough; how many, also beyond *out*'s room.

    ``out`` is (row, cosine, from where on); the query's weights are laid out in the index.
    """
    ids, weights, norm = query
    threshold, rows, postings, terms = index
    out_row, out_cosine, first = out
    total = 0
    # Squared, as `left` is: what is left of the query's length 1 after the words probed so far.
    least = (threshold - _SLACK) ** 2
    # In the same 8-bit steps as the postings, so that no division is needed.
    bound = (threshold - _SLACK) * _STEPS
    left = 1.0
    count = len(ids)
    bits, squares = _bits_and_squares(ids, weights, norm)
    for k in range(count):
        if left < least:
            break
        term, weight = ids[k], weights[k] / norm
        rest = np.sqrt(max(left - weight * weight, 0.0))
        left -= weight * weight
        block = postings.newest[term]
        number = postings.blocks[term]
        fill = postings.fill[term]
        while number:
            for at in range(block + 1, block + 1 + fill):
                # Cheapest first: two products, without touching the row.
                if weight * postings.weight[at] + rest * postings.rest[at] < bound:
                    continue
                row = postings.row[at]
                signature = rows.signatures[row]
                shared = 0.0
                for later in range(k + 1, count):
                    if signature & bits[later]:
                        # Words whose bit is not set in the row's signature cannot be shared.
                        shared += squares[later]
                reach = weight * postings.weight[at] + np.sqrt(shared) * postings.rest[at]
                # A row without a head has no title left, or is the query's own.
                if reach < bound or rows.heads[row] < 0:
                    continue
                cosine = _cosine(row, k + 1, norm, rows, terms)
                if cosine >= threshold - _SLACK:
                    if first + total < len(out_row):
                        out_row[first + total] = row
                        out_cosine[first + total] = min(cosine, 1.0)
                    total += 1
            number -= 1
            block = postings.row[block]
            fill = _capacity(number - 1)
    return total


@compiled
def _look(words, own, index, out):  # type: ignore[no-untyped-def]
    """All rows near *words*, whose own row is *own* (-1: none yet); how many there are."""
    rows, terms = index.rows, index.terms
    out_row, out_cosine, first = out
    count = 0
    if own >= 0 and len(words) and rows.heads[own] >= 0:
        if first < len(out_row):
            out_row[first], out_cosine[first] = own, 1.0
        count = 1
    query = _query(words, terms)
    if query.norm <= 0.0:
        return count
    for k in range(len(query.ids)):
        terms.weights[query.ids[k]] = query.weights[k]
        terms.places[query.ids[k]] = k + 1
    # Its own row is in the result already; while it has no head the search skips it.
    head = 0
    if own >= 0:
        head = rows.heads[own]
        rows.heads[own] = -1
    count += _search(query, index, (out_row, out_cosine, first + count))
    if own >= 0:
        rows.heads[own] = head
    for word in query.ids:
        terms.weights[word] = 0.0
        terms.places[word] = 0
    return count


@compiled
def _enter(words, slot, index, sizes):  # type: ignore[no-untyped-def]
    """A new row of *words*, whose *slot* is free; returns its number."""
    _, rows, postings, terms = index
    count = sizes[0]
    start = rows.starts[count]
    for i in range(len(words)):
        rows.terms[start + i] = words[i]
    rows.starts[count + 1] = start + len(words)
    rows.heads[count] = -1
    rows.slots[slot] = count
    signature = np.uint64(0)
    for word in words:
        signature |= _bit(word)
    rows.signatures[count] = signature
    sizes[0] += 1
    query = _query(words, terms)
    if query.norm <= 0.0:
        return count
    left = 1.0
    for k in range(len(query.ids)):
        # What is left is shorter than the threshold: further words need no posting (see above).
        if left < (index.threshold - _SLACK) ** 2:
            break
        weight = query.weights[k] / query.norm
        left -= weight * weight
        rest = np.sqrt(max(left, 0.0))
        sizes[1] = _post(query.ids[k], count, weight, rest, postings, sizes[1])
    return count


@compiled
def _keep_best(rows, cosines, first, count, limit):  # type: ignore[no-untyped-def]
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


@compiled
def near(words, index, out):  # type: ignore[no-untyped-def]
    """Rows near *words*, which are not entered; how many there are, also beyond *out*'s room."""
    own = index.rows.slots[_slot(words, index.rows)]
    return _look(words, own, index, (out[0], out[1], 0))


@compiled
def place(titles, first, index, members, sizes, out, limit):  # type: ignore[no-untyped-def]
    """Search for and enter titles from *first* on, each with a new member of its row.

    Args:
        titles: words and starts, as TitleBatch has them.
        members: (row of each member, the next older one of the row, number of each title).
        sizes: int64: number of rows, end of the pool; both are brought up to date.
        out: (title, row, cosine, newest member of the row) of each pair found, room for
            *limit* at least; titles are only entered where it has no room at all.
        limit: pairs of one title at most, those of the highest cosine; 0 = all.

    Returns:
        The title it came to, and how many pairs it found. It ends before a title whose pairs
        find no more room.
    """
    words, starts = titles
    rows = index.rows
    out_title, out_row, out_cosine, out_newest = out
    member_row, member_next, numbers = members
    count = 0
    for title in range(first, len(starts) - 1):
        own = words[starts[title] : starts[title + 1]]
        slot = _slot(own, rows)
        row = rows.slots[slot]
        if len(out_row):
            more = _look(own, row, index, (out_row, out_cosine, count))
            # Nothing of this title was entered: the caller makes room and goes on from here.
            if count + more > len(out_row):
                return title, count
            if limit:
                more = _keep_best(out_row, out_cosine, count, more, limit)
            for i in range(count, count + more):
                out_title[i] = title
                out_newest[i] = rows.heads[out_row[i]]
            count += more
        if row < 0:
            row = _enter(own, slot, index, sizes)
        member_row[numbers[title]] = row
        member_next[numbers[title]] = rows.heads[row]
        rows.heads[row] = numbers[title]
    return len(starts) - 1, count


@compiled
def unlink(heads, next_in_row, row, member):  # type: ignore[no-untyped-def]
    """Take *member* off its row: linear in the row's members, 1 to 5 ns each."""
    at = heads[row]
    if at == member:
        heads[row] = next_in_row[member]
        return
    while next_in_row[at] != member:
        at = next_in_row[at]
    next_in_row[at] = next_in_row[member]
