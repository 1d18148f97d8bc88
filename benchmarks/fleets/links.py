"""Webs as arrays, to crawl in memory: recorded link graphs, and one that is made up.

The made-up web has the shape of measured ones, all of it by a fixed seed: sizes of hosts and
in-links of pages follow power laws, eight links of ten stay on their host (Cho and Garcia-Molina
count nine), each page but a home page is linked from an earlier one of its host, and one in ten
is linked from other hosts only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import graph_rows
from benchmarks.crawl_orders.data import find_collections, read_topics
from qiaocrawl.fetch.replay.page_folder import find_graph
from qiaocrawl.urls import canonical_host, canonical_url

Ints = NDArray[np.int32]

_SEED = 19
_PAGES_A_HOST = 200
_SIZE_EXPONENT = 0.7
# The largest host is asked for this long at a page a second; one without bounds would be all that
# the end of a crawl tells of.
_MOST_PAGES_A_HOST = 2_000
_LINKS_A_PAGE = 8
_MOST_LINKS = 60
_OUTSIDE_SHARE = 0.2
_HIDDEN_SHARE = 0.1
_STARTS = 100


class Links(NamedTuple):
    """The links of a web: those of page n are ``targets[first[n]:first[n + 1]]``."""

    first: Any
    targets: Any
    hosts: Any
    """The host of each page, by number."""


@dataclass(frozen=True, slots=True)
class LinkedWeb:
    """A web to crawl.

    Attributes:
        starts: numbers of the start pages.
        names: what a page and a host are called, for those that hash names.
        reachable: pages that links lead to from the start pages, these included.
    """

    name: str
    links: Links
    starts: Ints
    host_count: int
    reachable: int

    @property
    def pages(self) -> int:
        """How many there are."""
        return len(self.links.hosts)


def _count_reachable(sources: Ints, targets: Ints, seen: NDArray[np.bool_]) -> int:
    """How many pages links lead to from those that are *seen*, these included."""
    while len(new := targets[seen[sources] & ~seen[targets]]):
        seen[new] = True
    return int(seen.sum())


def make_web(name: str, sources: Ints, targets: Ints, hosts: Ints, starts: Ints) -> LinkedWeb:
    """The web of these links, given as pairs; the same link twice is one."""
    pages = len(hosts)
    pairs = np.unique(sources.astype(np.int64) * pages + targets)
    sources, targets = pairs // pages, pairs % pages
    first = np.searchsorted(sources, np.arange(pages + 1)).astype(np.int64)
    links = Links(first, targets.astype(np.int32), hosts.astype(np.int32))
    seen = np.zeros(pages, np.bool_)
    seen[starts] = True
    reachable = _count_reachable(sources, targets, seen)
    return LinkedWeb(name, links, starts, int(hosts.max()) + 1, reachable)


# --- made up --------------------------------------------------------------------------------


def generated_web(pages: int) -> LinkedWeb:
    """A web of *pages* pages, the same at every call."""
    rng = np.random.default_rng(_SEED)
    sizes = _host_sizes(pages)
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    hosts = np.repeat(np.arange(len(sizes)), sizes)
    numbers = np.arange(pages)
    place = numbers - begins[hosts]
    # Of each page but a home page: an earlier one of its host, or for hidden ones a page anywhere.
    parents = begins[hosts] + (rng.random(pages) * place).astype(np.int64)
    is_hidden = (rng.random(pages) < _HIDDEN_SHARE) & (place > 0)
    parents = np.where(is_hidden, rng.integers(0, pages, pages), parents)
    has_parent = place > 0
    # Other links.
    counts = np.minimum(rng.geometric(1 / _LINKS_A_PAGE, pages), _MOST_LINKS)
    sources = np.repeat(numbers, counts)
    to_host = hosts[sources]
    goes_outside = rng.random(len(sources)) < _OUTSIDE_SHARE
    # A power of a uniform number: the n-th host is linked in proportion to n^-1/2, the n-th page
    # of a host to n^-4/5.
    popular = (len(sizes) * rng.random(len(sources)) ** 2).astype(np.int64)
    by_popularity = rng.permutation(len(sizes))
    to_host = np.where(goes_outside, by_popularity[popular], to_host)
    within = (sizes[to_host] * rng.random(len(sources)) ** 5).astype(np.int64)
    targets = begins[to_host] + within
    # Hidden ones are linked by their parents only.
    keeps = ~is_hidden[targets] & (targets != sources)
    return make_web(
        "generated",
        np.concatenate((sources[keeps], parents[has_parent])).astype(np.int32),
        np.concatenate((targets[keeps], numbers[has_parent])).astype(np.int32),
        hosts.astype(np.int32),
        begins[rng.choice(len(sizes), min(_STARTS, len(sizes)), replace=False)].astype(np.int32),
    )


def _host_sizes(pages: int) -> NDArray[np.int64]:
    """Pages by host: a power of its rank, none above the bound, *pages* in all."""
    count = max(1, pages // _PAGES_A_HOST)
    shares = np.arange(1, count + 1) ** -_SIZE_EXPONENT
    most = max(_MOST_PAGES_A_HOST, -(-pages // count))
    sizes = np.ones(count, np.int64)
    # What is cut off the largest goes to all others.
    while (left := pages - int(sizes.sum())) > 0:
        is_open = sizes < most
        part = shares * is_open
        more = np.minimum(np.ceil(left * part / part.sum()).astype(np.int64), most - sizes)
        total = np.minimum(np.cumsum(more), left)
        sizes += np.diff(total, prepend=0)
    return sizes


# --- recorded -------------------------------------------------------------------------------


def recorded_webs(data: Path, names: Sequence[str]) -> list[LinkedWeb]:
    """The recorded webs in *data* as one, or each of *names*.

    Most have one host or a few: there a single collector has work under every policy.

    Raises:
        FocusError: there are none.
    """
    folders = [one for one in find_collections(data) if not names or one.name in names]
    written = [_read(folder) for folder in folders]
    if names:
        return [_numbered(folder.name, [pages])
                for folder, pages in zip(folders, written, strict=True)]  # fmt: skip
    return [_numbered("recorded", written)]


@dataclass(frozen=True, slots=True)
class _Written:
    """A link graph as it is written: outlinks by canonical URL, and the start pages."""

    pages: dict[str, list[str]]
    starts: list[str]


def _read(folder: Path) -> _Written:
    graph = find_graph(folder)
    assert graph is not None, "find_collections() looks for it"
    pages: dict[str, list[str]] = {}
    for row in graph_rows(graph):
        url = canonical_url(row["url"])
        if url is not None:
            found = map(canonical_url, row.get("outlinks", ()))
            pages.setdefault(url, [target for target in found if target is not None])
    seeds = [url for one in read_topics(folder)[1] if (url := canonical_url(one)) in pages]
    # Where none are named: what is listed first of each host.
    homes = {canonical_host(url): url for url in reversed(pages)}
    return _Written(pages, [one for one in seeds if one] or [*homes.values()])


def _numbered(name: str, written: Sequence[_Written]) -> LinkedWeb:
    pages = {url: links for one in written for url, links in one.pages.items()}
    numbers = {url: number for number, url in enumerate(pages)}
    hosts: dict[str, int] = {}
    of_host = [hosts.setdefault(canonical_host(url), len(hosts)) for url in pages]
    pairs = [
        (number, numbers[target])
        for number, links in enumerate(pages.values())
        for target in links if target in numbers and numbers[target] != number
    ]  # fmt: skip
    sources, targets = np.array(pairs, np.int32).reshape(-1, 2).T
    starts = [numbers[url] for one in written for url in dict.fromkeys(one.starts)]
    return make_web(name, sources, targets, np.array(of_host, np.int32),
                    np.array(starts, np.int32))  # fmt: skip
