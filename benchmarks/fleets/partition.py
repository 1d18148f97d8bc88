"""Crawlers whose collectors share no frontier: a hash says whose a page is.

- ``host hash``: hash of the host modulo the number of collectors, as in Mercator (Heydon and
  Najork 1999) and Cho and Garcia-Molina's site hash.
- ``consistent hash``: points of each collector on a ring, as in UbiCrawler (Boldi, Codenotti,
  Santini and Vigna 2004); in proportion to what it can do.
- ``url hash``: hash of the URL, Cho and Garcia-Molina's other one.

Each keeps its own queues, its own pauses of hosts, and knows only what it has seen itself. Under
`exchange` it sends each foreign URL once to whose it is, all of three seconds together.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.fleets.kernels import CROSSOVER, EXCHANGE, views_of
from benchmarks.fleets.links import Ints, LinkedWeb
from benchmarks.fleets.simulation import MODES, Crawl
from qiaocrawl.frontier.host_share import BEAT_SECONDS

_POINTS = 200
_MOST_SECONDS = 10**7
_FETCHED, _SENT, _TOO_SOON, _DISTINCT = 0, 1, 2, 3


class Partition(NamedTuple):
    """Queues of all collectors: two of each (own pages, foreign ones), each a ring of hosts.

    ``chain`` are chains of waiting pages, of a queue and a host each: ``first`` and ``last`` are
    places in it. Counts are pages fetched, URLs sent, requests too soon, distinct pages.
    """

    is_known: Any
    is_fetched: Any
    asked_at: Any
    page_at: Any
    next_at: Any
    first: Any
    last: Any
    ring: Any
    ring_begin: Any
    ring_size: Any
    outbox: Any
    is_sending: Any
    pages: Any
    counts: Any
    sizes: Any
    """Places of the chains that are used, and URLs in the outbox."""


def _new(web: LinkedWeb, collectors: int, most_rows: int) -> Partition:
    hosts, queues = web.host_count, 2 * collectors
    return Partition(
        is_known=np.zeros((collectors, web.pages), np.uint8),
        is_fetched=np.zeros(web.pages, np.uint8), asked_at=np.full(hosts, -1, np.int32),
        page_at=np.empty(most_rows, np.int32), next_at=np.empty(most_rows, np.int32),
        first=np.full((queues, hosts), -1, np.int32), last=np.full((queues, hosts), -1, np.int32),
        ring=np.zeros((queues, hosts), np.int32), ring_begin=np.zeros(queues, np.int32),
        ring_size=np.zeros(queues, np.int32), outbox=np.empty(len(web.links.targets), np.int32),
        is_sending=np.zeros((collectors, collectors), np.uint8),
        pages=np.zeros(collectors, np.int64), counts=np.zeros(4, np.int64),
        sizes=np.zeros(2, np.int64),
    )  # fmt: skip


def put(state: Any, links: Any, queue: int, page: int) -> None:
    """*page* waits in *queue*."""
    host = links.hosts[page]
    place = state.sizes[0]
    state.sizes[0] += 1
    state.page_at[place] = page
    state.next_at[place] = -1
    if state.first[queue, host] == -1:
        state.first[queue, host] = place
        hosts = state.ring.shape[1]
        end = (state.ring_begin[queue] + state.ring_size[queue]) % hosts
        state.ring[queue, end] = host
        state.ring_size[queue] += 1
    else:
        state.next_at[state.last[queue, host]] = place
    state.last[queue, host] = place


def _pop(state: Any, queue: int) -> int:
    """The next page of the next host; the host comes again at the end of the ring."""
    hosts = state.ring.shape[1]
    host = state.ring[queue, state.ring_begin[queue]]
    state.ring_begin[queue] = (state.ring_begin[queue] + 1) % hosts
    state.ring_size[queue] -= 1
    place = state.first[queue, host]
    state.first[queue, host] = state.next_at[place]
    if state.first[queue, host] != -1:
        end = (state.ring_begin[queue] + state.ring_size[queue]) % hosts
        state.ring[queue, end] = host
        state.ring_size[queue] += 1
    page: int = state.page_at[place]
    return page


def _meet(state: Any, links: Any, owners: Any, me: int, page: int, mode: int) -> None:
    """Follow the links of a page that *me* has fetched."""
    for place in range(links.first[page], links.first[page + 1]):
        target = links.targets[place]
        if state.is_known[me, target]:
            continue
        state.is_known[me, target] = 1
        owner = owners[target]
        if owner == me:
            put(state, links, 2 * me, target)
            continue
        state.counts[_SENT] += 1
        if mode == CROSSOVER:
            put(state, links, 2 * me + 1, target)
        elif mode == EXCHANGE:
            state.outbox[state.sizes[1]] = target
            state.sizes[1] += 1
            state.is_sending[me, owner] = 1


def _fetch(state: Any, links: Any, owners: Any, me: int, now: int, room: int, mode: int) -> int:
    """Fetch up to *room* pages, one of a host; foreign ones only where no own ones are left."""
    queue = 2 * me
    if mode == CROSSOVER and not state.ring_size[queue]:
        queue += 1
    most = min(room, state.ring_size[queue])
    done = 0
    for _ in range(most):
        page = _pop(state, queue)
        host = links.hosts[page]
        state.counts[_TOO_SOON] += state.asked_at[host] == now
        state.asked_at[host] = now
        state.counts[_DISTINCT] += not state.is_fetched[page]
        state.is_fetched[page] = 1
        done += 1
        _meet(state, links, owners, me, page, mode)
    state.pages[me] += done
    state.counts[_FETCHED] += done
    return done


def _second(state: Any, links: Any, owners: Any, speeds: Any, now: int, mode: int) -> int:
    total = 0
    for me in range(len(speeds)):
        total += _fetch(state, links, owners, me, now, speeds[me], mode)
    return total


def _deliver(state: Any, links: Any, owners: Any) -> None:
    """Give what was sent to whose it is."""
    for place in range(state.sizes[1]):
        page = state.outbox[place]
        owner = owners[page]
        if not state.is_known[owner, page]:
            state.is_known[owner, page] = 1
            put(state, links, 2 * owner, page)
    state.sizes[1] = 0


class PartitionCrawl:
    """Collectors of which each has its part of the pages."""

    def __init__(self, web: LinkedWeb, speeds: Ints, method: str, mode: str) -> None:
        self._web, self._speeds, self._mode = web, speeds, MODES[mode]
        self._owners = PARTITIONS[method](web, speeds)
        rows = web.pages + len(web.starts)
        # Only there is a page in the queues of several.
        if self._mode == CROSSOVER:
            rows += web.pages * (len(speeds) - 1)
        self._state = _new(web, len(speeds), rows)

    def run(self) -> Crawl:
        """Crawl the web to its end."""
        state, views, links = self._state, views_of(self._state), views_of(self._web.links)
        owners, speeds = self._owners.data, self._speeds.tolist()
        for page in self._web.starts.tolist():
            views.is_known[owners[page], page] = 1
            put(views, links, 2 * owners[page], page)
        fetched: list[int] = []
        messages = 0
        for now in range(_MOST_SECONDS):
            fetched.append(_second(views, links, owners, speeds, now, self._mode))
            if now % int(BEAT_SECONDS) == 0 and state.sizes[1]:
                messages += int(state.is_sending.sum())
                state.is_sending[:] = 0
                _deliver(views, links, owners)
            if not (fetched[-1] or state.sizes[1] or state.ring_size.any()):
                break
            # Under `crossover` each would go on until it had fetched all by itself.
            if state.counts[_DISTINCT] == self._web.reachable:
                break
        counts = state.counts
        return Crawl(
            np.array(fetched, np.int64), state.pages.copy(), int(counts[_DISTINCT]),
            int(counts[_SENT]), messages, int(counts[_TOO_SOON]), 0,
        )  # fmt: skip


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def _by_host(web: LinkedWeb, speeds: Ints) -> Ints:
    return _of_pages(
        web, [_digest(f"host {number}") % len(speeds) for number in range(web.host_count)]
    )


def _by_ring(web: LinkedWeb, speeds: Ints) -> Ints:
    points = sorted(
        (_digest(f"collector {number} {point}"), number)
        for number, speed in enumerate(speeds)
        for point in range(int(_POINTS * speed / speeds.max()))
    )
    places = [place for place, _ in points]
    owners = [
        points[bisect.bisect(places, _digest(f"host {number}")) % len(points)][1]
        for number in range(web.host_count)
    ]
    return _of_pages(web, owners)


def _of_pages(web: LinkedWeb, of_hosts: Sequence[int]) -> Ints:
    owners: Ints = np.array(of_hosts, np.int32)[web.links.hosts]
    return owners


def _by_url(web: LinkedWeb, speeds: Ints) -> Ints:
    # Two rounds of a mixing function, as quick as an array (Steele, Lea and Flood 2014).
    mixed = np.arange(1, web.pages + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed >> np.uint64(33)) % np.uint64(len(speeds))).astype(np.int32)


PARTITIONS: Mapping[str, Callable[[LinkedWeb, Ints], Ints]] = {
    "host hash": _by_host,
    "consistent hash": _by_ring,
    "url hash": _by_url,
}
"""The collector of each page, by the name of the method."""
