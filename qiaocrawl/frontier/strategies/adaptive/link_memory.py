"""The link graph of one crawl, as the adaptive strategy remembers it, with link features."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np

from qiaocrawl.errors import ModelError
from qiaocrawl.frontier.strategies.adaptive.arrays import (
    FEATURES,
    GROUPS,
    LINK_NUMBERS,
    MAX_LINKS_HERE,
    MAX_WORDS,
    NUMBER_OF_FEATURES,
    URL_NUMBERS,
    Links,
    ModelArrays,
    Nodes,
)
from qiaocrawl.frontier.strategies.adaptive.kernels import LinkViews, NodeViews
from qiaocrawl.frontier.strategies.adaptive.link_features import (
    TABLE_SIZE,
    WORDS_SIZE,
    LinkText,
    LinkWords,
    WordPlaces,
    place,
    url_features,
)
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage
from qiaocrawl.vsm.growing_array import Column

# Distance from a relevant page where none is known.
_FAR = 9.0


class LinkMemory:
    """URLs by their node and the links between them; grows, and forgets nothing."""

    def __init__(self, words: LinkWords) -> None:
        self._words = words
        self._known = Column(np.bool_)
        self._last_link = Column(np.int32, -1)
        self._nodes = {
            "first_link": Column(np.int32, -1),
            "links_here": Column(np.float64),
            "depth": Column(np.float64),
            "distance": Column(np.float64, _FAR),
            "similarity": Column(np.float64),
            "groups": Column(np.int32, width=GROUPS),
            "numbers": Column(np.float32, width=URL_NUMBERS),
            "words": Column(np.int32, width=MAX_WORDS),
            "plain_words": Column(np.int32, width=MAX_WORDS),
            "number_of_words": Column(np.int32),
            "fetched": Column(np.bool_),
            "relevance": Column(np.float64),
            "value": Column(np.float64),
            "score": Column(np.float64),
            "yield_sum": Column(np.float64),
            "yield_count": Column(np.float64),
            "link_start": Column(np.int32),
            "link_count": Column(np.int32),
            "new_start": Column(np.int32),
            "new_count": Column(np.int32),
        }
        self._links = {
            "source": Column(np.int32),
            "target": Column(np.int32),
            "next_here": Column(np.int32, -1),
            "region": Column(np.int32),
            "similarity": Column(np.float64),
            "context": Column(np.float64),
            "position": Column(np.float64),
            "numbers": Column(np.float32, width=LINK_NUMBERS),
            "discovered": Column(np.int32),
        }
        self._number_of_links = self._number_discovered = 0
        self._refresh()

    # Growing a column moves its data, and the kernels need the arrays as they are now.
    def _refresh(self) -> None:
        self.nodes = Nodes(**{name: column.data for name, column in self._nodes.items()})
        self.links = Links(**{name: column.data for name, column in self._links.items()})
        self.node_views, self.link_views = NodeViews(self.nodes), LinkViews(self.links)

    def reserve(self, nodes: Sequence[int], links: int) -> None:
        """Make room for *nodes* and as many more *links*."""
        size = max(nodes, default=-1) + 1
        room = self._number_of_links + links
        # Checked first: this runs for every page, and most need no growth.
        if size <= len(self.nodes.depth) and room <= len(self.links.source):
            return
        for column in (*self._nodes.values(), self._known, self._last_link):
            column.reserve(size)
        for column in self._links.values():
            column.reserve(room)
        self._refresh()

    def add(self, node: int, url: str, host: str, depth: int) -> None:
        """Enter a URL; one that is known stays as it is. There must be room for it."""
        # Depth and words may change with further links; what the URL itself says cannot.
        if self._known.data[node]:
            return
        self._known.data[node] = True
        features = url_features(url, host)
        nodes = self.nodes
        nodes.groups[node] = features.groups
        nodes.numbers[node] = features.numbers
        nodes.depth[node] = depth
        words = self._words.of_url(features.words)
        nodes.similarity[node] = words.similarity
        self._add_words(node, words)

    def visit(self, page: VisitedPage, found: Sequence[FoundLink]) -> None:
        """Enter a fetched page and its links."""
        node = page.node
        self.reserve([node, *(link.node for link in found)], len(found))
        self.add(node, page.url, page.host, page.depth)
        nodes = self.nodes
        nodes.fetched[node] = True
        nodes.relevance[node] = page.relevance
        nodes.link_start[node] = self._number_of_links
        nodes.link_count[node] = len(found)
        nodes.new_start[node] = self._number_discovered
        texts = [
            self._words.of_link(one.link.anchor, one.link.title, one.link.context) for one in found
        ]
        first, self._number_of_links = self._number_of_links, self._number_of_links + len(found)
        if found:
            self._fill_columns(slice(first, self._number_of_links), page, found, texts)
            distance = 0.0 if page.relevant else nodes.distance[node] + 1.0
            self._add_links(first, page.depth + 1, distance, found, texts)
        nodes.new_count[node] = self._number_discovered - nodes.new_start[node]

    def _fill_columns(
        self, part: slice, page: VisitedPage, found: Sequence[FoundLink], texts: Sequence[LinkText]
    ) -> None:
        """What is known of the links of *page* by themselves, a column at a time."""
        columns, links = self.links, [one.link for one in found]
        # A page has few regions.
        regions = {
            region: place("region", f"{page.host} {region}")
            for region in {link.region for link in links}
        }
        columns.source[part] = page.node
        columns.target[part] = [one.node for one in found]
        columns.position[part] = [one.position / (one.links_on_page or 1) for one in found]
        columns.region[part] = [regions[link.region] for link in links]
        told = np.array([text.numbers for text in texts])
        columns.similarity[part], columns.context[part] = told[:, 0], told[:, 1]
        numbers = columns.numbers[part]
        numbers[:, :3] = told[:, 2:]
        numbers[:, 3] = [link.host != page.host for link in links]
        numbers[:, 4] = [page.url.startswith(link.url) for link in links]
        # 403 links and more are "many" (log1p(402) = 6).
        numbers[:, 5] = min(1.0, math.log1p(len(found)) / 6.0)

    def _add_links(
        self,
        first: int,
        depth: int,
        distance: float,
        found: Sequence[FoundLink],
        texts: Sequence[LinkText],
    ) -> None:
        """Note the links *found*, of which the first has the number *first*, at their targets."""
        nodes = self.nodes
        targets = self.links.target[first : self._number_of_links]
        # Navigation leads to the same URLs from every page: most targets have links enough, and
        # nothing is noted of one more but that there is.
        enough = nodes.links_here[targets] >= MAX_LINKS_HERE
        if enough.any():
            known = targets[enough]
            np.add.at(nodes.links_here, known, 1)
            waiting = known[~nodes.fetched[known]]
            nodes.depth[waiting] = np.minimum(nodes.depth[waiting], depth)
            nodes.distance[waiting] = np.minimum(nodes.distance[waiting], distance)
        for at in np.flatnonzero(~enough).tolist():
            self._add_link(first + at, depth, distance, found[at], texts[at].anchor)

    def _add_link(
        self, number: int, depth: int, distance: float, found_link: FoundLink, anchor: WordPlaces
    ) -> None:
        """Note link *number* with the URL it leads to, which is no deeper or farther than so."""
        nodes, links, link, target = self.nodes, self.links, found_link.link, found_link.node
        self.add(target, link.url, link.host, depth)
        links_here = int(nodes.links_here[target]) + 1
        nodes.links_here[target] = links_here
        # Navigation links come from every page: the first twelve say what there is to say.
        if links_here <= MAX_LINKS_HERE:
            self._chain(target, number)
            self._add_words(target, anchor)
        # Fetched pages are decided; their features no longer matter.
        if nodes.fetched[target]:
            return
        nodes.depth[target] = min(nodes.depth[target], depth)
        nodes.distance[target] = min(nodes.distance[target], distance)
        # First link to it: the page gets the credit for what it finds (value_of).
        if links_here == 1:
            links.discovered[self._number_discovered] = target
            self._number_discovered += 1

    def _chain(self, target: int, number: int) -> None:
        last = self._last_link.data
        if last[target] < 0:
            self.nodes.first_link[target] = number
        else:
            self.links.next_here[last[target]] = number
        last[target] = number

    def _add_words(self, node: int, words: WordPlaces) -> None:
        nodes = self.nodes
        count = int(nodes.number_of_words[node])
        # Anchors repeat each other's words, and a place counts once.
        places = set(nodes.words[node, :count].tolist()) if count else set()
        for weighed, plain in zip(words.weighed, words.plain, strict=True):
            if count == MAX_WORDS:
                break
            if weighed not in places:
                nodes.words[node, count] = weighed
                nodes.plain_words[node, count] = plain
                places.add(weighed)
                count += 1
        nodes.number_of_words[node] = count


# --- The model of the adaptive strategy, as arrays and as bytes -----------------------------------
# The bytes: ``QIAOADPT``, the number of the format, a CRC-32 of the rest, then numpy's compressed
# archive of arrays: of the large tables only the entries in use, with their places.

FORMAT = 1
_MAGIC = b"QIAOADPT"
_HEAD = struct.Struct("<8sHI")
# As if twenty pages, one of them relevant, had been seen: the first page alone must not set
# the base rate.
_PRIOR_PAGES, _PRIOR_RATE = 20.0, 0.05
# Small, so that words learn in large steps at first; the features start at 1 since their weights
# are set by hand.
_WORD_SQUARES = 1e-2
_MAX_BYTES = 64 * 1024 * 1024
_UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    MemoryError,
    # zipfile raises these for methods, versions and passwords it does not know.
    NotImplementedError,
    RuntimeError,
)


def untrained_weights() -> ModelArrays:
    """The weights fixed by hand, and nothing seen yet."""
    learnt = ModelArrays(
        weights=np.array([weight for _, weight in FEATURES]),
        squares=np.ones(NUMBER_OF_FEATURES),
        word_weights=np.zeros(WORDS_SIZE),
        word_squares=np.full(WORDS_SIZE, _WORD_SQUARES),
        sums=np.zeros(TABLE_SIZE + 1),
        counts=np.zeros(TABLE_SIZE + 1),
        sample_sum=np.zeros(WORDS_SIZE),
        sample_count=np.zeros(WORDS_SIZE),
    )
    # The last entry is the sum over all groups.
    learnt.sums[-1], learnt.counts[-1] = _PRIOR_PAGES * _PRIOR_RATE, _PRIOR_PAGES
    return learnt


def learn_title(
    learnt: ModelArrays, words: Sequence[int], relevant: bool, rate: float, weight: float
) -> None:
    """One step of logistic regression for the words of a sample's title, weighted *weight*."""
    places = np.array(words, np.int64)
    share = 1.0 / math.sqrt(1.0 + len(places))
    logit = float(learnt.word_weights[places].sum()) * share
    gradient = (1.0 / (1.0 + math.exp(-logit)) - float(relevant)) * weight * share
    learnt.word_squares[places] += gradient * gradient
    # AdaGrad, as in kernels.step: the more a word has moved, the smaller its steps.
    learnt.word_weights[places] -= rate * gradient / np.sqrt(learnt.word_squares[places])


