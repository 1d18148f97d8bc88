"""The tuples of arrays that the compiled loops of the title index work on."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

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