# By the array that says which entries are in use: the arrays kept of them.
_TABLES = {
    "word_weights": ("word_weights", "word_squares"),
    "sums": ("sums", "counts"),
}


def to_bytes(learnt: ModelArrays) -> bytes:
    """*learnt* but for the words of the samples, which the topic has."""
    arrays = {"weights": learnt.weights, "squares": learnt.squares}
    for table, names in _TABLES.items():
        values = learnt._asdict()
        # Of words the weight says whether an entry is in use, of groups the number of pages: their
        # sum may well be 0.
        places = np.flatnonzero(values[table] if table == "word_weights" else values["counts"])
        arrays[f"{table}_places"] = places.astype(np.int32)
        for name in names:
            # float32 halves the size; scores need no more than six digits.
            arrays[name] = values[name][places].astype(np.float32)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    rest = file.getvalue()
    return _HEAD.pack(_MAGIC, FORMAT, zlib.crc32(rest)) + rest


def from_bytes(data: bytes) -> ModelArrays:
    """What :func:`to_bytes` wrote.

    Raises:
        ModelError: *data* is damaged, of another format or no model of this kind.
    """
    arrays = _arrays(data)
    # Loaded over untrained arrays: entries not stored keep their initial values.
    learnt = untrained_weights()
    try:
        learnt.weights[:] = arrays["weights"]
        learnt.squares[:] = arrays["squares"]
        for table, names in _TABLES.items():
            places = arrays[f"{table}_places"]
            for name in names:
                learnt._asdict()[name][places] = arrays[name]
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise ModelError(f"model of the adaptive order: arrays do not fit: {error}") from error
    numbers = (
        learnt.weights,
        learnt.squares,
        learnt.word_weights,
        learnt.word_squares,
        learnt.sums,
        learnt.counts,
    )
    # The checksum tells of damage, not of a faulty writer: one NaN would make every score NaN.
    whole = all(np.isfinite(array).all() for array in numbers)
    if not whole or learnt.squares.min() <= 0 or learnt.word_squares.min() <= 0:
        raise ModelError("model of the adaptive order: it holds numbers that cannot be")
    if learnt.counts.min() < 0 or learnt.counts[-1] < 1:
        raise ModelError("model of the adaptive order: it counts less than no page")
    return learnt


def _arrays(data: bytes) -> dict[str, np.ndarray]:
    if len(data) > _MAX_BYTES or len(data) < _HEAD.size:
        raise ModelError(f"model of the adaptive order: {len(data)} bytes cannot be one")
    magic, number, digest = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        raise ModelError("model of the adaptive order: these bytes are something else")
    if number != FORMAT:
        raise ModelError(f"model of the adaptive order: format {number}, this is {FORMAT}")
    rest = data[_HEAD.size :]
    if zlib.crc32(rest) != digest:
        raise ModelError("model of the adaptive order: damaged (checksum)")
    try:
        with np.load(io.BytesIO(rest), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except _UNREADABLE as error:
        raise ModelError(f"model of the adaptive order: cannot be read: {error}") from error
